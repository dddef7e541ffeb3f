"""Names as numbers, looked up by workers who hold all names once: exact, and fast for any number of blocks.

Whole numbers are found by bisection. Texts are found by bisection of their hashes and then compared; the few that share
a hash with another name are looked up one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.arrays import Whole
from assay.data.row_hashes import hashes_of_batch


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """Names and the number of each: its place among them.

    Attributes:
        names: (n,) different ones, int64 or text.
        keys: (n,) the numbers, or the hashes of the texts, ascending.
        places: (n,) where the name of each key is.

    >>> Numbering.of(pa.array(["b", "a"])).numbers(pa.array(["a", "a", "b"]))
    array([1, 1, 0])
    """

    names: pa.Array
    keys: NDArray[Any]
    places: Whole

    @classmethod
    def of(cls, names: pa.Array) -> Numbering:
        """Number different names by their places."""
        keys = _keys(names)
        places = np.argsort(keys, kind="stable").astype(np.int64)
        return cls(names, keys[places], places)

    def __len__(self) -> int:
        return len(self.names)

    def numbers(self, column: pa.Array) -> Whole:
        """(m,) the number of each name of a column, all of which are known.

        Args:
            column: int64 or text; text is also found where names are text and the column holds numbers.
        """
        if column.type != self.names.type:
            column = column.cast(self.names.type)
        at = np.searchsorted(self.keys, _keys(column))
        found: Whole = self.places[np.minimum(at, len(self.places) - 1)]
        if not pa.types.is_integer(column.type):
            other = pc.not_equal(self.names.take(pa.array(found)), column).to_numpy(zero_copy_only=False)
            if other.any():  # names with the same hash
                found[other] = pc.index_in(column.filter(pa.array(other)), value_set=self.names).to_numpy()
        return found


def told_apart(column: pa.Array) -> pa.Array:
    """Names in one of two types: int64, or text."""
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        return column.cast(pa.int64())
    return column.cast(pa.string())


def joined(left: pa.Array, right: pa.Array) -> pa.Array:
    """Different names of both, as they come first; as text where either is.

    >>> joined(pa.array([3, 1]), pa.array(["1", "x"])).to_pylist()
    ['3', '1', 'x']
    """
    if left.type != right.type:
        left, right = left.cast(pa.string()), right.cast(pa.string())
    return pc.unique(pa.concat_arrays([left, right]))


def _keys(column: pa.Array) -> NDArray[Any]:
    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), np.int64)
    return hashes_of_batch(pa.record_batch({"name": column}), ["name"])
