"""Which axes of columns that come in groups exceed chance: by permuted columns with rows, by laws without.

Columns are uncorrelated within their group and have variance 1: levels of one category, columns of one set. Chance
makes groups independent but for the k axes found before. With rows Y (n, r), scores F = Y V of these and E what F does
not explain of Y by least squares,

    draw   Y* = (Y - E) + E*, rows of E permuted, those of each group together; made uncorrelated within groups again
    p      how often eigenvalue k + 1 of its correlations reaches that of the data

which for the first axis is exact: permuted columns. Without rows its chance is drawn from the counts of levels, which
is the same permutation, where some pair of levels is too rare for normal laws; else, as that of later axes, from
`summary.grouped_law`. The first axis that falls ends the chain.

Reference: Freedman and Lane, A nonstochastic interpretation of reported significance levels, 1983.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.errors import ParameterError
from assay.linalg.monte_carlo import Drawn, monte_carlo
from assay.linalg.permuted import PermutationPlan, permutation_plan
from assay.models.base import Array
from assay.summary.grouped_law import GroupedLaw, apart, grouped_law, sharing

_MOST_TESTED = 20
_DRAWS = 199
_FEW = 5.0  # rows expected in a cell below which a chi-square is not near its law (Cochran)


@dataclass(frozen=True, slots=True, eq=False)
class AxisChance:
    """Which axes are larger than independent columns would give.

    Attributes:
        p_values: (t,) of the axes tested, one after the other until the first that falls: the chance of one as large,
            given those before; never decreasing.
        upper: (t,) variance that chance exceeds with probability alpha.
        n_real: leading axes with p <= alpha.
        draws: (t,) how many were made.
        method: how chance was drawn.
    """

    p_values: Array
    upper: Array
    n_real: int
    draws: tuple[int, ...]
    method: str


class Margin(NamedTuple):
    """A category by its counts: (l,) rows in each level, and (l, r) what each level is in the columns `at`, (r,)."""

    counts: NDArray[np.intp]
    values: Array
    at: NDArray[np.intp]


def axis_chance(
    values: Array,
    vectors: Array,
    groups: NDArray[np.intp],
    n: int,
    *,
    rows: Array | None,
    margins: Sequence[Margin] = (),
    seed: int,
    alpha: float,
) -> AxisChance:
    """Test axes one after the other.

    Args:
        values: (m,) their variances, descending.
        vectors: (r, m) the axes.
        groups: (r,) label of each column.
        n: rows fitted.
        rows: (n, r) the rows themselves, where they are at hand.
        margins: of groups that are categories.
        seed: of the draws.
        alpha: level of each step.
    """
    if not 1.0 / (1 + _DRAWS) <= alpha < 1.0:
        raise ParameterError(f"alpha is from 0.005, which 199 draws can reach, to below 1; got {alpha}")
    if len(np.unique(groups)) < 2:  # nothing that one could share with another
        return AxisChance(np.empty(0), np.empty(0), 0, (), "there is only one column")
    rng = np.random.default_rng(seed)
    plan = permutation_plan(n, len(groups))
    if rows is not None and (1 + plan.draws) * alpha >= 1.0:
        if len(rows) != n:
            raise ParameterError(f"chance is drawn from the {n} rows that were fitted; got {len(rows)}")
        law = _by_rows(values, vectors, groups, rows, rng, alpha, plan)
        return AxisChance(law.p_values, law.upper, law.n_real, law.draws, "columns permuted behind the axes before")
    first = None
    if _rare(margins, n) and (1 + plan.draws) * alpha >= 1.0:
        first = _by_counts(float(values[0]), margins, len(groups), n, rng, alpha, plan.draws)
    if first is not None and not first.n_real:
        law = first
    else:
        law = grouped_law(values, vectors, groups, n, rng=rng, alpha=alpha, max_components=_MOST_TESTED)
    if first is not None and first.n_real:
        law = _after(first, law, alpha)
    how = "normal columns, uncorrelated within each group"
    how = how if first is None else f"levels drawn by their counts; later axes by {how}"
    return AxisChance(law.p_values, law.upper, law.n_real, law.draws, how)


def _by_rows(
    values: Array,
    vectors: Array,
    groups: NDArray[np.intp],
    rows: Array,
    rng: np.random.Generator,
    alpha: float,
    plan: PermutationPlan,
) -> GroupedLaw:
    """Axes beside those of permuted rows, until the first that falls."""
    members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    n = len(rows)
    p, upper, draws = [], [], []
    for k in range(min(sharing(values), len(groups) - max(map(len, members)), n - 2, plan.components)):
        Q, _ = np.linalg.qr(rows @ vectors[:, :k])
        fitted = Q @ (Q.T @ rows)
        drawn = _drawn(
            lambda: float(np.linalg.eigvalsh(_permuted(fitted, rows, members, rng))[-1 - k]),  # noqa: B023
            float(values[k]),
            alpha,
            plan.draws,
        )
        p.append(drawn.p)
        upper.append(float(np.quantile(drawn.values, 1.0 - alpha, method="higher")))
        draws.append(len(drawn.values))
        if drawn.p > alpha:
            break
    running = np.maximum.accumulate(np.array(p)) if p else np.empty(0)
    return GroupedLaw(running, np.array(upper), int((running <= alpha).sum()), tuple(draws))


def _permuted(fitted: Array, rows: Array, members: list[NDArray[np.intp]], rng: np.random.Generator) -> Array:
    """Correlations between groups of rows whose unexplained parts were permuted, those of each group together."""
    Y = fitted.copy()
    for group in members:
        Y[:, group] += (rows[:, group] - fitted[:, group])[rng.permutation(len(rows))]
    Y -= Y.mean(axis=0)
    return apart(Y.T @ Y / len(Y), members)


def _drawn(draw: Callable[[], float], value: float, alpha: float, n_max: int) -> Drawn[float]:
    """Draws until n_max, or until p cannot fall to alpha."""
    return monte_carlo(
        range(n_max),
        lambda some: [draw() for _ in some],
        [1] * n_max,
        reaches=lambda found: found >= value * (1.0 - 1e-9),
        enough=int(alpha * (1 + n_max)),
    )


def _rare(margins: Sequence[Margin], n: int) -> bool:
    """Whether some pair of levels of two categories is expected in few rows."""
    rarest = sorted(int(margin.counts.min()) for margin in margins)
    return len(rarest) > 1 and rarest[0] * rarest[1] / n < _FEW


def _by_counts(
    value: float, margins: Sequence[Margin], r: int, n: int, rng: np.random.Generator, alpha: float, n_max: int
) -> GroupedLaw:
    """The first axis beside those of rows drawn anew: levels by their counts, numbers normal."""
    codes = [np.repeat(np.arange(len(margin.counts)), margin.counts) for margin in margins]
    free = np.setdiff1d(np.arange(r), np.concatenate([margin.at for margin in margins]))

    def top() -> float:
        Y = np.empty((n, r))
        x = rng.standard_normal((n, len(free)))
        Y[:, free] = (x - x.mean(axis=0)) / x.std(axis=0)
        for margin, code in zip(margins, codes, strict=True):
            Y[:, margin.at] = margin.values[rng.permutation(code)]
        return float(np.linalg.eigvalsh(Y.T @ Y / n)[-1])

    drawn = _drawn(top, value, alpha, n_max)
    upper = float(np.quantile(drawn.values, 1.0 - alpha, method="higher"))
    return GroupedLaw(np.array([drawn.p]), np.array([upper]), int(drawn.p <= alpha), (len(drawn.values),))


def _after(first: GroupedLaw, law: GroupedLaw, alpha: float) -> GroupedLaw:
    """The chain that begins with another law for the first axis, which rejected."""
    if not law.n_real:  # the other law ended at the first axis: later ones were not looked at
        return first
    p = np.maximum.accumulate(np.append(first.p_values, law.p_values[1:]))
    upper = np.append(first.upper, law.upper[1:])
    return GroupedLaw(p, upper, int((p <= alpha).sum()), (*first.draws, *law.draws[1:]))
