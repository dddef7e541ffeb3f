"""Kinds are told from the first block; numbers in later ones are numbers all the same, in every format."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from scipy.sparse import csr_array, save_npz

import assay
from assay.data.columns.column_stats import stats_of
from assay.data.columns.encoded import encode
from assay.data.field import Declared
from assay.data.source import BLOCK_ROWS, ArrowSource
from assay.study.table import prepare

rng = np.random.default_rng(7)
LATER = 600


def repeated(*values, n):
    return np.resize(np.array(values, dtype=np.float64), n)


def first(*values):
    return repeated(*values, n=BLOCK_ROWS)


def later(*values):
    return repeated(*values, n=LATER)


# what the first block shows, and what comes after it
ATTACKS = {
    "counts after 0 and 1": (first(0, 1), later(0, 1, 2, 3, 7)),
    "halves after 0 and 1": (first(0, 1), later(0, 0.5, 1)),
    "negative after 0 and 1": (first(0, 1), later(0, -1, 1)),
    "one number after 0 and 1": (first(0, 1), np.append(later(0, 1)[1:], 2.0)),
    "counts after two codes": (first(0, 2), rng.poisson(40, LATER).astype(float)),
    "fractions after two codes": (first(3, 5), rng.standard_normal(LATER)),
    "region code": (first(1, 2, 3), rng.standard_normal(LATER)),
    "steps": (first(1, 2, 3, 4, 5), later(1, 2, 9.5, -3, 400)),
    "start time": (1.6e9 + np.arange(BLOCK_ROWS) % 97, later(0, 5, 17, 250.5)),
    "one value": (first(0), later(0, 1, 5)),
    "no value": (first(np.nan), later(4, 9.5, -2)),
    "year": (first(1999, 2001, 2004), later(1, -5, 30_000)),
    "whole": (np.arange(BLOCK_ROWS) % 99.0, later(0.5, -1e9)),
}
NAMES = tuple(ATTACKS)
WHOLE = {name: np.concatenate(parts) for name, parts in ATTACKS.items()}


def cell(x):
    return None if np.isnan(x) else int(x) if x == int(x) else x


def table(text):
    if not text:
        return pa.table({name: pa.array(x, mask=np.isnan(x)) for name, x in WHOLE.items()})
    told = {name: [None if np.isnan(v) else str(cell(v)) for v in x.tolist()] for name, x in WHOLE.items()}
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in told.items()})


def as_lines(rows, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


WRITERS = {
    "memory": None,
    "parquet": lambda rows, path: pa.parquet.write_table(rows, path, row_group_size=BLOCK_ROWS),
    "feather": lambda rows, path: pa.feather.write_feather(rows, path),
    "csv": lambda rows, path: pa.csv.write_csv(rows, path),
    "jsonl": lambda rows, path: as_lines(
        [{k: cell(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows.to_pylist()], path
    ),
}


@pytest.fixture(scope="module", params=[(f, t) for f in WRITERS for t in (False, True)], ids=str)
def encoded(request, tmp_path_factory):
    """A table of all attacks in one format, its values stored as numbers or as text."""
    format_, text = request.param
    if WRITERS[format_] is None:
        return encode(ArrowSource(table(text)), log="never")
    path = tmp_path_factory.mktemp("settled") / f"attack.{format_}"
    WRITERS[format_](table(text), path)
    return encode(assay.read(path), log="never")


def test_every_number_of_every_block_is_kept_as_it_is(encoded):
    rows = np.concatenate(list(encoded.float_blocks()))
    names = [encoded.encoding.source_column(j) for j in range(rows.shape[1])]
    assert names == list(NAMES), "one number a column: none is taken as levels or set aside"
    for name, found in zip(names, rows.T, strict=True):
        np.testing.assert_array_equal(found, WHOLE[name], err_msg=name)
    assert not list(encoded.problems)


def test_statistics_are_those_of_all_numbers(encoded):
    for column in encoded.encoding.columns:
        assert column.missing == np.isnan(WHOLE[column.name]).sum()
        assert column.misfits == 0
        assert column.kind in ("number", "count", "ordered")


@pytest.mark.parametrize("width", [3, 11_000])
def test_counts_of_sparse_tables_are_not_yes_or_no_because_their_first_block_is(tmp_path, width):
    n = 2 * BLOCK_ROWS if width < 100 else 3_100  # wide tables have shorter blocks
    rows = np.arange(n)
    counts = np.where(rows < n - 50, rows % 2, rows % 9).astype(float)
    # every column holds something, so that none is left out of a wide table
    entries = (
        np.append(counts, np.ones(width - 1)),
        (np.append(rows, np.arange(1, width) % n), np.append(0 * rows, np.arange(1, width))),
    )
    matrix = csr_array(entries, shape=(n, width))
    save_npz(tmp_path / "x.npz", matrix)
    cells = [f"{j + 1}:{x:g}" for j, x in zip(matrix.indices, matrix.data, strict=True)]
    lines = [" ".join(["1", *cells[a:b]]) for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)]
    (tmp_path / "x.libsvm").write_text("\n".join(lines))
    for path, name in ((tmp_path / "x.npz", "column 1"), (tmp_path / "x.libsvm", None)):
        source = assay.read(path)
        name = name or source.arrow_schema.names[1]
        found = encode(source, log="never")
        numbers = [found.encoding.source_column(j) for j in range(len(found.encoding.names))]
        at = numbers.index(name)
        assert next(f for f in source.schema if f.name == name).kind == "boolean", "the first block shows 0 and 1"
        assert next(f for f in found.encoding.fields if f.name == name).kind == "count"
        np.testing.assert_array_equal(np.concatenate([b[:, at] for b in found.float_blocks()]), counts)


def test_a_study_tells_such_a_column_as_counts_without_gaps():
    n = BLOCK_ROWS + LATER
    flag = WHOLE["counts after 0 and 1"]
    made, _ = prepare(ArrowSource(pa.table({"flag": flag, "x": rng.standard_normal(n)})))
    column = made.card.columns[0]
    assert (column.kind, column.missing, column.used) == ("count", 0, True)
    assert column.why == "0 and 1 only at first, other numbers later"
    assert not made.card.problems


def test_what_was_declared_stays_and_what_contradicts_it_is_told():
    source = ArrowSource(table(False), declared=Declared(kinds={"counts after 0 and 1": "boolean"}))
    found = encode(source)
    column = found.encoding.columns[0]
    assert (column.kind, column.misfits) == ("boolean", (WHOLE["counts after 0 and 1"] > 1).sum())


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 1.0, np.nan]])
def test_0_and_1_in_all_rows_are_yes_and_no(values):
    source = ArrowSource(pa.table({"x": repeated(*values, n=BLOCK_ROWS + 90)}))
    assert encode(source).encoding.columns[0].kind == "boolean"


def test_words_among_numbers_make_levels_as_before():
    cells = ["2"] * BLOCK_ROWS + ["2", "red", "green"] * 2000
    assert encode(ArrowSource(pa.table({"x": cells}))).encoding.columns[0].kind == "category"


@pytest.mark.parametrize(
    "cells", [["1,0", "2,0", "3,0", "4,0"], ["0,0", "1,0"], ["0.00", "1.00"], ["+0", "+1", "0"], ["0", "1", "01"]]
)
def test_numbers_written_in_unusual_ways_are_read(cells):
    source = ArrowSource(pa.table({"y": rng.standard_normal(100), "x": np.resize(np.array(cells), 100).tolist()}))
    found = np.concatenate(list(encode(source, log="never").float_blocks()))
    if found.shape[1] == 2:
        np.testing.assert_array_equal(found[:, 1], [float(c.replace(",", ".")) for c in np.resize(cells, 100)])
    else:
        assert source.schema[1].kind == "category", "digits that begin with 0 are codes"


def test_the_order_of_blocks_does_not_change_what_a_column_is():
    rows = table(False)
    fields = ArrowSource(rows).schema
    blocks = rows.combine_chunks().to_batches(max_chunksize=1 << 14)
    parts = [stats_of(block, fields) for block in blocks]
    there, back = parts[0], parts[-1]
    for part in parts[1:]:
        there = there + part
    for part in parts[-2::-1]:
        back = back + part
    assert there.settled == back.settled
