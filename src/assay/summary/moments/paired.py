"""Two tables with the same rows, summarised beside each other in one pass, without joining them first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.data.columns.two_sides import both_sides
from assay.data.held_out_folds import folds_of, is_number
from assay.data.partitions import Blocks, Here
from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.linalg.canonical.canonical import Coupling, coupled_covariances
from assay.linalg.canonical.held_out import CanonicalFold
from assay.summary.moments.accumulate import Accumulator, chunk_rows, refuse_unusable
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments

Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
Pair: TypeAlias = tuple[int, NDArray[Any], NDArray[Any]]
Change: TypeAlias = Callable[[NDArray[Any]], Array]


@dataclass(frozen=True, slots=True)
class Paired:
    """Two tables row by row.

    Attributes:
        X: (n, p) array, sparse matrix or `Source`.
        Y: (n, q), the same.
        names: of their columns, for messages.
        expand: what becomes of a block of each before it is summarised; None leaves both as they are.

    >>> both = Paired(np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]]), (("x0",), ("y0",)))
    >>> both.moments().scatter
    array([[0.5, 1. ],
           [1. , 2. ]])
    """

    X: Any
    Y: Any
    names: Names
    expand: tuple[Change, Change] | None = None

    def blocks(self, groups: int = 1) -> Blocks[Pair] | Here[Pair]:
        """First row, rows of X and rows of Y, in blocks as both allow for.

        Columns of one source are read together, by the workers of the engine in use; two sources are read here.

        Args:
            groups: how many summaries each block will have.
        """
        together = both_sides(self.X, self.Y)
        return Here(_Again(self, groups), _as_it_is) if together is None else together

    def _side_by_side(self, groups: int) -> Iterator[Pair]:
        sides = [iter(float_blocks(side, groups=groups)) for side in (self.X, self.Y)]
        held: list[NDArray[Any]] = [np.empty((0, 0)), np.empty((0, 0))]
        row = 0
        while True:
            for i, side in enumerate(sides):
                while len(held[i]) == 0:
                    found = next(side, None)
                    if found is None:
                        self._refuse_rest(row, held, sides)
                        return
                    held[i] = found[1]
            both = min(map(len, held))
            yield row, held[0][:both], held[1][:both]
            held = [part[both:] for part in held]
            row += both

    def moments(self) -> Moments:
        """Moments of the columns of X and Y together."""
        return map_reduce(self.blocks(), self._look()._summarise, Moments.__add__)

    def fold_moments(self, cv: Any) -> GroupedMoments:
        """Moments of folds of the rows.

        Args:
            cv: how many random folds; or a splitter, pairs or the fold of each row, where both tables are in memory.
        """
        if is_number(cv):
            return GroupedMoments.folds(self.blocks(groups=cv).map(self._look()._joined), cv)
        if not hasattr(self.X, "shape"):
            raise ParameterError(f"cv is a number of folds where rows are read in blocks; got {cv!r}")
        folds = folds_of(cv, self.X.shape[0], np.zeros(self.X.shape[0]), 0, "ridge")
        return GroupedMoments.of(self.blocks(groups=int(folds.max()) + 1).map(self._look()._joined), folds)

    def joined(self) -> Blocks[tuple[int, Array]] | Here[tuple[int, Array]]:
        """Blocks of both sides as one table; what is not finite is refused."""
        return self.blocks().map(self._look()._joined)

    def triangle(self, mean: Array, scale: Array) -> Array:
        """R with R^T R the scatter, by orthogonal steps, which square nothing: (m, p + q), m at most p + q.

        Args:
            mean: (p + q,) to subtract.
            scale: (p + q,) to divide by.
        """
        look = self._look()

        def reduce(part: Pair) -> Array:
            return _upper((np.hstack(look._expanded(*part[1:])) - mean) / scale)

        return map_reduce(self.blocks(), reduce, lambda a, b: _upper(np.vstack([a, b])))

    def _look(self) -> Paired:
        """The same without the tables: what a worker needs."""
        return replace(self, X=None, Y=None)

    def _joined(self, part: Pair) -> tuple[int, Array]:
        if not np.isfinite(part[1].sum() + part[2].sum()):
            self._refuse(part)
        return part[0], np.hstack(self._expanded(*part[1:]))

    def _summarise(self, part: Pair) -> Moments:
        _, x, y = part
        width = sum(side.shape[1] for side in self._expanded(x[:1], y[:1]))
        sums, step = Accumulator(width), chunk_rows(width)
        memory = np.empty((min(step, len(x)), width))
        for start in range(0, len(x), step):
            left, right = self._expanded(x[start : start + step], y[start : start + step])
            buffer = memory[: len(left)]
            # side by side only here, where the rows of both are in the cache
            buffer[:, : left.shape[1]] = left
            buffer[:, left.shape[1] :] = right
            sums.add_copied(buffer)
        if sums.suspicious.any():
            self._refuse(part)
        return Moments.from_accumulator(sums, None)

    def _expanded(self, x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.expand is None:
            return x, y
        with np.errstate(all="ignore"):  # what is not finite is found and named afterwards
            return self.expand[0](x), self.expand[1](y)

    def _refuse(self, part: Pair) -> None:
        """Name the first value that cannot be summarised, if there is one."""
        row, *sides = part
        for side, names in zip(sides, self.names, strict=True):
            refuse_unusable(side, row, names)
        if self.expand is not None:
            for side in self._expanded(*sides):
                refuse_unusable(side, row, None)

    def _refuse_rest(self, row: int, held: list[NDArray[Any]], sides: list[Any]) -> None:
        """Both sides must end together."""
        for name, other, part, side in zip("XY", "YX", held, sides, strict=True):
            if len(part) or next(side, None) is not None:
                raise DataError(
                    f"{name} has more rows than {other}, which ends after {row}: row i of one belongs to row i of the "
                    "other. Found input variables with inconsistent numbers of samples"
                )


@dataclass(frozen=True, slots=True)
class _Again:
    """Two tables side by side, from the start each time."""

    paired: Paired
    groups: int

    def __iter__(self) -> Iterator[Pair]:
        return self.paired._side_by_side(self.groups)


def _as_it_is(part: Pair) -> Pair:
    return part


def couple(moments: Moments, p: int, scale: Array) -> Coupling:
    """The principal coordinates of the first p columns and of the others, from moments.

    Args:
        moments: of both together.
        p: columns of the left side.
        scale: (d,) what columns are divided by.
    """
    return coupled_covariances(*_covariances(moments.covariance, p, scale), rows=moments.count)


def moment_folds(parts: Sequence[Moments], p: int, scale: Array) -> list[CanonicalFold]:
    """Folds to choose a ridge by, from the moments of each: no pass over the rows.

    Args:
        parts: moments of both sides together, one for each fold.
        p: columns of the left side.
        scale: (d,) what columns are divided by.
    """
    total = sum(parts[1:], start=parts[0])
    folds = []
    for part in parts:
        if part.count in (0, total.count):
            continue
        training = total - part
        found = couple(training, p, scale)
        gap = part.mean - training.mean
        about = part.scatter + part.weight * np.multiply.outer(gap, gap)
        Txx, Txy, Tyy = _covariances(about, p, scale)
        Vx, Vy = found.x.vectors, found.y.vectors
        folds.append(CanonicalFold(found, Vx.T @ Txx @ Vx, Vy.T @ Tyy @ Vy, Vx.T @ Txy @ Vy))
    return folds


def _covariances(C: Array, p: int, scale: Array) -> tuple[Array, Array, Array]:
    # dividing twice, not by the product of the scales, which over- or underflows first
    scaled = C / scale[:, None] / scale
    return scaled[:p, :p], scaled[:p, p:], scaled[p:, p:]


def _upper(rows: Array) -> Array:
    return np.asarray(np.linalg.qr(rows, mode="r")) if len(rows) > rows.shape[1] else rows
