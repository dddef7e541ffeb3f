"""The maximum of the (penalised) likelihood of rows: in which coordinates, which way, from where, and what is known.

Fewer coordinates for the same problem, where rows are fewer than columns or columns depend on each other:

wide       Z^T = V T, orthonormal V (d, n): with w = V u the scores are T^T u and |w| = |u|
dependent  Z = Q R of rank r < d: scores Q u, and of all w with R w = u the shortest
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sla

from assay.arrays import Array
from assay.errors import ParameterError
from assay.models.prediction.logistic.ridged_loss import (
    Curvature,
    Evaluate,
    Optimum,
    Ridged,
    gradient_ascent,
    lbfgs,
    newton,
    newton_cg,
)
from assay.models.prediction.logistic.rows import LogisticRows, blocks_of
from assay.models.prediction.logistic.separation import separating_direction
from assay.models.prediction.logistic.terms import LogisticDesign

SOLVERS = ("auto", "newton", "lbfgs", "gradient")
_MOST_ITER = {"newton": 100, "newton-cg": 100, "lbfgs": 10_000, "gradient": 20_000}
_NEWTON = 1000  # parameters up to which the curvature is cheap beside the passes that it saves
_NEWTON_MANY = 400  # the same for many classes, whose passes cost the less beside it the more there are
_MANY = 8  # classes
_CURVED = 2000  # parameters up to which it is made at the end, for standard errors
_WIDE = 1500  # rows up to which wide data are turned into their own space
_SMALL = 1_000_000  # rows times parameters up to which a curvature costs nothing that counts
_CHEAP = 100_000  # the same for one of many fits
_HELD = 1 << 24  # numbers of a design that is held where it is evaluated very often: 128 MB
_FEW = 40  # rows of a sample for each parameter, below which it tells too little
_EPS = float(np.finfo(np.float64).eps)
_DOUBTFUL = 1e-9  # share of the largest eigenvalue of the Gram matrix below which a QR of the rows decides


@dataclass(frozen=True, slots=True, eq=False)
class LogisticSolution:
    """The maximum, in the coordinates of the reduced rows.

    Attributes:
        reduced: these coordinates.
        optimum: where the solver ended.
        route: which way was taken.
        separated: whether classes are separable; None where that was not shown.
        direction: (k, r) a separating direction; None without one.
    """

    reduced: Reduced
    optimum: Optimum
    route: str
    separated: bool | None
    direction: Array | None


def solve(
    rows: LogisticRows,
    penalty: float,
    *,
    solver: str,
    tol: float,
    max_iter: int | None,
    in_memory: bool,
    sparse: bool = False,
    start: Array | None = None,
) -> LogisticSolution:
    """Maximise the likelihood minus penalty / 2 times the squared coefficients.

    Args:
        rows: in units of their columns.
        penalty: in proportion to the weights of the rows.
        solver: "auto", "newton", "lbfgs" or "gradient".
        tol: largest entry of the gradient for each unit of weight.
        max_iter: most steps, or None for the solver's own limit.
        in_memory: whether the rows are dense and in memory.
        sparse: whether they are sparse and in memory.
        start: (k, m) where to begin, in the coordinates of the rows; not used where these are reduced.
    """
    reduced, way = _coordinates(rows, penalty, in_memory)
    small = reduced.rows
    p = int(np.prod(small.shape))
    if solver == "auto":
        solver = "newton" if p <= (_NEWTON if rows.classes <= _MANY else _NEWTON_MANY) else "lbfgs"
        if solver == "lbfgs" and sparse and penalty > 0.0:  # products with few entries cost less than twenty long steps
            solver = "newton-cg"
    if solver == "newton" and p > 10 * _NEWTON:
        raise ParameterError(f"solver 'newton' would need a curvature of {p} x {p}; use 'lbfgs' or 'auto'")
    allowed, most = tol * small.total, max_iter or _MOST_ITER[solver]
    known = start is not None and reduced.lift is None
    begin = start if start is not None and known else np.zeros(small.shape)
    if solver == "newton":
        begin, first, sampled = (begin, None, False) if known else _from_a_sample(small, begin)
        found = newton(small.terms, begin, small.ridge, first=first, tol=allowed, max_iter=most, **_thrift(small))
        way = ("from a sample, " if sampled else "") + way
    else:
        if solver == "newton-cg":
            found = newton_cg(small.terms, small.bend, begin, small.ridge, tol=allowed, max_iter=most)
        else:
            climb = lbfgs if solver == "lbfgs" else gradient_ascent
            found = climb(_terms(small, in_memory), begin, small.ridge, tol=allowed, max_iter=most)
        if p <= _CURVED:
            found = _with_curvature(small, found)
    way = ("from the last fit, " if known else "") + way
    separated, direction = _separated(small, found, penalty)
    return LogisticSolution(reduced, found, f"{solver}, {way}", separated, direction)


def solve_path(
    rows: LogisticRows, penalties: Array, *, solver: str, tol: float, max_iter: int | None, in_memory: bool, near: float
) -> Iterator[LogisticSolution]:
    """Maxima for penalties from the largest down, each begun at the one before, near enough to be judged by.

    Args:
        rows: in units of their columns at the least penalty.
        penalties: (k,) descending, above 0.
        solver, tol, max_iter, in_memory: as for `solve`.
        near: gradient for each unit of weight that will do, where it is above tol.
    """
    least = float(penalties[-1])
    reduced, way = _coordinates(rows, least, in_memory)
    small, p = reduced.rows, int(np.prod(reduced.rows.shape))
    if solver == "auto":
        solver = "newton" if p <= (_NEWTON if rows.classes <= _MANY else _NEWTON_MANY) else "lbfgs"
    allowed, most = max(tol, near) * small.total, max_iter or _MOST_ITER[solver]
    terms = _terms(small, in_memory)
    theta, before = np.zeros(small.shape), small.ridge
    bent: Array | None = None
    for penalty in penalties:
        ridge = small.ridge * (float(penalty) / least)
        if solver == "newton":
            thrift = _thrift(small, _CHEAP)
            # where a curvature is dear: that of the solution before, which only its penalty changes
            first = None if bent is None or not thrift["keep"] else bent + np.diag(np.tile(ridge - before, len(theta)))
            found = newton(terms, theta, ridge, first=first, tol=allowed, max_iter=most, **thrift)
            before, bent = ridge, found.curvature
        else:
            climb = lbfgs if solver == "lbfgs" else gradient_ascent
            found = climb(terms, theta, ridge, tol=allowed, max_iter=most)
        theta = found.theta
        yield LogisticSolution(
            replace(reduced, rows=replace(small, ridge=ridge)), found, f"{solver}, {way}", None, None
        )


def _terms(rows: LogisticRows, in_memory: bool) -> Evaluate:
    """What many evaluations are made by: of few rows in memory the design is held."""
    return rows.held_terms() if in_memory and rows.n * len(rows.basis) <= _HELD else rows.terms


def _coordinates(rows: LogisticRows, penalty: float, in_memory: bool) -> tuple[Reduced, str]:
    d = rows.shape[1] - rows.design.intercept
    wide = in_memory and rows.n < d and rows.n <= _WIDE and rows.design.scale is None
    reduced = _in_row_space(rows, penalty) if wide else Reduced(rows)
    way = "in the space of the rows" if wide else "columns"
    if penalty > 0.0 or int(np.prod(reduced.rows.shape)) > _CURVED:
        return reduced, way
    fewer = _independent(reduced.rows, in_memory=in_memory)
    if fewer.lift is None:
        lift = reduced.lift
    else:
        way = "independent columns"
        lift = fewer.lift if reduced.lift is None else reduced.lift @ fewer.lift
    return Reduced(fewer.rows, lift, fewer.rank, reduced.outside), way


def _thrift(rows: LogisticRows, small: int = _SMALL) -> dict[str, float]:
    """When Newton's method keeps a curvature: as long as it serves where it is dear, never where it costs nothing."""
    if rows.n * int(np.prod(rows.shape)) <= small:
        return {"keep": 0.0}
    # a decrement e moves scores by about 2 e / sqrt(total), and the curvature by that share
    return {"keep": 0.5, "settled": 1e-4 * np.sqrt(rows.total)}


