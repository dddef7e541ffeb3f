"""Cutting into blocks: every row once, in order, whatever the data came as."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from assay.data.blocks import block_slices, float_blocks
from assay.data.read import read
from assay.errors import DataError


@given(st.integers(0, 300_000), st.integers(1, 3000))
def test_slices_cover_every_row_once_in_order(n, d):
    slices = block_slices(n, d)
    edges = [0, *(part.stop for part in slices)]
    assert edges[-1] == n
    assert all(part.start == before < part.stop for part, before in zip(slices, edges, strict=False))


X = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    "data",
    [
        X,
        X.tolist(),
        X.astype(int),
        X.astype(object),
        csr_array(X),
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame(X, schema=["a", "b"]),
        pa.table({"a": X[:, 0], "b": X[:, 1]}),
        read(pa.table({"a": X[:, 0], "b": X[:, 1]})),
        [X[:1], X[1:4], X[4:]],
        (block for block in (X[:5], X[5:])),
    ],
    ids=lambda data: type(data).__name__,
)
def test_every_kind_of_table_gives_the_same_rows(data):
    blocks = list(float_blocks(data))
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), X)
    assert [start for start, _ in blocks] == np.cumsum([0, *(len(b) for _, b in blocks)])[:-1].tolist()


def test_float32_stays_float32():
    assert next(iter(float_blocks(X.astype(np.float32))))[1].dtype == np.float32


@pytest.mark.parametrize("data", [3, "text", np.array([["a", "b"]]), np.array([[object()]])])
def test_what_holds_no_rows_of_numbers_is_refused(data):
    with pytest.raises(DataError):
        list(float_blocks(data))
