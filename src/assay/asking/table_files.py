"""Tables to files, all of them whole or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from assay.data.files import atomic_write
from assay.errors import DataError, ParameterError
from assay.shown import a_few
from assay.system_errors import with_remedy
from assay.version import __version__

FORMATS = ("parquet", "csv")
_MARK = b"assay"  # a key of the schema of tables that assay writes


def write_tables(
    tables: Mapping[str, pa.Table], folder: str | os.PathLike[str], format: str, *, force: bool = False
) -> tuple[Path, ...]:
    """Write every table to a file of its own; all are written beside their places before any is put in place.

    Args:
        tables: by name.
        folder: is made where it is not there.
        format: "parquet" or "csv".
        force: replace files of these names that are there, whoever wrote them; Parquet files of assay say so and are
            replaced in any case.
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
    folder: str | os.PathLike[str], format: str, names: Iterable[str] = (), *, force: bool = False
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
    there = [place.name for place in places if place.exists() and not _is_ours(place)]
    if there and not force:
        raise DataError(
            f"cannot write tables to {where}: {a_few(there, 3)} {'is' if len(there) == 1 else 'are'} there; take "
            "another folder, or --force (in Python force=True) to replace what is there"
        )
    return places


def _file_name(name: str) -> str:
    """A name of a table as that of a file: questions of other packages choose theirs freely."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name).lstrip(".") or "_"


def _is_ours(place: Path) -> bool:
    """Whether a file says that assay wrote it, as Parquet can and text cannot."""
    try:
        return place.suffix == ".parquet" and _MARK in (pyarrow.parquet.read_schema(place).metadata or {})
    except (OSError, pa.ArrowException):  # what cannot be looked at is not known to be ours
        return False


def _written(table: pa.Table, handle: IO[bytes], format: str) -> None:
    if format == "parquet":
        marked = table.replace_schema_metadata({**(table.schema.metadata or {}), _MARK: __version__.encode()})
        pyarrow.parquet.write_table(marked, handle)
    else:
        pyarrow.csv.write_csv(table, handle)
