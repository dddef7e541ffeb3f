"""One way in: from what the user has to a `Source`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.data.csv import CsvSource
from assay.data.source import ArrowSource, Source
from assay.errors import DataError


def read(data: Any) -> Source:
    """Open data without loading them.

    Args:
        data: path of a CSV file, (n, d) array, data frame, Arrow table, or a `Source`.

    >>> read(np.eye(2)).numeric_columns
    ('column 1', 'column 2')
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        return CsvSource(_readable_file(Path(data)))
    if isinstance(data, pa.Table):
        return ArrowSource(data)
    if isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise DataError(f"a table has two dimensions, rows and columns; got {data.ndim}")
        return ArrowSource(pa.table({f"column {j + 1}": data[:, j] for j in range(data.shape[1])}))
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__"):
        import narwhals as nw

        return ArrowSource(nw.from_native(data, eager_only=True).to_arrow())
    raise DataError(f"cannot read a {type(data).__name__}; give a file, an array or a data frame")


def _readable_file(path: Path) -> Path:
    if path.is_dir():
        raise DataError(f"cannot read {path}: it is a folder; give one file")
    if not path.exists():
        raise DataError(f"cannot read {path}: there is no such file")
    if not path.is_file() or not os.access(path, os.R_OK):
        raise DataError(f"cannot read {path}: it is not a file that may be read; check its permissions")
    return path
