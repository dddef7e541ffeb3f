"""Numbers, and the column of the table that each stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.arrays import Array, Indices
from assay.data.columns.encoded import EncodedSource, encode
from assay.data.read import read
from assay.data.source import Source
from assay.errors import DataError, ParameterError


def numbers_by_column(data: Any, columns: Sequence[str] | None = None) -> tuple[Array, Indices, tuple[str, ...]]:
    """A table of any kind as numbers.

    Args:
        data: (n, d) array of numbers, NaN where missing, or anything `assay.read` takes; texts are left out.
        columns: names of the columns of an array.

    Returns:
        (n, D) numbers; (D,) the column that each belongs to, counted from 0; the names of the columns.

    >>> X, groups, names = numbers_by_column({"x": [k / 7 for k in range(9)], "colour": ["red", "blue", "green"] * 3})
    >>> X.shape, groups, names
    ((9, 4), array([0, 1, 1, 1]), ('x', 'colour'))
    """
    if isinstance(data, np.ndarray | list | tuple):
        X = np.asarray(data, dtype=np.float64)
        if X.ndim != 2 or not X.shape[1]:
            raise DataError(f"a table has rows and columns; got an array of shape {X.shape}")
        bad = np.argwhere(np.isinf(X))
        if len(bad):
            raise DataError(
                f"row {bad[0, 0]}, column {bad[0, 1]} is infinite: correlations need finite numbers, or NaN"
            )
        names = tuple(columns) if columns is not None else tuple(f"column {j + 1}" for j in range(X.shape[1]))
        if len(names) != X.shape[1]:
            raise ParameterError(f"there are {X.shape[1]} columns and {len(names)} names")
        return X, np.arange(X.shape[1]), names
    source = data if isinstance(data, Source) else read(data)
    encoded = source if isinstance(source, EncodedSource) else encode(source, log="never", words=0)
    encoding = encoded.encoding
    spans = [(column.name, span) for column, span in zip(encoding.columns, encoding.spans, strict=True) if _used(span)]
    if not spans:
        raise DataError(f"{source.name} has no column that can be compared: all are texts, identifiers or empty")
    X = np.concatenate(list(encoded.float_blocks()))
    order = np.concatenate([np.arange(span.start, span.stop) for _, span in spans])
    groups = np.repeat(np.arange(len(spans)), [span.stop - span.start for _, span in spans])
    return X[:, order], groups, tuple(name for name, _ in spans)


def _used(span: slice) -> bool:
    return bool(span.stop > span.start)
