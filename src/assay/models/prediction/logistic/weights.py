"""Weights of rows, with those of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array, Indices
from assay.errors import DataError, ParameterError
from assay.summary.moments.accumulate import checked_weights


def row_weights(
    given: ArrayLike | None, class_weight: Any, codes: Indices, classes: NDArray[Any]
) -> tuple[Array | None, float]:
    """Weights of rows divided by a power of two near their mean, and that power; None and 1 where all weigh 1.

    Args:
        given: (n,) weights of the rows, or None.
        class_weight: None, "balanced" or weights by class.
        codes: (n,) classes of the rows, counted from 0.
        classes: (g,) their names.
    """
    if given is None and class_weight is None:
        return None, 1.0
    w = np.ones(len(codes)) if given is None else checked_weights(given, len(codes))
    w = w * _class_factors(class_weight, _sizes(codes, w, len(classes)), classes)[codes]
    sizes = _sizes(codes, w, len(classes))
    if not (sizes > 0.0).all():
        empty = classes.tolist()[int(np.argmin(sizes > 0.0))]
        raise DataError(f"all rows of class {empty!r} have weight zero, so nothing tells it apart: leave them out")
    unit = float(np.ldexp(1.0, int(np.frexp(w.mean())[1])))
    return w / unit, unit


def _sizes(codes: Indices, w: Array, g: int) -> Array:
    return np.asarray(np.bincount(codes, w, g), dtype=np.float64)


def _class_factors(class_weight: Any, sizes: Array, classes: NDArray[Any]) -> Array:
    if class_weight is None:
        return np.ones(len(sizes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(sizes.sum() / (len(sizes) * np.where(sizes > 0.0, sizes, np.inf)))
    if not isinstance(class_weight, dict):
        raise ParameterError(
            f"class_weight is None, 'balanced' or a dictionary of weights by class; got {class_weight!r}"
        )
    factors = np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    if not (np.isfinite(factors) & (factors >= 0.0)).all():
        raise ParameterError(f"weights of classes are finite and not negative; got {class_weight!r}")
    return factors
