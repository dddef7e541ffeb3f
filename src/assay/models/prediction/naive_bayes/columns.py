"""Which law each column of a table gets, where the user leaves it open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.columns.encoding_layout import EncodingLayout
from assay.data.field import Kind
from assay.data.source import Source
from assay.summary.classes.class_counts import ColumnKind

_OF_CODEC: dict[str, ColumnKind] = {"boolean": "bernoulli", "levels": "multinomial", "words": "multinomial"}
_OF_KIND: dict[Kind, ColumnKind] = {"boolean": "bernoulli", "category": "categorical"}


def kinds_of_encoding(encoding: EncodingLayout) -> tuple[tuple[ColumnKind, ...], NDArray[np.intp]]:
    """The law of each number of an encoding, and the column of the user it comes from.

    The 0/1 numbers of the levels of a category are a multinomial of one draw: the category's own law.
    """
    kinds: list[ColumnKind] = []
    groups: list[int] = []
    for j, (codec, column) in enumerate(zip(encoding.codecs, encoding.columns, strict=True)):
        kinds += [_OF_CODEC.get(codec.kind, "gaussian")] * column.outputs
        groups += [j] * column.outputs
    return tuple(kinds), np.array(groups, dtype=np.intp)


def kinds_of_fields(source: Source) -> tuple[ColumnKind, ...]:
    """The law of each column of numbers, by the kinds of a source's columns."""
    return tuple(_OF_KIND.get(field.kind, "gaussian") for field in source.schema)


def opened(X: Any, *, encoded: bool) -> Any:
    """A data frame as a source, if it holds more than numbers or the model has an encoding; anything else as it is."""
    if isinstance(X, Source) or not is_frame(X):
        return X
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if not encoded and all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()):
        return X
    from assay.data.read import read

    return read(X)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame."""
    return hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__")
