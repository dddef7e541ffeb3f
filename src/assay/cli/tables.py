"""Tables that commands write: to a file by its name, or to standard output as text."""

from pathlib import Path
from typing import IO, Any

from assay.cli.output import STANDARD, delivered
from assay.errors import ParameterError
from assay.version import __version__

_TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
_OTHERS = (".parquet", ".arrow", ".feather")
_SHOWN = 10


def check_table(place: Path | None) -> None:
    """Refuse a name that does not say which kind of table is meant.

    Args:
        place: of the table; None for none.
    """
    if place is not None and place != STANDARD and place.suffix.lower() not in (*_TEXT, *_OTHERS):
        raise ParameterError(f"a table is a {', '.join((*_TEXT, *_OTHERS))} file; got {place}")


def write_table(table: Any, place: Path | None) -> None:
    """Write a table, whole or not at all.

    Args:
        table: of Arrow.
        place: where it goes; None for nowhere, - for standard output as CSV.
    """
    if place is None:
        return
    from assay.data.files import atomic_write

    with delivered(place) as path:
        if path is not None:
            with atomic_write(path) as handle:
                _written(table, handle, place.suffix.lower())


def _written(table: Any, handle: IO[bytes], suffix: str) -> None:
    marked = table.replace_schema_metadata({**(table.schema.metadata or {}), "assay": __version__})
    if suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(marked, handle)
    elif suffix in _OTHERS:
        from pyarrow import ipc

        with ipc.new_file(handle, marked.schema) as writer:
            writer.write_table(marked)
    else:
        from pyarrow import csv

        csv.write_csv(_plain(table), handle, csv.WriteOptions(delimiter=_TEXT.get(suffix, ","), quoting_style="needed"))


def _plain(table: Any) -> Any:
    """Categories as texts: a text table has no others."""
    import pyarrow as pa

    arrays = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(arrays, names=table.column_names)


def table_lines(table: Any, most: int = _SHOWN) -> list[str]:
    """The first rows of a table as lines for a terminal.

    Args:
        table: of Arrow.
        most: rows that are shown.
    """
    from assay.shown import shortened, visible

    head = table.slice(0, most)
    names = [visible(name) for name in head.column_names]
    columns = [[shortened(visible(_cell(value)), 40) for value in column.to_pylist()] for column in head.columns]
    widths = [max(len(name), *map(len, column), 1) for name, column in zip(names, columns, strict=True)]
    rows = [names, *map(list, zip(*columns, strict=True))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    left = table.num_rows - head.num_rows
    return [*lines, f"... and {left:,} more; -o FILE writes all"] if left > 0 else lines


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
