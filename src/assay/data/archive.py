"""Reading archives that may be damaged or hostile: everything is checked before anything is allocated.

Entries are not compressed, so that what they hold is never larger than the file; names are unique; the shape of an
array is compared with the bytes there are; nothing but numbers, booleans and text is ever made.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from assay.errors import AssayError, FileFormatError

HEADER = "assay.json"
FORMATS = (1, 2)  # 1 had no checksum
DIGEST = b"sha256:"
TAIL = len(DIGEST) + 64

_MOST_ENTRIES = 1 << 16
_MOST_HEADER = 1 << 26  # bytes
_MOST_NESTED = 1 << 20  # lists and objects of the header, each of which takes some hundred bytes
_MOST_SAID = 300  # letters of a reason
_NUMBERS_AND_TEXT = "biufcUSmM"
_LOCAL_HEADER = 30  # bytes of a ZIP file before the name of its first entry


def looks_like_one(path: Path) -> bool:
    """Whether a file begins as those of assay do, however it goes on."""
    with path.open("rb") as handle:
        start = handle.read(_LOCAL_HEADER + len(HEADER))
    return start.startswith(b"PK\x03\x04") and start[_LOCAL_HEADER:] == HEADER.encode()


@contextlib.contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, its checksum and its entries checked; whatever goes wrong inside becomes one sentence.

    Args:
        path: the file.
    """
    try:
        with path.open("rb") as handle:
            summed = _checked_sum(path, handle)
            with zipfile.ZipFile(handle) as archive:
                _check_entries(archive, handle)
                if not summed and _document(archive)["format"] != 1:
                    raise FileFormatError("its checksum is missing")
                yield archive
    except OSError as error:
        raise FileFormatError(f"cannot load {path}: {error.strerror or error}") from error
    except AssayError as error:
        raise FileFormatError(_refusal(path, _reason(error))) from error
    except Exception as error:  # a hostile file may break a reader in any way
        raise FileFormatError(_refusal(path, _reason(error))) from error


@contextlib.contextmanager
def rebuilding(path: Path, kind: str) -> Iterator[None]:
    """Values are made of what a file holds; whatever goes wrong becomes one sentence that names the file.

    Args:
        path: the file.
        kind: what it holds.
    """
    try:
        with np.errstate(all="ignore"):  # numbers of a file may be any
            yield
    except FileFormatError as error:
        said = _reason(error)
        if said.startswith(f"cannot load {path}: "):
            raise
        raise FileFormatError(f"cannot load {path}: {said}") from error
    except Exception as error:  # a hostile file may break a reader in any way
        raise FileFormatError(f"cannot load {path}: it does not hold a whole {kind} ({_reason(error)})") from error


def document_of(archive: zipfile.ZipFile) -> tuple[str, dict[str, Any]]:
    """The kind of thing in an archive, and its header."""
    document = _document(archive)
    kind, header, version = document["kind"], document["header"], document["format"]
    if version not in FORMATS or isinstance(version, bool):
        raise FileFormatError(f"its format is {version}, this assay reads {FORMATS[-1]}; update assay")
    if not isinstance(kind, str) or not isinstance(header, dict):
        raise FileFormatError("its header is not one that assay writes")
    return kind, header


def array_of(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """One array of an archive.

    Args:
        archive: as `opened` gives it.
        name: of the entry.
    """
    content = archive.read(name)
    stream = BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise FileFormatError(f"{name} is an array of version {version}")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(stream)
    if dtype.kind not in _NUMBERS_AND_TEXT or dtype.hasobject or dtype.subdtype is not None or not dtype.itemsize:
        raise FileFormatError(f"{name} holds {dtype}, and only numbers and text can be read")
    if any(not isinstance(side, int) or isinstance(side, bool) or side < 0 for side in shape):
        raise FileFormatError(f"{name} has a shape of {shape}")
    start, size = stream.tell(), math.prod(shape) * dtype.itemsize
    if len(content) - start != size:
        raise FileFormatError(f"{name} is to hold {size} bytes and holds {len(content) - start}")
    if not size:
        return np.empty(shape, dtype, order="F" if by_columns else "C")
    flat = np.frombuffer(content, dtype, offset=start)
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")


def digest(handle: IO[bytes], end: int) -> bytes:
    """The checksum of the first bytes of a file.

    Args:
        handle: the file.
        end: how many.
    """
    handle.seek(0)
    found, left = hashlib.sha256(), end
    while left and (chunk := handle.read(min(left, 1 << 20))):
        found.update(chunk)
        left -= len(chunk)
    return found.hexdigest().encode()


def _checked_sum(path: Path, handle: IO[bytes]) -> bool:
    """Whether the file has a checksum; a wrong one is refused."""
    size = os.fstat(handle.fileno()).st_size
    if size < TAIL:
        return False
    handle.seek(size - TAIL)
    tail = handle.read(TAIL)
    if not tail.startswith(DIGEST):
        return False
    if digest(handle, size - TAIL) != tail.removeprefix(DIGEST):
        raise FileFormatError("its content does not fit its checksum: it was changed or damaged")
    return True


def _check_entries(archive: zipfile.ZipFile, handle: IO[bytes]) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise FileFormatError(f"it has {len(entries):,} entries, more than the {_MOST_ENTRIES:,} there may be")
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise FileFormatError("two of its entries have one name")
    for entry in entries:
        plain = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
        if not plain or entry.flag_bits & 1:
            raise FileFormatError(f"its entry {entry.filename!r} is packed, which assay does not do")
    if sum(entry.file_size for entry in entries) > os.fstat(handle.fileno()).st_size:
        raise FileFormatError("its entries say that they are larger than the file")
    if HEADER not in names:
        raise FileFormatError(f"it has no {HEADER}")
    if archive.getinfo(HEADER).file_size > _MOST_HEADER:
        raise FileFormatError("its header is too large")
    odd = [name for name in names if name != HEADER and not name.endswith(".npy")]
    if odd:
        raise FileFormatError(f"its entry {odd[0]!r} is none that assay writes")


def _document(archive: zipfile.ZipFile) -> dict[str, Any]:
    text = archive.read(HEADER)
    if text.count(b"[") + text.count(b"{") > _MOST_NESTED:
        raise FileFormatError("its header holds too many lists")
    found = json.loads(text)
    if not isinstance(found, dict) or not {"format", "kind", "header"} <= found.keys():
        raise FileFormatError("its header is not one that assay writes")
    return found


def _reason(error: Exception) -> str:
    """What went wrong, in a line that is not too long."""
    if isinstance(error, MemoryError):
        return "what it says it holds does not fit into memory"
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]} ..."


def _refusal(path: Path, why: str) -> str:
    return f"cannot load {path}: it is not a whole file saved by assay ({why.removesuffix('.')})"
