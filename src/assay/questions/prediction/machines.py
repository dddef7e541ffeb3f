"""What a target is predicted with: a line, a curve for each column, or a Gaussian kernel. All are ridge regressions.

line      the standardised columns, along the directions in which they vary where these are fewer
curves    for each column itself and natural cubic splines between its quantiles, so that what columns do adds up
kernel    Gaussian kernels of two widths around landmarks, which follow any smooth rule, products among them

What each column adds to a distance has variance 1, however many numbers it was made into, so that the mean squared
distance of two rows is twice the number of columns; widths are half and twice its root. Values far outside the
quartiles are taken in to a fence for curves and kernels, else one of them would set the scale of all. Nothing here
looks at the target, so that every draw of chance has the same machines.

References: Hastie, Tibshirani, Friedman, The elements of statistical learning (2009), 5.2; `summary.landmarks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import scipy.linalg as sla

from assay.arrays import Array, Indices
from assay.linalg.eigen.spectral import part_of_spectrum
from assay.linalg.regression.regression_sums import RegressionSums
from assay.linalg.regression.ridge_path import usual_penalties
from assay.questions.prediction.nested_ridge import Known
from assay.summary.gram.kernels import Gaussian
from assay.summary.gram.landmarks import choose_landmarks

Kind: TypeAlias = Literal["line", "curves", "kernel"]
Features: TypeAlias = Callable[[Array], Array]

KINDS: tuple[Kind, ...] = ("line", "curves", "kernel")  # the simplest first
STRENGTHS = 17  # of the usual penalties: nearly two a decade
_MOST_AXES = 1000  # more columns than this enter by so many of their components
_KNOTS = (5, 4, 3)  # quantiles between which a curve bends, as many as there is room for
_MOST_CURVES = 300  # numbers that curves may be made of
_PRODUCTS = 4e9  # of the sums of such numbers over all rows
_FENCE = 3.0  # distances of the quartiles from each other that a value may lie outside them
_WIDTHS = (0.5, 2.0)
_LANDMARKS = (100, 200)  # for up to so many rows, and beyond
_FEW_ROWS = 2000
_ROWS_EACH = 4  # for each landmark
MOST_NUMBERS = _MOST_CURVES + len(_WIDTHS) * _LANDMARKS[-1]  # of a row, for all machines, beside the columns


@dataclass(frozen=True, slots=True, eq=False)
class RidgeInput:
    """One set of numbers that ridge regression predicts from.

    Attributes:
        kind: what it can follow.
        rows: (n, m) the numbers of the rows at hand.
        features: from (k, p) columns as they came to (k, m) numbers.
        strengths: penalties to choose from.
        axes: (p, m) the directions of standardised columns that the numbers are along; None where they are no such.
        known: for each repeat of the folds, decompositions of these numbers.
        sums: for each repeat, means and products of these numbers in each fold.
    """

    kind: Kind
    rows: Array
    features: Features
    strengths: Array
    axes: Array | None = None
    known: dict[int, Known] = field(default_factory=dict)
    sums: dict[int, list[RegressionSums]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many numbers."""
        return int(self.rows.shape[1])

    def known_of(self, repeat: int) -> Known:
        """Decompositions of one repeat."""
        return self.known.setdefault(repeat, {})

    def sums_of(self, Y: Array, parts: list[Indices], repeat: int) -> list[RegressionSums]:
        """Of each fold of a repeat, of the numbers and (n, q) targets."""
        if (before := self.sums.get(repeat)) is None:
            return self.sums.setdefault(repeat, [RegressionSums.of(self.rows[own], Y[own]) for own in parts])
        return [RegressionSums.of(self.rows[own], Y[own], one) for own, one in zip(parts, before, strict=True)]


def machines(X: Array, groups: Indices, seed: int, kinds: tuple[Kind, ...] = KINDS) -> list[RidgeInput]:
    """What there is to predict with, the simplest first; curves are left out where they would have too many numbers.

    Args:
        X: (n, p) columns, one of them varying at least.
        groups: (p,) which column of the data each is a number of.
        seed: of the landmarks.
        kinds: which of them; a line in any case.
    """
    found = [_line(X)]
    if "curves" in kinds and (curves := _curves(X)) is not None:
        found.append(curves)
    if "kernel" in kinds:
        found += _kernels(X, groups, seed)
    return found


