"""What of ratings would survive a second look: levels of users, levels of items, tastes.

yardsticks  mean; users mu + b_u; items mu + c_i; biases mu + b_u + c_i; scales mu + b_u + (1 + s_u) c_i + t_i b_u:
            some use more of the scale than others, and it has ends: no taste
users       1 - SSE(biases) / SSE(items) on held-out ratings      chance: ratings permuted among the users of each item
items       1 - SSE(biases) / SSE(users)                          chance: permuted among the items of each user
tastes      1 - SSE(biases and factors) / SSE(scales)             chance: what scales leave, in units of the spread of
                                                                  user and item, permuted over all cells and put back

Each fold keeps ratings of every user; in each, penalties are chosen on a fifth of what is learned from, and on every
draw of chance anew. Intervals are those of ratings by these users of these items, not of other users.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.noise.fold_error import fold_error, fold_interval
from assay.linalg.noise.monte_carlo import Drawn, endless, monte_carlo
from assay.linalg.validate import RandomState, seed_of
from assay.models.prediction.recommender.als import Factors, Penalty, biases, explicit, slopes
from assay.models.prediction.recommender.choose import BIAS_ALPHA, POWER, explicit_path, left_by_biases
from assay.models.prediction.recommender.ranking import ranked
from assay.summary.ratings.ratings import Ratings

What: TypeAlias = Literal["users", "items", "tastes"]
Interval: TypeAlias = tuple[float, float, float]  # a mean, and the ends of its 95% interval

WHATS: tuple[What, ...] = ("users", "items", "tastes")
METHODS = ("mean", "users", "items", "biases", "scales", "factors")
FOLDS = 5
BETA = BIAS_ALPHA  # penalty of biases
FEWEST = {"users": 8, "items": 8, "ratings": 150}
FIRST = 10  # items that count where orders are judged
_ALPHAS = (3.4, 2.4, 1.7, 1.2)
_SLOPES = (20.0, 5.0, 1.5)
_RANK = 10
_CORE = 12_000  # ratings that are drawn anew: the densest part
_MOST = 1_000_000
_SWEEPS = 5
_REPEATS, _REPEATED = 4, 20_000  # times that few ratings are dealt into folds: each has few to measure on
_OVERLAP = 1.0 / (FOLDS - 1)  # ratings tested for each learned from
_ENOUGH = 8  # draws that do as well, after which chance is clear
_PRIOR = 1.0  # ratings that the spread of all counts beside those of a user, or an item
_COPIED = 5  # ratings that two users must have in common, and no other, to be copies


@dataclass(frozen=True, slots=True, eq=False)
class RatingsEvidence:
    """How well ratings are predicted that were not seen, and what chance reaches.

    Attributes:
        ratings: those asked of, copied users left out.
        methods: names of the yardsticks, factors last.
        rmse: (folds, methods) root mean squared errors, in units of the ratings; of few ratings four times five folds.
        users, items, tastes: the evidence of each.
        gains: (folds, 3) share of the squared error that users' levels, items' levels and factors take away.
        holds: whether the interval of each lies above zero, by name.
        chance: draws of each statistic by name.
        alpha: penalty of the factors chosen most often; None where no factors were.
        ranking: {method: (recall, NDCG)} of the first 10 items, each mean and 95% interval; for ratings above the mean
            of their user.
        notes: what was left out, in sentences.
    """

    ratings: Ratings
    methods: tuple[str, ...]
    rmse: Array
    users: Evidence
    items: Evidence
    tastes: Evidence
    gains: Array
    holds: dict[What, bool]
    chance: dict[What, Array]
    alpha: float | None
    ranking: dict[str, tuple[Interval, Interval]]
    notes: tuple[str, ...]

    def evidence(self, what: What) -> Evidence:
        """That of one of the three."""
        found: Evidence = getattr(self, what)
        return found

    def error(self, method: str) -> Interval:
        """Error of a method on held-out ratings, and its 95% interval.

        Args:
            method: one of `methods`.
        """
        each = self.rmse[:, self.methods.index(method)]
        mean = float(each.mean())
        low, high = fold_interval(mean, fold_error(each, _OVERLAP), len(each), within=(0.0, np.inf))
        return mean, float(low), float(high)

    def stricter(self, factor: float, level: float) -> RatingsEvidence:
        """The same where other questions were asked too."""
        made = {what: self.evidence(what).stricter(factor, level, effect_holds=self.holds[what]) for what in WHATS}
        return replace(self, users=made["users"], items=made["items"], tastes=made["tastes"])

    def plot(self) -> Any:
        """The errors beside the yardsticks; the same as `assay.plot(found)`."""
        from importlib import import_module

        return import_module("assay").plot(self)


def why_not(ratings: Ratings) -> str:
    """Why nothing can be said of these ratings, in words; empty where something can."""
    sizes = {"users": ratings.n_users, "items": ratings.n_items, "ratings": len(ratings)}
    for what, fewest in FEWEST.items():
        if sizes[what] < fewest:
            return f"it takes {fewest} {what}"
    if ratings.value.min() == ratings.value.max():
        return "all ratings are the same"
    return ""


def ratings_evidence(
    data: Any,
    *,
    draws: int = 99,
    level: float = 0.05,
    random_state: RandomState = 0,
    progress: Callable[[str], object] | None = None,
) -> RatingsEvidence:
    """Do factors predict ratings better than levels of users and items do, on ratings not seen, and beyond chance?

    Args:
        data: `Ratings`, or what `Ratings.of` reads.
        draws: of chance at most, for each of the three.
        level: level; the three are corrected for each other.
        random_state: of folds and draws: a whole number from 0 on, None for 0, or a generator of NumPy's.
        progress: told what is being done.

    >>> rng = np.random.default_rng(0)
    >>> R = rng.normal(size=(30, 1)) + rng.normal(size=20) + rng.normal(size=(30, 20))
    >>> ratings_evidence(Ratings.of_matrix(R), draws=39).tastes.verdict
    'not distinguishable from chance'
    """
    if draws < 19:
        raise ParameterError(f"draws are at least 19, so that chance can be told at 5%; got {draws}")
    tell = progress or (lambda what: None)
    ratings, notes = _usable(Ratings.of(data))
    if why := why_not(ratings):
        raise DataError(f"nothing can be said of these ratings: {why}")
    tell("predicting ratings that were held out")
    whole = _standard(ratings)
    repeats = _REPEATS if len(whole) <= _REPEATED else 1
    seed = seed_of(random_state)
    dealt = [whole.folds(FOLDS, seed + repeat) for repeat in range(repeats)]
    judged = [_judged(whole, fold, folds) for folds in dealt for fold in range(FOLDS)]
    unit = float(ratings.value.std()) / float(whole.value.std())
    core = _core(whole)
    note = (f"Chance was drawn on the {len(core):,} ratings of those who rated most and of what was rated most.",)
    found = _drawn(core, draws, seed, tell)
    squared = np.array([one.squared for one in judged])
    gains = np.array([_gains(row) for row in squared])
    evidence, holds = _evidence(gains, found, len(ratings), level, draws)
    alphas = [one.alpha for one in judged if one.alpha is not None]
    return RatingsEvidence(
        ratings,
        METHODS,
        np.sqrt(squared) * unit,
        evidence["users"],
        evidence["items"],
        evidence["tastes"],
        gains,
        holds,
        {what: np.array(found[what].values[1:]) for what in WHATS},
        max(set(alphas), key=alphas.count) if alphas else None,
        _ranking(whole, judged[0], dealt[0]),
        notes + (note if len(core) < len(ratings) else ()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """One fold: mean squared errors of all methods, and what was fitted."""

    squared: Array
    alpha: float | None
    factors: Factors
    biases: Factors


def _judged(z: Ratings, fold: int, folds: Any, threads: int | None = None) -> _Judged:
    """Fit everything without one fold, and measure on it."""
    test = folds == fold
    train = z.subset(~test)
    centre = train.mean
    train = train.with_values(train.value - centre)
    inner = train.folds(5, fold) == 0
    known, held = train.subset(~inner), (train.user[inner], train.item[inner], train.value[inner])
    base = biases(known, BETA, tol=1e-4, max_iter=30, threads=threads)
    path = explicit_path(known, (min(_RANK, *_sides(known)),), _ALPHAS, BETA, sweeps=_SWEEPS, threads=threads)[0]
    bent = [slopes(known, base, price, BETA) for price in _SLOPES]
    errors = [_missed(one, *held) for one in (base, *path)]
    best, stretched = int(np.argmin(errors)), int(np.argmin([errors[0], *(_missed(one, *held) for one in bent)]))
    again = biases(train, BETA, tol=1e-4, max_iter=30, threads=threads)
    scales = slopes(train, again, _SLOPES[stretched - 1], BETA) if stretched else again
    factors = again
    if best:
        penalty = Penalty(_ALPHAS[best - 1], BETA, POWER)
        factors = explicit(train, path[best - 1], penalty, max_iter=_SWEEPS, tol=1e-3, threads=threads)
    user, item, value = z.user[test], z.item[test], z.value[test] - centre
    squared = [
        float(np.mean(value**2)),
        float(np.mean((_levels(train, "user")[user] - value) ** 2)),
        float(np.mean((_levels(train, "item")[item] - value) ** 2)),
        *(_missed(one, user, item, value) for one in (again, scales, factors)),
    ]
    return _Judged(np.array(squared), _ALPHAS[best - 1] if best else None, factors, again)


def _gains(squared: Array) -> tuple[float, float, float]:
    """Shares of the squared error that users' levels, items' levels and factors take away."""
    _, users, items, both, scales, factors = (float(value) for value in squared)
    return _share(both, items), _share(both, users), _share(factors, scales)


def _share(less: float, more: float) -> float:
    return 1.0 - less / more if more > 0.0 else 0.0


def _levels(train: Ratings, side: Literal["user", "item"]) -> Array:
    """Mean of each user or item, drawn to zero as the biases are."""
    number, sizes = (train.user, train.per_user) if side == "user" else (train.item, train.per_item)
    return np.asarray(np.bincount(number, train.value, minlength=len(sizes)) / (sizes + BETA))


def _missed(found: Factors, user: Any, item: Any, value: Array) -> float:
    return float(np.mean((found.at(user, item) - value) ** 2))


def _sides(ratings: Ratings) -> tuple[int, int]:
    return ratings.n_users, ratings.n_items


def _drawn(core: Ratings, draws: int, seed: int, tell: Callable[[str], object]) -> dict[What, Drawn[float]]:
    """What chance reaches in each of the three statistics; the first value of each is that of the data."""
    folds = core.folds(FOLDS, seed)
    rng = np.random.default_rng((seed, 1))
    found: dict[What, Drawn[float]] = {}
    parts: dict[What, tuple[Callable[[np.random.Generator], Array], Callable[[Ratings], float]]] = {
        "users": (lambda g: _within(core.value, core.item, g), lambda z: _level_gain(z, folds, "item")),
        "items": (lambda g: _within(core.value, core.user, g), lambda z: _level_gain(z, folds, "user")),
        "tastes": (_residuals(core), lambda z: _taste_gain(z, folds)),
    }
    for what, (draw, statistic) in parts.items():
        found[what] = _beside_chance(
            core, draw, statistic, _stages(draws, 8 if what == "tastes" else 32), rng, what, tell
        )
    return found


def _beside_chance(
    core: Ratings,
    draw: Callable[[np.random.Generator], Array],
    statistic: Callable[[Ratings], float],
    stages: list[int],
    rng: np.random.Generator,
    what: str,
    tell: Callable[[str], object],
) -> Drawn[float]:
    """The statistic of the ratings, and behind it those of draws of chance."""
    ours = statistic(core)
    made = monte_carlo(
        endless(lambda: draw(rng)),
        lambda some: in_threads(lambda value: statistic(core.with_values(value)), some),
        stages,
        reaches=lambda value: value >= ours - 1e-12,
        enough=_ENOUGH,
        progress=lambda done: tell(f"{what}, by chance ({done} draws)"),
    )
    return replace(made, values=[ours, *made.values])


def _stages(draws: int, size: int) -> list[int]:
    whole, rest = divmod(draws, size)
    return [size] * whole + ([rest] if rest else [])


def _within(value: Array, group: Any, rng: np.random.Generator) -> Array:
    """Values permuted among those of the same group."""
    out = np.empty_like(value)
    out[np.lexsort((rng.random(len(value)), group))] = value[np.argsort(group, kind="stable")]
    return out


def _residuals(core: Ratings) -> Callable[[np.random.Generator], Array]:
    """Draws in which only tastes are chance: levels, scales and the spreads of each user and of each item stay."""
    centre = core.mean
    z = core.with_values(core.value - centre)
    base = biases(z, BETA, tol=1e-4, max_iter=30)
    level = slopes(z, base, _SLOPES[1], BETA).at(z.user, z.item)
    rest = z.value - level
    spread = _spread(rest, z.user, z.n_users)
    spread *= _spread(_units(rest, spread), z.item, z.n_items)
    unit = _units(rest, spread)
    return lambda rng: centre + level + spread * rng.permutation(unit)


def _spread(rest: Array, of: NDArray[Any], n: int) -> Array:
    """Root mean square of what is left of each user, or item, drawn towards that of all; one for each rating."""
    square, many = np.bincount(of, rest**2, minlength=n), np.bincount(of, minlength=n)
    return np.asarray(np.sqrt((square + _PRIOR * float(np.mean(rest**2))) / (many + _PRIOR))[of])


def _units(rest: Array, spread: Array) -> Array:
    return np.divide(rest, spread, out=np.zeros_like(rest), where=spread > 0.0)


def _level_gain(z: Ratings, folds: Any, other: Literal["user", "item"]) -> float:
    """Share of the error of one side's levels that those of the other side take away, over all folds."""
    less = more = 0.0
    for fold in range(FOLDS):
        test = folds == fold
        train = z.subset(~test)
        centre = train.mean
        train = train.with_values(train.value - centre)
        user, item, value = z.user[test], z.item[test], z.value[test] - centre
        both = biases(train, BETA, tol=1e-3, max_iter=15, threads=1)
        alone = _levels(train, other)[user if other == "user" else item]
        less += len(value) * _missed(both, user, item, value)
        more += float(np.sum((alone - value) ** 2))
    return _share(less, more)


