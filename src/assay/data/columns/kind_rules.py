"""The rules that tell what kind of column it is, each with the words that say why.

They lean to keeping: a column is called an identifier, and so set aside later, only on strong signs, because a number
kept by mistake is seen in the report and a number lost is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns import words
from assay.data.columns.cells import (
    CLOCK,
    COMMA,
    DAY_FIRST,
    MONTH_FIRST,
    POINT,
    Coded,
    as_values,
    text_lengths,
)
from assay.data.columns.dates import order_votes
from assay.data.field import Field, Kind

Ruled: TypeAlias = tuple[Kind, str]

FEW_LEVELS = 20
_STEPS = 12
_ENOUGH_ROWS = 5  # with fewer, repeated or unrepeated values say nothing
_REPEATS = 5  # rows a level, on average, before whole numbers are taken as levels
# reasons that later rows may contradict
TWO_CODES, WRITTEN = "two different whole numbers that repeat", "; written as text"
_FITS = 0.95  # share of the cells that must be numbers or dates for the column to be one

_SHAPES = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
    ("web addresses", re.compile(r"(?:https?|ftp|s3|gs|file)://\S+|www\.\S+")),
    ("UUIDs", re.compile(r"\{?[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?")),
    ("hashes", re.compile(r"(?:[0-9a-f]{32,128}|[0-9A-F]{32,128})")),
    ("telephone numbers", re.compile(r"(?=(?:\D*\d){6})\+?[\d ()/.-]+")),
    ("file paths", re.compile(r"\S*[\\/]\S*\.\w{1,5}")),
)


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the rules look at in a column of numbers.

    Attributes:
        n: values there are.
        low, high: the smallest and the largest.
        whole: whether all are whole numbers.
        distinct: how many different ones, counted for whole numbers only.
        counts_up: whether each is one more than the one before.
        in_runs: whether each is the one before or one more.
        first: whether it is the first column of the table.
    """

    n: int
    low: float
    high: float
    whole: bool
    distinct: int = 0
    counts_up: bool = False
    in_runs: bool = False
    first: bool = False


def number_kind(name: str, seen: Numbers) -> Ruled:
    """The kind of a column of numbers.

    >>> number_kind("region", Numbers(440, 1, 3, True, 3))
    ('category', 'whole numbers that repeat, and a name that says codes (region)')
    >>> number_kind("Fresh", Numbers(440, 3, 112151, True, 433))
    ('count', 'whole numbers, none negative, 433 different')
    """
    if seen.n == 0:
        return "empty", "no values"
    if seen.low == seen.high and seen.n > 1:
        return "constant", "one value in all rows"
    instants = _instants(seen)
    if not (seen.whole or instants):  # whatever the name says
        return "number", "numbers with fractions"
    said = words.name_words(name)
    last = said[-1] if said else ""
    if instants and words.TIME_NAMES.intersection(said):
        return "time", "the name says time, and the numbers are in its range"
    if not seen.whole:
        return "number", "numbers with fractions"
    if words.YEAR_NAMES.intersection(said) and seen.low >= 1000 and seen.high <= 2200:
        return "number", "years"
    return _whole_kind(seen, said, last)


def _whole_kind(seen: Numbers, said: tuple[str, ...], last: str) -> Ruled:
    repeated = seen.n >= _REPEATS * seen.distinct
    unique = seen.distinct == seen.n >= 3
    hint = next((word for word in said if word in words.CATEGORY_NAMES), "")
    if hint and repeated and 2 < seen.distinct <= 3 * FEW_LEVELS:
        return "category", f"whole numbers that repeat, and a name that says codes ({hint})"
    if last in words.IDENTIFIER_NAMES and (unique or seen.distinct > FEW_LEVELS):
        return "identifier", f"whole numbers, and a name that says so ({last})"
    if len(said) == 1 and last in words.PERSON_NAMES and seen.low >= 0 and (unique or seen.distinct > FEW_LEVELS):
        return "identifier", f"whole numbers, and a name that says so ({last})"
    if unique and seen.counts_up and (last in words.NUMBERING_NAMES or (seen.first and seen.low in (0.0, 1.0))):
        return "identifier", "counts up by one from row to row"
    if seen.in_runs and seen.first and seen.low in (0.0, 1.0) and repeated and seen.distinct > FEW_LEVELS:
        return "identifier", "counts up by one in runs of rows"
    if (seen.low, seen.high) == (0.0, 1.0):
        return "boolean", "0 and 1 only"
    if hint in words.POSTAL_NAMES and seen.low >= 0:
        return "category", f"a name that says codes ({hint})"
    if last in words.IDENTIFIER_NAMES and repeated:
        return "category", f"few whole numbers that repeat, and a name that says codes ({last})"
    if seen.distinct == 2 and repeated:
        return "category", TWO_CODES
    if repeated and seen.distinct <= _STEPS and seen.high - seen.low <= FEW_LEVELS:
        return "ordered", f"{seen.distinct} small whole numbers that repeat, taken as steps"
    if seen.low < 0:
        return "number", "whole numbers, some negative"
    return "count", f"whole numbers, none negative, {seen.distinct:,} different"


