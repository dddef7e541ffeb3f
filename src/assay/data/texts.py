"""Texts one by one, from whatever holds them: a column of a table, a folder of files, or texts themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.shown import a_few


def texts_of(data: Any, column: str | None = None) -> Iterator[str]:
    """One text for each row or file, in their order; a missing one is empty.

    Args:
        data: texts, or anything `assay.read` takes: a file of a table, a data frame, a folder of text files. A single
            string is a file or folder.
        column: which column holds the texts; may be left out where there is one column of text only.

    >>> list(texts_of(["one", None, "two"]))
    ['one', '', 'two']
    """
    if isinstance(data, Source):
        return source_texts(data, column)
    if isinstance(data, (str, Path, os.PathLike)) or column is not None or hasattr(data, "columns"):
        from assay.data.read import read

        return source_texts(read(data), column)
    return _given(data)


def _given(data: Iterable[Any]) -> Iterator[str]:
    try:
        texts = iter(data)
    except TypeError:
        raise ParameterError(f"texts are several texts, a table or a folder; got {type(data).__name__}") from None
    for number, text in enumerate(texts):
        if text is None:
            yield ""
        elif isinstance(text, str):
            yield text
        else:
            raise DataError(f"text {number} is a {type(text).__name__}; each is a string, or None where it is missing")


def source_texts(source: Source, column: str | None = None) -> Iterator[str]:
    """The same of a source.

    Args:
        source: the rows or files.
        column: the column.
    """
    from assay.data.media.folders import FolderSource

    if isinstance(source, FolderSource) and column is None:
        return source.texts()
    return _column_texts(source, _column(source, column))


def _column(source: Source, column: str | None) -> str:
    names = source.arrow_schema.names
    if column is not None and column not in names:
        raise ParameterError(f"there is no column {column!r}; there are {a_few(names)}")
    if column is not None:
        return column
    texts = [field.name for field in source.schema if field.kind == "text"]
    if len(texts) != 1:
        what = f"several columns of text, {', '.join(texts)}" if texts else "no column of text"
        raise DataError(f"{source.name} has {what}; say which holds the texts with column=")
    return texts[0]


def _column_texts(source: Source, column: str) -> Iterator[str]:
    for block in source.blocks():
        cells = block.column(block.schema.get_field_index(column))
        plain = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
        for cell in plain.to_pylist():
            yield "" if cell is None else str(cell)