def _taste_gain(z: Ratings, folds: Any) -> float:
    less = more = 0.0
    for fold in range(FOLDS):
        squared = _judged(z, fold, folds, threads=1).squared
        size = int((folds == fold).sum())
        less, more = less + size * float(squared[-1]), more + size * float(squared[-2])
    return _share(less, more)


def _evidence(
    gains: Array, found: dict[What, Drawn[float]], n: int, level: float, draws: int
) -> tuple[dict[What, Evidence], dict[What, bool]]:
    p = np.array([found[what].p for what in WHATS])
    order = np.argsort(p, kind="stable")
    # Holm's step-down for the three
    q = np.empty(3)
    q[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(3, 0, -1)), 1.0)
    held = gains.mean(axis=0)
    intervals = fold_interval(held, fold_error(gains, _OVERLAP), len(gains), within=(-np.inf, 1.0))
    made: dict[What, Evidence] = {}
    holds: dict[What, bool] = {}
    kept = {
        "users": "ratings permuted among the users of each item",
        "items": "ratings permuted among the items of each user",
        "tastes": "what levels leave, permuted over all cells",
    }
    for j, what in enumerate(WHATS):
        ours, by_chance = found[what].values[0], np.array(found[what].values[1:])
        low, high = (float(end) for end in intervals[j])
        holds[what] = low > 0.0
        made[what] = Evidence(
            statistic=float(ours),
            null=Null(
                kept[what], float(np.median(by_chance)), float(np.quantile(by_chance, 1 - level)), len(by_chance)
            ),
            p=float(p[j]),
            q=float(q[j]),
            held_out=float(held[j]),
            interval=(low, high),
            n=n,
            looks=3,
            method=f"{kept[what]}, the whole procedure on each of {len(by_chance)} draws",
            verdict=verdict_of(float(q[j]), effect_holds=holds[what], level=level),
        )
    return made, holds


