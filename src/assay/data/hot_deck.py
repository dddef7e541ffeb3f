"""Values of other rows in the place of missing ones.

What stands in is drawn from the rows that have a value, whatever else these hold. So it knows nothing of other columns,
in whatever rows and for whatever reason values are missing: independent columns still do not. Means
in its place would: where two columns are missing in the same rows, both are at their middle there.
"""

from __future__ import annotations

import numpy as np

from assay.arrays import Array, Indices


def columns_with_gaps(block: Array) -> Indices:
    """Numbers of the columns that lack a value; a sum is much faster than a look at each.

    Args:
        block: (b, D) NaN where missing, nothing infinite.
    """
    return np.flatnonzero(np.isnan(block.sum(axis=0)))


def stood_in(
    block: Array, groups: Indices, otherwise: Array, rng: np.random.Generator, *, in_place: bool = False
) -> Array:
    """(b, D) rows whose gaps hold values of other rows, all numbers of a column from one row; itself without gaps.

    Args:
        block: (b, D) NaN where missing.
        groups: (D,) the column that each number belongs to.
        otherwise: (D,) what stands in where no row has a value.
        rng: source of the draws.
        in_place: whether the gaps of the block itself are filled; else it is not changed.

    >>> stood_in(np.array([[1.0, 5.0], [np.nan, 6.0]]), np.array([0, 1]), np.zeros(2), np.random.default_rng(0))
    array([[1., 5.],
           [1., 6.]])
    """
    holes = columns_with_gaps(block)
    if not len(holes):
        return block
    done = block if in_place else block.copy(order="K")  # rows drawn from have no gaps: filling changes none of them
    for label in np.unique(groups[holes]):
        places = np.flatnonzero(groups == label)
        absent = np.isnan(block[:, places]).any(axis=1)
        gaps, donors = np.flatnonzero(absent), np.flatnonzero(~absent)
        drawn = donors[rng.integers(len(donors), size=len(gaps))] if len(donors) else None
        done[np.ix_(gaps, places)] = otherwise[places] if drawn is None else block[np.ix_(drawn, places)]
    return done
