"""A target and the columns it is to be predicted from, in units in which squares can be formed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.evidence.design import Design
from assay.linalg.validate import power_of_two

FEWEST_ROWS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What is to be predicted, and from what.

    Attributes:
        X: (n, p) columns, each in a unit near its largest value.
        units: (p,) powers of two.
        columns: (p,) names of the numbers.
        of: (p,) number of the column of the data behind each.
        names: of the columns of the data.
        y: (n,) target, in a unit likewise; for classes their numbers from 0.
        unit: of the target.
        target: its name.
        classes: their names; empty for a number.
        design: how rows depend on each other.
        seed: of everything random.
    """

    X: Array
    units: Array
    columns: tuple[str, ...]
    of: Indices
    names: tuple[str, ...]
    y: Array
    unit: float
    target: str
    classes: tuple[str, ...]
    design: Design
    seed: int

    @property
    def raw(self) -> Array:
        """(n, g) the target, or the indicators of its classes."""
        return np.eye(len(self.classes))[self.y.astype(np.intp)] if self.classes else self.y[:, None]

    @property
    def spread(self) -> float:
        """Root of the mean squared deviation of the target, over its columns together."""
        return float(np.sqrt(((self.raw - self.raw.mean(axis=0)) ** 2).mean()))

    @property
    def scaled(self) -> Array:
        """(n, g) the target about its mean, of spread 1."""
        return np.asarray((self.raw - self.raw.mean(axis=0)) / self.spread)

    def among(self, kept: NDArray[np.bool_]) -> Asked:
        """The same from some of the numbers."""
        used, of = np.unique(self.of[kept], return_inverse=True)
        return replace(
            self,
            X=self.X[:, kept],
            units=self.units[kept],
            columns=tuple(self.columns[j] for j in np.flatnonzero(kept)),
            of=of,
            names=tuple(self.names[c] for c in used),
        )


def asked(
    X: Array,
    y: Array,
    columns: tuple[str, ...],
    of: tuple[str, ...],
    target: str,
    classes: tuple[str, ...],
    design: Design,
    seed: int,
) -> Asked | None:
    """Bring columns and target into units of their own; None for too few rows, or where one of them does not vary.

    Args:
        X: (n, p) numbers, none missing.
        y: (n,) the target; for classes their numbers from 0.
        columns: (p,) names.
        of: (p,) the column of the data that each is a number of.
        target: name of the target.
        classes: names of the classes, where it has some.
        design: how rows depend on each other.
        seed: of everything random.
    """
    units = np.array([power_of_two(x) for x in X.T])
    X, unit = X / units, 1.0 if classes else power_of_two(y)
    names = tuple(dict.fromkeys(of))
    place = {name: c for c, name in enumerate(names)}
    numbers = np.array([place[name] for name in of], dtype=np.intp)
    found = Asked(X, units, columns, numbers, names, y / unit, unit, target, classes, design, seed)
    # the spread of a column that does not vary but for rounding is zero
    if len(X) < FEWEST_ROWS or not (X.std(axis=0) > 0).any() or not found.spread > 0 or not np.ptp(y) > 0:
        return None
    return found