def _usable(ratings: Ratings) -> tuple[Ratings, tuple[str, ...]]:
    """Without users who are copies of others, since those tell what was held out; of very many a dense part."""
    notes: tuple[str, ...] = ()
    seen: set[bytes] = set()
    copied = np.zeros(ratings.n_users, np.bool_)
    for user in np.flatnonzero(ratings.per_user >= _COPIED):
        part = slice(ratings.starts[user], ratings.starts[user + 1])
        known = ratings.item[part].tobytes() + ratings.value[part].tobytes()
        # one who rates all alike is no copy of another who does
        copied[user] = known in seen and len(set(ratings.value[part].tolist())) > 1
        seen.add(known)
    if copied.any():
        ratings = _of_some(ratings, ~copied, np.ones(ratings.n_items, np.bool_))
        notes = (f"Users who gave the same ratings to the same items as another, left out: {int(copied.sum()):,}.",)
    rated = _of_some(ratings, ratings.per_user > 0, ratings.per_item > 0)
    if len(rated) > _MOST:
        rated = _core(rated, _MOST)
        notes = (*notes, f"Of so many ratings the {len(rated):,} of those who rated most are looked at.")
    return rated, notes


def _of_some(ratings: Ratings, users: Any, items: Any) -> Ratings:
    """Ratings of some items by some users, without the names of others."""
    if users.all() and items.all():
        return ratings
    kept = ratings.subset(users[ratings.user] & items[ratings.item])
    return replace(
        kept,
        users=tuple(name for name, there in zip(kept.users, users, strict=True) if there),
        items=tuple(name for name, there in zip(kept.items, items, strict=True) if there),
        starts=np.concatenate([[0], kept.starts[1:][users]]).astype(np.int64),
        item=(np.cumsum(items) - 1)[kept.item].astype(np.int32),
    )