def _instants(seen: Numbers) -> bool:
    # one scale for all: seconds, milliseconds, microseconds or nanoseconds from 1973 to 2100, or 20110131
    scales = any(1e8 * s <= seen.low and seen.high <= 4.2e9 * s for s in (1.0, 1e3, 1e6, 1e9))
    return scales or (seen.whole and seen.low >= 18_000_101 and seen.high <= 21_001_231)


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """What the rules look at in a column of text.

    Attributes:
        cells: the different cells.
        counts: how many rows hold each.
        first: whether it is the first column of the table.
    """

    cells: list[str]
    counts: NDArray[np.int64]
    first: bool = False

    @property
    def n(self) -> int:
        """Values there are."""
        return int(self.counts.sum())

    def share(self, fits: NDArray[np.bool_]) -> float:
        """The share of rows whose cell fits."""
        return float(self.counts[fits].sum() / self.n)

    def said(self) -> Texts:
        """Without the words that stand for missing values."""
        kept = [i for i, cell in enumerate(self.cells) if words.folded(cell) not in words.MISSING]
        return Texts([self.cells[i] for i in kept], self.counts[kept], self.first)

    def sample(self) -> Texts:
        """Up to 200 of the cells, evenly spaced, to dismiss a costly rule early."""
        picked = np.linspace(0, len(self.cells) - 1, min(200, len(self.cells))).astype(int)
        return Texts([self.cells[i] for i in picked], self.counts[picked])


def text_kind(name: str, seen: Texts) -> tuple[Kind, str, tuple[str, ...] | None]:
    """The kind of a column of text, why, and the levels from low to high if it is ordered.

    >>> text_kind("size", Texts(["S", "M", "L"], np.array([5, 9, 2])))
    ('ordered', 'steps of a known scale', ('S', 'M', 'L'))
    >>> text_kind("reply", Texts(["Yes", "no"], np.array([5, 9])))[:2]
    ('boolean', 'yes or no')
    """
    n, distinct = seen.n, len(seen.cells)
    if n == 0:
        return "empty", "no values", None
    said = seen.said()
    if said.n == 0:
        return "empty", "no values but words for missing ones", None
    if distinct == 1 and n > 1:
        return "constant", "one value in all rows", None
    if len(said.cells) <= 4 and words.boolean_words(said.cells):
        numbers = all(cell.strip()[:1] in ("0", "1") for cell in said.cells)
        return "boolean", f"0 and 1 only{WRITTEN}" if numbers else "yes or no", None
    ruled = numbers_in_text(name, said) or _times_in_text(said)
    if ruled is not None:
        return *ruled, None
    levels = None
    if distinct <= 3 * FEW_LEVELS:  # "none" is a missing value, but also the lowest step of some scales
        levels = words.ordered_levels(seen.cells) or words.ordered_levels(said.cells)
    if levels is not None:
        return "ordered", "steps of a known scale", levels
    return *(_identifier(name, seen) or _words_or_levels(name, seen)), None


