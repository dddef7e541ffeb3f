"""Counts and moments of each column by class, one column at a time: what naive Bayes needs to know of the rows.

    observed  w_cj = sum of the weights of the rows of class c that have a value in column j             (k, d)
    gaussian     mean m_cj and squares s_cj = sum w_i (x_ij - m_cj)^2, merged as those of `Moments` are
    multinomial  totals t_cj = sum w_i x_ij
    bernoulli    totals t_cj = sum w_i [x_ij > 0]
    categorical  tallies of each level met

`a + b` is the summary of both data sets, whatever classes and levels each of them met.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from assay.arrays import Array
from assay.data.blocks import block_slices, float_blocks
from assay.data.codes import short
from assay.data.partitions import beside
from assay.engine.current import map_reduce
from assay.errors import DataError, FileFormatError, ParameterError
from assay.linalg.sparse.structure import as_sparse
from assay.shown import a_few
from assay.summary.classes.class_tally import Members, Tallied, merged, tally
from assay.summary.moments.accumulate import checked_weights
from assay.summary.moments.stored import Stored, known_labels

ColumnKind: TypeAlias = Literal["gaussian", "multinomial", "bernoulli", "categorical"]
COLUMN_KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts(Stored):
    """Counts and moments by class, as an algebra: `a + b` summarises both data sets.

    Attributes:
        labels: the k classes, sorted.
        kinds: how each of the d columns is counted: "gaussian", "multinomial", "bernoulli" or "categorical".
        groups: (d,) multinomial columns of one group share a total, as the words of one text do.
        count: (k,) rows.
        weight: (k,) sum of their weights.
        observed: (k, d) weight of the rows that have a value.
        mean, squares: (k, d) of gaussian columns, zero elsewhere.
        totals: (k, d) of multinomial and bernoulli columns, zero elsewhere.
        levels: for each column, the levels met if it is categorical, else none.
        tallies: for each column, (k, levels) weight of the rows at each level.
        columns: names of the columns, or None.

    >>> a = ClassCounts.of([[1.0, 0.0], [3.0, 2.0]], ["x", "x"], kinds=("gaussian", "bernoulli"))
    >>> b = ClassCounts.of([[8.0, 1.0]], ["y"], kinds=("gaussian", "bernoulli"))
    >>> (a + b).labels, (a + b).mean[:, 0], (a + b).totals[:, 1]
    (('x', 'y'), array([2., 8.]), array([1., 1.]))
    """

    labels: tuple[Any, ...]
    kinds: tuple[ColumnKind, ...]
    groups: NDArray[np.intp]
    count: NDArray[np.int64]
    weight: Array
    observed: Array
    mean: Array
    squares: Array
    totals: Array
    levels: tuple[Array, ...]
    tallies: tuple[Array, ...]
    columns: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        data: Any,
        by: ArrayLike,
        *,
        labels: Sequence[Any] | None = None,
        kinds: ColumnKind | Sequence[ColumnKind] = "gaussian",
        groups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        columns: Sequence[str] | None = None,
        threads: int | None = None,
    ) -> ClassCounts:
        """Summarise rows in one pass.

        Args:
            data: (n, d) array, data frame, sparse matrix, `Source`, or an iterable of (b, d) blocks. NaN is a missing
                value, which is left out; multinomial columns may have none.
            by: (n,) the class of each row.
            labels: the classes, sorted, where `by` holds their numbers.
            kinds: of all columns, or of each.
            groups: (d,) which multinomial columns share a total; all of them by default.
            weights: (n,) non-negative weight of each row; weight 2 counts as the row twice.
            columns: names; taken from the data where they have some.
            threads: workers; the result does not depend on it.
        """
        if labels is None:
            found, codes = np.unique(np.asarray(by), return_inverse=True)
            every = tuple(found.tolist())
        else:
            every, codes = tuple(labels), np.asarray(by, dtype=np.intp)
        if codes.ndim != 1:
            raise ParameterError(f"there must be one class for each row; got shape {np.shape(by)}")
        w = None if weights is None else checked_weights(weights, len(codes))
        named, blocks = _blocks(data, len(every), kinds)
        names = named if columns is None else tuple(columns)

        def summarise(part: tuple[int, Any, NDArray[Any], Array | None]) -> ClassCounts:
            start, rows, classes, weight = part
            if len(classes) < rows.shape[0]:
                raise ParameterError(f"there are more rows than classes given: row {start + len(classes)} has none")
            own = _kinds_of_all(kinds, rows.shape[1])
            counted = np.ones(len(classes)) if weight is None else weight
            members = Members(classes.astype(np.intp), counted, len(every))
            shared = np.zeros(rows.shape[1], np.intp) if groups is None else np.asarray(groups, np.intp)
            return cls._of_part(every, own, shared, tally(rows, members, own, start, names), names)

        work = beside(blocks, short(codes, len(every)), w)
        whole = map_reduce(work, summarise, cls.__add__, threads=threads)
        if whole.count.sum() != len(codes):
            raise ParameterError(f"there are {whole.count.sum()} rows and {len(codes)} classes; each row has one")
        return whole

    @classmethod
    def _of_part(
        cls,
        labels: tuple[Any, ...],
        kinds: tuple[ColumnKind, ...],
        groups: NDArray[np.intp],
        found: Tallied,
        columns: tuple[str, ...] | None,
    ) -> ClassCounts:
        if groups.shape != (len(kinds),) or (columns is not None and len(columns) != len(kinds)):
            raise ParameterError(f"groups and names are given for each of the {len(kinds)} columns, or not at all")
        return cls(labels, kinds, groups, *found, columns)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.kinds)

    def of_kind(self, kind: ColumnKind) -> NDArray[np.intp]:
        """Which columns are of a kind."""
        if self.kinds.count(kind) in (0, self.d):  # without a list of what may be very many columns
            return np.arange(self.d if kind in self.kinds else 0)
        return np.flatnonzero([own == kind for own in self.kinds])

    def with_labels(self, labels: Sequence[Any]) -> ClassCounts:
        """The same with further classes, of which no row was met.

        Args:
            labels: the classes there are; those that have rows must be among them.
        """
        every = tuple(sorted(labels))
        if every == self.labels:
            return self
        number = {label: c for c, label in enumerate(every)}
        unknown = [label for label in self.labels if label not in number]
        if unknown:
            raise DataError(f"class {unknown[0]!r} is none of those named: {a_few(map(repr, every))}")
        place = [number[label] for label in self.labels]

        def spread(values: NDArray[Any]) -> NDArray[Any]:
            out = np.zeros((len(every), *values.shape[1:]), values.dtype)
            out[place] = values
            return out

        per_class: dict[str, Any] = {name: spread(getattr(self, name)) for name in _PER_CLASS}
        return replace(self, labels=every, tallies=tuple(map(spread, self.tallies)), **per_class)

    def __add__(self, other: ClassCounts) -> ClassCounts:
        if not isinstance(other, ClassCounts):
            return NotImplemented
        self._same_columns(other)
        labels = tuple(sorted({*self.labels, *other.labels}))
        a, b = self.with_labels(labels), other.with_labels(labels)
        levels, tallies = list(a.levels), list(a.tallies)
        for j in self.of_kind("categorical").tolist():
            levels[j], tallies[j] = _levels_of_both(a.levels[j], a.tallies[j], b.levels[j], b.tallies[j])
        return ClassCounts(
            labels,
            self.kinds,
            self.groups,
            a.count + b.count,
            a.weight + b.weight,
            *merged(a.observed, a.mean, a.squares, b.observed, b.mean, b.squares),
            a.totals + b.totals,
            tuple(levels),
            tuple(tallies),
            self.columns or other.columns,
        )

    def __radd__(self, other: object) -> ClassCounts:
        # so that sum() of summaries works
        return self if other == 0 else NotImplemented

    def _same_columns(self, other: ClassCounts) -> None:
        if self.kinds != other.kinds or not np.array_equal(self.groups, other.groups):
            raise DataError(
                f"counts of {self.d} and of {other.d} columns, or of other kinds, cannot be combined: "
                f"{_listed(self.kinds)} in one and {_listed(other.kinds)} in the other"
            )
        if self.columns and other.columns and self.columns != other.columns:
            raise DataError(
                f"counts of different columns cannot be combined: {_listed(self.columns)} in one and "
                f"{_listed(other.columns)} in the other"
            )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of the file; labels must be text, numbers or booleans."""
        header = {
            "labels": list(self.labels),
            "kinds": list(self.kinds),
            "columns": self.columns and list(self.columns),
            "parts": [{"count": int(count)} for count in self.count],
        }
        arrays = {name: getattr(self, name) for name in ("groups", *_PER_CLASS)}
        for j in self.of_kind("categorical").tolist():
            arrays |= {f"levels.{j}": self.levels[j], f"tallies.{j}": self.tallies[j]}
        return header, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ClassCounts:
        """Rebuild from the content of a file."""
        try:
            labels, kinds, names = known_labels(header["labels"]), tuple(header["kinds"]), header["columns"]
            none = np.empty(0), np.empty((len(labels), 0))
            levels = tuple(arrays.get(f"levels.{j}", none[0]) for j in range(len(kinds)))
            tallies = tuple(arrays.get(f"tallies.{j}", none[1]) for j in range(len(kinds)))
            own = {name: arrays[name] for name in ("groups", *_PER_CLASS)}
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"the file does not hold whole ClassCounts: {error}") from error
        k, d = len(labels), len(kinds)
        shapes = [part.shape for part in (*own.values(), *tallies)]
        if shapes != [(d,), (k,), (k,), *[(k, d)] * 4, *((k, len(met)) for met in levels)]:
            raise FileFormatError(f"the file does not hold whole ClassCounts: its arrays have shapes {shapes[:7]}")
        columns = None if names is None else tuple(map(str, names))
        return cls(labels=labels, kinds=kinds, **own, levels=levels, tallies=tallies, columns=columns)

    def __repr__(self) -> str:
        told = ", ".join(f"{label!r}: {count}" for label, count in zip(self.labels, self.count, strict=True))
        return f"ClassCounts({told}; d={self.d})"


