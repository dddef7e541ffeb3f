"""Is there an order in which neighbours are alike? The rows and columns of the table drawn, reordered.

statistic  smoothness, 1 - roughness: by how much less neighbours differ than two at random do
chance     the same with every column shuffled on its own, ordered anew: noise looks smooth too once it is ordered
unseen     rows ordered by some of the columns, compared in the others; columns ordered on some of the rows, likewise;
           no interval, since folds of columns differ because columns do
p of rows  Student's t of one more draw: roughness is a mean over many neighbours, nearly normal from one shuffle to the
           next, or skewed to the safe side; of columns, which may be three, their rank among the draws
looks      two, of rows and of columns: every p counts twice; two columns have one order only, which is not looked at
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.table import FirstLook
from assay.asking.telling import Telling, counting, untold
from assay.data.folds import fold_numbers
from assay.data.hot_deck import stood_in
from assay.engine.local import in_threads
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.noise.fold_error import fold_error
from assay.linalg.noise.monte_carlo import monte_carlo, rank_p, student_p
from assay.linalg.one_thread import one_blas_thread
from assay.models.embedding.stringing import reorder, roughness
from assay.questions.stringing.answer import AXES, Axis, ReorderedAxis, ReorderedTable
from assay.views.axes.drawn import drawn_columns, drawn_rows

KINDS = ("number", "count", "ordered", "boolean")  # where the distance of two values means something
FAR = 3.0  # standard deviations beyond which values are drawn alike, and so are compared alike
FEWEST_ROWS = 10
FEWEST_COLUMNS = 2
DRAWS: dict[Axis, int] = {"rows": 39, "columns": 99}
FEWEST_DRAWS = 19
HOPELESS = 0.2  # p after as many draws, beyond which the rest are not made
METHOD = "the same with every column shuffled on its own"
_FOLDS = 5


def fit_columns(look: FirstLook) -> Indices:
    """Numbers of the columns that can be compared: of a kind that has distances, with a known spread."""
    known = (look.scale > 0) & (look.scale < np.inf) & np.isfinite(look.centre)
    return np.array([j for j, kind in enumerate(look.kinds) if kind in KINDS and known[j]], dtype=np.intp)


def reordered_table(
    look: FirstLook,
    *,
    design_of: Callable[[Indices], Design] | None = None,
    level: float = 0.05,
    seed: int = 0,
    times: int = 1,
    progress: Telling | None = None,
) -> ReorderedTable | None:
    """String the cells that are drawn; None for fewer than 10 rows or 2 columns that vary.

    Values are compared as they are drawn: in standard deviations from the mean of their column, no farther than three.
    For the order only, a value of another row stands in for a missing one: it knows nothing of other columns, as the
    mean would where columns are missing in the same rows. Columns that lack more than half of their values stay out.

    Args:
        look: the sample.
        design_of: how rows of such numbers, from 0, depend on each other; independent if not given.
        level: level of the study.
        seed: of the shuffles that say what chance gives.
        times: how many times as many shuffles as usual.
        progress: told what is being done.
    """
    rows = drawn_rows(len(look.rows))
    fit = np.intersect1d(drawn_columns(look.values, look.columns, look.kinds), fit_columns(look))
    values = look.values[np.ix_(rows, fit)]
    with np.errstate(all="ignore"):  # what overflows is far
        z = (values - look.centre[fit]) / look.scale[fit]
    known = 2 * np.isnan(values).sum(axis=0) <= len(rows)
    z = np.clip(np.nan_to_num(z, nan=np.nan, posinf=FAR, neginf=-FAR), -FAR, FAR)
    z = stood_in(z, np.arange(len(fit)), np.zeros(len(fit)), np.random.default_rng((seed, len(AXES))))
    kept = np.flatnonzero(known & (np.ptp(z, axis=0) > 0)) if len(rows) else np.empty(0, dtype=np.intp)
    if len(rows) < FEWEST_ROWS or len(kept) < FEWEST_COLUMNS:
        return None
    z = z[:, kept]
    tell = progress or untold
    design = Independent(len(rows)) if design_of is None else design_of(look.rows[rows] - 1)
    looks = len(AXES) if len(kept) > 2 else 1
    with one_blas_thread():  # draws run in threads of their own, which those of BLAS only hinder
        string = partial(_reordered, z, looks=looks, design=design, level=level, seed=seed, times=times, tell=tell)
        by_row = string("rows")
        by_column = string("columns") if looks == 2 else _one_order(len(z))
    u = z[by_row.order][:, by_column.order]
    u = (u - u.mean(axis=0)) / u.std(axis=0)
    place = np.arange(len(u)) - (len(u) - 1) / 2
    return ReorderedTable(
        look=look,
        rows=rows[by_row.order],
        columns=fit[kept][by_column.order],
        by_row=by_row,
        by_column=by_column,
        with_previous=np.append(np.nan, (u[:, 1:] * u[:, :-1]).mean(axis=0)),
        with_rows=place @ u / len(u) / place.std(),
    )


def _one_order(n: int) -> ReorderedAxis:
    """Of two columns, as they came: not tested."""
    return ReorderedAxis(np.arange(2), 1.0, np.ones(1), Evidence(statistic=0.0, n=n), False)


def _reordered(
    z: Array,
    axis: Axis,
    *,
    looks: int,
    design: Design,
    level: float,
    seed: int,
    times: int,
    tell: Telling,
) -> ReorderedAxis:
    tell(f"putting the {axis} in order")
    found = _order(z, axis)
    chance = _by_chance(z, axis, design, found.roughness, seed, times, tell)
    p = _p(found.roughness, chance, axis)
    tail = " with a Student tail" if _tail_p(found.roughness, chance, axis) is not None else ""
    unseen = _unseen(z, axis, design, seed)
    held_out, error = float(unseen.mean()), float(fold_error(unseen))
    q, holds = min(looks * p, 1.0), held_out - error > 0.0
    evidence = Evidence(
        statistic=1.0 - found.roughness,
        null=Null(METHOD, 1.0 - float(np.median(chance)), 1.0 - float(np.quantile(chance, level)), len(chance)),
        p=p,
        q=q,
        held_out=held_out,
        n=len(z),
        looks=looks,
        method=f"{METHOD}, {len(chance)} draws{tail}",
        verdict=verdict_of(q, effect_holds=holds, level=level),
        limit=design.limit,
    )
    return ReorderedAxis(found.order, found.roughness, chance, evidence, holds)


def _order(z: Array, axis: Axis) -> Any:
    return reorder(z, axis=axis, scale=False, draws=0)


def _by_chance(z: Array, axis: Axis, design: Design, ours: float, seed: int, times: int, tell: Telling) -> Array:
    """Roughness of shuffled columns; fewer of them where it is soon clear that chance does as well."""
    draws = times * (DRAWS[axis] + 1) - 1
    seeds = np.random.default_rng((seed, AXES.index(axis))).integers(2**63, size=draws)

    def draw(own: int) -> float:
        rng = np.random.default_rng(own)
        orders = np.stack([design.drawn(rng) for _ in range(z.shape[1])], axis=1)
        return float(_order(np.take_along_axis(z, orders, axis=0), axis).roughness)

    made = counting(tell, f"what chance does to the {axis}", draws)
    drawn = monte_carlo(
        seeds.tolist(),
        lambda some: in_threads(draw, some, made),
        (FEWEST_DRAWS, draws - FEWEST_DRAWS),
        clear=lambda rough: _p(ours, np.array(rough), axis) > HOPELESS,
    )
    return np.array(drawn.values)


def _p(ours: float, chance: Array, axis: Axis) -> float:
    by_rank = rank_p(int((chance <= ours).sum()), len(chance))
    by_tail = _tail_p(ours, chance, axis)
    return by_rank if by_tail is None else by_tail


def _tail_p(ours: float, chance: Array, axis: Axis) -> float | None:
    return student_p(-ours, -chance) if axis == "rows" else None


def _unseen(z: Array, axis: Axis, design: Design, seed: int) -> Array:
    """(folds,) smoothness of an order in the columns, for rows, or the rows, for columns, that it was not made of."""
    by = z if axis == "columns" else z.T  # what is divided comes first
    k = min(_FOLDS, len(by))
    fold = design.folds(k, seed) if axis == "columns" else fold_numbers(0, len(by), k, seed)
    smooth = []
    for k in range(int(fold.max()) + 1):
        used, other = by[fold != k], by[fold == k]
        order = _order(used if axis == "columns" else used.T, axis).order
        smooth.append(1.0 - roughness(other.T[order]))
    return np.array(smooth)
