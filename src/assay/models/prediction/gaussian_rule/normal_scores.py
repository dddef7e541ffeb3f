"""Log densities of rows under normal laws, in blocks that stay in the cache.

    score_k = base_k - (|A_k (t - c_k)|^2 + |z - t Q^T|^2 / ridge_k) / 2,   A_k (r, r),   t = z Q (r,) in a GroupFrame

A_k is lower triangular. Strips of several A_k are folded into one product (b, e + 1) by (e + 1, k w), its first row the
shifts -A_k c_k, with e as many coordinates as the strips have columns that are not zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.principal import dense
from assay.summary.classes.group_frame import GroupFrame

_WIDTH = 1024  # columns of a folded product: beyond them nothing is gained
_RESIDUALS = 1 << 18  # whitened numbers of a block of rows: 2 MB


class _Panel(NamedTuple):
    """A product that gives some whitened coordinates of rows for some classes.

    Attributes:
        classes: which.
        matrix: (e + 1, k w) from a one and the first e coordinates to w whitened ones for each of the k classes.
    """

    classes: slice
    matrix: Array


@dataclass(frozen=True, slots=True, eq=False)
class NormalScores:
    """Normal laws of g classes in one frame.

    Attributes:
        frame: how rows are looked at, with the centres c_k (g, r).
        whitening: (g, r, r) A_k, or (1, r, r) for all.
        ridge: (g,) or (1,) variance outside the axes of the frame.
    """

    frame: GroupFrame
    whitening: Array
    ridge: Array

    def scorer(self, base: Array, *, whole: bool) -> Callable[[Any, int], Array]:
        """A function from (b, d) rows, dense or sparse, to (b, g) scores.

        Args:
            base: (g,) log density at the centres.
            whole: the log densities; else less what all classes have in common. With one A they are then linear, and
                lose fewer digits.
        """
        panels = [] if len(self.whitening) == 1 else self._panels()
        width = max((panel.matrix.shape[1] for panel in panels), default=self.whitening.shape[1])
        step = max(64, _RESIDUALS // width)

        def scores(rows: Any, _: int) -> Array:
            out = np.zeros((rows.shape[0], len(self.frame.centres)))
            # one piece of memory for all products: a fresh one for each would cost as much as the product
            held = np.empty(min(step, len(out)) * width)
            for start in range(0, len(out), step):
                part = slice(start, start + step)
                z = self.frame.units(dense(rows[part]))
                self._score(z, self.frame.along(z), panels, held, out[part], whole=whole)
            out += base
            return out

        return scores

    def _score(self, z: Array, t: Array, panels: list[_Panel], held: Array, out: Array, *, whole: bool) -> None:
        if len(self.whitening) == 1:
            self._shared(t, out, whole=whole)
        else:
            _own(t, panels, held, out)
        if self.frame.axes is not None and (whole or len(self.ridge) > 1):
            outside = np.einsum("ij,ij->i", z, z) - np.einsum("ij,ij->i", t, t)
            out -= np.multiply.outer(np.maximum(outside, 0.0), 0.5 / self.ridge)

    def _panels(self) -> list[_Panel]:
        """Products for as many classes and whitened coordinates at a time as are worth one."""
        g, r = self.whitening.shape[:2]
        ends = np.linspace(0, r, min(max(r // 32, 1), 4) + 1).astype(int).tolist()
        shifts = np.einsum("kij,kj->ki", self.whitening, self.frame.centres)
        k = max(1, _WIDTH // r)
        panels = []
        for first in range(0, g, k):
            classes = slice(first, min(first + k, g))
            for low, high in pairwise(ends):
                # A is triangular: the coordinates up to `high` of a row are all that enter
                strips = self.whitening[classes, low:high, :high]
                blocks = np.concatenate([-shifts[classes, low:high, None], strips], axis=2)
                panels.append(_Panel(classes, np.ascontiguousarray(blocks.reshape(-1, high + 1).T)))
        return panels

    def _shared(self, t: Array, out: Array, *, whole: bool) -> None:
        A = self.whitening[0]
        w, c = t @ A.T, self.frame.centres @ A.T
        np.matmul(w, c.T, out=out)
        out -= 0.5 * np.einsum("ij,ij->i", c, c)
        if whole:
            out -= 0.5 * np.einsum("ij,ij->i", w, w)[:, None]


def _own(t: Array, panels: list[_Panel], held: Array, out: Array) -> None:
    """Take half the squared whitened distances off `out`."""
    b, r = t.shape
    with_one = np.empty((b, r + 1))
    with_one[:, 0] = 1.0
    with_one[:, 1:] = t
    for classes, matrix in panels:
        w = np.matmul(with_one[:, : len(matrix)], matrix, out=held[: b * matrix.shape[1]].reshape(b, -1))
        w = w.reshape(b, classes.stop - classes.start, -1)
        out[:, classes] -= 0.5 * np.einsum("bkw,bkw->bk", w, w)
