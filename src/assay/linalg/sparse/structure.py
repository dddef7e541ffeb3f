"""The structure of sparse matrices: compiled routines believe every index, and one outside crashes the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from assay.errors import DataError


def as_sparse(A: Any, *, name: str = "the sparse matrix") -> Any:
    """Take a SciPy sparse matrix of any format whose indices stay within it.

    Values are not looked at, and nothing is changed; entries may be unsorted or stored twice. The cost is one look at
    each index.

    Args:
        A: the matrix; anything else passes.
        name: what to call it in a message.

    Returns:
        The matrix itself.

    >>> as_sparse(sparse.csr_array([[0, 1]])).shape
    (1, 2)
    """
    if sparse.issparse(A) and (wrong := structural_fault(A)):
        raise DataError(f"{name} is damaged: {wrong}; build it again from its entries")
    return A


def structural_fault(A: Any) -> str:
    """What is wrong with the indices of a sparse matrix, in words; nothing where they stay within it.

    >>> structural_fault(sparse.csr_array([[0, 1]]))
    ''
    """
    try:
        return _LOOKS[A.format](A)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError) as error:
        return str(error).partition("\n")[0].rstrip(".") or type(error).__name__


def _compressed(A: Any) -> str:
    tall, wide = A.shape if A.ndim == 2 else (1, A.shape[0])
    if A.format == "bsr":
        if A.data.ndim != 3 or 0 in A.data.shape[1:] or tall % A.data.shape[1] or wide % A.data.shape[2]:
            return f"its blocks have the shape {A.data.shape[1:]}, which does not divide {A.shape}"
        tall, wide = tall // A.data.shape[1], wide // A.data.shape[2]
    elif A.data.ndim != 1:
        return f"its values have {A.data.ndim} dimensions"
    if A.format == "csc":
        tall, wide = wide, tall
    indices, indptr = A.indices, A.indptr
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != tall + 1:
        return f"its indptr has the shape {indptr.shape} and type {indptr.dtype} where {tall + 1:,} integers are needed"
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return "its indptr does not begin at 0 and rise from there"
    if len(indices) != len(A.data) or indptr[-1] > len(indices):
        return f"its indptr ends at {indptr[-1]:,} with {len(indices):,} indices and {len(A.data):,} values"
    return _outside(indices, wide, "index")


def _coordinates(A: Any) -> str:
    if A.data.ndim != 1 or len(A.coords) != A.ndim:
        return f"it has {len(A.coords)} coordinates in {A.ndim} dimensions"
    for axis, (places, size) in enumerate(zip(A.coords, A.shape, strict=True)):
        if len(places) != len(A.data):
            return f"it has {len(places):,} coordinates along axis {axis} and {len(A.data):,} values"
        if wrong := _outside(places, size, f"coordinate along axis {axis}"):
            return wrong
    return ""


def _diagonals(A: Any) -> str:
    if A.offsets.ndim != 1 or A.offsets.dtype.kind not in "iu" or A.data.ndim != 2 or len(A.data) != len(A.offsets):
        return f"it has offsets of the shape {A.offsets.shape} and diagonals of the shape {A.data.shape}"
    return ""


def _lists(A: Any) -> str:
    n = A.shape[0]
    if A.rows.shape != (n,) or A.data.shape != (n,):
        return f"it has lists of the shapes {A.rows.shape} and {A.data.shape} for {n:,} rows"
    for i, (places, values) in enumerate(zip(A.rows, A.data, strict=True)):
        if len(places) != len(values):
            return f"row {i} has {len(places):,} places and {len(values):,} values"
    flat = [place for places in A.rows for place in places]
    return _outside(np.asarray(flat, dtype=np.int64), A.shape[1], "index")


def _outside(places: Any, size: int, what: str) -> str:
    if places.ndim != 1 or places.dtype.kind not in "iu":
        return f"what it has for each {what} is {places.dtype} in {places.ndim} dimensions"
    if len(places):
        low, high = int(places.min()), int(places.max())
        if low < 0 or high >= size:
            return f"its {what} {low if low < 0 else high:,} is outside 0 to {size - 1:,}"
    return ""


_LOOKS: dict[str, Callable[[Any], str]] = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _compressed,
    "coo": _coordinates,
    "dia": _diagonals,
    "lil": _lists,
    "dok": lambda A: _coordinates(A.tocoo()),  # which is made in Python, from a dictionary
}
