"""Moments that sites share instead of rows: of each fold and group, with the encoding that made the numbers.

file   kind "SharedMoments": docs/guide/shared.md says what it holds and what it does not
law    a + b  are the moments of the rows of both, to the last bits
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.columns._codecs import Boolean, LevelCodec
from assay.data.columns.agreed import differences
from assay.data.columns.encoding import Encoding
from assay.data.files import write_archive
from assay.errors import DataError, FileFormatError, ParameterError
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.moments.stacked import stacked, unstacked
from assay.summary.moments.stored import FEWEST_ROWS, Stored
from assay.summary.sharing.release import Noise, Release, release_of

_ID = re.compile("[0-9a-f]{32}")
_DIFFERENCES = 3


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one site gave.

    Attributes:
        id: 128 random bits, by which it is known again.
        gaps: rows left out because a value was missing; None where that is not told, for privacy.
        strange: rows left out because of a level that is not known, or is that of too few rows; None likewise.
        release: its noise, or None.
    """

    id: str
    gaps: int | None = 0
    strange: int | None = 0
    release: Release | None = None

    def header(self) -> dict[str, Any]:
        """What a file keeps of it."""
        noise = None if self.release is None else self.release.header()
        return {"id": self.id, "gaps": self.gaps, "strange": self.strange, "release": noise}


