"""The zip file of a spreadsheet: members unpacked piece by piece, XML by a parser that refuses entities."""

from __future__ import annotations

import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from xml.parsers import expat

from assay.errors import DataError

_CHUNK = 1 << 20


class Package:
    """The zip file of a spreadsheet; nothing of it is unpacked whole.

    Args:
        data: the file.
        largest: bytes that all of its members may unpack to.
    """

    def __init__(self, data: bytes, largest: int) -> None:
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except Exception as error:  # a hostile file may break a reader in any way
            raise DataError("it is a damaged zip file; copy or save it again") from error
        size = sum(info.file_size for info in self._archive.infolist())
        if size > largest:
            raise DataError(
                f"it unpacks to {size >> 20:,} MB, and at most {largest >> 20:,} MB are held in memory; "
                "save the sheet as CSV"
            )
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            # readers take names in any case, and with either slash
            name = _plain(info.filename)
            if name in self._members:
                raise DataError(f"two of its members have one name ({info.filename!r}); save it again")
            self._members[name] = info

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._members

    def chunks(self, name: str) -> Iterator[bytes]:
        """A member, piece by piece.

        Args:
            name: in any case.
        """
        try:
            with self._archive.open(self._members[_plain(name)]) as handle:
                while chunk := handle.read(_CHUNK):  # never more than its size as the file says it
                    yield chunk
        except Exception as error:
            raise DataError(f"its member {name!r} is damaged; copy or save it again") from error

    def check(self) -> None:
        """Refuse damaged members that hold values and are not looked through: a reader would take them as they are."""
        for name, info in self._members.items():
            if name in ("xl/sharedstrings.xml", "xl/styles.xml") or name.endswith(".bin"):
                deque(self.chunks(info.filename), maxlen=0)

    def parse(self, name: str, start: Callable[[str, list[str]], object], parser: Any = None) -> None:
        """Call for each element of a member, with its name and its attributes in turn.

        Args:
            name: of the member.
            start: called where an element begins.
            parser: an expat parser, where others than `start` are called too.
        """
        parser = parser or expat.ParserCreate()
        parser.StartElementHandler = start
        parser.ordered_attributes = True
        parser.EntityDeclHandler = _refuse_entity
        try:
            for chunk in self.chunks(name.lstrip("/")):
                parser.Parse(chunk)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise DataError(f"its member {name.lstrip('/')!r} is damaged ({error}); save it again") from error


def _refuse_entity(*_: object) -> None:
    raise DataError("it declares entities, which no spreadsheet needs; save it again in a spreadsheet program")


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()
