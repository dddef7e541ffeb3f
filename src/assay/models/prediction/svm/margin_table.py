"""Rows of a linear machine, read in blocks: workers keep them, and every pass gives one small sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import FloatBlocks
from assay.data.partitions import beside
from assay.engine.current import map_reduce, scattered
from assay.models.prediction.svm.margin_passes import Line, PriceSums, price_sums, prices_along, solve_in_passes
from assay.summary.incomplete.missing_patterns import Observed
from assay.summary.moments.accumulate import refuse_unusable_rows

# from what is known of the rows of a block: which of them count, the ends of what costs nothing, and prices
Ends: TypeAlias = Callable[[NDArray[Any]], tuple[Any, Array, Array, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class MarginTable:
    """Rows that can be passed over again and again.

    Attributes:
        blocks: first row, rows, what is known of each, and its weight or None.
        middle: (d,) mean of the rows, taken off them.
    """

    blocks: Any
    middle: Array

    @classmethod
    def of(cls, blocks: FloatBlocks, known: NDArray[Any], weights: Array | None = None) -> MarginTable:
        """Look at every column once, and refuse what is not finite.

        Args:
            blocks: the rows.
            known: (n,) classes or targets.
            weights: (n,) by which prices are multiplied; None for 1.
        """
        kept = scattered(beside(blocks, known, weights))
        seen = Observed.of(kept, columns=blocks.columns)
        if seen.missing.any():
            refuse_unusable_rows(kept, blocks.columns)
        return cls(kept, seen.mean)

    def solve(self, ends: Ends, *, price: float, tol: float, max_iter: int, squared: bool = False) -> Line:
        """The machine for these ends and prices.

        Args:
            ends: of the rows of a block.
            price: a usual price.
            tol: duality gap allowed, as a share of the objective.
            max_iter: Newton steps allowed.
            squared: whether the loss is squared.
        """
        blocks, middle = self.blocks, self.middle

        def rows_of(part: tuple[int, Any, NDArray[Any], Array | None]) -> tuple[Array, Array, Array, Array]:
            _, rows, known, weights = part
            picked, lower, upper, C = ends(known)
            return np.asarray(rows[picked] - middle), lower, upper, C if weights is None else C * weights[picked]

        def look(theta: Array, mu: float) -> PriceSums:
            return map_reduce(
                blocks, lambda part: price_sums(*rows_of(part), theta, mu, squared=squared), PriceSums.__add__
            )

        def along(theta: Array, step: Array, mu: float, shares: Array) -> Array:
            def sums(part: Any) -> Array:
                return prices_along(*rows_of(part), theta, step, mu, shares, squared=squared)

            return map_reduce(blocks, sums, np.add)

        return solve_in_passes(look, along, len(middle), price=price, tol=tol, max_iter=max_iter)