def _from_a_sample(rows: LogisticRows, start: Array) -> tuple[Array, Array | None, bool]:
    """Where the optimum of a sample lies, found from a sample of it, and the curvature there."""
    stride = rows.sample_stride()
    codes, p = rows.codes[::stride], start.size
    if rows.weights is not None:
        codes = codes[rows.weights[::stride] > 0.0]
    if len(codes) < _FEW * p or np.bincount(codes, minlength=rows.classes).min() < rows.shape[1]:
        return start, None, False
    few = rows.sample(stride)
    # a hair of a ridge, for what a sample cannot tell
    few = replace(few, ridge=rows.ridge + 1e-6 * rows.total)
    start, first, _ = _from_a_sample(few, start)
    # its optimum differs from that of all rows by about 1 / sqrt(n) anyway
    allowed = 0.1 * rows.total / np.sqrt(few.n)
    found = newton(few.terms, start, few.ridge, first=first, tol=allowed, max_iter=30)
    return found.theta, found.curvature, True


def _with_curvature(rows: LogisticRows, found: Optimum) -> Optimum:
    return replace(found, curvature=Ridged(rows.terms, rows.ridge)(found.theta, True).curvature)


def _separated(rows: LogisticRows, found: Optimum, penalty: float) -> tuple[bool | None, Array | None]:
    """Whether a direction separates the classes, and which.

    Chances above one half of every row's own class prove it. A Newton step H^-1 g that moves no score difference by 1
    proves the opposite: with it, residuals become weights p' > 0 of a point where the gradient is exactly zero, so that
    no direction can have all rows on its right side (p'_l = p_l (1 - (s_l - sum_j p_j s_j)) for scores s of the step).
    Otherwise linear programs decide.
    """
    if not found.doubtful:
        return True, found.theta
    if penalty > 0.0 or found.curvature is None:
        return None, None
    step, _ = Curvature(found.curvature).newton_step(found.gradient)
    if rows.widest(step).max() < 0.5:
        return False, None
    shown = separating_direction(
        lambda direction, count: rows.worst(direction, count)[1:],
        lambda direction: float(rows.widest(direction).max()),
        rows.terms(np.zeros(rows.shape), False).gradient,
        found.theta,
    )
    return shown.separated, shown.direction


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """Rows in other coordinates.

    Attributes:
        rows: these.
        lift: (m, r), from their parameters to those of the rows before; None where nothing changed.
        rank: how many columns are independent; None where that was not looked at.
        outside: (d, n) orthonormal V, where directions of w outside of it were left out; otherwise None.
    """

    rows: LogisticRows
    lift: Array | None = None
    rank: int | None = None
    outside: Array | None = None