_PER_CLASS = ("count", "weight", "observed", "mean", "squares", "totals")


def _kinds_of_all(kinds: ColumnKind | Sequence[ColumnKind], d: int) -> tuple[ColumnKind, ...]:
    every: tuple[Any, ...] = (kinds,) * d if isinstance(kinds, str) else tuple(kinds)
    unknown = {*every} - {*COLUMN_KINDS}
    if unknown:
        raise ParameterError(f"kinds are {', '.join(COLUMN_KINDS)}; got {min(unknown, key=repr)!r}")
    if len(every) != d:
        raise ParameterError(f"there is one kind for all columns, or one for each of the {d}; got {len(every)}")
    return every


def _blocks(
    data: Any, k: int, kinds: ColumnKind | Sequence[ColumnKind]
) -> tuple[tuple[str, ...] | None, Iterable[tuple[int, Any]]]:
    """Names and numbered blocks; those of a sparse matrix stay sparse."""
    if issparse(data):
        rows = as_sparse(data).tocsr()
        n, d = rows.shape
        if (
            "categorical" not in kinds
        ):  # whose cells are made dense; all else takes the entries, and sums of all columns
            d = max(1, int(rows.nnz) // max(n, 1), d // 100)
        return None, ((part.start, rows[part]) for part in block_slices(n, d, k))
    blocks = float_blocks(data, groups=k)
    return blocks.columns, blocks


def _levels_of_both(levels: Array, tallies: Array, more: Array, their: Array) -> tuple[Array, Array]:
    if not len(levels) and not len(more):
        return levels, tallies
    every = np.union1d(levels, more)
    total = np.zeros((len(tallies), len(every)))
    total[:, np.searchsorted(every, levels)] += tallies
    total[:, np.searchsorted(every, more)] += their
    return every, total


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items[:6]) + (", ..." if len(items) > 6 else "")
