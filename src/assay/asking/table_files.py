"""Tables to files, all of them whole or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from assay.data.files import atomic_write
from assay.errors import DataError, ParameterError
from assay.shown import a_few
from assay.system_errors import with_remedy

FORMATS = ("parquet", "csv")


def write_tables(
    tables: Mapping[str, pa.Table], folder: str | os.PathLike[str], format: str, *, force: bool = False
) -> tuple[Path, ...]:
    """Write every table to a file of its own; all are written beside their places before any is put in place.

    Args:
        tables: by name.
        folder: is made where it is not there.
        format: "parquet" or "csv".
        force: replace files of these names that are there.
    """
    places = check_folder(folder, format, tables, force=force)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot write tables to {Path(folder)}: {with_remedy(error)}") from error
    with ExitStack() as stack:
        for place, table in zip(places, tables.values(), strict=True):
            _written(table, stack.enter_context(atomic_write(place)), format)
    return places


def check_folder(
    folder: str | os.PathLike[str], format: str, names: Any = (), *, force: bool = False
) -> tuple[Path, ...]:
    """Refuse a place where tables cannot go.

    Args:
        folder: where they shall be.
        format: "parquet" or "csv".
        names: of the tables.
        force: whether files of these names may be replaced.

    Returns:
        The files.
    """
    if format not in FORMATS:
        raise ParameterError(f"format is one of {', '.join(FORMATS)}; got {format!r}")
    where = Path(folder)
    if where.exists() and not where.is_dir():
        raise DataError(f"cannot write tables to {where}: it is a file; give the name of a folder")
    places = tuple(where / f"{_file_name(name)}.{format}" for name in names)
    there = [place.name for place in places if place.exists()]
    if there and not force:
        raise DataError(
            f"cannot write tables to {where}: it holds {a_few(there, 3)} already; take another folder, or say force "
            "to replace them"
        )
    return places


def _file_name(name: str) -> str:
    """A name of a table as that of a file: questions of other packages choose theirs freely."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name).lstrip(".") or "_"


def _written(table: pa.Table, handle: IO[bytes], format: str) -> None:
    if format == "parquet":
        pyarrow.parquet.write_table(table, handle)
    else:
        pyarrow.csv.write_csv(table, handle)