def standardised(X: Array) -> Features:
    """Takes the mean off columns and divides by their spread; those that do not vary become 0.

    Args:
        X: (n, p) the rows that mean and spread are of.
    """
    mean, spread = X.mean(axis=0), X.std(axis=0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return lambda rows: np.asarray((rows - mean) * scale)


def _line(X: Array) -> RidgeInput:
    plain = standardised(X)
    Z = plain(X)
    strengths = usual_penalties(float((Z**2).sum()), Z.shape[1], STRENGTHS)
    axes = _axes(Z)
    if axes is None:
        return RidgeInput("line", Z, plain, strengths)
    return RidgeInput("line", Z @ axes, lambda rows: plain(rows) @ axes, strengths, axes)


def _axes(Z: Array) -> Array | None:
    """Directions in which wide rows vary: ridge regression along all of them is that on the columns themselves."""
    n, p = Z.shape
    if p <= min(n, _MOST_AXES):
        return None
    if n > p:
        return part_of_spectrum(Z.T @ Z, p - _MOST_AXES, p - 1)[1]
    values, vectors = sla.eigh(Z @ Z.T)
    kept = np.flatnonzero(values > 1e-10 * values[-1])[-_MOST_AXES:]
    return np.asarray(Z.T @ (vectors[:, kept] / np.sqrt(values[kept])))


def _fenced(X: Array) -> Features:
    """Takes in values that lie far outside the quartiles, then standardises; most of an indicator is one value."""
    low, high = np.quantile(X, (0.25, 0.75), axis=0)
    reach = _FENCE * (high - low)
    bottom, top = np.where(reach > 0, low - reach, -np.inf), np.where(reach > 0, high + reach, np.inf)
    plain = standardised(np.clip(X, bottom, top))
    return lambda rows: plain(np.clip(rows, bottom, top))


def _curves(X: Array) -> RidgeInput | None:
    """None where no column can bend, or all together would have too many numbers."""
    n, p = X.shape
    fenced = _fenced(X)
    Z = fenced(X)
    distinct = [np.unique(z) for z in Z.T]
    bending = [j for j in range(p) if len(distinct[j]) > _KNOTS[-1]]
    for knots in _KNOTS:
        if bending and p + (knots - 2) * len(bending) <= min(_MOST_CURVES, n // 2, (_PRODUCTS / n) ** 0.5):
            break
    else:
        return None
    at = {j: _places(Z[:, j], distinct[j], knots) for j in bending}

    def bent(rows: Array) -> Array:
        U = fenced(rows)
        return np.hstack([U, *(_splines(U[:, j], places) for j, places in at.items())])

    whole = bent(X)
    scaled = standardised(whole)
    rows = scaled(whole)
    strengths = usual_penalties(float((rows**2).sum()), rows.shape[1], STRENGTHS)
    return RidgeInput("curves", rows, lambda new: scaled(bent(new)), strengths)


def _places(z: Array, distinct: Array, knots: int) -> Array:
    """Quantiles of a column, of its distinct values where many rows share one."""
    shares = np.linspace(0.05, 0.95, knots)
    places = np.unique(np.quantile(z, shares))
    return places if len(places) == knots else np.unique(np.quantile(distinct, shares))


def _splines(z: Array, at: Array) -> Array:
    """(n, k - 2) natural cubic splines: straight beyond the first and the last of k places."""
    above = np.maximum(z - at[:, None], 0.0)
    cubes = above * above * above
    bends = (cubes[:-1] - cubes[-1]) / (at[-1] - at[:-1])[:, None]
    return np.asarray((bends[:-1] - bends[-1]).T)


def _kernels(X: Array, groups: Indices, seed: int) -> list[RidgeInput]:
    n = len(X)
    fenced = _fenced(X)
    varies = fenced(X).any(axis=0)
    labels, own, counts = np.unique(groups[varies], return_inverse=True, return_counts=True)
    share = np.zeros(X.shape[1])
    share[varies] = 1.0 / np.sqrt(counts[own])

    def placed(rows: Array) -> Array:
        return fenced(rows) * share

    Z = placed(X)
    most = min(_LANDMARKS[n > _FEW_ROWS], n // _ROWS_EACH)
    return [_kernel(Z, placed, Gaussian(width * np.sqrt(2.0 * len(labels))), most, seed) for width in _WIDTHS]


def _kernel(Z: Array, placed: Features, kernel: Gaussian, most: int, seed: int) -> RidgeInput:
    marks, rows = choose_landmarks(Z, most, kernel, seed)
    strengths = usual_penalties(float((rows**2).sum()), rows.shape[1], STRENGTHS)
    return RidgeInput("kernel", rows, lambda new: marks.features(placed(new), kernel), strengths)
