"""How the cells of one column become numbers, and how numbers are told as cells again.

A codec holds what it needs and nothing else: plain values that JSON can keep.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns.cells import as_values, coded
from assay.data.field import Field

Misfits: TypeAlias = list[tuple[str, NDArray[np.bool_]]]

NOT_READ = {
    "number": "values are not numbers and count as missing",
    "count": "values are not numbers and count as missing",
    "boolean": "values are not yes or no and count as missing",
    "ordered": "values are none of the known steps and count as missing",
    "time": "values are not dates or times and count as missing",
}
INFINITE = "values are infinite and count as missing"


class Codec(ABC):
    """One column, there and back."""

    __slots__ = ()
    kind: ClassVar[str]

    @abstractmethod
    def names(self, name: str) -> tuple[str, ...]:
        """Names of the numbers it makes, from the name of the column."""

    @abstractmethod
    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        """Fill (outputs, b) numbers from b cells, missing ones as NaN; infinite ones are left to who called.

        Returns:
            What did not fit, in words behind a count, with the mask of its rows.
        """

    @abstractmethod
    def decode(self, values: Array) -> pa.Array:
        """(m, outputs) numbers as m cells."""

    def told(self) -> tuple[str, ...]:
        """Levels that its numbers stand for: one a number, or the values 0, 1, ... of a single one; else none."""
        return ()

    def header(self) -> dict[str, Any]:
        """What a file keeps of it."""
        return {"codec": self.kind, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class Number(Codec):
    """The number itself, or log(1 + x)."""

    kind = "number"
    reading: str = ""
    log: bool = False

    def names(self, name: str) -> tuple[str, ...]:
        return (f"log(1 + {name})" if self.log else name,)

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        values, bad = as_values(column, field, self.reading)
        out[0] = values
        found: Misfits = [] if bad is None else [(NOT_READ[field.kind], bad)]
        if self.log:
            below = out[0] < 0.0
            if below.any():
                out[0][below] = np.nan
                found.append(("values are below zero, where log(1 + x) was chosen, and count as missing", below))
            np.log1p(out[0], out=out[0])
        return found

    def decode(self, values: Array) -> pa.Array:
        with np.errstate(over="ignore"):
            plain = np.expm1(values[:, 0]) if self.log else values[:, 0]
        return pa.array(plain, from_pandas=True)


@dataclass(frozen=True, slots=True)
class Boolean(Codec):
    """0 or 1, told in the words of the column: (no, yes)."""

    kind = "boolean"
    words: tuple[str, str] | None = None

    def names(self, name: str) -> tuple[str, ...]:
        return (name,)

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        values, bad = as_values(column, field)
        out[0] = values
        return [] if bad is None else [(NOT_READ["boolean"], bad)]

    def told(self) -> tuple[str, ...]:
        return self.words or ("no", "yes")

    def decode(self, values: Array) -> pa.Array:
        told: tuple[Any, Any] = self.words or (False, True)
        return pa.array([None if x != x else told[int(x >= 0.5)] for x in values[:, 0].tolist()])


@dataclass(frozen=True, slots=True)
class Ordered(Codec):
    """The rank from 0; steps that are numbers already keep them."""

    kind = "ordered"
    levels: tuple[str, ...] | None = None

    def names(self, name: str) -> tuple[str, ...]:
        return (name,)

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        values, bad = as_values(column, field)
        out[0] = values
        return [] if bad is None else [(NOT_READ["ordered"], bad)]

    def told(self) -> tuple[str, ...]:
        return self.levels or ()

    def decode(self, values: Array) -> pa.Array:
        if self.levels is None:
            return pa.array(values[:, 0], from_pandas=True)
        last = len(self.levels) - 1
        ranks = [None if x != x else min(max(round(x), 0), last) for x in values[:, 0].tolist()]
        return pa.array([None if rank is None else self.levels[rank] for rank in ranks], pa.string())


@dataclass(frozen=True, slots=True)
class LevelCodec(Codec):
    """One 0/1 number a level; rare levels share one.

    Attributes:
        levels: those with a number of their own.
        shares: of the rows with a value, for each output.
        rare: the levels that share the last output, or None if there is no such output.
        numeric: whether the levels are numbers.
    """

    kind = "levels"
    levels: tuple[str, ...]
    shares: tuple[float, ...]
    rare: tuple[str, ...] | None = None
    more: int = 0
    numeric: bool = False

    @property
    def pooled(self) -> str:
        count = len(self.rare or ()) + self.more
        many = f"other ({count:,}{'+' if self.more else ''} {'level' if count == 1 else 'levels'})"
        name = many if self.rare else "other levels"  # where nobody may know which
        return f"{name} (2)" if name in self.levels else name

    def names(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name} = {level}" for level in self.told())

    def told(self) -> tuple[str, ...]:
        return self.levels if self.rare is None else (*self.levels, self.pooled)

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        found = coded(column)
        last = len(self.levels)
        place = {level: i for i, level in enumerate(self.levels)}
        # rows of the table below: a cell that is a level, a rare or unseen one, a missing one
        codes = np.array([place.get(cell, last) for cell in found.cells] + [-1], dtype=np.int64)[found.codes]
        for i in range(len(out)):
            np.equal(codes, i, out=out[i], casting="unsafe")
        if (codes < 0).any():
            out[:, codes < 0] = np.nan
        known = {*self.levels, *(self.rare or ())}
        new = np.array([cell not in known for cell in found.cells] + [False])
        if self.more or not new.any():
            return []
        treated = "counted with the rare ones" if self.rare is not None else "belong to no column"
        return [(f"values are levels not met before and {treated}", new[found.codes])]

    def decode(self, values: Array) -> pa.Array:
        told: list[Any] = list(self.levels)
        if self.rare is not None:
            told.append(self.pooled)
        elif self.numeric:
            told = [float(level) for level in told]
        gone = np.isnan(values).any(axis=1) | ~(values != 0.0).any(axis=1)
        best = np.where(gone, -1, np.argmax(np.where(np.isnan(values), -np.inf, values), axis=1))
        return pa.array([None if i < 0 else told[i] for i in best.tolist()], pa.array(told).type)


@dataclass(frozen=True, slots=True)
class Codes(Codec):
    """The number of the level, for methods that ask whether two rows have the same and nothing else.

    Attributes:
        levels: in the order of their codes from 0; a level not met before has the code after the last.
        numeric: whether the levels are numbers.
    """

    kind = "codes"
    levels: tuple[str, ...]
    numeric: bool = False

    def names(self, name: str) -> tuple[str, ...]:
        return (name,)

    def told(self) -> tuple[str, ...]:
        return self.levels

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        found = coded(column)
        last = len(self.levels)
        place = {level: i for i, level in enumerate(self.levels)}
        out[0] = np.array([place.get(cell, last) for cell in found.cells] + [np.nan])[found.codes]
        new = out[0] == last
        return [("values are levels not met before, and like none of those", new)] if new.any() else []

    def decode(self, values: Array) -> pa.Array:
        told: list[Any] = [float(level) for level in self.levels] if self.numeric else list(self.levels)
        known = [x == x and 0 <= round(x) < len(told) for x in values[:, 0].tolist()]
        cells = [told[round(x)] if ok else None for x, ok in zip(values[:, 0].tolist(), known, strict=True)]
        return pa.array(cells, pa.array(told).type)


@dataclass(frozen=True, slots=True)
class Aside(Codec):
    """No numbers at all."""

    kind = "aside"

    def names(self, name: str) -> tuple[str, ...]:
        return ()

    def write(self, column: pa.Array, field: Field, out: Array) -> Misfits:
        return []

    def decode(self, values: Array) -> pa.Array:
        return pa.nulls(len(values))
