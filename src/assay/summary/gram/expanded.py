"""A source whose columns are features of another's: kernel methods for any number of rows.

    random features   k(x, y) ~ phi(x) . phi(y),  phi (D,) random waves                          (summary.features)
    landmarks         k(x, y) ~ phi(x) . phi(y),  phi(x) = T^-1 (k(x, l_1) ... k(x, l_r))         (summary.landmarks)

Rows become features block by block, where they are read. A linear method on them is the method of the kernel, nearly:
PCA is kernel PCA, Ridge kernel ridge, Fisher kernel discriminant analysis, SVM(kernel="linear") that of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.data.columns.encoded import EncodedSource, encode
from assay.data.columns.encoding import Encoding
from assay.data.field import Field
from assay.data.sampling import row_keys
from assay.data.source import Source
from assay.engine.current import mapped_blocks
from assay.errors import ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.summary.gram.features import Features, as_features
from assay.summary.gram.kernels import Kernel
from assay.summary.gram.landmarks import Landmarks, choose_landmarks
from assay.summary.moments.column_moments import ColumnSums

_SAMPLE = 20_000  # rows at most that landmarks are chosen from


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkFeatures:
    """Features whose inner products approach a kernel, by landmarks.

    Attributes:
        kernel: with its defaults filled in.
        landmarks: rows that stand for all.
    """

    kernel: Kernel
    landmarks: Landmarks

    def __call__(self, X: Any) -> Array:
        """(n, r) features of (n, d) rows."""
        return self.landmarks.features(np.ascontiguousarray(X), self.kernel)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """landmark0, landmark1, ..."""
        return tuple(f"landmark{i}" for i in range(len(self.landmarks.indices)))


class ExpandedSource(EncodedSource):
    """The rows of a source as features of its numbers.

    Attributes:
        source: the rows as they are.
        encoding: how they become numbers.
        units: (2, d) what is taken off the numbers, and what they are divided by.
        features: the expansion.
    """

    def __init__(self, source: Source, encoding: Encoding, units: Array, features: Features) -> None:
        super().__init__(source, encoding)
        self.units = units
        self.features = features

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self.features.names(self.encoding.names))

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The features, each a number."""
        return tuple(Field(name, "number", None, None, None, "features") for name in self.names)

    def of(self, source: Source) -> ExpandedSource:
        """Other rows in the same features: new rows for a model that was fitted on these.

        Args:
            source: with the same columns.
        """
        return ExpandedSource(source, self.encoding, self.units, self.features)

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([(name, pa.float64()) for name in self.names])

    def _encoded(self) -> Iterator[tuple[int, Array]]:
        for row, block in super()._encoded():
            yield row, self.features((block - self.units[0]) / self.units[1])


def expand(
    source: Source, by: Any, *, n_components: int = 200, scale: bool = True, random_state: RandomState = 0
) -> ExpandedSource:
    """A source as features of its columns, for linear methods that are then methods of a kernel.

    Read where its rows are read, by the workers of an engine in use; only what the linear method sums up travels.

    Args:
        source: the data; encoded by the kinds of their columns, unless they are already.
        by: an expansion such as `RandomFourier(500, sigma=2)` or `Products(2)`; or a kernel such as `Gaussian()`,
            then by landmarks, chosen from up to 20,000 rows drawn fairly. A target is left out before:
            `expand(assay.encode(source, drop=["price"]), ...)`, and fitted by its name.
        n_components: how many landmarks.
        scale: bring columns to mean 0 and standard deviation 1 first.
        random_state: of the draws: a whole number from 0 on, None for 0, or a generator of NumPy's.

    >>> from assay.data.source import ArrowSource
    >>> table = ArrowSource(pa.table({"x": np.linspace(0.0, 9.0, 50) ** 2, "y": np.linspace(0.0, 9.0, 50) ** 3}))
    >>> from assay.summary.gram.features import Products
    >>> expand(table, Products(2)).numeric_columns
    ('x', 'y', 'x^2', 'x y', 'y^2')
    """
    numbers = source if isinstance(source, EncodedSource) else encode(source, log="never")
    if isinstance(numbers, ExpandedSource):
        raise ParameterError("these columns are features already: expand the data they come from")
    sums = ColumnSums.of(numbers)
    spread = np.sqrt(sums.variance)
    units = np.stack([sums.mean, np.where(spread > 0.0, spread, 1.0)])
    if not scale:
        units = np.stack([np.zeros_like(spread), np.ones_like(spread)])
    features: Features
    if isinstance(by, Kernel) and not isinstance(by, type):
        features = _by_landmarks(numbers, by, units, sums.count, n_components, seed_of(random_state))
    else:
        features = as_features(by)
    return ExpandedSource(numbers.source, numbers.encoding, units, features)


def _by_landmarks(numbers: Source, kernel: Kernel, units: Array, n: int, number: int, seed: int) -> LandmarkFeatures:
    share = _SAMPLE / n

    def draw(part: tuple[int, NDArray[Any]]) -> Array:
        start, rows = part
        return np.asarray((rows[row_keys(start, len(rows), seed) < share] - units[0]) / units[1])

    sample = np.ascontiguousarray(np.concatenate(mapped_blocks(float_blocks(numbers), draw)))
    known = kernel.resolve(sample)
    return LandmarkFeatures(known, choose_landmarks(sample, min(number, len(sample)), known, seed)[0])