@dataclass(frozen=True, slots=True, eq=False)
class SharedMoments(Stored):
    """Moments of every fold, and of every group where rows have one, of one site or several.

    `a + b` merges two; `save` writes a file without rows, `assay.load` reads it, `assay.study` studies it. Made by
    `assay.summarize`.

    Attributes:
        encoding: how columns became numbers.
        parts: moments, those of the folds of the first group first.
        folds: how many folds.
        by: the column of the groups, or None.
        groups: the groups; empty where there are none.
        contributions: of each site.
        finer: moments of more folds than those of groups, groups together, where folds of groups would be too small;
            empty where the parts say it all.
    """

    encoding: Encoding
    parts: tuple[Moments, ...]
    folds: int
    by: str | None
    groups: tuple[str, ...]
    contributions: tuple[Contribution, ...]
    finer: tuple[Moments, ...] = ()

    @property
    def total(self) -> Moments:
        """Of all rows."""
        return reduce(Moments.__add__, self.parts)

    @property
    def by_fold(self) -> GroupedMoments:
        """Of each fold, groups together."""
        if self.finer:
            return GroupedMoments(tuple(range(len(self.finer))), self.finer)
        each = [reduce(Moments.__add__, self.parts[k :: self.folds]) for k in range(self.folds)]
        return GroupedMoments(tuple(range(self.folds)), tuple(each))

    @property
    def group_folds(self) -> tuple[GroupedMoments, ...]:
        """For each fold, moments of each group in it."""
        return tuple(GroupedMoments(self.groups, self.parts[k :: self.folds]) for k in range(self.folds))

    @property
    def noise(self) -> Noise | None:
        """The noise in the total; None where there is none."""
        releases = tuple(one.release for one in self.contributions if one.release is not None)
        return Noise(releases) if releases else None

    def __add__(self, other: SharedMoments) -> SharedMoments:
        return merged([self, other]) if isinstance(other, SharedMoments) else NotImplemented

    def __radd__(self, other: object) -> SharedMoments:
        # so that sum() of summaries works
        return self if other == 0 else NotImplemented

    def fewer_folds(self, n_splits: int) -> SharedMoments:
        """The same rows in fewer folds, some of them together.

        Args:
            n_splits: how many; at least 1.
        """
        most = max(self.folds, len(self.finer))
        if not 1 <= n_splits <= most:
            raise ParameterError(f"there are {most} folds, which can become 1 to {most}; got {n_splits}")
        parts = [
            part
            for first in range(0, len(self.parts), self.folds)
            for part in _fewer(self.parts[first : first + self.folds], min(n_splits, self.folds))
        ]
        finer = _fewer(self.finer, min(n_splits, len(self.finer))) if n_splits > self.folds else ()
        return replace(self, parts=tuple(parts), folds=min(n_splits, self.folds), finer=finer)

    def refuse_small(self, fewest_rows: int) -> None:
        """Refuse parts, and levels within them, of so few rows that these could be told.

        Args:
            fewest_rows: that each needs, if it has any.
        """
        if self.noise is not None:
            return  # which protects every row, and exact counts are not known
        for where, part in self._named():
            if 0 < part.count < fewest_rows:
                raise DataError(f"{where} has {part.count} rows, fewer than {fewest_rows}, which could be told from it")
            for j, value, rows in small_cells(part, self.encoding, fewest_rows):
                name = self.encoding.names[j]
                raise DataError(
                    f"in {where} only {rows} rows have {name!r} = {value}, fewer than {fewest_rows}: they could be told"
                )

    def _named(self) -> Iterator[tuple[str, Moments]]:
        """Every part, and how messages call it."""
        for i, part in enumerate(self.parts):
            of = f" of group {self.groups[i // self.folds]!r}" if self.groups else ""
            yield f"fold {i % self.folds + 1}{of}" if self.folds > 1 else of.removeprefix(" of ") or "it", part
        for k, part in enumerate(self.finer):
            yield f"fold {k + 1}", part

    def save(self, path: str | os.PathLike[str], *, fewest_rows: int = FEWEST_ROWS) -> None:
        """Write it to a file that holds no rows.

        Args:
            path: the file.
            fewest_rows: refuse if a part or a level within it has fewer.
        """
        try:
            self.refuse_small(fewest_rows)
        except DataError as error:
            raise DataError(f"cannot write {path}: {error}") from None
        write_archive(path, "SharedMoments", *self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of the file."""
        header, arrays = stacked((*self.parts, *self.finer))
        about = {
            "finer": len(self.finer),
            "encoding": self.encoding.to_parts()[0],
            "folds": self.folds,
            "by": self.by,
            "groups": list(self.groups),
            "contributions": [one.header() for one in self.contributions],
        }
        return header | about, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SharedMoments:
        """Rebuild from the content of a file."""
        try:
            return _rebuilt(header, arrays)
        except Exception as error:  # a hostile file may break a reader in any way
            raise FileFormatError(f"the file does not hold whole SharedMoments: {error}") from error

    def __repr__(self) -> str:
        of = f" of {len(self.groups)} groups" if self.groups else ""
        return f"SharedMoments({self.total.count} rows{of}, {self.total.d} columns, {len(self.contributions)} sites)"


def merged(several: Sequence[SharedMoments], *, repeats: bool = False, names: Sequence[str] = ()) -> SharedMoments:
    """The moments of the rows of all.

    Args:
        several: one or more, made with the same encoding and by the same groups.
        repeats: whether rows may count twice: the same contribution in two of them.
        names: how messages call them.
    """
    called = list(names) or [f"summary {i + 1}" for i in range(len(several))]
    first = several[0]
    for other, name in zip(several[1:], called[1:], strict=True):
        _same_columns(first, other, called[0], name)
    if not repeats:
        _refuse_repeats(several, called)
    folds = min(one.folds for one in several)
    fine = min(len(one.finer) or one.folds for one in several)
    groups = tuple(sorted({group for one in several for group in one.groups}))
    empty = Moments.empty(first.total.d, first.encoding.names)
    parts = {(group, k): empty for group in groups or ("",) for k in range(folds)}
    finer = [empty] * (fine if fine > folds else 0)
    for one in several:
        for i, part in enumerate(one.fewer_folds(folds).parts):
            place = (one.groups[i // folds] if groups else "", i % folds)
            parts[place] = parts[place] + part
        for k, part in enumerate(_fewer(one.by_fold.parts, fine) if finer else ()):
            finer[k] = finer[k] + part
    contributions = tuple(c for one in several for c in one.contributions)
    return SharedMoments(first.encoding, tuple(parts.values()), folds, first.by, groups, contributions, tuple(finer))


def _fewer(parts: Sequence[Moments], folds: int) -> tuple[Moments, ...]:
    """Folds together until there are so many."""
    return tuple(reduce(Moments.__add__, parts[k::folds]) for k in range(folds))


def small_cells(part: Moments, encoding: Encoding, fewest_rows: int) -> Iterable[tuple[int, int, int]]:
    """Levels that few rows of a part have, as (number of the column, its value 0 or 1, rows).

    Args:
        part: the moments.
        encoding: tells which columns are 0 or 1.
        fewest_rows: that a level needs, if it has any.
    """
    for codec, span in zip(encoding.codecs, encoding.spans, strict=True):
        if isinstance(codec, (Boolean, LevelCodec)):
            for j in range(span.start, span.stop):
                ones = round(float(part.mean[j]) * part.count)
                # of several levels each has its own number; of yes and no both are in one
                for value, rows in ((1, ones), (0, part.count - ones))[: 2 - isinstance(codec, LevelCodec)]:
                    if 0 < rows < fewest_rows:
                        yield j, value, rows


def _same_columns(a: SharedMoments, b: SharedMoments, first: str, second: str) -> None:
    found = differences(a.encoding, b.encoding)
    if found:
        more = f" and {len(found) - _DIFFERENCES} more" if len(found) > _DIFFERENCES else ""
        raise DataError(
            f"{first} and {second} cannot be merged: {'; '.join(found[:_DIFFERENCES])}{more}; summarise the second "
            f"with --like {first}, so that both make the same numbers"
        )
    if a.by != b.by:
        one, other = (f"by {s.by!r}" if s.by else "not by any column" for s in (a, b))
        raise DataError(f"{first} is grouped {one} and {second} {other}: summarise both alike with --by")
    if a.groups != b.groups and (a.noise is not None or b.noise is not None):
        raise DataError(f"{first} and {second} have noise and other groups: name the same groups, --group, for both")


def _refuse_repeats(several: Sequence[SharedMoments], called: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for one, name in zip(several, called, strict=True):
        for contribution in one.contributions:
            if contribution.id in seen:
                raise DataError(
                    f"{seen[contribution.id]} and {name} hold the same rows, which would count twice: leave one out, "
                    "or say --repeats"
                )
            seen[contribution.id] = name
    for i, one in enumerate(several):
        for j in range(i):
            a, b = several[j].total, one.total
            if a.count and a.count == b.count and np.array_equal(a.scatter, b.scatter):
                raise DataError(
                    f"{called[j]} and {called[i]} hold the same numbers, probably of the same rows: leave one out, or "
                    "say --repeats"
                )


def _rebuilt(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SharedMoments:
    encoding = Encoding.from_parts(header["encoding"], {})
    for known in encoding.fields:
        if not isinstance(known.name, str) or not isinstance(known.unit, (str, type(None))):
            raise FileFormatError("a column has a name or a unit that is no text")
    if header["columns"] != list(encoding.names):
        raise FileFormatError("its columns are not those of its encoding")
    every, folds, fine = unstacked(header, arrays), header["folds"], header["finer"]
    if isinstance(fine, bool) or not isinstance(fine, int) or not 0 <= fine < len(every):
        raise FileFormatError(f"it has {fine!r} finer folds")
    parts, finer = every[: len(every) - fine], every[len(every) - fine :]
    groups, by = tuple(header["groups"]), header["by"]
    if not all(isinstance(group, str) for group in groups) or len(set(groups)) < len(groups):
        raise FileFormatError("its groups are not different texts")
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 1 or len(parts) != folds * max(len(groups), 1):
        raise FileFormatError(f"it has {len(parts)} parts, {len(groups)} groups and {folds!r} folds")
    if not isinstance(by, (str, type(None))) or bool(groups) != (by is not None):
        raise FileFormatError("its groups are of no column")
    if finer and (folds >= fine or sum(m.count for m in finer) != sum(m.count for m in parts)):
        raise FileFormatError("its finer folds are not of the same rows")
    if any(abs(part.weight - part.count) > 1e-9 * part.count for part in every):
        raise FileFormatError("its rows have weights")
    contributions = tuple(_contribution(one, len(encoding.names)) for one in header["contributions"])
    if not contributions:
        raise FileFormatError("nobody contributed to it")
    return SharedMoments(encoding, parts, folds, by, groups, contributions, finer)


def _contribution(header: dict[str, Any], d: int) -> Contribution:
    if not isinstance(header["id"], str) or not _ID.fullmatch(header["id"]):
        raise FileFormatError("a contribution has no id")
    for name in ("gaps", "strange"):
        if header[name] is not None and (type(header[name]) is not int or header[name] < 0):
            raise FileFormatError(f"its {name} are no count of rows")
    release = None if header["release"] is None else release_of(header["release"], d)
    return Contribution(header["id"], header["gaps"], header["strange"], release)
