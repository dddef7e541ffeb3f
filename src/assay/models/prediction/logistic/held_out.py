"""The penalty of a logistic regression chosen on held-out rows.

train     all rows but a fold: taken out where they are in memory, of weight 0 where they are read in passes
path      penalties from the largest down, each begun at the solution before, in one set of coordinates
judged    mean of - log p_class(i)(x_i) over rows that had no part in the fit
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax

from assay.arrays import Array, Indices
from assay.data.folds import fold_numbers
from assay.data.held_out_folds import folds_of
from assay.engine.current import map_reduce
from assay.errors import DataError
from assay.linalg.noise.fold_error import fold_error
from assay.linalg.regression.ridge_path import usual_penalties
from assay.models.prediction.logistic.inference import coefficients
from assay.models.prediction.logistic.rows import Blocks, LogisticRows, Part, measured
from assay.models.prediction.logistic.solve import solve_path

_TRIED = 19  # penalties, half a power of ten apart
_NEAR = 1e-4  # gradient for each unit of weight that is near enough to be judged by, as in scikit-learn


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPenalties:
    """How penalties do on rows that had no part in the fit.

    Attributes:
        penalties: (k,) descending.
        loss: (k,) mean log loss, each row judged by the fit without its fold.
        std_error: (k,) of that, from the spread between folds, widened for the overlap of their training rows.
    """

    penalties: Array
    loss: Array
    std_error: Array

    @property
    def best(self) -> float:
        """The penalty of the least loss; of equal ones the largest."""
        return float(self.penalties[int(np.argmin(self.loss))])


def class_folds(cv: Any, codes: Indices, seed: int) -> NDArray[np.intp]:
    """(n,) the fold of each row; where cv is a number, each class is spread over the folds as evenly as it can be."""
    number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if cv is not None and not number:
        return folds_of(cv, len(codes), codes, seed, "a number for penalty")
    k = 5 if cv is None else int(cv)
    if len(codes) < k:
        raise DataError(f"{k} folds need as many rows; there are {len(codes)}: set cv or a number for penalty")
    folds = np.empty(len(codes), dtype=np.intp)
    for c, size in enumerate(np.bincount(codes)):
        folds[codes == c] = fold_numbers(0, int(size), k, seed + c)
    return folds


def usual(blocks: Blocks, *, intercept: bool, names: tuple[str, ...] | None) -> Array:
    """Penalties to choose from, descending: a millionth to a thousand times the most curvature a column can have."""
    design, spread, n = measured(blocks, intercept, True, names)
    width = spread if design.scale is None else spread / design.scale
    return usual_penalties(0.25 * n * float(width @ width), len(width), _TRIED)[::-1].copy()


def judge(
    part_of: Callable[[NDArray[np.bool_]], tuple[Blocks, Indices, Array | None]],
    folds: NDArray[np.intp],
    classes: NDArray[Any],
    penalties: Array,
    *,
    intercept: bool,
    names: tuple[str, ...] | None,
    **options: Any,
) -> JudgedPenalties:
    """Fit all rows but each fold for every penalty, and judge the fold.

    Args:
        part_of: from a mask of rows to their blocks, classes and weights.
        folds: (n,) the fold of each row, counted from 0.
        classes: (g,) names of the classes.
        penalties: (k,) descending, in proportion to the weights.
        intercept: whether there is one.
        names: of the columns, for messages.
        options: of `solve_path`.
    """
    losses, weights = [], []
    for fold in range(int(folds.max()) + 1):
        blocks, codes, w = part_of(folds != fold)
        sizes = np.bincount(codes, w, len(classes))
        if not (sizes > 0.0).all():
            missing = classes.tolist()[int(np.argmin(sizes > 0.0))]
            raise DataError(
                f"without fold {fold} no row of class {missing!r} is left to learn from: set cv to other or fewer "
                "folds, or penalty to a number"
            )
        rows = LogisticRows.of(
            blocks, codes, w, len(classes), intercept=intercept, penalty=float(penalties[-1]), names=names
        )
        found = [coefficients(rows, solution) for solution in solve_path(rows, penalties, near=_NEAR, **options)]
        test, codes, w = part_of(folds == fold)
        weights.append(float(len(codes)) if w is None else float(w.sum()))
        losses.append(_losses(test, found))
    total = np.array(weights)
    if len(total) < 2 or (total <= 0.0).any():
        raise DataError(f"there must be at least 2 folds, each with rows of some weight; got weights {total}")
    each = np.stack(losses)
    return JudgedPenalties(penalties, each.sum(axis=0) / total.sum(), fold_error(each / total[:, None]))


def _losses(blocks: Blocks, found: list[tuple[Array, Array]]) -> Array:
    """(k,) sums of log losses of k fits, in one pass."""

    def of_block(part: Part) -> Array:
        _, rows, codes, weights = part
        own = codes.astype(np.intp)
        told = np.empty(len(found))
        for k, (coef, intercept) in enumerate(found):
            scores = np.asarray(rows @ coef.T + intercept)
            if scores.shape[1] == 1:
                right = log_expit(np.where(own == 1, scores[:, 0], -scores[:, 0]))
            else:
                right = log_softmax(scores, axis=1)[np.arange(len(own)), own]
            told[k] = -right.sum() if weights is None else -(weights @ right)
        return told

    return map_reduce(blocks, of_block, np.add)
