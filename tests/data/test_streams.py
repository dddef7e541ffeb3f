"""Rows that arrive once: blocks in bounded memory, the first block's form for all."""

import errno
import io
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from assay.data.field import Declared
from assay.data.row_cache import KeptSource
from assay.data.source import ArrowSource
from assay.data.streams import StreamSource
from assay.errors import DataError
from assay.summary.moments.moments import Moments


def numbers(n=30, d=3):
    return np.random.default_rng(0).standard_normal((n, d))


def as_blocks(X, form):
    names = [f"column {j + 1}" for j in range(X.shape[1])]
    for part in np.array_split(X, 4):
        match form:
            case "arrays":
                yield part
            case "batches":
                yield pa.RecordBatch.from_pydict(dict(zip(names, part.T, strict=True)))
            case "pandas":
                yield pd.DataFrame(part, columns=names)
            case "polars":
                yield pl.DataFrame(dict(zip(names, part.T, strict=True)))
            case "mappings":
                yield from (dict(zip(names, row, strict=True)) for row in part)
            case "rows":
                yield from part


@pytest.mark.parametrize("form", ["arrays", "batches", "pandas", "polars", "mappings", "rows"])
def test_whatever_the_iterator_yields_the_summary_is_that_of_the_rows(form):
    X = numbers()
    streamed = Moments.of(StreamSource(as_blocks(X, form)))
    whole = Moments.of(X)
    assert streamed.count == len(X)
    np.testing.assert_allclose(streamed.mean, whole.mean, atol=1e-15)
    np.testing.assert_allclose(streamed.scatter, whole.scatter, rtol=1e-13, atol=1e-14)


def test_only_a_few_blocks_are_asked_for_before_they_are_used():
    asked = []

    def endless():
        while True:
            asked.append(1)
            yield np.ones((10, 2))

    stream = StreamSource(endless())
    assert len(stream.schema) == 2
    assert len(asked) == 1
    blocks = stream.blocks()
    for _ in range(5):
        next(blocks)
    assert len(asked) <= 6


def test_understanding_the_columns_loses_no_rows():
    stream = StreamSource(iter([numbers(5), numbers(6)]))
    assert [field.name for field in stream.schema] == ["column 1", "column 2", "column 3"]
    assert len(stream.to_arrow()) == 11


def test_columns_are_known_after_the_rows_have_gone():
    stream = StreamSource(iter([numbers(5)]))
    assert len(stream.to_arrow()) == 5
    assert [field.kind for field in stream.schema] == ["number"] * 3


def test_a_second_pass_is_refused_in_words():
    stream = StreamSource(iter([numbers()]))
    list(stream.blocks())
    with pytest.raises(DataError, match="stream is a stream and has been read already; a stream can be read once"):
        list(stream.blocks())


def test_an_empty_stream_is_refused_in_words():
    with pytest.raises(DataError, match="ended before its first row"):
        _ = StreamSource(iter([])).schema


def test_later_blocks_take_the_form_of_the_first_and_misfits_are_counted():
    first = pa.table({"a": [1, 2], "b": ["u", "v"]})
    later = pa.table({"c": [1, 2], "a": ["3", "zz"]})
    stream = StreamSource(iter([first, later]))
    assert stream.to_arrow().to_pydict() == {"a": [1.0, 2.0, 3.0, None], "b": ["u", "v", None, None]}
    sentences = [problem.sentence() for problem in stream.problems]
    assert sentences == [
        "a: values are not numbers and count as missing: 1 (row 4: 'zz').",
        "b: rows lack the column and count as missing: 2 (row 3; ...).",
        "c: values belong to a column that the first block does not have, and are left out: 2 (row 3; ...).",
    ]


def test_a_sensitive_column_is_dropped_and_its_misfits_are_not_shown():
    items = [{"a": 1, "who": 5}] * 4096 + [{"a": 2, "who": "secret"}]
    stream = StreamSource(iter(items), declared=Declared(sensitive=frozenset({"who"})))
    assert stream.to_arrow().column_names == ["a"]
    assert "secret" not in " ".join(problem.sentence() for problem in stream.problems)


def test_rows_of_unequal_length_are_refused_with_their_number():
    with pytest.raises(DataError, match="row 1 of a stream has 2 values where the first has 3"):
        _ = StreamSource(iter([[1, 2, 3], [1, 2]])).schema


@pytest.mark.parametrize("limit", [0, 200, 1 << 20])
@pytest.mark.parametrize("streamed", [True, False])
def test_kept_rows_are_the_same_in_every_pass(limit, streamed):
    X = numbers(100)
    names = ["a", "b", "c"]
    batches = [pa.RecordBatch.from_pydict(dict(zip(names, part.T, strict=True))) for part in np.array_split(X, 7)]
    source = StreamSource(iter(batches)) if streamed else ArrowSource(pa.Table.from_batches(batches))
    kept = KeptSource(source, limit=limit)
    passes = [np.concatenate(list(kept.float_blocks())) for _ in range(3)]
    for found in passes:
        np.testing.assert_array_equal(found, X)
    assert kept.in_memory == (limit == 1 << 20)
    assert kept.rows == 100


def spilled(n=9):
    kept = KeptSource(StreamSource(pa.table({"a": np.full(1000, float(i))}) for i in range(n)), limit=0)
    list(kept.blocks())
    return kept


@pytest.mark.skipif(os.name != "posix", reason="Windows removes it with the process")
def test_rows_kept_on_disk_have_no_name_there(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = spilled()
    assert not kept.in_memory and len(kept.to_arrow()) == 9000
    assert list(tmp_path.iterdir()) == []


def test_several_read_kept_rows_at_once_each_in_its_own_place():
    kept = spilled()
    with ThreadPoolExecutor(4) as threads:
        sums = list(threads.map(lambda _: [float(block["a"].to_numpy().sum()) for block in kept.blocks()], range(16)))
    assert all(found == [1000.0 * i for i in range(9)] for found in sums)


def test_a_disk_without_room_for_kept_rows_is_told_in_a_sentence(tmp_path, monkeypatch):
    class Full(io.BytesIO):
        def write(self, content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **how: Full())
    with pytest.raises(DataError, match="rows of a stream .* No space left on device; make room there, .* TMPDIR"):
        spilled()


def test_problems_are_told_in_every_pass_over_kept_rows():
    kept = KeptSource(StreamSource(iter([pa.table({"a": [1.0]}), pa.table({"a": ["x"]})])))
    for _ in range(2):
        list(kept.blocks())
        assert [problem.count for problem in kept.problems] == [1]


def test_a_pass_cut_short_keeps_nothing_half():
    kept = KeptSource(ArrowSource(pa.table({"a": np.arange(200_000.0)})))
    next(kept.blocks())
    assert not kept.in_memory
    assert len(kept.to_arrow()) == 200_000
