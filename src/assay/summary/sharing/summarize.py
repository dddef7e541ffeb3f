"""From rows to moments that can be shared: one pass, and one before it where the encoding is still to be decided."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns._codecs import LevelCodec
from assay.data.columns.agreed import agreed
from assay.data.columns.cells import coded
from assay.data.columns.encoding import Encoding
from assay.data.folds import fold_numbers
from assay.data.held_out_folds import is_number
from assay.data.partitions import numbered_blocks
from assay.data.read import read
from assay.data.row_cache import KeptSource
from assay.data.source import Source
from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.summary.moments.accumulate import Accumulator, refuse_unusable
from assay.summary.moments.grouped import GroupedMoments, accumulate_groups
from assay.summary.moments.moments import Moments
from assay.summary.moments.stored import FEWEST_ROWS
from assay.summary.sharing.shared import Contribution, SharedMoments, small_cells

Tell: TypeAlias = Callable[[str, int | None, float | None], object]
Log: TypeAlias = Literal["auto", "never"] | Sequence[str]
Cell: TypeAlias = tuple[str, int, int]

FOLDS = 10
_PASSES = 5
_MOST_GROUPS = 1000
_NO_ROWS = "no row has a value in every column"


@dataclass(frozen=True, slots=True)
class Counted:
    """What one pass found.

    Attributes:
        parts: moments by (group, fold).
        gaps: rows left out because a value was missing.
        strange: rows left out because of a level that is not known or that few rows have.
    """

    parts: GroupedMoments
    gaps: int
    strange: int

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.parts + other.parts, self.gaps + other.gaps, self.strange + other.strange)


def summarize(
    data: Any,
    *,
    by: str | None = None,
    cv: int = FOLDS,
    drop: Sequence[str] = (),
    log: Log = "auto",
    like: SharedMoments | Encoding | None = None,
    groups: Sequence[str] = (),
    fewest_rows: int = FEWEST_ROWS,
    epsilon: float | None = None,
    delta: float | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    random_state: RandomState = 0,
    progress: Tell | None = None,
    **reading: Any,
) -> SharedMoments:
    """Summarise rows so that the summary can be shared and the rows need not be.

    Rows that lack a value in a column in use are left out and counted. Texts, identifiers and columns that lack more
    than half of their values are left out.

    Args:
        data: anything `assay.read` takes.
        by: a column of groups, each of which gets moments of its own.
        cv: how many parts of the rows, unseen for each other, at most; fewer where they would be too small. A number,
            never a splitter: sites cut their rows alike without knowing each other's.
        drop: columns to leave out.
        log: which columns to take log(1 + x) of: "auto", "never", or their names.
        like: the summary, or the encoding, of another site, so that both make the same numbers. Without it the
            encoding is decided from these rows, in a pass before.
        groups: groups that there may be; rows of others are left out. Needed with epsilon, since which groups there
            are is known from rows.
        fewest_rows: refuse groups, and leave out levels, of fewer rows.
        epsilon, delta: add noise, so that the summary is (epsilon, delta)-differentially private for one row more or
            less; needs `bounds` and the package opendp.
        bounds: by column, the least and largest value; values beyond count as these. Of all columns that are used.
        random_state: of the folds: a whole number from 0 on, None for 0, or a generator of NumPy's.
        progress: told what is being done.
        reading: of `assay.read`: sensitive, kinds, units and options of the format.

    >>> rows = np.random.default_rng(0).standard_normal((200, 3))
    >>> a, b = summarize(rows[:120]), summarize(rows[120:])
    >>> (a + b).total.count
    200
    >>> bool(np.allclose((a + b).total.covariance, np.cov(rows.T)))
    True
    """
    source = read(data, **reading)
    _check(source, by, drop, cv, fewest_rows)
    if groups and by is None:
        raise ParameterError("groups are named, but not the column they are of: give it with --by")
    tell = progress or (lambda what, rows, fraction: None)
    if epsilon is not None or delta is not None or bounds:
        from assay.summary.sharing.private import private_summary

        return private_summary(
            source, by, cv, drop, like, groups, bounds or {}, epsilon, delta, fewest_rows=fewest_rows, tell=tell
        )
    kept = KeptSource(source)
    if like is None:
        encoding = _decided(kept, (*drop, *((by,) if by else ())), log, fewest_rows, tell)
    else:
        encoding = encoding_like(like, by, drop)
    return _counted(kept, encoding, by, tuple(groups), cv, fewest_rows, seed_of(random_state), tell)


def encoding_like(like: SharedMoments | Encoding, by: str | None, drop: Sequence[str]) -> Encoding:
    """The encoding of another site.

    Args:
        like: its summary, or its encoding alone.
        by: the column of groups here.
        drop: columns that are left out here: then the encoding cannot be the same.
    """
    if isinstance(like, SharedMoments) and like.by != by:
        there = f"by {like.by!r}" if like.by else "not by any column"
        raise ParameterError(f"the other summary is grouped {there}: give the same --by")
    encoding = like.encoding if isinstance(like, SharedMoments) else agreed(like, 0)
    names = [known.name for known in encoding.fields]
    used = [name for name in (*drop, *((by,) if by else ())) if name in names]
    if used:
        raise ParameterError(
            f"column {used[0]!r} is in the other summary: what is left out here must be left out there"
        )
    return encoding


def group_codes(batch: pa.RecordBatch, by: str | None, known: tuple[str, ...]) -> tuple[list[str], NDArray[np.int64]]:
    """Names of groups, and (b,) the group of each row, -1 where it has none and -2 where it has one that is not known.

    Args:
        batch: rows.
        by: the column; None for a single group.
        known: the groups there may be; empty for any.
    """
    if by is None:
        return [""], np.zeros(batch.num_rows, dtype=np.int64)
    found = coded(batch.column(by))
    if not known:
        return found.cells, found.codes
    place = {group: i for i, group in enumerate(known)}
    codes = np.array([place.get(cell, -2) for cell in found.cells] + [-1], dtype=np.int64)
    return list(known), codes[found.codes]


def unknown_levels(rows: Array, encoding: Encoding) -> NDArray[np.bool_]:
    """(b,) rows with a level that has no number.

    Args:
        rows: (b, D) encoded.
        encoding: how.
    """
    strange = np.zeros(len(rows), dtype=bool)
    for codec, span in zip(encoding.codecs, encoding.spans, strict=True):
        if isinstance(codec, LevelCodec) and codec.rare is None:
            strange |= rows[:, span].sum(axis=1) == 0.0
    return strange


def _check(source: Source, by: str | None, drop: Sequence[str], cv: int, fewest_rows: int) -> None:
    names = source.arrow_schema.names
    for column in (*drop, *((by,) if by is not None else ())):
        if column not in names:
            raise ParameterError(f"there is no column {column!r}; there are {', '.join(names[:20])}")
    if by in drop:
        raise ParameterError(f"{by!r} cannot be left out: rows are grouped by it")
    if not is_number(cv) or cv < 1 or fewest_rows < 1:
        raise ParameterError(f"cv and fewest_rows are whole numbers, at least 1; got {cv!r} and {fewest_rows}")


def _decided(source: KeptSource, drop: tuple[str, ...], log: Log, fewest_rows: int, tell: Tell) -> Encoding:
    """From one pass; what mostly lacks its value would take most rows with it, and is left out."""

    def told(rows: int) -> None:
        tell("Looking at the columns", rows, source.fraction_read)

    found = Encoding.fit(source, drop=drop, log=log, words=0, progress=told)
    empty = {c.name for c in found.columns if 2 * (c.missing + c.misfits) > found.rows}
    encoding = agreed(found, fewest_rows, without=empty)
    if not encoding.names:
        raise DataError(f"{source.name} has no column that can be summarised: numbers, dates or levels of enough rows")
    return encoding


def _counted(
    source: Source, encoding: Encoding, by: str | None, known: tuple[str, ...], folds: int, fewest: int, seed: int,
    tell: Tell,
) -> SharedMoments:  # fmt: skip
    """Passes until no level of few rows is left, one where there are no levels."""
    left: frozenset[Cell] = frozenset()
    for _ in range(_PASSES):
        counted = _one_pass(source, encoding, by, known, folds, seed, left, tell)
        if not counted.parts.labels:
            raise DataError(
                f"{_NO_ROWS} of {source.name} ({counted.gaps:,} rows have gaps): leave columns out by --drop"
            )
        made = _arranged(counted, encoding, by, folds)
        whole = made.fewer_folds(1)
        for group, part in zip(whole.groups or ("",), whole.parts, strict=True):
            if part.count < fewest:
                what = f"group {group!r} of {by!r} has" if by else f"{source.name} has"
                remedy = "merge groups, or name those that are to stay by --group" if by else "there are too few"
                raise DataError(
                    f"{what} {part.count} complete rows, fewer than {fewest}, which could be told from it: {remedy}"
                )
        small = {
            (group, j, value)
            for group, part in zip(whole.groups or ("",), whole.parts, strict=True)
            for j, value, _ in small_cells(part, encoding, fewest)
        }
        if not small:
            return _enough(made, fewest)
        left |= small
    raise DataError(f"levels of {source.name} have too few rows again and again: leave columns of levels out by --drop")


def _enough(made: SharedMoments, fewest: int) -> SharedMoments:
    """As many folds as leave no part, and no level within one, too small; more of them where groups are together."""
    coarse = _largest(made, fewest)
    if not made.groups:
        return coarse
    finer = _largest(replace(made, parts=made.by_fold.parts, by=None, groups=()), fewest)
    return replace(coarse, finer=finer.parts) if finer.folds > coarse.folds else coarse


def _largest(made: SharedMoments, fewest: int) -> SharedMoments:
    for folds in range(made.folds, 1, -1):
        fewer = made.fewer_folds(folds)
        try:
            fewer.refuse_small(fewest)
        except DataError:
            continue
        return fewer
    return made.fewer_folds(1)


def _arranged(counted: Counted, encoding: Encoding, by: str | None, folds: int) -> SharedMoments:
    found = dict(zip(counted.parts.labels, counted.parts.parts, strict=True))
    groups = tuple(sorted({group for group, _ in found}))
    empty = Moments.empty(len(encoding.names), encoding.names)
    parts = tuple(found.get((group, k), empty) for group in groups for k in range(folds))
    one = Contribution(secrets.token_hex(16), counted.gaps, counted.strange)
    return SharedMoments(encoding, parts, folds, by, groups if by else (), (one,))


def _one_pass(
    source: Source, encoding: Encoding, by: str | None, known: tuple[str, ...], folds: int, seed: int,
    left: frozenset[Cell], tell: Tell,
) -> Counted:  # fmt: skip
    def work(part: tuple[int, pa.RecordBatch]) -> Counted:
        start, batch = part
        rows = encoding.transform(batch)
        names, codes = group_codes(batch, by, known)
        if len(names) > _MOST_GROUPS:
            raise DataError(f"{by!r} has more than {_MOST_GROUPS:,} groups: give a column of fewer")
        gap = np.isnan(rows).any(axis=1) | (codes == -1)
        strange = ~gap & ((codes == -2) | unknown_levels(rows, encoding) | _in_cells(rows, names, codes, left))
        use = ~gap & ~strange
        fold = fold_numbers(start, start + len(rows), folds, seed) if folds > 1 else np.zeros(len(rows), dtype=np.intp)
        label = (codes * folds + fold)[use]
        present, position = np.unique(label, return_inverse=True)
        sums = [Accumulator(rows.shape[1]) for _ in present]
        accumulate_groups(rows[use], position, None, sums)
        if any(one.suspicious.any() for one in sums):
            refuse_unusable(rows[use], start, encoding.names)
        labels = [(names[i // folds], i % folds) for i in present.tolist()]
        moments = [Moments.from_accumulator(one, encoding.names) for one in sums]
        return Counted(GroupedMoments(tuple(labels), tuple(moments)), int(gap.sum()), int(strange.sum()))

    return map_reduce(
        numbered_blocks(source),
        work,
        Counted.__add__,
        progress=lambda done: tell("Summarising", source.rows_read, source.fraction_read),
    )


def _in_cells(rows: Array, names: list[str], codes: NDArray[np.int64], left: frozenset[Cell]) -> NDArray[np.bool_]:
    """(b,) rows of a group with a level that few of its rows have."""
    found = np.zeros(len(rows), dtype=bool)
    for group, j, value in left:
        if group in names:
            found |= (codes == names.index(group)) & (rows[:, j] == value)
    return found
