"""One way in: from what the user has to a `Source`."""

from __future__ import annotations

import inspect
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.data.field import Declared, Kind
from assay.data.file_exists import check_there
from assay.data.file_fingerprint import Unchanged
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.shown import without_secrets

_DATABASES = ("sqlite:", "postgresql:", "postgres:")
# what opens a file of each format, and how messages call it
_OPENERS = {
    "csv": ("assay.data.text.csv", "CsvSource", "a text table"),
    "parquet": ("assay.data.formats.arrow_files", "ParquetSource", "a Parquet file"),
    "arrow": ("assay.data.formats.arrow_files", "ArrowIpcSource", "an Arrow file"),
    "arrow stream": ("assay.data.formats.arrow_files", "ArrowStreamFileSource", "an Arrow stream"),
    "feather": ("assay.data.formats.arrow_files", "open_feather", "a Feather file"),
    "excel": ("assay.data.formats.excel", "ExcelSource", "a spreadsheet"),
    "npy": ("assay.data.formats.numpy_files", "open_npy", "a .npy file"),
    "npz": ("assay.data.formats.numpy_files", "open_npz", "a .npz file"),
    "json": ("assay.data.formats.json_lines", "JsonSource", "a JSON file"),
    "libsvm": ("assay.data.formats.libsvm", "LibsvmSource", "a LIBSVM file"),
    "stata": ("assay.data.formats.statistics_files", "open_stata", "a Stata file"),
    "spss": ("assay.data.formats.statistics_files", "open_spss", "an SPSS file"),
    "spss portable": ("assay.data.formats.statistics_files", "open_portable", "a portable SPSS file"),
    "sas": ("assay.data.formats.statistics_files", "open_sas", "a SAS file"),
    "sas transport": ("assay.data.formats.statistics_files", "open_transport", "a SAS transport file"),
    "sqlite": ("assay.data.databases.database", "DatabaseSource", "a database"),
    "folder": ("assay.data.media.folders", "open_folder", "a folder"),
    "stdin": ("assay.data.text.arriving", "stdin_source", "standard input"),
    "growing": ("assay.data.text.arriving", "GrowingFile", "a growing file"),
}


def read(
    data: Any,
    *,
    name: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    units: Mapping[str, str] | None = None,
    roles: Mapping[str, str] | None = None,
    sensitive: Iterable[str] = (),
    skip_unreadable: bool = False,
    **how: Any,
) -> Source:
    """Open data without loading them.

    Args:
        data: a path or URL of a file or folder, a pattern such as ``data/*.csv``, "-" for standard input; an array, a
            data frame, an Arrow table; an iterator of blocks; or a `Source`. What a file is, its first bytes tell.
        name: how reports call the data.
        kinds: what columns are, by name, where the guess would be wrong.
        units: of columns, by name.
        roles: of columns, by name, such as "target".
        sensitive: columns whose values must not be read.
        skip_unreadable: leave out what cannot be read (row groups, batches, the rest of a text file, one of many files)
            and count it in `problems`, rather than stop.
        how: options of the format, such as sheet= of a spreadsheet; a wrong one tells which there are.

    >>> import numpy as np
    >>> read(np.eye(2)).numeric_columns
    ('column 1', 'column 2')
    """
    hidden = frozenset({sensitive} if isinstance(sensitive, str) else sensitive)
    declared = Declared(dict(kinds or {}), dict(units or {}), dict(roles or {}), hidden, skip_unreadable)
    said = declared != Declared()
    if isinstance(data, Source):
        if said or how or name is not None:
            raise ParameterError(f"{data.name} is open already; give options where it is opened")
        return data
    source = _opened(data, name, declared, how)
    if name is not None:
        source.name = name
    from assay.data.streams import OnePassSource

    if said and not isinstance(source, OnePassSource):
        _ = source.arrow_schema  # refuses what is said of columns that do not exist
    return source


def _opened(data: Any, name: str | None, declared: Declared, how: dict[str, Any]) -> Source:
    if isinstance(data, (str, os.PathLike)):
        return _from_path(os.fspath(data), declared, how)
    if isinstance(data, io.IOBase):
        raise DataError("cannot read an open file; give its path, or '-' for standard input")
    if isinstance(data, (Iterator, pa.RecordBatchReader)):
        _refuse_options("a stream", how, ())
        from assay.data.streams import StreamSource

        return StreamSource(data, name or "stream", declared)
    from assay.data.memory.tables import open_table

    source = open_table(data, name or "data", declared)
    if source is None:
        raise DataError(f"cannot read a {type(data).__name__}; give a file, an array or a data frame")
    _refuse_options("a table in memory", how, ())
    return source


