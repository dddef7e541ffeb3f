"""What new rows are judged by: decisions of the boundaries between pairs of classes, votes, and probabilities.

decision  f(x) = sum_i y_i a_i k(x, x_i) - rho of each pair, (m, p); of the linear kernel by coefficients
vote      the pairs that a class wins, and less than 1/3 by the sum of its decisions
sigmoid   P(first class of a pair | decision f) = 1 / (1 + exp(A f + B)), A and B by maximum likelihood on held-out
          decisions, targets (n_1 + 1) / (n_1 + 2) and 1 / (n_2 + 2) in place of 1 and 0
coupling  r_ab, (g, g), from the pairs; p minimises sum over a, b of (r_ba p_a - r_ab p_b)^2 with sum p = 1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.models.prediction.svm.pairs import Machine, Training, pairs_of
from assay.summary.gram.kernel_rows import by_kernel_values, kernel_sums
from assay.summary.gram.kernels import Kernel, Precomputed

_FOLDS = 5
_STEPS = 100
_FLAT = 1e-9  # gradient at which Newton's method ends, per row
_RIDGE = 1e-12  # keeps the Hessian definite
_LEAST = 1e-7  # probability of a pair: none is certain


@dataclass(frozen=True, slots=True, eq=False)
class Boundaries:
    """What is left of the training rows: those that bear a boundary, by class, and their weights.

    Attributes:
        kernel: with its defaults filled in.
        support: (m,) numbers of the training rows.
        points: (m, d) these rows, less the origin; None for a kernel matrix.
        counts: (g,) how many are in each class.
        weights: (g - 1, m) y a in the pairs of the row's class, in the order of the other classes.
        rho: (p,) decisions are sums of weights times kernel values less this.
        origin: (d,) with the linear kernel, what rows are taken less of; else None.
        coef: (p, d) with the linear kernel; else None.
    """

    kernel: Kernel
    support: Whole
    points: Array | None
    counts: Whole
    weights: Array
    rho: Array
    origin: Array | None
    coef: Array | None

    @staticmethod
    def of(training: Training, machines: Sequence[Machine]) -> Boundaries:
        """Gather the weights of all pairs."""
        counts, g = training.counts, len(training.counts)
        cuts = np.cumsum(counts) - counts
        weights = np.zeros((g - 1, len(training.order)))
        for (a, b), machine in zip(pairs_of(g), machines, strict=True):
            weights[b - 1, cuts[a] : cuts[a] + counts[a]] = machine.weights[: counts[a]]
            weights[a, cuts[b] : cuts[b] + counts[b]] = machine.weights[counts[a] :]
        support = np.flatnonzero(weights.any(axis=0))
        borne = np.bincount(np.repeat(np.arange(g), counts)[support], minlength=g)
        rho = np.array([machine.found.rho for machine in machines])
        points, coef = None if training.points is None else training.points[support], None
        if training.origin is not None and points is not None:
            coef = _pair_sums(points.T, weights[:, support], borne).T
        return Boundaries(
            training.kernel, training.order[support], points, borne, weights[:, support], rho, training.origin, coef
        )

    @property
    def intercept(self) -> Array:
        """(p,) b of each pair."""
        return -self.rho if self.coef is None or self.origin is None else -self.rho - self.coef @ self.origin

    def decisions(self, rows: Array) -> Array:
        """(m, p) decisions of (m, d) rows, or of their (m, n) kernel values with all training rows."""
        if self.coef is not None and self.origin is not None:
            return np.asarray((rows - self.origin) @ self.coef.T - self.rho)
        if self.points is None:
            return _pair_sums(rows[:, self.support], self.weights, self.counts) - self.rho
        if len(self.counts) == 2:
            return kernel_sums(self.kernel, rows, self.points, self.weights.T) - self.rho
        sums = by_kernel_values(self.kernel, rows, self.points, lambda K: _pair_sums(K, self.weights, self.counts))
        return sums - self.rho


def _pair_sums(values: Array, weights: Array, counts: Whole) -> Array:
    """(m, p) sums of (m, s) kernel values with the support rows, by the weights of each pair."""
    pairs, end = pairs_of(len(counts)), np.cumsum(counts)
    out = np.zeros((len(values), len(pairs)))
    for c, count in enumerate(counts):
        of_c = slice(end[c] - count, end[c])
        out[:, [k for k, pair in enumerate(pairs) if c in pair]] += values[:, of_c] @ weights[:, of_c].T
    return out


def votes(decisions: Array, g: int) -> Array:
    """(m, g) of (m, p) decisions: the pairs a class wins, and less than 1/3 by the sum of its decisions.

    >>> votes(np.array([[1.0, -1.0, 3.0]]), 3).round(3)
    array([[1.   , 1.222, 0.778]])
    """
    side = np.zeros((decisions.shape[1], g))
    for k, (a, b) in enumerate(pairs_of(g)):
        side[k, [a, b]] = 1.0, -1.0
    won = np.where(decisions >= 0, 0.5, -0.5) @ side + (g - 1) / 2
    sure = decisions @ side
    return np.asarray(won + sure / (3.0 * (np.abs(sure) + 1.0)))


def sigmoid(decisions: Array, first: NDArray[np.bool_], weights: Array | None = None) -> tuple[float, float]:
    """A and B of the sigmoid that makes held-out classes likeliest.

    Args:
        decisions: (n,) f of rows not used for the machine.
        first: (n,) whether the row is of the class that a positive decision speaks for.
        weights: (n,) of the rows; None for 1.

    Returns:
        A, B.

    Reference: Lin, Lin and Weng, A note on Platt's probabilistic outputs for support vector machines, Machine Learning
    68, 2007: Newton's method with a line search, which cannot overflow.

    >>> A, B = sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True]))
    >>> A < 0, abs(B) < 1e-8
    (True, True)
    """
    by = np.ones(len(decisions)) if weights is None else weights
    ones, zeros = float(by[first].sum()), float(by[~first].sum())
    target = np.where(first, (ones + 1.0) / (ones + 2.0), 1.0 / (zeros + 2.0))
    at = np.array([0.0, np.log((zeros + 1.0) / (ones + 1.0))])
    columns = np.column_stack([decisions, np.ones(len(decisions))])

    def loss(point: Array) -> float:
        z = columns @ point
        return float(by @ (target * z + np.logaddexp(0.0, -z)))

    now = loss(at)
    for _ in range(_STEPS):
        z = columns @ at
        p = np.exp(-np.logaddexp(0.0, z))  # of the first class
        slope = columns.T @ (by * (target - p))
        if np.abs(slope).max() <= _FLAT * (ones + zeros):
            break
        bend = columns.T @ (columns * (by * p * (1.0 - p))[:, None])
        bend[np.diag_indices(2)] += _RIDGE * (1.0 + np.trace(bend))
        step, share = -np.linalg.solve(bend, slope), 1.0
        while loss(at + share * step) > now + 1e-4 * share * float(slope @ step) and share > 1e-10:
            share /= 2.0
        at = at + share * step
        now = loss(at)
    return float(at[0]), float(at[1])


def coupled(r: Array) -> Array:
    """Probabilities of g classes that agree best with those within pairs.

    Args:
        r: (m, g, g), r[:, a, b] of class a against b; r_ba = 1 - r_ab.

    Returns:
        (m, g), rows of sum 1.

    Reference: Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise coupling, JMLR 5,
    2004, their second method: a linear system whose solution is not negative.

    >>> r = np.array([[[0.0, 0.5, 0.8], [0.5, 0.0, 0.8], [0.2, 0.2, 0.0]]])
    >>> coupled(r).round(3)
    array([[0.444, 0.444, 0.111]])
    """
    m, g = r.shape[:2]
    away = 1.0 - np.eye(g)
    Q = -(r * np.swapaxes(r, 1, 2)) * away
    Q[:, np.arange(g), np.arange(g)] = np.sum((np.swapaxes(r, 1, 2) * away) ** 2, axis=2)
    # Q p = t 1, sum p = 1
    system = np.ones((m, g + 1, g + 1))
    system[:, :g, :g], system[:, g, g] = Q, 0.0
    right = np.zeros((m, g + 1, 1))
    right[:, g] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :g, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def class_probabilities(decisions: Array, A: Array, B: Array, g: int) -> Array:
    """(m, g) probabilities from (m, p) decisions and the sigmoids of the pairs."""
    positive = np.clip(np.exp(-np.logaddexp(0.0, decisions * A + B)), _LEAST, 1.0 - _LEAST)
    if g == 2:
        return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
    r = np.zeros((len(positive), g, g))
    for k, (a, b) in enumerate(pairs_of(g)):
        r[:, a, b], r[:, b, a] = positive[:, k], 1.0 - positive[:, k]
    return coupled(r)


def sigmoids(
    fit: Callable[[Training], Boundaries],
    kernel: Kernel,
    X: Array,
    codes: NDArray[np.intp],
    seed: int,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """A and B of each pair, from decisions by machines that had not seen the row.

    Args:
        fit: from training rows to boundaries.
        kernel: with its defaults filled in.
        X: (n, d) rows, or an (n, n) kernel matrix.
        codes: (n,) class numbers.
        seed: which rows are held out together.
        weights: (n,) of the rows; None for 1. Those of weight zero teach nothing.
    """
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        X = X[np.ix_(kept, kept)] if isinstance(kernel, Precomputed) else X[kept]
        codes, weights = codes[kept], weights[kept]
    g, held = int(codes.max()) + 1, isinstance(kernel, Precomputed)
    pairs, folds = pairs_of(g), _folds(codes, seed)
    decisions = np.empty((len(codes), len(pairs)))
    for fold in range(int(folds.max()) + 1):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        some = None if weights is None else weights[rest]
        training = Training.of(kernel, X[np.ix_(rest, rest)] if held else X[rest], codes[rest], g, some)
        decisions[out] = fit(training).decisions(X[np.ix_(out, rest)] if held else X[out])
    A, B = np.empty(len(pairs)), np.empty(len(pairs))
    for k, (a, b) in enumerate(pairs):
        among = np.isin(codes, (a, b))
        own = None if weights is None else weights[among]
        A[k], B[k] = sigmoid(decisions[among, k], codes[among] == (b if g == 2 else a), own)
    return A, B


def _folds(codes: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """(n,) the fold of each row, every class spread evenly over at most 5."""
    counts = np.bincount(codes)
    if counts.min() < 2:
        raise DataError(
            f"probabilities are learnt on rows held out, for which every class needs at least 2; class number "
            f"{int(np.argmin(counts))} has {counts.min()}. Leave the class out, or set probability=False"
        )
    rng, k = np.random.default_rng(seed), min(_FOLDS, int(counts.min()))
    folds = np.empty(len(codes), dtype=np.intp)
    for c, count in enumerate(counts):
        folds[codes == c] = rng.permutation(count) % k
    return folds