def _in_row_space(rows: LogisticRows, penalty: float) -> Reduced:
    """Wide rows in coordinates of the space that they span."""
    d, intercept = rows.shape[1] - rows.design.intercept, rows.design.intercept
    unit = 1.0 / rows.basis[:d]
    Z = rows.matrix()[:, :d] * unit  # the coefficients' own units, in which the penalty is round
    V, T = (np.asarray(f, dtype=np.float64) for f in sla.qr(Z.T, mode="economic", check_finite=False))
    M = np.ascontiguousarray(T.T)
    squares = np.einsum("ij,ij->j", M, M) / rows.n + 4.0 * penalty / rows.total
    # what rounding leaves of a dependent row must not grow to a column of its own
    inside = np.sqrt(np.where(squares > (rows.n * _EPS) ** 2 * squares.max(), squares, squares.max() or 1.0))
    ridge = np.concatenate([penalty / inside**2, np.zeros(int(intercept))])
    basis = np.concatenate([1.0 / inside, np.ones(int(intercept))])
    small = replace(
        rows,
        blocks=blocks_of(M, rows.codes, rows.weights),
        design=LogisticDesign(None, None, intercept),
        basis=basis,
        ridge=ridge,
    )
    return Reduced(small, _with_intercept(unit[:, None] * V / inside, intercept), None, V)


