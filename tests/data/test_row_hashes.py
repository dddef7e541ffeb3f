"""One number a row: the same for the same values, another for others, however rows are cut."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from assay.data import row_hashes
from assay.data.row_hashes import hashes_of_batch, hashes_of_numbers

CELLS = {
    "number": st.one_of(st.none(), st.sampled_from([0.0, 1.5, -1e300, 1e-300])),
    "whole": st.one_of(st.none(), st.integers(-(2**62), 2**62)),
    "text": st.one_of(st.none(), st.text(max_size=4)),
    "flag": st.one_of(st.none(), st.booleans()),
    "day": st.one_of(st.none(), st.dates(dt.date(1990, 1, 1), dt.date(1990, 1, 9))),
    "price": st.one_of(st.none(), st.sampled_from([Decimal("1.50"), Decimal("2.25")])),
}
TYPES = {
    "number": pa.float64(), "whole": pa.int64(), "text": pa.string(), "flag": pa.bool_(), "day": pa.date32(),
    "price": pa.decimal128(6, 2),
}  # fmt: skip
ROWS = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=12)


@given(ROWS, st.integers(0, 12))
def test_rows_have_one_hash_exactly_where_they_are_the_same(rows, cut):
    batch = pa.RecordBatch.from_pylist(rows, schema=pa.schema(TYPES))
    found = hashes_of_batch(batch, list(TYPES))
    parts = [hashes_of_batch(part, list(TYPES)) for part in (batch.slice(0, cut), batch.slice(cut))]
    np.testing.assert_array_equal(found, np.concatenate(parts))
    assert len(set(found.tolist())) == len({tuple(row[name] for name in TYPES) for row in rows})


def test_long_texts_levels_and_gaps_are_told_alike(monkeypatch):
    texts = ["a", "b", None, "", "a"]
    plain, levels = pa.array(texts), pa.array(texts).dictionary_encode()
    one, other = (hashes_of_batch(pa.RecordBatch.from_arrays([x], ["t"]), ["t"]) for x in (plain, levels))
    np.testing.assert_array_equal(one, other)
    assert len(set(one.tolist())) == 4 and one[0] == one[4]
    monkeypatch.setattr(row_hashes, "_BYTES", 0)
    long = hashes_of_batch(pa.RecordBatch.from_arrays([plain], ["t"]), ["t"])
    assert len(set(long.tolist())) == 4 and long[0] == long[4]


def test_both_zeros_and_all_gaps_are_alike():
    X = np.array([[0.0, np.nan], [-0.0, np.nan], [1.0, 0.5]])
    found = hashes_of_numbers(X)
    assert found[0] == found[1] != found[2]
