"""Moments per group or per fold, from one pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.data.codes import numbered, short
from assay.data.folds import fold_numbers
from assay.data.held_out_folds import folds_of, is_number
from assay.data.partitions import beside
from assay.engine.current import map_reduce
from assay.errors import FileFormatError, ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.shown import a_few
from assay.summary.moments.accumulate import Accumulator, checked_weights, chunk_rows, refuse_unusable
from assay.summary.moments.moments import Moments
from assay.summary.moments.stacked import stacked, unstacked
from assay.summary.moments.stored import Stored, known_labels


@dataclass(frozen=True, slots=True, eq=False)
class GroupedMoments(Stored):
    """One `Moments` for each group of rows.

    Attributes:
        labels: the groups, sorted.
        parts: their moments, in the same order.

    >>> X = np.array([[1.0], [3.0], [10.0]])
    >>> g = GroupedMoments.of(X, ["a", "a", "b"])
    >>> g["a"].mean, g.without("a").mean, g.total.mean
    (array([2.]), array([10.]), array([4.66666667]))
    """

    labels: tuple[Any, ...]
    parts: tuple[Moments, ...]

    @classmethod
    def of(
        cls,
        data: Any,
        by: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> GroupedMoments:
        """Summarise each group of rows in one pass over all.

        Args:
            data: as for `Moments.of`.
            by: (n,) the group of each row.
            weights: (n,) non-negative weight of each row.
            threads: workers; the result does not depend on it.
            progress: called with the number of blocks done.
        """
        labels, codes = numbered(np.asarray(by))
        if codes.ndim != 1:
            raise ParameterError(f"there must be one group for each row; got shape {np.shape(by)}")
        w = None if weights is None else checked_weights(weights, len(codes))
        return _summarise(data, labels.tolist(), short(codes, len(labels)), w, threads, progress)

    @classmethod
    def folds(
        cls,
        data: Any,
        cv: Any = 10,
        *,
        random_state: RandomState = 0,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> GroupedMoments:
        """Summarise folds, by default ten random ones of equal size: `without(fold)` is then the training summary.

        Args:
            data: as for `Moments.of`.
            cv: how many random folds; or, for an array, a sparse matrix or a data frame, a splitter, assay's or
                scikit-learn's, that tests each row once, pairs of training and test rows, or the fold of each row.
            random_state: of the folds: a whole number from 0 on, None for 0, or a generator of NumPy's.
            threads: workers; the result does not depend on it.
            progress: called with the number of blocks done.
        """
        if not is_number(cv):
            if not hasattr(data, "shape"):
                raise ParameterError(f"cv is a number of folds where rows are read in blocks; got {cv!r}")
            folds = folds_of(cv, data.shape[0], np.zeros(data.shape[0]), 0, "fewer folds")
            return cls.of(data, folds, threads=threads, progress=progress)
        blocks = float_blocks(data, groups=cv)
        of_block = fold_moments(cv, seed_of(random_state), blocks.columns)
        return map_reduce(blocks, of_block, _merged, threads=threads, progress=progress)

    @property
    def total(self) -> Moments:
        """All rows together."""
        return reduce(Moments.__add__, self.parts)

    @property
    def within(self) -> Array:
        """(d, d) scatter about the group means, summed over groups."""
        within: Array = np.sum([part.scatter for part in self.parts], axis=0)
        return within

    @property
    def between(self) -> Array:
        """(d, d) scatter of the group means about the total mean: total scatter = within + between."""
        total = self.total
        gaps = np.stack([part.mean - total.mean for part in self.parts])
        return (gaps.T * [part.weight for part in self.parts]) @ gaps

    def without(self, label: Hashable) -> Moments:
        """All rows but those of one group."""
        return self.total - self[label]

    def training(self) -> Iterator[tuple[Moments, Moments]]:
        """For each group: the rows outside it, and the group itself."""
        total = self.total
        for part in self.parts:
            yield total - part, part

    def __getitem__(self, label: Hashable) -> Moments:
        try:
            return self.parts[self.labels.index(label)]
        except ValueError:
            raise ParameterError(f"no group {label!r}; there are {a_few(map(repr, self.labels))}") from None

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: GroupedMoments) -> GroupedMoments:
        return _merged(self, other)

    def __sub__(self, other: GroupedMoments) -> GroupedMoments:
        """Take the rows of `other` out of the groups they were added to."""
        taken = dict(zip(other.labels, other.parts, strict=True))
        unknown = [label for label in other.labels if label not in self.labels]
        if unknown:
            raise ParameterError(f"no group {unknown[0]!r} to take rows from")
        left = tuple(part - taken[k] if k in taken else part for k, part in zip(self.labels, self.parts, strict=True))
        return GroupedMoments(self.labels, left)

    def map(self, change: Callable[[Moments], Moments]) -> GroupedMoments:
        """The same change to every group: `g.map(lambda m: m @ A)`, `g.map(lambda m: m[columns])`."""
        return GroupedMoments(self.labels, tuple(change(part) for part in self.parts))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of the file; labels must be text, whole numbers or booleans."""
        header, arrays = stacked(self.parts)
        return {"labels": list(self.labels), **header}, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GroupedMoments:
        """Rebuild from the content of a file."""
        try:
            labels = known_labels(header["labels"])
            parts = _apart(header, arrays) if "parts" in header else unstacked(header, arrays)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise FileFormatError(f"the file does not hold whole GroupedMoments: {error}") from error
        if not parts or len(labels) != len(parts) or len({repr(label) for label in labels}) < len(labels):
            raise FileFormatError(f"the file does not hold whole GroupedMoments: {len(parts)} groups, labels {labels}")
        return cls(labels, parts)

    def __repr__(self) -> str:
        return f"GroupedMoments({', '.join(f'{k!r}: {m.count}' for k, m in zip(self.labels, self.parts, strict=True))})"


