"""What transformers share: float32 in, float32 out, as scikit-learn's do.

Everything is computed in float64, and what was fitted is kept so; only what is handed out is rounded, once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

_HANDED_OUT = ("transform", "fit_transform", "inverse_transform")


class Transformer(TransformerMixin):
    """Mixin of every model that makes rows of rows."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Round what methods of the class hand out; frames are made of it after that, by `set_output`."""
        for name in _HANDED_OUT:
            if name in vars(cls):
                setattr(cls, name, in_precision_of_rows(vars(cls)[name]))
        super().__init_subclass__(**options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def in_precision_of_rows(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of rows X, and y perhaps, whose result has their precision: float32 where they have, else float64."""

    @wraps(method)
    def run(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        found = method(self, X, *others, **named)
        if not isinstance(found, tuple):
            return _rounded(found, X)
        sides = (X, *others, *named.values())
        return tuple(_rounded(each, side) for each, side in zip(found, sides, strict=False))

    return run


def _rounded(found: Any, rows: Any) -> Any:
    if getattr(found, "dtype", None) != np.float64 or not _is_float32(rows):
        return found
    with np.errstate(over="ignore"):
        rounded = found.astype(np.float32)
    # beyond the range of float32 a number is worth more than its type
    lost = isinstance(found, np.ndarray) and bool((np.isinf(rounded) & np.isfinite(found)).any())
    return found if lost else rounded


def _is_float32(rows: Any) -> bool:
    """Whether an array, a sparse matrix or every column of a data frame is of float32."""
    kinds = getattr(rows, "dtypes", None)
    if kinds is None:
        # by name: types of other libraries, such as torch.float32, do not compare with NumPy's
        return str(getattr(rows, "dtype", "")).rpartition(".")[2] == "float32"
    return {str(kind).lower() for kind in kinds} == {"float32"}
