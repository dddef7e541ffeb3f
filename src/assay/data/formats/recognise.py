"""What a file is: by its first bytes, then by its name; what is no table is refused in words."""

from __future__ import annotations

import re
import zipfile
from typing import Literal, TypeAlias

from assay.data.place import Place
from assay.data.text.encodings import unpacked
from assay.errors import DataError

Format: TypeAlias = Literal[
    "parquet", "arrow", "arrow stream", "feather", "excel", "npy", "npz", "json", "libsvm", "sqlite", "csv",
    "stata", "spss", "spss portable", "sas", "sas transport",
]  # fmt: skip
_FIRST = 1 << 16

_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow stream"),
    (b"FEA1", "feather"),
    (b"\x93NUMPY", "npy"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
    (b"SQLite format 3\0", "sqlite"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"<stata_dta>", "stata"),
    (b"HEADER RECORD*******LIB", "sas transport"),
    (bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011"), "sas"),
)
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00")
# first bytes, what it is, what to do
_REFUSED: tuple[tuple[bytes, str, str], ...] = (
    (b"PARE", "an encrypted Parquet file", "decrypt it first"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "save the table that you mean as Parquet"),
    (b"%PDF", "a PDF document", "save its table as CSV"),
    (b"ORC", "an ORC file", "save the table as Parquet"),
    (b"Obj\x01", "an Avro file", "save the table as Parquet"),
    (b"MATLAB", "a MATLAB file", "save the matrix as CSV or .npy"),
    (b"\x89PNG", "an image", "give the folder that holds the images"),
    (b"\xff\xd8\xff", "an image", "give the folder that holds the images"),
    (b"GIF8", "an image", "give the folder that holds the images"),
    (b"RIFF", "a sound", "give the folder that holds the sounds"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and give the file or folder inside"),
    (b"Rar!", "a RAR archive", "unpack it and give the file or folder inside"),
    (b"\x7fELF", "a program", "give a table"),
)
_PICKLE = "a pickle, which could run code when it is opened"
_SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".arrows": "arrow stream", ".xlsx": "excel", ".xlsm": "excel", ".xlsb": "excel", ".xls": "excel", ".ods": "excel",
    ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite",
    ".npy": "npy", ".npz": "npz", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv", ".tsv": "csv",
    ".tab": "csv", ".psv": "csv", ".libsvm": "libsvm", ".svmlight": "libsvm", ".svm": "libsvm",
    ".dta": "stata", ".sav": "spss", ".zsav": "spss", ".por": "spss portable", ".sas7bdat": "sas",
    ".xpt": "sas transport",
}  # fmt: skip
_PACKED_SUFFIXES = (".gz", ".bz2", ".zst", ".xz")
_WITH_MAGIC = {
    "parquet",
    "arrow",
    "feather",
    "npy",
    "npz",
    "excel",
    "stata",
    "spss",
    "spss portable",
    "sas",
    "sas transport",
}
# versions of Stata before 13 begin with their number, the order of bytes and a one
_OLD_STATA = re.compile(rb"[\x66-\x73][\x01\x02]\x01", re.DOTALL)
_PORTABLE = b"SPSS PORT FILE"

# Bytes that texts hardly hold, escapes and form feeds apart; texts in UTF-16 have zero bytes and are told by them.
_CONTROLS = bytes(i for i in range(1, 32) if i not in b"\t\n\v\f\r\x1b")

_PAIR = re.compile(rb"(\d+):[-+]?(?:\d|\.\d|nan|inf)", re.IGNORECASE)
_LIBSVM_LINE = re.compile(
    rb"[-+]?[\d.][\d.eE+-]*(?:,[\d.eE+-]+)*(?:\s+qid:\d+)?(?:\s+\d+:[-+\w.]+)*\s*(?:#.*)?", re.DOTALL
)


def format_by_name(name: str) -> Format | None:
    """The format that a file's suffix promises, or None.

    >>> format_by_name("a.csv.gz"), format_by_name("notes.md")
    ('csv', None)
    """
    lower = name.lower()
    for packed in _PACKED_SUFFIXES:
        lower = lower.removesuffix(packed)
    return _SUFFIXES.get(lower[lower.rfind(".") :]) if "." in lower else None


def format_of(place: Place) -> Format:
    """The format of a file; a file that holds no table is refused with the way out.

    Args:
        place: where it is.
    """
    start = place.start(_FIRST)
    if not start:
        raise DataError(f"cannot read {place}: the file is empty")
    packed = start.startswith(_COMPRESSED)
    if packed:
        start = _inside(place)
    found = _by_magic(start)
    if start.startswith(b"PK\x03\x04") and not packed:
        found = _in_zip(place)
    if found is not None and packed:
        raise DataError(f"cannot read {place}: a compressed {found} file has to be unpacked first")
    if found is not None:
        return found
    _refuse(place, start)
    return _text_format(place, start)


def _inside(place: Place) -> bytes:
    with place.open() as handle:
        try:
            start = unpacked(handle).read(_FIRST)
        except DataError as error:
            raise DataError(f"cannot read {place}: {error}") from error
    if not start:
        raise DataError(f"cannot read {place}: the file inside is empty")
    return start


def _by_magic(start: bytes) -> Format | None:
    found = next((format_ for magic, format_ in _MAGIC if start.startswith(magic)), None)
    if found is None and _OLD_STATA.match(start):
        return "stata"
    if found is None and _PORTABLE in start[:512].replace(b"\r", b"").replace(b"\n", b""):
        return "spss portable"
    return found


def _refuse(place: Place, start: bytes) -> None:
    for magic, what, remedy in _REFUSED:
        if start.startswith(magic):
            raise DataError(f"cannot read {place}: it is {what}; {remedy}")
    if (start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05") or place.name.lower().endswith((".pkl", ".pickle")):
        raise DataError(f"cannot read {place}: it is {_PICKLE}; save the table as Parquet or CSV")
    if start[257:262] == b"ustar":
        raise DataError(f"cannot read {place}: it is a tar archive; unpack it and give the file or folder inside")
    head = start[:512].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html", b"<?xml", b"<svg")):
        kind = "an XML document" if head.startswith(b"<?xml") else "a web page"
        raise DataError(f"cannot read {place}: it is {kind}; save its table as CSV")
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if b"\0" not in start and controls > 2 + 0.02 * len(start):
        raise DataError(f"cannot read {place}: it is a binary file, not a table; save the table as CSV or Parquet")
    promised = format_by_name(place.name)
    if promised in _WITH_MAGIC:
        raise DataError(
            f"cannot read {place}: by its name it is {_described(promised)}, but its first bytes are not; "
            "it may be damaged or wrongly named"
        )


def _described(format_: str) -> str:
    told = {
        "excel": "a spreadsheet", "parquet": "a Parquet file", "arrow": "an Arrow file", "stata": "a Stata file",
        "spss": "an SPSS file", "spss portable": "a portable SPSS file", "sas": "a SAS file",
        "sas transport": "a SAS transport file",
    }  # fmt: skip
    return told.get(format_, f"an {format_} file")


def _in_zip(place: Place) -> Format:
    with place.open() as handle:
        try:
            names = zipfile.ZipFile(handle).namelist()
        except Exception as error:  # a hostile file may break a reader in any way
            raise DataError(f"cannot read {place}: it is a damaged zip file; copy or save it again") from error
    if "xl/workbook.xml" in names or "xl/workbook.bin" in names or "content.xml" in names:
        return "excel"
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    if "word/document.xml" in names:
        raise DataError(f"cannot read {place}: it is a text document; save its table as CSV")
    if format_by_name(place.name) == "excel":
        raise DataError(f"cannot read {place}: it is a damaged spreadsheet without a workbook inside; save it again")
    raise DataError(f"cannot read {place}: it is a zip archive; unpack it and give the file or folder inside")


def _text_format(place: Place, start: bytes) -> Format:
    promised = format_by_name(place.name)
    if promised in ("csv", "libsvm"):
        return promised
    text = start.replace(b"\0", b"") if start[:2] in (b"\xff\xfe", b"\xfe\xff") else start
    first = text.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")[:1]
    if promised == "json" or first == b"{" or re.match(rb"\s*\[\s*[{\]]", text.removeprefix(b"\xef\xbb\xbf")):
        return "json"
    return "libsvm" if _looks_like_libsvm(start) else "csv"


def _looks_like_libsvm(start: bytes) -> bool:
    lines = [line for line in start.split(b"\n")[:21] if line.strip()]
    if len(start) == _FIRST and len(lines) > 1:
        lines.pop()  # it may be cut
    pairs = 0
    for line in lines:
        if not _LIBSVM_LINE.fullmatch(line.strip()):
            return False
        indices = [int(index) for index in _PAIR.findall(line.partition(b"#")[0])]
        if indices != sorted(set(indices)):
            return False
        pairs = max(pairs, len(indices))
    return pairs > 1
