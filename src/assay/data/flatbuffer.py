"""Reading flatbuffers that may be damaged: every place is compared with the bytes there are."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import FileFormatError


@dataclass(frozen=True, slots=True)
class FlatTable:
    """A table of a flatbuffer; its fields are told by their numbers in the schema.

    Attributes:
        content: the whole flatbuffer.
        place: where the table begins.
    """

    content: bytes
    place: int

    @classmethod
    def root(cls, content: bytes) -> FlatTable:
        """The table that holds all others."""
        return cls(content, _followed(content, 0))

    def number(self, field: int, size: int) -> int:
        """A whole number of so many bytes; 0 where the field is left out."""
        place = self._at(field)
        return _number(self.content, place, size, signed=True) if place else 0

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self._at(field) != 0

    def table(self, field: int) -> FlatTable:
        """A table within this one."""
        place = self._at(field)
        if not place:
            raise FileFormatError(f"a table lacks its field {field}")
        return FlatTable(self.content, _followed(self.content, place))

    def tables(self, field: int) -> list[FlatTable]:
        """Tables in a row; none where the field is left out."""
        if not self.has(field):
            return []
        start, count = self._vector(field, 4)
        return [FlatTable(self.content, _followed(self.content, start + 4 * i)) for i in range(count)]

    def check_text(self, field: int) -> None:
        """Refuse a text that is not within the bytes, or not UTF-8; one that is left out is none."""
        if self.has(field):
            start, count = self._vector(field, 1)
            _number(self.content, start + count, 1)  # the zero that ends it
            try:
                self.content[start : start + count].decode()
            except UnicodeDecodeError as error:
                raise FileFormatError(f"a text is not UTF-8 ({error.reason})") from error

    def _vector(self, field: int, width: int) -> tuple[int, int]:
        start = _followed(self.content, self._at(field))
        count = _number(self.content, start, 4)
        if start + 4 + count * width > len(self.content):
            raise FileFormatError(f"{count:,} values do not fit into {len(self.content):,} bytes")
        return start + 4, count

    def _at(self, field: int) -> int:
        """Where a field is, 0 where it is left out."""
        fields = self.place - _number(self.content, self.place, 4, signed=True)
        if 4 + 2 * field >= _number(self.content, fields, 2):
            return 0
        offset = _number(self.content, fields + 4 + 2 * field, 2)
        return self.place + offset if offset else 0


def _followed(content: bytes, place: int) -> int:
    return place + _number(content, place, 4)


def _number(content: bytes, place: int, size: int, *, signed: bool = False) -> int:
    if not 0 <= place <= len(content) - size:
        raise FileFormatError(f"byte {place:,} of {len(content):,} is asked for")
    return int.from_bytes(content[place : place + size], "little", signed=signed)
