"""Which axes of columns that come in groups exceed chance: by permuted columns with rows, by laws without.

Columns are uncorrelated within their group and have variance 1: levels of one category, columns of one set. Chance
makes groups independent but for what k axes found before share, L (r, k). With rows Y (n, r)

    draw   Y*_g = H L_g' + P_g Y_g (I - L_g L_g')^1/2 for each group g, H (n, k) standard normal, P_g a permutation of
           the rows; then made uncorrelated within groups again
    p      how often eigenvalue k + 1 of its correlations reaches that of the data

which for the first axis is exact: permuted columns. Without rows its chance is drawn from the counts of levels, which
is the same permutation, where some pair of levels is too rare for normal laws; else, as that of later axes, from
`summary.grouped_law`. The first axis that falls ends the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.errors import ParameterError
from assay.linalg.noise.permutation_test import PermutationPlan, permutation_plan
from assay.models.grouped_law import GroupedLaw, chained, drawn_until, grouped_law, own_part

_MOST_TESTED = 20
_DRAWS = 199
_FEW = 5.0  # rows expected in a cell below which a chi-square is not near its law (Cochran)


@dataclass(frozen=True, slots=True, eq=False)
class AxisChance:
    """Which axes are larger than independent columns would give.

    Attributes:
        p_values: (t,) of the axes tested, one after the other until the first that falls: the chance of one as large,
            given those before; never decreasing.
        upper: (t,) variance that chance exceeds with probability level.
        n_real: leading axes with p <= level.
        draws: (t,) how many were made.
        method: how chance was drawn.
    """

    p_values: Array
    upper: Array
    n_real: int
    draws: tuple[int, ...]
    method: str


class AxisMargin(NamedTuple):
    """A category by its counts: (l,) rows in each level, and (l, r) what each level is in the columns `at`, (r,)."""

    counts: NDArray[np.intp]
    values: Array
    at: NDArray[np.intp]


def axis_chance(
    R: Array,
    groups: NDArray[np.intp],
    n: int,
    *,
    rows: Array | None,
    margins: Sequence[AxisMargin] = (),
    seed: int,
    level: float,
) -> AxisChance:
    """Test axes one after the other.

    Args:
        R: (r, r) correlations of the columns, with identity blocks within groups.
        groups: (r,) label of each column.
        n: rows fitted.
        rows: (n, r) the rows themselves, where they are at hand.
        margins: of groups that are categories.
        seed: of the draws.
        level: level of each step.
    """
    if not 1.0 / (1 + _DRAWS) <= level < 1.0:
        raise ParameterError(f"level is from 0.005, which 199 draws can reach, to below 1; got {level}")
    if len(np.unique(groups)) < 2:  # nothing that one could share with another
        return AxisChance(np.empty(0), np.empty(0), 0, (), "there is only one column")
    rng = np.random.default_rng(seed)
    plan = permutation_plan(n, len(groups))
    if rows is not None and (1 + plan.draws) * level >= 1.0:
        if len(rows) != n:
            raise ParameterError(f"chance is drawn from the {n} rows that were fitted; got {len(rows)}")
        law = _by_rows(R, groups, rows, rng, level, plan)
        return AxisChance(law.p_values, law.upper, law.n_real, law.draws, "columns permuted behind the axes before")
    how = "normal columns, uncorrelated within each group"
    first = None
    if _rare(margins, n) and (1 + plan.draws) * level >= 1.0:
        first = _by_counts(float(np.linalg.eigvalsh(R)[-1]), margins, len(groups), n, rng, level, plan.draws)
        how = f"levels drawn by their counts; later axes by {how}"
        if not first.n_real:
            return AxisChance(first.p_values, first.upper, 0, first.draws, how)
    law = grouped_law(R, groups, n, rng=rng, level=level, max_components=_MOST_TESTED)
    law = law if first is None else _after(first, law, level)
    return AxisChance(law.p_values, law.upper, law.n_real, law.draws, how)


def _by_rows(
    R: Array, groups: NDArray[np.intp], rows: Array, rng: np.random.Generator, level: float, plan: PermutationPlan
) -> GroupedLaw:
    """Axes beside those of permuted rows, until the first that falls."""
    n = len(rows)

    def drawing(L: Array, members: list[NDArray[np.intp]]) -> Callable[[], Array]:
        parts = [(group, rows[:, group] @ own_part(L[group]) if L.shape[1] else rows[:, group]) for group in members]

        def draw() -> Array:
            Y = rng.standard_normal((n, L.shape[1])) @ L.T
            for group, own in parts:
                Y[:, group] += own[rng.permutation(n)]
            Y -= Y.mean(axis=0)
            return np.asarray(Y.T @ Y)

        return draw

    return chained(R, groups, n, drawing, level=level, n_max=plan.draws, max_components=plan.components)


def _rare(margins: Sequence[AxisMargin], n: int) -> bool:
    """Whether some pair of levels of two categories is expected in few rows."""
    rarest = sorted(int(margin.counts.min()) for margin in margins)
    return len(rarest) > 1 and rarest[0] * rarest[1] / n < _FEW


def _by_counts(
    value: float, margins: Sequence[AxisMargin], r: int, n: int, rng: np.random.Generator, level: float, n_max: int
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

    drawn = drawn_until(top, value, level, n_max)
    upper = float(np.quantile(drawn.values, 1.0 - level, method="higher"))
    return GroupedLaw(np.array([drawn.p]), np.array([upper]), int(drawn.p <= level), (len(drawn.values),))


def _after(first: GroupedLaw, law: GroupedLaw, level: float) -> GroupedLaw:
    """The chain that begins with another law for the first axis, which rejected."""
    if not law.n_real:  # the other law ended at the first axis: later ones were not looked at
        return first
    p = np.maximum.accumulate(np.append(first.p_values, law.p_values[1:]))
    upper = np.append(first.upper, law.upper[1:])
    return GroupedLaw(p, upper, int((p <= level).sum()), (*first.draws, *law.draws[1:]))
