"""Forward selection on moments: which few columns predict a target, and how well does the whole search do?

    step       the column that lowers the squared error most joins those chosen
    solver     C = F F^T on chosen columns, F (d, k) a column at a time (Cholesky): O(d k) a step, no pass over data
    held out   for each fold the search is done anew on the other folds; its predictions, after each step, are judged on
               the fold by the fold's moments

Choosing columns and judging them on the same rows makes any noise look useful; the held-out error is that of the whole
procedure, search included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from assay.arrays import Array
from assay.errors import ParameterError
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.regression.regression import Equations, FoldErrors, refuse_empty, target_last

Rule: TypeAlias = Literal["least", "one-standard-error"]

_FLAT = 1e-12  # a share of a column's variance at most this is rounding: the column follows from those chosen


@dataclass(frozen=True, slots=True, eq=False)
class ForwardSelection:
    """Columns in the order in which they were chosen, and what each step was worth.

    Attributes:
        order: (k,) positions of the columns in the summary.
        names: (k,) their names, or None where the summary has none.
        r_squared: (k,) share of the target's variance explained after each step, on the rows of the search.
        error: (k,) sum of squared errors after each step, on the rows of the search.
        held_out_error: (k + 1,) mean squared error on rows that had no part in the search, with 0 to k columns; None
            without folds.
        held_out_std_error: (k + 1,) of that; None without folds.
        n_chosen: how many columns the held-out error asks for; None without folds.
        fold_orders: (folds, k) what was chosen without each fold, -1 where the search ended; None without folds.

    The least held-out error was itself chosen, among k + 1: it flatters a little.
    """

    order: NDArray[np.intp]
    names: tuple[str, ...] | None
    r_squared: Array
    error: Array
    held_out_error: Array | None = None
    held_out_std_error: Array | None = None
    n_chosen: int | None = None
    fold_orders: NDArray[np.intp] | None = None

    @property
    def chosen(self) -> NDArray[np.intp]:
        """Positions of the columns that the held-out error asks for; all found without folds."""
        return self.order[: self.n_chosen]


def forward_selection(
    moments: Moments | GroupedMoments,
    target: int | str,
    *,
    n_features: int | None = None,
    rule: Rule = "least",
) -> ForwardSelection:
    """Choose columns one by one, each the one that lowers the squared error of the target most.

    Args:
        moments: of all columns, the target among them. From `GroupedMoments`, as `GroupedMoments.folds` gives, the
            groups are the folds that judge the search.
        target: name or number of the column to be predicted.
        n_features: how many to choose at most; default: until nothing is left to explain or no column adds anything.
        rule: how many of them to take: those of the "least" held-out error, or the fewest within
            "one-standard-error" of it.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = 3 * X[:, 4] - X[:, 1] + rng.standard_normal(200)
    >>> found = forward_selection(GroupedMoments.folds(np.column_stack([X, y]), 5), target=6)
    >>> found.chosen, found.r_squared.round(3)
    (array([4, 1]), array([0.82 , 0.899, 0.904, 0.904, 0.905, 0.905]))

    Reference: Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, sections 3.3 and 7.10.
    """
    if not isinstance(target, (int, str, np.integer)):
        raise ParameterError(f"forward selection has one target, by name or number; got {target!r}")
    if rule not in ("least", "one-standard-error"):
        raise ParameterError(f"rule is 'least' or 'one-standard-error'; got {rule!r}")
    folds = moments if isinstance(moments, GroupedMoments) and len(moments) > 1 else None
    whole = moments.total if isinstance(moments, GroupedMoments) else moments
    ordered, columns = target_last(whole, target)
    most = _most(n_features, len(columns), ordered.count)
    path = _search(ordered, most)
    total = float(ordered.scatter[-1, -1])
    order = columns[path.order]
    names = None if whole.columns is None else tuple(whole.columns[j] for j in order)
    found = ForwardSelection(order, names, 1.0 - path.rest, path.rest * total)
    return found if folds is None else _judged(found, folds, target, most, rule)


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """order (k,), rest (k,) share of the target left after each step, coef (k, k): row m of m + 1 columns."""

    order: NDArray[np.intp]
    rest: Array
    coef: Array


def _search(moments: Moments, most: int) -> _Path:
    """Greedy search; the target is the last column."""
    length = np.sqrt(np.diag(moments.scatter))
    unit = np.where(length > 0.0, length, 1.0)
    C = moments.scatter / unit / unit[:, None]
    left, pull, rest = np.diag(C)[:-1].copy(), C[:-1, -1].copy(), float(C[-1, -1])
    factor, along = np.zeros((len(left), most)), np.zeros(most)
    order: list[int] = []
    rests: list[float] = []
    while len(order) < most and rest > _FLAT:
        gain = np.divide(pull**2, left, out=np.full_like(left, -1.0), where=left > _FLAT)
        gain[order] = -1.0
        j, k = int(np.argmax(gain)), len(order)
        if gain[j] < 0.0:
            break
        root = np.sqrt(left[j])
        column = (C[:-1, j] - factor[:, :k] @ factor[j, :k]) / root
        factor[:, k], along[k] = column, pull[j] / root
        pull -= along[k] * column
        left -= column**2
        rest = max(rest - along[k] ** 2, 0.0)
        order.append(j)
        rests.append(rest)
    chosen = np.array(order, dtype=np.intp)
    k = len(chosen)
    # column m of the right side ends after m + 1 entries, and so does what solves it: every prefix in one solve
    ends = np.triu(np.tile(along[:k, None], k))
    coef = solve_triangular(factor[chosen, :k], ends, lower=True, trans="T").T if k else np.zeros((0, 0))
    return _Path(chosen, np.array(rests), coef * length[-1] / unit[chosen])


def _judged(
    found: ForwardSelection, folds: GroupedMoments, target: int | str, most: int, rule: Rule
) -> ForwardSelection:
    refuse_empty(folds)
    k = len(found.order)
    orders = np.full((len(folds), k), -1, dtype=np.intp)
    errors, weights = np.empty((len(folds), k + 1)), np.empty(len(folds))
    for i, (train, test) in enumerate(folds.training()):
        ordered, columns = target_last(train, target)
        path = _search(ordered, min(most, k, train.count - 1))
        steps = len(path.order)
        orders[i, :steps] = columns[path.order]
        picked = np.append(path.order, len(columns))
        seen, unseen = ordered[picked], target_last(test, target)[0][picked]
        coef = np.vstack([np.zeros(steps), path.coef])[:, None, :]
        judged = Equations(unseen, steps, intercept=True).squared_errors(coef, seen.mean)[:, 0]
        errors[i] = np.append(judged, np.full(k - steps, judged[-1]))  # a search that ended keeps its prediction
        weights[i] = test.weight
    held = FoldErrors.of(errors, weights)
    best = int(np.argmin(held.error))
    if rule == "one-standard-error":
        best = int(np.flatnonzero(held.error <= held.error[best] + held.std_error[best])[0])
    return ForwardSelection(
        found.order, found.names, found.r_squared, found.error, held.error, held.std_error, best, orders
    )


def _most(n_features: int | None, d: int, count: int) -> int:
    if n_features is None:
        return min(d, max(count - 1, 0))
    if isinstance(n_features, bool) or not isinstance(n_features, (int, np.integer)) or not 1 <= n_features <= d:
        raise ParameterError(f"n_features is a number from 1 to {d}, the columns beside the target; got {n_features!r}")
    return min(int(n_features), max(count - 1, 0))
