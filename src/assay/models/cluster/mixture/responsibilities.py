"""Passes over rows for a mixture of normal laws: block by block, whatever the size of the data.

Columns are looked at in a frame, z = (x - centre) / scale: standardised, or for spherical components in one unit for
all. Rows are read as they are, float32 too, and become float64 a few thousand at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import FloatBlocks
from assay.data.sampling import row_keys
from assay.engine.current import map_reduce, mapped_blocks
from assay.errors import DataError
from assay.models.cluster.mixture.gaussians import MixtureComponents, MixtureSums, MixtureWhitening, Shape
from assay.summary.incomplete.expectation import Frame
from assay.summary.incomplete.missing_patterns import Observed
from assay.summary.moments.accumulate import refuse_unusable_rows

# Whitened residuals of a chunk of rows: 512 kB, about a core's second-level cache.
_RESIDUALS = 1 << 16
# Squared deviations of a column: the inverse of a variance at a floor of 1e-12 of them is a number.
_LEAST = 1e-290
# In units of the frame; training rows are never so far.
_FAR = 1e100
# Numbers that the rows drawn for a start may have at most: 32 MB, of which a start needs several copies.
_DRAWN = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class MixtureTable:
    """Rows that can be passed over again and again.

    Attributes:
        blocks: the rows.
        frame: how they are looked at.
        rows: how many there are.
        mean: (D,) of all columns, those that are left out of the frame too.
    """

    blocks: FloatBlocks
    frame: Frame
    rows: int
    mean: Array

    @classmethod
    def of(cls, blocks: FloatBlocks, shape: Shape, columns: tuple[str, ...] | None = None) -> MixtureTable:
        """Look at every column once: its mean, its spread, and whether it can be used."""
        seen = Observed.of(blocks, columns=columns)
        if seen.missing.any():
            refuse_unusable_rows(blocks, seen.columns)
        seen.refuse_extreme(_LEAST)
        frame = Frame.of(seen)
        if not len(frame.active):
            raise DataError(
                "every column is constant, so there is no spread to describe; a mixture needs one column that varies"
            )
        if shape == "spherical":
            scale = np.full(seen.d, np.sqrt(np.mean(seen.spread**2)))
            frame = Frame(np.arange(seen.d), seen.mean, scale)
        return cls(blocks, frame, seen.rows, seen.mean)

    def drawn(self, seed: int, least: int = 1) -> Array:
        """(m, d) rows in the frame: all, or about as many as fit into 32 MB, the same however blocks are cut.

        Args:
            seed: of the draw.
            least: about how many rows at least, however wide they are.
        """
        frame = self.frame
        share = max(_DRAWN / len(frame.active), least) / self.rows

        def draw(part: tuple[int, NDArray[Any]]) -> Array:
            start, rows = part
            return in_frame(frame, rows if share >= 1.0 else rows[row_keys(start, len(rows), seed) < share]).T

        return np.ascontiguousarray(np.concatenate(mapped_blocks(self.blocks, draw)))

    def sums(self, law: MixtureComponents, threads: int | None = None) -> MixtureSums:
        """One pass: log-likelihood and the sums for the M step, about the means of `law`."""
        frame, whitening = self.frame, MixtureWhitening.of(law)
        found = map_reduce(
            self.blocks, lambda part: _sums(frame, part[1], whitening), MixtureSums.__add__, threads=threads
        )
        log_likelihood = found.log_likelihood - found.rows * log_unit(frame)
        return MixtureSums(found.rows, log_likelihood, found.mass, found.first, found.second)


def shared_out(rows: NDArray[Any], frame: Frame, whitening: MixtureWhitening) -> tuple[Array, Array]:
    """Log densities (n,) of rows, and the responsibilities (n, k) of the components for them."""
    logs, shares = np.empty(len(rows)), np.empty((len(rows), len(whitening.base)))
    low = 0
    for _, R, log_density in _expected(frame, rows, whitening):
        part = slice(low, low + len(log_density))
        logs[part], shares[part] = log_density, R.T
        low = part.stop
    return logs - log_unit(frame), shares


def in_frame(frame: Frame, rows: NDArray[Any]) -> Array:
    """(d, b) contiguous: the active columns of (b, D) rows in the frame, clipped where squares would overflow."""
    kept = rows if len(frame.active) == rows.shape[1] else rows[:, frame.active]
    Z = np.empty(kept.shape[::-1])
    with np.errstate(over="ignore"):
        np.subtract(kept.T, frame.centre[:, None], out=Z)
        Z /= frame.scale[:, None]
    return np.clip(Z, -_FAR, _FAR, out=Z)


def log_unit(frame: Frame) -> float:
    """What the log density of a row loses when it is told in the units of the data."""
    return float(np.log(frame.scale).sum())


def _expected(frame: Frame, rows: NDArray[Any], whitening: MixtureWhitening) -> Iterator[tuple[Array, Array, Array]]:
    """The E step, chunk by chunk: residuals (k, d made even, chunk), responsibilities (k, b) and log densities (b,)."""
    from assay.models.cluster.mixture import _mixture_kernels as kernels

    whiten = kernels.whiten_triangular if whitening.A.ndim == 3 else kernels.whiten_diagonal
    k, d = whitening.c.shape
    chunk = int(np.clip(_RESIDUALS // (k * d), 128, 4096))
    W = np.zeros((k, d + d % 2, min(chunk, len(rows))))
    for low in range(0, len(rows), chunk):
        Z = in_frame(frame, rows[low : low + chunk])
        R, logs = np.empty((k, Z.shape[1])), np.empty(Z.shape[1])
        whiten(Z, whitening.A, whitening.c, whitening.base, W, R)
        kernels.normalise(R, logs)
        yield W, R, logs


def _sums(frame: Frame, rows: NDArray[Any], whitening: MixtureWhitening) -> MixtureSums:
    """The sums of one block."""
    from assay.models.cluster.mixture import _mixture_kernels as kernels

    k, d = whitening.c.shape
    mass, first = np.zeros(k), np.zeros((k, d))
    even = d + d % 2
    second = np.zeros((k, even, even) if whitening.A.ndim == 3 else (k, d))
    add = kernels.add_scatter if whitening.A.ndim == 3 else kernels.add_squares
    log_likelihood = 0.0
    for W, R, logs in _expected(frame, rows, whitening):
        log_likelihood += float(logs.sum())
        add(R, W, mass, first, second)
    if second.ndim == 3:
        second = (np.tril(second) + np.tril(second, -1).swapaxes(1, 2))[:, :d, :d]
    return MixtureSums(len(rows), log_likelihood, mass, first, second)
