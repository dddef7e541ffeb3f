"""Tables of any types, values and names: encoded without an error, to numbers that are finite or missing."""

import json

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data.columns.encoded import encode
from assay.data.columns.encoding import Encoding
from assay.data.field import KINDS
from assay.data.source import ArrowSource

texts = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["yes", "no", "low", "high", "1", "2.5", "1e400", "NA", "-", "", " ", "01/02/2011", "12:30"]),
    st.sampled_from(["<b>&", "=1+1", "\u0000", "a|b;c"]),
)
TYPES = {
    "float": (pa.float64(), st.floats()),
    "float32": (pa.float32(), st.floats(width=32)),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), texts),
    "large text": (pa.large_string(), texts),
    "date": (pa.date32(), st.dates()),
    "instant": (pa.timestamp("ns"), st.integers(-(2**63) + 1, 2**63 - 1)),
    "zoned": (pa.timestamp("ms", "Europe/Berlin"), st.integers(-(10**13), 10**13)),
    "clock": (pa.time64("us"), st.times()),
    "clock32": (pa.time32("s"), st.integers(0, 86_399)),
    "duration": (pa.duration("s"), st.integers(-(10**9), 10**9)),
    "decimal": (pa.decimal128(20, 3), st.decimals(-(10**9), 10**9, places=3)),
    "binary": (pa.binary(), st.binary(max_size=3)),
    "list": (pa.list_(pa.int64()), st.lists(st.integers(0, 3), max_size=2)),
    "null": (pa.null(), st.none()),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), texts),
}


@st.composite
def tables(draw):
    n = draw(st.integers(0, 9))
    columns, names = [], []
    for _ in range(draw(st.integers(0, 4))):
        type_, values = TYPES[draw(st.sampled_from(sorted(TYPES)))]
        cells = draw(st.lists(st.one_of(st.none(), values), min_size=n, max_size=n))
        columns.append(pa.array(cells, type_))
        names.append(draw(st.one_of(st.text(max_size=5), st.sampled_from(["id", "date", "region", "x [kg]", "year"]))))
    return pa.Table.from_arrays(columns, names=names)


def checked(table, **options):
    encoded = encode(ArrowSource(table), **options)
    encoding = encoded.encoding
    blocks = list(encoded.float_blocks())
    found = np.concatenate([np.empty((0, len(encoding.names))), *blocks])
    assert found.shape == (table.num_rows, len(encoding.names)) == (table.num_rows, len(encoding.groups))
    assert not np.isinf(found).any()
    assert len(set(encoding.names)) == len(encoding.names)
    assert not encoding.names or encoding.decode(found).num_rows == table.num_rows
    assert all(column.used or column.note for column in encoding.columns)
    header, arrays = encoding.to_parts()
    assert Encoding.from_parts(json.loads(json.dumps(header)), arrays) == encoding


@settings(max_examples=150)
@given(tables())
def test_any_table_is_encoded(table):
    checked(table)


@settings(max_examples=100)
@given(tables(), st.sampled_from(KINDS))
def test_any_table_can_be_taken_as_any_kind(table, kind):
    names = [name for name in table.column_names if table.column_names.count(name) == 1]
    checked(table, as_kind=dict.fromkeys(names, kind), min_share=0.0)


def test_rows_missing_altogether_are_missing_in_every_number():
    table = pa.table({"x": [1.5, None, 2.5], "c": ["a", None, "b"], "w": ["yes", None, "no"]})
    found = np.concatenate(list(encode(ArrowSource(table), as_kind={"c": "category"}).float_blocks()))
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()


def test_a_wide_table_is_encoded_in_order():
    values = np.random.default_rng(0).normal(size=(9, 4000))
    table = pa.Table.from_arrays([pa.array(x) for x in values.T], names=[f"g{j}" for j in range(4000)])
    encoded = encode(ArrowSource(table))
    np.testing.assert_array_equal(np.concatenate(list(encoded.float_blocks())), values)
    assert encoded.encoding.names == tuple(table.column_names)