def _independent(rows: LogisticRows, *, in_memory: bool) -> Reduced:
    """Rows in coordinates of independent columns; the same rows where all are.

    Args:
        rows: of a problem without a penalty.
        in_memory: whether a QR of the rows may decide; otherwise their Gram matrix does, to half as many digits.
    """
    intercept = rows.design.intercept
    d = rows.shape[1] - intercept
    G = _correlations(rows, d)
    values, vectors = sla.eigh(G, check_finite=False)
    if d == 0 or values[0] > _DOUBTFUL * values[-1]:
        return Reduced(rows, None, d)
    if in_memory:
        Q, R = _orthonormal_columns(rows, d)
        if Q is None:
            return Reduced(rows, None, 0)
        small = replace(
            rows,
            blocks=blocks_of(Q * np.sqrt(rows.n), rows.codes, rows.weights),
            design=LogisticDesign(None, None, intercept),
            basis=np.ones(Q.shape[1] + intercept),
            ridge=np.zeros(Q.shape[1] + intercept),
        )
        lift = _shortest(R / np.sqrt(rows.n), rows)
        return Reduced(small, _with_intercept(lift, intercept), len(R))
    kept = vectors[:, values > 100 * d * _EPS * max(values[-1], _EPS)]
    inside = _with_intercept(kept, intercept)
    small = replace(rows, basis=rows.basis[:, None] * inside, ridge=np.zeros(inside.shape[1]))
    lift = _with_intercept(_shortest(kept.T, rows), intercept)
    return Reduced(small, lift, kept.shape[1])


def _correlations(rows: LogisticRows, d: int) -> Array:
    """Gram matrix of the columns, (d, d), but for a factor: the curvature where all classes are equally likely."""
    H = rows.terms(np.zeros(rows.shape), True).curvature
    if H is None:
        raise AssertionError("the curvature was asked for")
    return np.asarray(H[:d, :d])


def _orthonormal_columns(rows: LogisticRows, d: int) -> tuple[Array | None, Array]:
    Z = rows.matrix()[:, :d]
    if rows.weights is not None:
        Z[rows.weights == 0.0] = 0.0
    Q, R, order = sla.qr(Z, mode="economic", pivoting=True, check_finite=False)
    far = 0.0 if rows.design.centre is None else float(np.abs(rows.design.centre * rows.factors).max())
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > _EPS * (max(Z.shape) + 4.0 * far) * diagonal[0]))
    if rank == 0:
        return None, np.zeros((0, d))
    back = np.empty((rank, d))
    back[:, order] = R[:rank]
    return np.asarray(Q[:, :rank]), back


def _shortest(R: Array, rows: LogisticRows) -> Array:
    """(d, r) from u to the phi of the shortest w with R phi = u."""
    factor = rows.factors
    span, T = (np.asarray(f) for f in sla.qr((R / factor).T, mode="economic", check_finite=False))
    w = span @ sla.solve_triangular(T, np.eye(len(T)), trans="T", check_finite=False)
    return np.asarray(w / factor[:, None])


def _with_intercept(matrix: Array, intercept: bool) -> Array:
    return np.asarray(sla.block_diag(matrix, np.ones((1, 1)))) if intercept else matrix
