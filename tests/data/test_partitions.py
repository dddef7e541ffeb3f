"""What is known of rows goes with the partition that has them, and no farther."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from assay.data.blocks import float_blocks
from assay.data.partitions import beside, numbered_floats
from assay.data.source import ArrowSource

N = 200_000
X = np.arange(N, dtype=np.float64)


def source():
    return ArrowSource(pa.table({"x": X}))


def test_values_lie_beside_their_rows_in_every_partition():
    blocks = beside(numbered_floats(source()), 2.0 * X, None)
    for part in blocks.parts():
        for start, rows, doubled, nothing in pickle.loads(pickle.dumps(part)):
            assert rows[0, 0] == start
            assert nothing is None
            np.testing.assert_array_equal(doubled, 2.0 * rows[:, 0])


def test_a_partition_takes_along_the_values_of_its_own_rows_only():
    parts = beside(numbered_floats(source()), X).parts()
    sizes = [len(pickle.dumps(part.step)) for part in parts]
    assert len(parts) == 4
    assert sum(sizes) < X.nbytes + 4 * 1000


def test_further_steps_keep_to_the_rows_of_a_partition_too():
    blocks = beside(numbered_floats(source()), X).map(lambda part: float(part[2].sum()))
    assert sum(total for part in blocks.parts() for total in part) == pytest.approx(X.sum(), rel=1e-12)
    assert list(blocks) == [total for part in blocks.parts() for total in part]


def test_arrays_in_this_process_have_values_beside_them_as_well():
    rows = np.arange(10_000.0).reshape(-1, 1)
    for start, block, own in beside(float_blocks(rows), rows[:, 0]):
        assert block[0, 0] == start
        np.testing.assert_array_equal(own, block[:, 0])
