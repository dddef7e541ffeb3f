"""Uncertainty and difference of discrete distributions, along an axis. 0 log 0 is 0.

    entropy         H(p) = -sum p log p
    perplexity      exp H(p), the number of equally likely outcomes with the same entropy
    Kullback-Leibler  KL(p, q) = sum p log(p / q), infinite where q = 0 < p
    Jensen-Shannon  JS(p, q) = KL(p, m) / 2 + KL(q, m) / 2, m = (p + q) / 2, at most log 2

Thin over SciPy's `entr` and `rel_entr`. Its `entropy` and `jensenshannon` rescale what does not sum to one in silence;
here it is refused, with its place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, rel_entr

from assay.arrays import Array
from assay.errors import DataError, ParameterError

_SUM = 1e-8  # how far from one the probabilities may sum


def entropy(p: ArrayLike, *, axis: int = -1, base: float = np.e) -> Array | float:
    """Measure the uncertainty of distributions.

    Args:
        p: probabilities; along axis they sum to one.
        axis: along which the outcomes lie.
        base: of the logarithm: e for nats, 2 for bits.

    Returns:
        One value for each distribution.

    >>> float(entropy([0.5, 0.25, 0.25], base=2))
    1.5
    """
    values: Array | float = entr(_distribution(p, axis, "p")).sum(axis=axis) / _log(base)
    return values


def perplexity(p: ArrayLike, *, axis: int = -1) -> Array | float:
    """Count the equally likely outcomes that would be as uncertain as these.

    Args:
        p: probabilities; along axis they sum to one.
        axis: along which the outcomes lie.

    Returns:
        One value for each distribution, between 1 and the number of outcomes.

    >>> round(float(perplexity([0.25] * 4)), 12)
    4.0
    """
    values: Array | float = np.exp(entropy(p, axis=axis))
    return values


def kl_divergence(p: ArrayLike, q: ArrayLike, *, axis: int = -1, base: float = np.e) -> Array | float:
    """Measure how badly q describes what p brings forth. Not symmetric.

    Args:
        p: probabilities; along axis they sum to one.
        q: probabilities of the same shape, or one that broadcasts.
        axis: along which the outcomes lie.
        base: of the logarithm.

    Returns:
        One value for each distribution, >= 0; infinite where q = 0 < p.

    Reference: Kullback, Leibler, On information and sufficiency, 1951.

    >>> round(float(kl_divergence([1.0, 0.0], [0.5, 0.5], base=2)), 12)
    1.0
    """
    a, b = _both(p, q, axis)
    # Rounding in the sums to one may leave a tiny negative number where the divergence is zero.
    values: Array | float = np.maximum(rel_entr(a, b).sum(axis=axis), 0.0) / _log(base)
    return values


def jensen_shannon(p: ArrayLike, q: ArrayLike, *, axis: int = -1, base: float = np.e) -> Array | float:
    """Measure the difference of two distributions, symmetric and always finite.

    Args:
        p: probabilities; along axis they sum to one.
        q: probabilities of the same shape, or one that broadcasts.
        axis: along which the outcomes lie.
        base: of the logarithm; with base 2 the result lies between 0 and 1.

    Returns:
        One divergence (its root is a distance) for each distribution, between 0 and log 2.

    Reference: Lin, Divergence measures based on the Shannon entropy, 1991.

    >>> float(jensen_shannon([1.0, 0.0], [0.0, 1.0], base=2))
    1.0
    """
    a, b = _both(p, q, axis)
    m = 0.5 * a + 0.5 * b
    both = 0.5 * rel_entr(a, m).sum(axis=axis) + 0.5 * rel_entr(b, m).sum(axis=axis)
    values: Array | float = np.clip(both, 0.0, np.log(2.0)) / _log(base)
    return values


def _both(p: ArrayLike, q: ArrayLike, axis: int) -> tuple[Array, Array]:
    a, b = _distribution(p, axis, "p"), _distribution(q, axis, "q")
    if a.shape[axis] != b.shape[axis]:
        raise DataError(f"p and q must have the same outcomes, have {a.shape[axis]} and {b.shape[axis]}.")
    return a, b


def _distribution(p: ArrayLike, axis: int, name: str) -> Array:
    array = np.asarray(p, dtype=np.float64)
    if array.ndim == 0 or not -array.ndim <= axis < array.ndim or array.shape[axis] == 0:
        raise DataError(f"{name} must have outcomes along axis {axis}, has shape {array.shape}.")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise DataError(f"probabilities must be finite and >= 0: {name}{list(place)} is {array[place]:.6g}.")
    sums = np.atleast_1d(array.sum(axis=axis))
    off = np.abs(sums - 1.0)
    if off.max() > _SUM:
        place = tuple(int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
        raise DataError(
            f"probabilities must sum to one: distribution {list(place)} of {name} sums to {sums[place]:.9g}. "
            "Divide by the sum if these are counts or weights."
        )
    return array


def _log(base: float) -> float:
    if not (base > 0 and base != 1 and np.isfinite(base)):
        raise ParameterError(f"base must be positive and not 1, is {base!r}.")
    return float(np.log(base))
