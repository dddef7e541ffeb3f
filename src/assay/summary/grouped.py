"""Moments per group or per fold, from one pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.data.blocks import float_blocks
from assay.data.folds import fold_numbers
from assay.engine.local import map_reduce
from assay.errors import ParameterError
from assay.summary.accumulate import Accumulator, chunk_rows, refuse_unusable
from assay.summary.moments import Moments

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupedMoments:
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
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> GroupedMoments:
        """Summarise each group of rows in one pass over all.

        Args:
            data: as for `Moments.of`.
            by: (n,) the group of each row.
            threads: workers; the result does not depend on it.
            progress: called with the number of blocks done.
        """
        labels, codes = np.unique(np.asarray(by), return_inverse=True)
        if codes.ndim != 1:
            raise ParameterError(f"there must be one group for each row; got shape {np.shape(by)}")
        return _summarise(data, labels.tolist(), lambda start, stop: codes[start:stop], threads, progress)

    @classmethod
    def folds(
        cls,
        data: Any,
        n_folds: int = 10,
        *,
        seed: int = 0,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> GroupedMoments:
        """Summarise `n_folds` random folds of equal size: `without(fold)` is then the training summary.

        Args:
            data: as for `Moments.of`.
            n_folds: how many folds.
            seed: another seed, other folds.
            threads: workers; the result does not depend on it.
            progress: called with the number of blocks done.
        """
        return _summarise(
            data,
            list(range(n_folds)),
            lambda start, stop: fold_numbers(start, stop, n_folds, seed),
            threads,
            progress,
        )

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
            raise ParameterError(f"no group {label!r}; there are {', '.join(map(repr, self.labels))}") from None

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: GroupedMoments) -> GroupedMoments:
        return _merged(self, other)

    def __repr__(self) -> str:
        return f"GroupedMoments({', '.join(f'{k!r}: {m.count}' for k, m in zip(self.labels, self.parts, strict=True))})"


def _merged(a: GroupedMoments, b: GroupedMoments) -> GroupedMoments:
    merged = dict(zip(a.labels, a.parts, strict=True))
    for label, part in zip(b.labels, b.parts, strict=True):
        merged[label] = merged[label] + part if label in merged else part
    labels = tuple(sorted(merged))
    return GroupedMoments(labels, tuple(merged[label] for label in labels))


def _summarise(
    data: Any,
    labels: list[Any],
    codes_of: Callable[[int, int], NDArray[np.intp]],
    threads: int | None,
    progress: Callable[[int], object] | None,
) -> GroupedMoments:
    blocks = float_blocks(data)

    def work() -> Iterable[tuple[int, NDArray[Any], NDArray[np.intp]]]:
        for start, rows in blocks:
            codes = codes_of(start, start + len(rows))
            if len(codes) != len(rows):
                raise ParameterError(f"there are more rows than groups given: row {start + len(codes)} has none")
            yield start, rows, codes

    def summarise(part: tuple[int, NDArray[Any], NDArray[np.intp]]) -> GroupedMoments:
        start, rows, codes = part
        parts = _block(rows, codes, len(labels), start, blocks.columns)
        return GroupedMoments(tuple(labels), parts)

    return map_reduce(work(), summarise, _merged, threads=threads, progress=progress)


def _block(
    rows: NDArray[Any], codes: NDArray[np.intp], n_groups: int, start: int, names: tuple[str, ...] | None
) -> tuple[Moments, ...]:
    d = rows.shape[1]
    groups = [Accumulator(d, names=names) for _ in range(n_groups)]
    # larger chunks than for one group, so that each group's share of a chunk is still worth a matrix product
    step = 2 * chunk_rows(d)
    buffer = np.empty((min(step, len(rows)), d), dtype=np.float64)
    for i in range(0, len(rows), step):
        chunk, code = rows[i : i + step].astype(np.float64, copy=False), codes[i : i + step]
        order = np.argsort(code, kind="stable")
        ends = np.searchsorted(code[order], np.arange(n_groups + 1))
        sorted_rows = np.take(chunk, order, axis=0, out=buffer[: len(chunk)], mode="clip")
        for group, first, last in zip(groups, ends, ends[1:], strict=False):
            if last > first:
                group.add_copied(sorted_rows[first:last])
    if any(group.suspicious.any() for group in groups if group.count):
        refuse_unusable(rows, start, names)
    return tuple(Moments.from_accumulator(group, names) for group in groups)
