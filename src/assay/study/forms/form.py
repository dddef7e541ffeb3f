"""What a form of data must be able to do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from assay.asking.subject import Subject
from assay.data.source import Source

Value = TypeVar("Value")


class Form(ABC, Generic[Value]):
    """A form of data that is no table of rows.

    Attributes:
        name: one word, as `assay.study(form=...)` takes it.
        called: the same in a sentence, such as "a network".
    """

    name: ClassVar[str]
    called: ClassVar[str]

    @abstractmethod
    def is_one(self, data: Any) -> str:
        """Why something is of this form by what it is or how its file is called; empty where that does not tell.

        Args:
            data: what the user gave; for a path, before it is opened.
        """

    @abstractmethod
    def looks_like_one(self, source: Source) -> str:
        """Why an open table is of this form by its columns; empty where it is not.

        It completes "They are studied as a network: ...". Tables that only might be of this form stay tables.

        Args:
            source: the table.
        """

    @abstractmethod
    def read(self, data: Any, how: Mapping[str, Any]) -> Subject[Value]:
        """The data in this form.

        Args:
            data: what the user gave, or the source it was opened as.
            how: options of the reader; a wrong one is refused with those there are.
        """


def named(names: Sequence[str], words: frozenset[str]) -> list[str]:
    """Columns that are called by one of these words, whatever their case, blanks and signs.

    Args:
        names: of the columns.
        words: in small letters and digits alone.

    >>> named(["User ID", "movie"], frozenset(["userid"]))
    ['User ID']
    """
    if words.isdisjoint(_all_plain(tuple(names))):
        return []
    return [name for name in names if _plain(name) in words]


@lru_cache(maxsize=4)  # every form asks for several words
def _all_plain(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_plain, names))


def _plain(name: str) -> str:
    small = name.lower()
    return small if small.isalnum() else "".join(sign for sign in small if sign.isalnum())


def is_name(kind: pa.DataType) -> bool:
    """Whether a column of this type can name things: text or whole numbers.

    Args:
        kind: of the column.

    >>> is_name(pa.int64()), is_name(pa.float64())
    (True, False)
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


def name_of(data: Any, otherwise: str) -> str:
    """What the page calls the data: the file without its folder, or the name of the source.

    Args:
        data: what the user gave.
        otherwise: what data in memory are called.

    >>> name_of("data/links.csv", "network"), name_of([("a", "b")], "network")
    ('links.csv', 'network')
    """
    if isinstance(data, str | os.PathLike):
        return Path(os.fspath(data)).name
    return data.name if isinstance(data, Source) else otherwise
