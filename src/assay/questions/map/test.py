"""Does a map of the rows show more than chance? Neighbourhoods kept, against maps of shuffled columns.

statistic  share of the k nearest rows of a row in the data, (n, d), that are its k nearest on the map, (n, 2): the mean
chance     the same map of the same columns, each shuffled on its own; columns of one group are shuffled together
unseen     rows kept out and then placed on a map of the others: the share they keep of their k nearest among those

Rows of independent columns are exchangeable with their shuffles, and the mean over rows is nearly normal from one
shuffle to the next; so one more draw, which the data are if chance made them, follows Student's t about the others.
Where a few draws make clear that chance does as well, the rest are not made, and no rows are kept out. Where their p
is near the level more are made: the spread of nine maps is known to a quarter, so another seed could say otherwise.
A map always looks like something; what it shows is worth reading where it keeps more neighbours than that.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import stdtrit

from assay.arrays import Array, Indices
from assay.asking.telling import Telling, counting, untold
from assay.engine.local import in_threads
from assay.errors import NotConverged
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.eigen.grouped_columns import grouped_columns
from assay.linalg.noise.monte_carlo import monte_carlo, student_p
from assay.models.row_maps import TSNE, map_method, map_model
from assay.questions.map.answer import RowMap
from assay.summary.distances.distances import squared_distances

FITTED = 600  # rows a map is made of; others are placed on it
FEWEST_ROWS = 40
FEWEST_COLUMNS = 3  # two columns are a map already
DRAWS = 9
FEWEST_DRAWS = 5
MOST_DRAWS = 39  # where p is near the level
_LABELS = 20_000  # of very many columns those in use are few, and each label would be drawn an order for
NEAR = 0.1, 3.0  # times the level: where p is near, as the other questions may cost it much
HOPELESS = 0.25  # p after as many draws, beyond which the rest are not made
METHOD = "of the same columns, each shuffled on its own"


def row_map(
    rows: Array,
    numbers: Indices,
    *,
    groups: Indices,
    design: Design | None = None,
    level: float = 0.05,
    seed: int = 0,
    draws: int = DRAWS,
    most: int = MOST_DRAWS,
    method: str = TSNE,
    progress: Telling | None = None,
) -> RowMap | None:
    """Draw a map of rows and say whether it shows more than chance; None for too few rows or columns.

    Args:
        rows: (m, D) the rows to draw.
        numbers: (m,) their numbers in the data.
        groups: (D,) labels of columns that belong together by making, such as the indicators of one category.
        design: how rows depend on each other; independent if not given.
        level: chance of supporting a map of independent columns.
        seed: of the shuffles and of the rows kept out.
        draws: shuffles, unless fewer make clear that chance does as well.
        most: shuffles where p is near the level after those.
        method: how maps are drawn, a name of `models.row_maps`.
        progress: told what is being done.
    """
    Z, groups = _standardised(rows, groups)
    if len(groups) and groups.max() >= _LABELS:
        groups = np.unique(groups, return_inverse=True)[1]
    if len(Z) < FEWEST_ROWS or len(np.unique(groups)) < FEWEST_COLUMNS:
        return None
    with warnings.catch_warnings():
        # every map of the comparison ends after as many steps; none has to be a minimum
        warnings.simplefilter("ignore", NotConverged)
        design = design or Independent(len(Z))
        found = _judged_map(Z, groups, numbers, design, level, seed, (draws, most), method, progress or untold)
        return replace(found, evidence=replace(found.evidence, limit=design.limit))


def _judged_map(
    Z: Array,
    groups: Indices,
    numbers: Indices,
    design: Design,
    level: float,
    seed: int,
    draws: tuple[int, int],
    method: str,
    tell: Telling,
) -> RowMap:
    rng = np.random.default_rng(seed)
    fitted = np.sort(rng.permutation(len(Z))[:FITTED])
    others = np.setdiff1d(np.arange(len(Z)), fitted)
    k, perplexity = _scale(len(fitted))
    draw = _Maps(Z[fitted], groups, design.among(fitted), k, perplexity, seed, method)
    tell("drawing")
    drawn = draw.layout(draw.Z)
    kept = draw.kept(draw.Z, drawn)
    pools = draw.by_chance(float(kept.mean()), draws, level, rng, tell)
    chance = np.array([pool.mean() for pool in pools])
    p = student_p(float(kept.mean()), chance)
    found = draw.on_other_rows(drawn, rng, tell) if p is not None and p <= 2 * level else None
    places, every = np.empty((len(Z), 2)), np.empty(len(Z))
    places[fitted], every[fitted] = drawn.places, kept
    if len(others):
        tell("placing the other rows")
        places[others], every[others] = draw.placed(drawn, draw.Z, Z[others])
    return RowMap(
        rows=numbers,
        coordinates=places,
        kept=every,
        standing=_standing(every, np.sort(np.concatenate(pools))),
        chance=chance,
        k=k,
        perplexity=perplexity if method == TSNE else np.nan,
        evidence=_evidence(kept, chance, found, p, level, map_method(method).words),
        holds=found is not None and found.holds,
        method=method,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _OtherRows:
    """How rows do that the map was not made of.

    Attributes:
        kept: share of their neighbours kept by rows that were left out and then placed, and its standard error.
        by_chance: the same on a shuffled map.
        alike: share of neighbours on the map that a map from another start has, too; None where there is one start.
    """

    kept: float
    error: float
    by_chance: float
    alike: float | None

    @property
    def holds(self) -> bool:
        return self.kept - self.error > self.by_chance


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """A map.

    Attributes:
        model: that drew it.
        places: (n, 2) of its rows.
    """

    model: Any
    places: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Maps:
    """Maps of Z and of its shuffles, all made alike."""

    Z: Array
    groups: Indices
    design: Design
    k: int
    perplexity: float
    seed: int
    method: str = TSNE

    def shuffled(self, rng: np.random.Generator) -> Array:
        """The columns of each group moved on their own, as chance could have it."""
        lines = np.ascontiguousarray(self.Z.T)  # a column at a time is moved, which lies together here
        shuffled = np.empty_like(lines)
        places = np.argsort(self.groups, kind="stable")
        starts = np.searchsorted(self.groups[places], np.arange(int(self.groups.max()) + 2))
        for start, stop in itertools.pairwise(starts):
            order, columns = self.design.drawn(rng), places[start:stop]
            shuffled[columns] = lines[np.ix_(columns, order)]
        return np.ascontiguousarray(shuffled.T)

    def layout(self, Z: Array, start: Literal["usual", "another"] = "usual") -> _Drawn:
        """A map of Z, from the usual start or from another one."""
        seed, own = self.seed, {}
        if self.method == TSNE:
            own = {"perplexity": self.perplexity, "init": "pca" if start == "usual" else "random"}
        elif start == "another":
            seed += 1
        model = map_model(self.method, seed, **own)
        return _Drawn(model, _two(model.fit_transform(Z)))

    def kept(self, Z: Array, drawn: _Drawn) -> Array:
        return _shared(_neighbours(Z, self.k), _neighbours(drawn.places, self.k))

    def by_chance(
        self, found: float, draws: tuple[int, int], level: float, rng: np.random.Generator, tell: Telling
    ) -> list[Array]:
        """What rows keep on shuffled maps, one array for each: fewer where it is soon clear that they do as well, more
        where p is near the level.
        """
        usual, most = draws[0], max(draws)
        shuffles = (self.shuffled(rng) for _ in range(most))

        def draw(shuffled: Array) -> Array:
            return self.kept(shuffled, self.layout(shuffled))

        def clear(pools: list[Array]) -> bool:
            p = student_p(found, np.array([pool.mean() for pool in pools]))
            if p is None or p > HOPELESS:
                return True
            return len(pools) >= usual and not NEAR[0] * level < p < NEAR[1] * level

        return monte_carlo(
            shuffles,
            lambda some: in_threads(draw, some, counting(tell, "what chance does", len(some))),
            (FEWEST_DRAWS, usual - FEWEST_DRAWS, most - usual),
            clear=clear,
        ).values

    def on_other_rows(self, drawn: _Drawn, rng: np.random.Generator, tell: Telling) -> _OtherRows:
        tell("unseen rows")
        unseen = self.unseen(self.Z)
        tell("unseen rows, by chance")
        by_chance = self.unseen(self.shuffled(rng))
        error = float(unseen.std(ddof=1) / np.sqrt(len(unseen)))
        alike = None
        if map_method(self.method).starts:
            tell("another start")
            again = self.layout(self.Z, "another")
            shared = _shared(_neighbours(drawn.places, self.k), _neighbours(again.places, self.k))
            alike = float(shared.mean())
        return _OtherRows(float(unseen.mean()), error, float(by_chance.mean()), alike)

    def unseen(self, Z: Array) -> Array:
        """For each of a fifth of the rows, the share of its k nearest of the others that its place among them keeps."""
        out = self.design.folds(5, self.seed) == 0
        return self.placed(self.layout(Z[~out]), Z[~out], Z[out])[1]

    def placed(self, drawn: _Drawn, Z: Array, new: Array) -> tuple[Array, Array]:
        """Where new rows belong on a map of Z, and the share each keeps of its k nearest in Z."""
        places = _two(drawn.model.transform(new))
        return places, _shared(_neighbours(new, self.k, Z), _neighbours(places, self.k, drawn.places))


def _two(places: Any) -> Array:
    """(n, 2) places; where rows vary in one direction only, on a line."""
    found = np.asarray(places, dtype=np.float64)[:, :2]
    return found if found.shape[1] == 2 else np.hstack([found, np.zeros((len(found), 2 - found.shape[1]))])


def _standardised(rows: Array, groups: Indices) -> tuple[Array, Indices]:
    """Columns of unit variance, those of one group uncorrelated; what is constant in these rows is left out."""
    varying = rows.min(axis=0) < rows.max(axis=0)
    rows, groups = rows[:, varying], groups[varying]
    parts = grouped_columns(groups, lambda picked: np.cov(rows[:, picked], rowvar=False))
    if parts is not None:
        rows, groups = parts.apply(rows), parts.groups
    centred = rows - rows.mean(axis=0)
    return centred / rows.std(axis=0), groups


def _evidence(
    kept: Array, chance: Array, found: _OtherRows | None, p: float | None, level: float, words: str
) -> Evidence:
    by = f"{words} {METHOD}"
    spread = float(chance.std(ddof=1)) * np.sqrt(1 + 1 / len(chance))
    upper = float(chance.mean() + spread * -stdtrit(len(chance) - 1, level))
    reach = 1.96 * found.error if found is not None else 0.0
    return Evidence(
        statistic=float(kept.mean()),
        p=p,
        q=p,
        held_out=None if found is None else found.kept,
        interval=None if found is None else (max(found.kept - reach, 0.0), min(found.kept + reach, 1.0)),
        stability=None if found is None else found.alike,
        n=len(kept),
        method=f"{by}, {len(chance)} draws with a Student tail",
        verdict=verdict_of(p, effect_holds=found is not None and found.holds, level=level),
        null=Null(by, float(chance.mean()), upper),
    )


def _scale(m: int) -> tuple[int, float]:
    """How many neighbours are compared, and the perplexity: small beside the number of rows."""
    return int(np.clip(m // 10, 4, 10)), float(np.clip((m - 1) / 4, 5, 30))


def _neighbours(X: Array, k: int, among: Array | None = None) -> Indices:
    """(n, k) the nearest rows, in no order; so few rows need no search structure, and nothing compiled."""
    squares = squared_distances(X, among)
    if among is None:
        np.fill_diagonal(squares, np.inf)
    return np.argpartition(squares, k - 1, axis=1)[:, :k]


def _shared(a: Indices, b: Indices) -> Array:
    """(n,) share of the row numbers in each row of a that are in the same row of b."""
    return np.asarray((a[:, :, None] == b[:, None, :]).any(axis=2).mean(axis=1))


def _standing(kept: Array, pool: Array) -> Array:
    """Share of the sorted pool below each value, ties half."""
    below, up_to = np.searchsorted(pool, kept, "left"), np.searchsorted(pool, kept, "right")
    return np.asarray((below + up_to) / (2 * len(pool)))