def _apart(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[Moments, ...]:
    """The parts of a file of format 1, which kept the arrays of each by themselves."""
    return tuple(
        Moments.from_parts(about, {k.removeprefix(f"{i}."): v for k, v in arrays.items() if k.startswith(f"{i}.")})
        for i, about in enumerate(header["parts"])
    )


def _merged(a: GroupedMoments, b: GroupedMoments) -> GroupedMoments:
    merged = dict(zip(a.labels, a.parts, strict=True))
    for label, part in zip(b.labels, b.parts, strict=True):
        merged[label] = merged[label] + part if label in merged else part
    labels = tuple(sorted(merged))
    return GroupedMoments(labels, tuple(merged[label] for label in labels))


def _summarise(
    data: Any,
    labels: list[Any],
    by: NDArray[Any] | Callable[[int, int], NDArray[np.intp]],
    weights: Array | None,
    threads: int | None,
    progress: Callable[[int], object] | None,
) -> GroupedMoments:
    blocks = float_blocks(data, groups=len(labels))
    of_block = _of_block(labels, by if callable(by) else None, blocks.columns)
    # labels travel beside the rows they belong to; a rule goes to every worker
    known = None if callable(by) else by
    return map_reduce(beside(blocks, known, weights), of_block, _merged, threads=threads, progress=progress)


def fold_moments(
    n_folds: int, seed: int, columns: tuple[str, ...] | None = None
) -> Callable[[tuple[int, NDArray[Any]]], GroupedMoments]:
    """What `GroupedMoments.folds` makes of a block: from the number of its first row and its rows to their moments.

    Args:
        n_folds: how many folds.
        seed: another seed, other folds.
        columns: names, or None.
    """
    labels = list(range(n_folds))
    of_block = _of_block(labels, lambda start, stop: fold_numbers(start, stop, n_folds, seed), columns)
    return lambda part: of_block((*part, None, None))


def _of_block(
    labels: list[Any], rule: Callable[[int, int], NDArray[np.intp]] | None, columns: tuple[str, ...] | None
) -> Callable[[tuple[int, NDArray[Any], NDArray[Any] | None, Array | None]], GroupedMoments]:
    """From a block with the labels and weights of its rows, or with neither, to the moments of each group."""

    def summarise(part: tuple[int, NDArray[Any], NDArray[Any] | None, Array | None]) -> GroupedMoments:
        start, rows, own, weight = part
        codes = rule(start, start + len(rows)) if own is None else own.astype(np.intp)  # type: ignore[misc]
        if len(codes) != len(rows):
            raise ParameterError(f"there are more rows than groups given: row {start + len(codes)} has none")
        groups = accumulate_groups(rows, codes, weight, [Accumulator(rows.shape[1]) for _ in labels])
        if any(group.suspicious.any() for group in groups if group.count):
            refuse_unusable(rows, start, columns)
        return GroupedMoments(tuple(labels), tuple(Moments.from_accumulator(group, columns) for group in groups))

    return summarise


def accumulate_groups(
    rows: NDArray[Any], codes: NDArray[np.intp], weight: Array | None, groups: list[Accumulator]
) -> list[Accumulator]:
    """Gather the rows of each group from every chunk and hand them over."""
    d = rows.shape[1]
    # larger chunks than for one group, so that each group's share of a chunk is still worth a matrix product
    step = 3 * chunk_rows(d)
    buffer = np.empty((min(step, len(rows)), d))
    for i in range(0, len(rows), step):
        chunk, code = rows[i : i + step].astype(np.float64, copy=False), codes[i : i + step]
        # short integers are sorted by radix, several times faster
        order = np.argsort(code.astype(np.uint16) if len(groups) <= 65_536 else code, kind="stable")
        ends = np.searchsorted(code[order], np.arange(len(groups) + 1))
        for group, first, last in zip(groups, ends, ends[1:], strict=False):
            if last > first:
                picked = order[first:last]
                # a group at a time: what was just gathered is still in the cache when it is multiplied
                gathered = np.take(chunk, picked, axis=0, out=buffer[: last - first], mode="clip")
                group.add_copied(gathered, None if weight is None else weight[i : i + step][picked])
    return groups