def _from_path(text: str, declared: Declared, how: dict[str, Any]) -> Source:
    if not text:
        raise DataError("cannot read a file without a name; give its path")
    if text.lower().startswith(("http://", "https://")):
        raise DataError(f"cannot read {text}: web addresses are not fetched; download the file and give its path")
    if text == "-":
        return _called("stdin", (declared,), how)
    if text.lower().startswith(_DATABASES):
        return _called("sqlite", (text, declared), how)
    if how.get("follow"):
        rest = {key: value for key, value in how.items() if key != "follow"}
        return _called("growing", (Place.of(text), declared), rest)
    how = {key: value for key, value in how.items() if key != "follow"}
    from assay.data.formats.found_files import Root, is_pattern

    if is_pattern(text):
        return _from_pattern(text, declared, how)
    if "://" not in text:
        check_there(text)
    if ("://" in text or Path(text).is_dir()) and (root := Root.of(text)).is_folder:
        return _from_folder(root, declared, how)
    return _from_file(Place.of(text), declared, how)


def _from_file(place: Place, declared: Declared, how: dict[str, Any]) -> Source:
    from assay.data.formats.recognise import format_of

    files = Unchanged((place,))
    format_ = format_of(place)
    if format_ == "sqlite":
        if place.filesystem is not None:
            raise DataError(f"cannot read {place}: a database file must be on this machine; copy it here")
        return _called("sqlite", (place.path, declared), how)
    with files.kept():
        source = _called(format_, (place, declared), how)
    source.unchanged = files
    return source


def _from_pattern(pattern: str, declared: Declared, how: dict[str, Any]) -> Source:
    from assay.data.formats.found_files import matching

    found = matching(pattern)
    return _one_table(found, without_secrets(pattern), declared, how)


def _from_folder(root: Any, declared: Declared, how: dict[str, Any]) -> Source:
    from assay.data.formats.found_files import tables_in
    from assay.data.formats.recognise import format_by_name

    found, media = tables_in(root)
    if media:
        source = _called("folder", (Path(root.path), declared), how)
        if found.names:
            source.notes = (*source.notes, f"Tables in the folder were left out: {', '.join(found.names[:5])}.")
        return source
    if not found.names:
        raise DataError(f"cannot read {root.shown}: the folder holds no tables, images, sounds or texts")
    formats = Counter(format_by_name(name) for name in found.names)
    if len(formats) > 1:
        told = ", ".join(f"{count} {format_}" for format_, count in formats.most_common())
        raise DataError(
            f"cannot read {root.shown}: the folder holds tables of several formats ({told}); "
            "give a pattern such as 'folder/*.csv'"
        )
    return _one_table(found, root.shown, declared, how)


def _one_table(found: Any, shown: str, declared: Declared, how: dict[str, Any]) -> Source:
    from assay.data.formats.many import ManySource, parts_of

    parts = parts_of(found.places())
    if len(parts) == 1 and not parts[0].keys:
        source = _from_file(parts[0].place, declared, how)
    else:
        name = shown.rstrip("/").rpartition("/")[2]
        source = ManySource(parts, partial(_from_file, how=how), name, declared)
    source.notes = (*source.notes, *found.notes)
    return source


def _called(key: str, arguments: tuple[Any, ...], how: dict[str, Any]) -> Source:
    """Open by the function or class that knows the format; an option it does not know is refused."""
    module, name, what = _OPENERS[key]
    opener: Callable[..., Source] = getattr(import_module(module), name)
    parameters = inspect.signature(opener).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        _refuse_options(what, how, [p.name for p in parameters if p.kind is p.KEYWORD_ONLY])
    return opener(*arguments, **how)


def _refuse_options(what: str, how: Mapping[str, Any], known: Iterable[str]) -> None:
    names = sorted(known)
    wrong = sorted(set(how) - set(names))
    if wrong:
        there_are = f"there are {', '.join(names)}" if names else "there are none"
        raise ParameterError(f"{what} has no option {wrong[0]!r}; {there_are}")
