"""From the bytes of a text file to UTF-8: what packed them is undone, their encoding is found."""

from __future__ import annotations

import codecs
import lzma
import re
from typing import IO, Any, Protocol, cast

import pyarrow as pa

from assay.errors import DataError, ParameterError, UnreadableError

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like the mark of UTF-16, so it goes first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Windows-1252 leaves five bytes undefined; browsers read them as Latin-1 does.
_WINDOWS = "".join(bytes([i]).decode("cp1252", "ignore") or chr(i) for i in range(256))
# Bytes that are unpacked at a time: so many may be lost before a damaged one.
_STEP = 1 << 16
# What `surrogateescape` makes of bytes that are not UTF-8.
_ESCAPED = re.compile("[\udc80-\udcff]")


class Readable(Protocol):
    """What can be read from, seekable or not."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none at the end."""
        ...


class Rejoined:
    """A handle from which something was read already, put back in front."""

    def __init__(self, first: bytes, handle: Readable) -> None:
        self._first = first
        self._handle = handle

    def read(self, size: int, /) -> bytes:
        """What was put back, then the rest."""
        if not self._first:
            return self._handle.read(size)
        taken, self._first = self._first[:size], self._first[size:]
        return taken


def unpacked(handle: IO[bytes]) -> Readable:
    """The bytes inside a gzip, bz2, zstd or xz file, recognised by its first bytes; others as they are.

    Args:
        handle: at its start; it need not be seekable.

    >>> import gzip, io
    >>> unpacked(io.BytesIO(gzip.compress(b"x,y"))).read(10)
    b'x,y'
    """
    start = handle.read(6)
    whole: Any = Rejoined(start, handle)
    if handle.seekable():
        handle.seek(0)
        whole = handle
    packed = next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), None)
    if packed is None:
        return cast("Readable", whole)
    if packed == "xz":
        return _Unpacked(lzma.LZMAFile(cast("IO[bytes]", _Whole(whole))), packed)
    return _Unpacked(pa.input_stream(pa.PythonFile(_Whole(whole), mode="r"), compression=packed), packed)


def is_packed(start: bytes) -> bool:
    """Whether a file with these first bytes is packed in a way that `unpacked` knows."""
    return start.startswith(tuple(_PACKED))


class _Whole:
    """The few methods of a file that decompressors ask for."""

    closed = False

    def __init__(self, handle: Readable) -> None:
        self._handle = handle

    def read(self, size: int = -1, /) -> bytes:
        return self._handle.read(size if size >= 0 else 1 << 20)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """Whoever opened the handle closes it."""


class _Unpacked:
    """What is unpacked before damage is met is handed out first."""

    def __init__(self, handle: Readable, packed: str) -> None:
        self._handle = handle
        self._packed = packed
        self._damage: UnreadableError | None = None

    def read(self, size: int, /) -> bytes:
        pieces: list[bytes] = []
        while size > 0:
            try:
                piece = self._piece(min(size, _STEP))
            except UnreadableError:
                if pieces:
                    break
                raise
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        if self._damage is not None:  # whoever is asked again after damage may hand out old bytes without end
            raise self._damage
        try:
            return self._handle.read(size)
        except (OSError, EOFError, lzma.LZMAError) as error:
            self._damage = UnreadableError(
                f"the {self._packed} data are damaged or end too early ({str(error).splitlines()[0]}); "
                "get the file again, or unpack it by hand to rescue its start"
            )
            raise self._damage from error


def encoding_of(first: bytes, *, complete: bool) -> tuple[str, str | None]:
    """The encoding of a text by its first bytes, and a note where that was a guess.

    A byte-order mark decides; without one, zero bytes in every other place mean UTF-16; otherwise it is UTF-8 unless
    more bytes contradict that than fit it, and then Windows-1252, which Latin-1 is a part of.

    Args:
        first: the beginning of the text.
        complete: whether it is all of the text.

    >>> encoding_of("é;è".encode("latin-1"), complete=True)[0]
    'cp1252'
    """
    for mark, encoding in _MARKS:
        if first.startswith(mark):
            return encoding, None if encoding == "utf-8" else f"The text is {encoding[:6].upper()}, by its first bytes."
    if b"\0" in first:
        even, odd = first[: 1 << 16 : 2], first[1 : 1 << 16 : 2]
        zeros = even.count(0) / max(len(even), 1), odd.count(0) / max(len(odd), 1)
        if max(zeros) < 0.4 or min(zeros) > 0.05:
            raise DataError("it is a binary file, not a text table; save the table as CSV first")
        encoding = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        return encoding, "The text is UTF-16 without a byte-order mark, by its zero bytes."
    if first.isascii():
        return "utf-8", None
    # a character may be cut at the end of what was read
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(first, complete)
    bad = len(_ESCAPED.findall(text))
    good = len(re.findall("[^\0-\x7f\udc80-\udcff]", text)) if bad else 0
    if bad > good:
        return "cp1252", "The text is not UTF-8; it was read as Windows-1252 (Latin-1)."
    return "utf-8", None


def known_encoding(name: str) -> str:
    """The usual name of an encoding, refused if Python has no such text encoding."""
    try:
        found = codecs.lookup(name)
        "".encode(name)
    except LookupError as error:
        raise ParameterError(
            f"there is no text encoding {name!r}; utf-8, utf-16, latin-1 and cp1252 are some"
        ) from error
    return found.name


class Utf8:
    """A handle that reads text of any encoding as UTF-8, without its byte-order mark.

    Bytes that do not fit the encoding become bytes that are not UTF-8, to be counted where the text is parsed.
    """

    def __init__(self, handle: Readable, encoding: str) -> None:
        self._handle = handle
        self._plain = encoding in ("utf-8", "ascii")
        self._errors = "surrogatepass" if encoding.startswith("utf") else "surrogateescape"
        self._decoder = None if encoding == "cp1252" else codecs.getincrementaldecoder(encoding)(self._errors)
        self._begun = False

    def read(self, size: int, /) -> bytes:
        """About `size` bytes of UTF-8, none at the end."""
        while raw := self._handle.read(size):
            text = raw if self._plain else self._decoded(raw).encode("utf-8", self._errors)
            if not self._begun and text:
                self._begun = True
                text = text.removeprefix(codecs.BOM_UTF8)
            if text:
                return text
        if not self._plain and self._decoder is not None and self._decoder.getstate()[0]:
            self._decoder.reset()
            return b"\xff"  # the text ends within a character
        return b""

    def _decoded(self, raw: bytes) -> str:
        if self._decoder is None:
            return codecs.charmap_decode(raw, "strict", _WINDOWS)[0]
        return self._decoder.decode(raw)


def repaired(text: bytes) -> tuple[bytes, list[int]]:
    r"""Text whose bad bytes are read as Windows-1252, and where these were.

    Args:
        text: what should be UTF-8.

    Returns:
        text: UTF-8.
        bad: the position in the repaired text of each byte that was not UTF-8.

    >>> repaired(b"caf\xe9")
    (b'caf\xc3\xa9', [3])
    """
    if text.isascii():
        return text, []
    escaped = text.decode("utf-8", "surrogateescape")
    bad = [match.start() for match in _ESCAPED.finditer(escaped)]
    if not bad:
        return text, []
    pieces: list[bytes] = []
    places: list[int] = []
    end = length = 0
    for at in bad:
        pieces += (escaped[end:at].encode(), _WINDOWS[ord(escaped[at]) - 0xDC00].encode())
        length += len(pieces[-2])
        places.append(length)
        length += len(pieces[-1])
        end = at + 1
    pieces.append(escaped[end:].encode())
    return b"".join(pieces), places
