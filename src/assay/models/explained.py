"""Which columns make rows stand out, as a small table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array


class Driver(NamedTuple):
    """One column of one row: its share of what makes the row stand out, and its deviation in standard deviations."""

    column: str
    share: float
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """Rows that stand out, and why.

    Attributes:
        rows: (k,) their numbers, from 0.
        distances: (k,) how far out they are, in standard deviations.
        p: (k,) chance that a clean row is as far out, for each row on its own.
        columns: (d,) names of the columns.
        contributions: (k, d) what each column adds.
        deviations: (k, d) distance of each value from the centre of its column, in standard deviations.
    """

    rows: NDArray[np.intp]
    distances: Array
    p: Array
    columns: tuple[str, ...]
    contributions: Array
    deviations: Array

    @property
    def shares(self) -> Array:
        """(k, d) contributions as shares of the row; infinite ones share the row among them."""
        beyond = np.isinf(self.contributions)
        some = beyond.any(axis=1, keepdims=True)
        whole = np.where(some, beyond, self.contributions)
        total = whole.sum(axis=1, keepdims=True)
        shares: Array = np.divide(whole, total, out=np.zeros(whole.shape), where=total > 0.0)
        return shares

    def drivers(self, i: int, most: int = 3) -> list[Driver]:
        """The columns that contribute most to the i-th row of this table, the largest first.

        Args:
            i: position in `rows`.
            most: how many columns.
        """
        shares = self.shares[i]
        largest = np.argsort(-shares, kind="stable")[:most]
        return [Driver(self.columns[j], float(shares[j]), float(self.deviations[i, j])) for j in largest]

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        def told(i: int) -> str:
            why = ", ".join(f"{d.column} {d.share:.0%} ({d.deviation:+.1f} sd)" for d in self.drivers(i))
            return f"row {self.rows[i]}: {self.distances[i]:.2f} sd away, p {self.p[i]:.2g}: {why}"

        return "\n".join(map(told, range(len(self)))) or "no rows"