def numbers_in_text(name: str, seen: Texts) -> Ruled | None:
    """The kind of a column whose cells are numbers, as nearly all must be; None for other text."""

    def read(texts: Texts) -> tuple[float, Array, str]:
        cells = pa.array(texts.cells, pa.string())
        tried = [(as_values(cells, Field(name, "number"), reading)[0], reading) for reading in (POINT, COMMA)]
        values, reading = max(tried, key=lambda pair: texts.share(~np.isnan(pair[0])))
        return texts.share(~np.isnan(values)), values, reading

    if read(seen.sample())[0] < 0.5:
        return None
    share, values, reading = read(seen)
    if share < _FITS:
        return None
    zeros = np.array([re.fullmatch(r"0\d+", cell) is not None for cell in seen.cells])
    if seen.share(zeros) > 1 - _FITS:
        unique = len(seen.cells) == seen.n >= _ENOUGH_ROWS
        return ("identifier" if unique else "category"), "digits that begin with 0, so codes"
    finite = np.isfinite(values)
    whole = bool((values[finite] == np.floor(values[finite])).all())
    counted = int(seen.counts[finite].sum())
    low, high = (float(f(values[finite], initial=np.nan)) for f in (np.fmin.reduce, np.fmax.reduce))
    kind, why = number_kind(name, Numbers(counted, low, high, whole, int(finite.sum()), first=seen.first))
    if kind == "boolean" or (kind == "ordered" and reading == COMMA):
        kind = "count"  # words for yes and no, and steps, are read in one way only
    return kind, f"{why}{WRITTEN}" + (", with a decimal comma" if reading == COMMA else "")


def _times_in_text(seen: Texts) -> Ruled | None:
    def read(texts: Texts, reading: str) -> float:
        return texts.share(~np.isnan(as_values(pa.array(texts.cells, pa.string()), Field("", "time"), reading)[0]))

    sample = seen.sample()
    if read(sample, CLOCK) >= 0.5 and read(seen, CLOCK) >= _FITS:
        return "time", "times of day"
    if max(read(sample, MONTH_FIRST), read(sample, DAY_FIRST)) < 0.5:
        return None
    month, day = read(seen, MONTH_FIRST), read(seen, DAY_FIRST)
    if max(month, day) < _FITS:
        return None
    slashed, shown = order_votes(pa.array(seen.cells, pa.string()))
    if not slashed.any():
        return "time", "dates"
    if shown.any():
        return "time", f"dates, {DAY_FIRST if day > month else MONTH_FIRST}"
    return "time", f"dates; no value shows the order, {MONTH_FIRST} is taken"


def _identifier(name: str, seen: Texts) -> Ruled | None:
    distinct, unique = len(seen.cells), len(seen.cells) == seen.n >= _ENOUGH_ROWS
    said = words.name_words(name)
    if said and said[-1] in words.IDENTIFIER_NAMES and (unique or distinct > FEW_LEVELS):
        return "identifier", f"a name that says so ({said[-1]})"
    if distinct > FEW_LEVELS:
        for shape, pattern in _SHAPES:
            if all(pattern.fullmatch(cell) for cell in seen.sample().cells):
                return "identifier", shape
    if not unique:
        return None
    length, count = text_lengths(pa.array(seen.cells, pa.string()))
    if count.max() == 1:
        return "identifier", "no two alike, without blanks"
    if count.mean() <= 2.5 and length.max() <= 80:
        return "identifier", "no two alike, short: names of the rows"
    return None


def _words_or_levels(name: str, seen: Texts) -> Ruled:
    n, distinct = seen.n, len(seen.cells)
    if n < _ENOUGH_ROWS:
        return "text", "too few rows to tell"
    length, count = (part @ seen.counts / n for part in text_lengths(pa.array(seen.cells, pa.string())))
    listed = np.array(["|" in cell.strip("|") or ";" in cell.strip(";") for cell in seen.cells])
    if distinct > FEW_LEVELS and seen.share(listed) > 0.2:
        return "text", "lists of words"
    hint = next((word for word in words.name_words(name) if word in words.CATEGORY_NAMES), "")
    short = length <= 50 and count <= 6
    if distinct < n and short and (2 * distinct <= n or distinct <= FEW_LEVELS or hint):
        return "category", f"{distinct:,} short texts that repeat"
    if count <= 1.2 and distinct > FEW_LEVELS:
        return "identifier", "single words, mostly different"
    return "text", "texts that mostly differ"


def coded_texts(found: Coded, *, first: bool) -> Texts:
    """A column by its different cells, for the rules."""
    return Texts(found.cells, found.counts(), first)
