"""The leading eigenpair of a symmetric matrix whose vectors do not fit memory.

    w = M u,   value = u' w,   residual = |w - value u|,   u <- (w + c u) / |w + c u|          u (n,), |u| = 1

The vectors u, w and the next u are files; each step reads every cell once, and every stripe of w and u. The value is
within the residual of an eigenvalue of M.

Why here and not in linalg: `linalg.power_iteration` takes anything that multiplies arrays, and these are none.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import Array
from assay.engine.current import scattered
from assay.errors import DataError, NotConverged, ParameterError
from assay.summary.triples.allowance import Plan, plan
from assay.summary.triples.cells import TripleCells
from assay.summary.triples.in_order import in_order
from assay.summary.triples.matvec import multiply
from assay.summary.triples.spread import product_in
from assay.summary.triples.vectors import StoredVector, delivered, scratch

if TYPE_CHECKING:
    from assay.summary.triples.triples import Triples


_SYMMETRIC = 1e-10  # |u'Mw - w'Mu| of random u and w, as a share of |u| |Mw|


@dataclass(frozen=True, slots=True, eq=False)
class LeadingPair:
    """The algebraically largest eigenvalue and its vector.

    Attributes:
        value: the eigenvalue.
        vector: (n,) of length 1, its largest entry positive; an array, or mapped from a file.
        residual: length of M u - value u; an eigenvalue of M is no farther from the value.
        iterations: products with M.
        converged: whether the residual is small enough.
    """

    value: float
    vector: Array
    residual: float
    iterations: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A vector with its square, its value, and how far it is from being an eigenvector."""

    u: StoredVector
    length: float
    value: float
    residual: float
    done: bool


class _Striped:
    """A symmetric matrix in cells and vectors in files beside it."""

    def __init__(self, cells: TripleCells, folder: Path) -> None:
        self.cells, self.folder, self.n = cells, folder, cells.shape[0]
        self.products = 0

    def vector(self, name: str) -> StoredVector:
        return StoredVector.scratch(self.folder / name, self.n)

    def random(self, name: str, seed: tuple[int, ...]) -> StoredVector:
        """Normal numbers, the same for any stripes of one size."""
        made = self.vector(name)

        def draw(a: int) -> float:
            lo, hi = self.cells.rows(a)
            values = np.random.default_rng([*seed, a]).standard_normal(hi - lo)
            made.write(lo, values)
            return float(values @ values)

        norm = math.sqrt(self.sum(draw))
        self.sum(lambda a: self._scaled(made, a, 1.0 / norm))
        return made

    def _scaled(self, u: StoredVector, a: int, factor: float) -> float:
        lo, hi = self.cells.rows(a)
        u.write(lo, u.read(lo, hi) * factor)
        return 0.0

    def sum(self, of: Callable[[int], float]) -> float:
        """The sum of a number for each stripe, in order."""
        parts: list[float] = []
        in_order(range(self.cells.down), of, parts.append)
        return math.fsum(parts)

    def product(self, u: StoredVector, w: StoredVector, with_: StoredVector) -> tuple[float, float]:
        """W = M u; with_' w and w' w."""
        parts: list[tuple[float, float]] = []

        def finish(lo: int, hi: int, y: Array) -> tuple[float, float]:
            w.write(lo, y)
            return float(with_.read(lo, hi) @ y), float(y @ y)

        multiply(self.cells, u.read, finish, parts.append)
        self.products += 1
        return math.fsum(part[0] for part in parts), math.fsum(part[1] for part in parts)


class _Spread(_Striped):
    """The same with triples that workers keep as numbers; a stripe of u goes to them, and one of w comes back."""

    def __init__(self, M: Triples, pieces: Any, stripes: Plan, folder: Path) -> None:
        super().__init__(TripleCells(folder, M.shape, stripes, M.valued, np.empty(0, np.int64)), folder)
        self.blocks = scattered(pieces.map(M.numbers))

    def product(self, u: StoredVector, w: StoredVector, with_: StoredVector) -> tuple[float, float]:
        """W = M u; with_' w and w' w."""
        inner, square = [], []
        for rows in map(self.cells.rows, range(self.cells.down)):
            y = np.zeros(rows[1] - rows[0])
            for columns in map(self.cells.columns, range(self.cells.across)):
                y += product_in(self.blocks, rows, columns, u.read(*columns))
            w.write(rows[0], y)
            inner.append(float(with_.read(*rows) @ y))
            square.append(float(y @ y))
        self.products += 1
        return math.fsum(inner), math.fsum(square)