def _standard(ratings: Ratings) -> Ratings:
    largest = float(np.abs(ratings.value).max())
    z = ratings.value / largest  # sums of huge ratings may be no number
    whole = ratings.with_values((z - z.mean()) / z.std())
    return whole.with_values(whole.value / left_by_biases(whole, BETA))


def _core(ratings: Ratings, most: int = _CORE) -> Ratings:
    """The users who rated most and the items rated most, so many of both that there are at most so many ratings.

    Who they are depends on what was rated, not on how: chance keeps that.
    """
    if len(ratings) <= most:
        return ratings
    by_user, by_item = (np.argsort(-sizes, kind="stable") for sizes in (ratings.per_user, ratings.per_item))

    def taken(share: float) -> tuple[Any, Any]:
        users, items = np.zeros(ratings.n_users, np.bool_), np.zeros(ratings.n_items, np.bool_)
        users[by_user[: max(FEWEST["users"], int(share * len(by_user)))]] = True
        items[by_item[: max(FEWEST["items"], int(share * len(by_item)))]] = True
        return users, items

    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2.0
        users, items = taken(middle)
        within = int((users[ratings.user] & items[ratings.item]).sum()) <= most
        low, high = (middle, high) if within else (low, middle)
    some = _of_some(ratings, *taken(low))
    return _of_some(some, some.per_user > 0, some.per_item > 0)


def _ranking(z: Ratings, one: _Judged, folds: Any) -> dict[str, tuple[Interval, Interval]]:
    """Recall and NDCG of the first items in one fold: of factors, biases and popularity."""
    test = folds == 0
    train = z.subset(~test)
    above = z.value > (np.bincount(z.user, z.value, minlength=z.n_users) / np.maximum(z.per_user, 1))[z.user]
    wanted = z.subset(test & above)
    if not len(wanted):
        return {}
    often = train.per_item.astype(np.float64)

    def liked(users: Any, found: Factors) -> Array:
        return np.asarray(found.users[users] @ found.items.T + found.item_bias)

    orders: dict[str, Callable[[Any], Array]] = {
        "popularity": lambda users: np.tile(often, (len(users), 1)),
        "biases": lambda users: np.tile(one.biases.item_bias, (len(users), 1)),
        "factors": lambda users: liked(users, one.factors),
    }
    told = {}
    for name, order in orders.items():
        found = ranked(order, train, wanted, FIRST)
        told[name] = _mean(found.recall), _mean(found.ndcg)
    return told


def _mean(values: Array) -> Interval:
    mean = float(values.mean())
    half = 1.96 * float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 1.0
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)
