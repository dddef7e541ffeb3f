"""A scale for the heights of a tree on which its merges can be told apart: plain, square root or logarithmic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import ParameterError
from assay.views.axes.ticks import Tick, brief, number_ticks

Kind: TypeAlias = Literal["auto", "linear", "sqrt", "log"]

_ROOT_BELOW = 0.2  # the middle of the heights, as a share of the largest
_LOG_BELOW = 0.01
_BELOW = 1.5  # on a log scale zero lies at the lowest height over this
_WORDS = {"linear": "", "sqrt": " (√ scale)", "log": " (log scale)"}


@dataclass(frozen=True, slots=True)
class HeightScale:
    """Heights to places from 0 to 1.

    Attributes:
        kind: "linear", "sqrt" or "log".
        top: the height at place 1.
        floor: the height at place 0.
    """

    kind: Literal["linear", "sqrt", "log"]
    top: float
    floor: float

    @classmethod
    def of(cls, heights: ArrayLike, kind: Kind = "auto") -> HeightScale:
        """Choose a scale: plain unless half of the heights lie within a fifth of the largest, then the square root; a
        logarithm where they lie within a hundredth.

        Args:
            heights: those that are drawn.
            kind: or the scale itself.

        >>> HeightScale.of([1.0, 2.0, 90.0]).kind
        'sqrt'
        """
        if kind not in ("auto", *_WORDS):
            raise ParameterError(f"scale is 'auto', 'linear', 'sqrt' or 'log'; got {kind!r}")
        found = np.asarray(heights, dtype=np.float64)
        found = found[found > 0]
        if not len(found):
            return cls("linear", 1.0, 0.0)
        top, middle = float(found.max()), float(np.median(found / found.max()))
        if kind == "auto":
            kind = "linear" if middle >= _ROOT_BELOW else "sqrt" if middle >= _LOG_BELOW else "log"
        return cls(kind, top, float(found.min()) / _BELOW if kind == "log" else 0.0)

    def place(self, heights: ArrayLike) -> Array:
        """Where heights lie.

        >>> HeightScale("sqrt", 100.0, 0.0).place([0.0, 25.0, 100.0]).tolist()
        [0.0, 0.5, 1.0]
        """
        share = np.asarray(heights, dtype=np.float64) / self.top
        if self.kind == "log":
            lowest = np.log(self.floor / self.top)
            return np.asarray(1.0 - np.log(np.maximum(share, self.floor / self.top)) / lowest)
        return np.asarray(np.sqrt(share) if self.kind == "sqrt" else share)

    @property
    def words(self) -> str:
        """What to add to the name of the axis."""
        return _WORDS[self.kind]

    def ticks(self, apart: float = 0.09) -> list[Tick]:
        """Places of round heights with their words.

        Args:
            apart: how far apart they are at least.

        >>> HeightScale("sqrt", 100.0, 0.0).ticks(0.2)
        [(0.0, '0'), (0.22360679774997896, '5'), (0.4472135954999579, '20'), (0.7071067811865476, '50'), (1.0, '100')]
        """
        if self.kind == "linear":
            return [(tick / self.top, words) for tick, words in number_ticks(0.0, self.top, 8)]
        power = np.floor(np.log10(self.top))
        steps = [digit * 10.0 ** (power - k) for k in range(16) for digit in (5.0, 2.0, 1.0)]
        kept: list[Tick] = []
        for height in [step for step in steps if self.floor < step <= self.top]:
            at = float(self.place(height))
            if at >= apart and (not kept or kept[-1][0] - at >= apart):
                kept.append((at, brief(height)))
        return [(0.0, "0")] * (self.kind == "sqrt") + kept[::-1]