def power_iteration(
    M: Triples,
    size: int,
    tol: float,
    max_iter: int,
    shift: float,
    seed: int,
    out: str | os.PathLike[str] | None,
) -> LeadingPair:
    """See `Triples.power_iteration`."""
    _check(M, tol, max_iter, shift)
    n = M.shape[0]
    with scratch() as folder:
        # beside a stripe of u and of w, one of each and of the next while they are compared
        stripes, pieces = plan(M.shape, size, of_row=24), M.spread
        space = (
            _Striped(M.cut(stripes, folder / "cells"), folder)
            if pieces is None
            else _Spread(M.with_shape(M.shape), pieces, stripes, folder)
        )
        _refuse_asymmetric(space, seed)
        c = float(shift)
        found, norm = _dominant(space, c, seed, tol, max_iter)
        if found.done and found.value + c < 0.0:
            found, norm = _dominant(space, -found.value, seed, tol, max_iter, norm)
        if not found.done:
            warnings.warn(
                f"power iteration stopped after {space.products} products, {found.residual:.2g} off: it needs "
                "a gap between the two largest |eigenvalues|; give a shift, or allow more with max_iter",
                NotConverged,
                stacklevel=4,
            )
        largest: list[tuple[float, float]] = []
        in_order(range(space.cells.down), lambda a: _largest(found.u.read(*space.cells.rows(a))), largest.append)
        unit = math.copysign(1.0, max(largest)[1]) / math.sqrt(found.length)
        vector = delivered(
            lambda lo, hi: unit * found.u.read(lo, hi), n, space.cells.plan.rows, in_memory=8 * n <= size // 4, out=out
        )
    return LeadingPair(found.value, vector, found.residual, space.products, found.done)


def _dominant(
    space: _Striped, c: float, seed: int, tol: float, max_iter: int, norm: float = 0.0
) -> tuple[_Found, float]:
    """Iterate M + c I until the length of M u - value u is at most tol * norm, the largest modulus met."""
    u, w, after = space.random("u", (seed, 0)), space.vector("w"), space.vector("after")
    found = _Found(u, 1.0, 0.0, math.inf, False)
    length = 1.0  # u'u, 1 but for roundings
    for _ in range(max_iter):
        inner, square = space.product(u, w, u)
        value = inner / length
        moved = math.sqrt(max(square + 2.0 * c * inner + c * c * length, 0.0)) or 1.0
        off, after_length = _turned(space, (u, w, after), value, c, moved)
        residual = math.sqrt(off / length)
        if not math.isfinite(residual + value):
            raise DataError(
                "the products are no finite numbers: the matrix holds NaN, infinite or huge values; scale it"
            )
        norm = max(norm, abs(value))
        found = _Found(u, length, value, residual, residual <= tol * norm)
        if found.done:
            break
        u, after, length = after, u, after_length
    return found, norm


def _turned(
    space: _Striped, vectors: tuple[StoredVector, StoredVector, StoredVector], value: float, c: float, scale: float
) -> tuple[float, float]:
    """Write (w + c u) / scale; |w - value u|^2 and the square of what was written."""
    u, w, after = vectors

    def turn(a: int) -> tuple[float, float]:
        lo, hi = space.cells.rows(a)
        was, new = u.read(lo, hi), w.read(lo, hi)
        off = new - value * was
        new += c * was
        new /= scale
        after.write(lo, new)
        return float(off @ off), float(new @ new)

    parts: list[tuple[float, float]] = []
    in_order(range(space.cells.down), turn, parts.append)
    return math.fsum(part[0] for part in parts), math.fsum(part[1] for part in parts)


def _refuse_asymmetric(space: _Striped, seed: int) -> None:
    """Whether u' M w = w' M u for two random vectors, which no matrix but a symmetric one is likely to give."""
    u, w, image = space.random("u", (seed, 1)), space.random("w", (seed, 2)), space.vector("image")
    one, square = space.product(w, image, u)
    two, other = space.product(u, image, w)
    if abs(one - two) > _SYMMETRIC * math.sqrt(max(square, other)):
        raise DataError(
            "the matrix is not symmetric, and only for a symmetric one does the power iteration say how far its value "
            "is from an eigenvalue; give both (i, j) and (j, i)"
        )


def _largest(values: Array) -> tuple[float, float]:
    at = int(np.argmax(np.abs(values)))
    return abs(float(values[at])), float(values[at])


def _check(M: Triples, tol: float, max_iter: int, shift: float) -> None:
    rows, columns = M.shape
    if rows != columns or not rows:
        raise DataError(f"eigenvalues are of square matrices; this one is {rows:,} x {columns:,}; give its shape=")
    if not 0.0 < tol < 1.0:
        raise ParameterError(f"tol must lie between 0 and 1; got {tol!r}")
    if not math.isfinite(shift):
        raise ParameterError(f"shift must be a finite number; got {shift!r}")
    for name, given, least in (("max_iter", max_iter, 1),):
        if isinstance(given, bool) or given != int(given) or given < least:
            raise ParameterError(f"{name} is a whole number, at least {least}; got {given!r}")
