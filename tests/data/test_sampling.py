"""A fair sample of rows."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.sampling import RowSample, row_keys


def batch(start, stop):
    return pa.record_batch({"x": np.arange(start, stop)})


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 30), st.integers(0, 2**31))
def test_the_sample_does_not_depend_on_how_rows_are_cut(sizes, size, seed):
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    parts = [RowSample.of(batch(a, b), first_row=int(a), size=size, seed=seed) for a, b in pairwise(bounds)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    whole = RowSample.of(batch(0, bounds[-1]), first_row=0, size=size, seed=seed)
    np.testing.assert_array_equal(merged.rows, whole.rows)
    assert merged.table.column("x").to_pylist() == whole.rows.tolist()
    assert len(merged.rows) == min(size, bounds[-1])


def test_every_row_has_the_same_chance():
    drawn = np.zeros(50)
    for seed in range(2000):
        drawn[RowSample.of(batch(0, 50), first_row=0, size=10, seed=seed).rows] += 1
    # binomial with p = .2: standard deviation 17.9 of 400
    assert np.abs(drawn - 400).max() < 4.5 * 17.9


def test_sorted_rows_stand_in_their_order():
    rows = RowSample.of(batch(0, 100), first_row=0, size=20).sorted()
    assert (np.diff(rows.rows) > 0).all()
    assert rows.table.column("x").to_pylist() == rows.rows.tolist()


@pytest.mark.parametrize("first", [0, 1, 2, 3, 4, 1001])
def test_keys_belong_to_rows_not_to_blocks(first):
    np.testing.assert_array_equal(row_keys(first, 10, 7), row_keys(0, first + 10, 7)[first:])
