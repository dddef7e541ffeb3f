"""The boundaries between pairs of classes, as new rows are judged by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Whole
from assay.models.prediction.svm.pairs import Machine, pairs_of
from assay.models.prediction.svm.training import Training
from assay.summary.gram.kernel_rows import by_kernel_values, kernel_sums
from assay.summary.gram.kernels import Kernel


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
