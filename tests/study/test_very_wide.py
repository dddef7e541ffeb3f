"""Tables of very many columns: what takes memory or time by the square of them is not done."""

import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import assay
from assay.data.columns.encoding import Encoding
from assay.data.formats.arrow_files import ParquetSource
from assay.data.place import Place
from assay.data.read import read
from assay.data.source import ArrowSource
from assay.questions.correlations.columns import drawn_fairly
from assay.questions.correlations.drawn import drawn_pairs
from assay.report.data_section import data_section
from assay.report.findings_json import dumps
from assay.study.gather import gathered
from assay.study.table import prepare
from assay.study.usable_columns import not_drawn

ROWS, COLUMNS, HELD = 120, 4_000, 1 << 21


@pytest.fixture
def sparse(tmp_path, monkeypatch):
    """A sparse file that is to what may be held as 2,000 x 60,000 is to the real bounds."""
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", HELD * 4 // 3)
    monkeypatch.setattr("assay.study.usable_columns.WIDEST", 300)
    rng = np.random.default_rng(0)
    matrix = sp.random_array((ROWS, COLUMNS), density=0.05, rng=rng, data_sampler=lambda size: rng.integers(2, 9, size))
    path = tmp_path / "wide.npz"
    sp.save_npz(path, matrix.tocsr())
    return path


def test_a_sparse_table_too_wide_to_hold_is_studied_by_columns_drawn_fairly(sparse):
    table, _ = prepare(read(sparse))
    tables = gathered(table, frozenset(), 0)
    used = sum(column.used for column in table.card.columns)
    # held in several copies they fit; moments of all columns, once made here, have a square that does not
    assert tables.every.rows is not None and tables.every.rows.shape == (ROWS, used)
    assert tables.others is not None and tables.others.folds is None
    assert len(table.card.columns) == COLUMNS and 300 < used <= HELD // (8 * ROWS * 4)
    notes = " ".join(table.card.notes)
    assert f"{used:,} of" in notes and "drawn fairly" in notes and "--drop" in notes
    assert {column.note for column in table.card.columns if not column.used} <= {"not drawn", "one value in all rows"}


def test_a_target_is_always_among_the_columns_drawn(sparse):
    table, _ = prepare(read(sparse), outcomes=frozenset(["column 77"]))
    assert "column 77" in table.columns and table.rows is not None and table.rows.nbytes <= HELD


def test_every_column_is_drawn_as_often_as_any_other():
    rng = np.random.default_rng(1)
    names = [f"x{j}" for j in range(6000)]
    block = pa.record_batch(dict(zip(names, rng.standard_normal((6000, 3)), strict=True)))
    encoding = Encoding.fit(ArrowSource(pa.table(block)))
    assert not not_drawn(encoding, 3, 8 * 3 * 6000, (), 0)
    draws = [not_drawn(encoding, 1000, 1, ("x5999",), seed) for seed in range(40)]
    assert {len(out) for out in draws} == {2000} and not any("x5999" in out for out in draws)
    often = np.array([sum(name in out for out in draws) for name in names[:-1]])
    # binomial(40, 1/3) each, fixed in sum: mean 13.3, variance 8.9; of 6,000 the variance is known to 5.5% (3 sd)
    assert often.var() == pytest.approx(40 * (1 / 3) * (2 / 3), rel=0.06)


class _Counted(str):
    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        _Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_columns_set_aside_are_looked_up_and_not_searched_for():
    d = 2000
    source = ArrowSource(pa.table({f"x{j}": [1.0, 2.0, 4.0] for j in range(d)}))
    _Counted.compared = 0
    Encoding.fit(source, drop=[_Counted(f"x{j}") for j in range(d - 1)])
    # two lookups a column, and a few by chance for slots that are taken; a search would compare d^2 / 2 = 2,000,000
    assert _Counted.compared < 10 * d


def test_the_names_of_a_parquet_file_are_made_a_few_times_a_pass(tmp_path):
    d = 500
    pq.write_table(pa.table({f"x{j}": [1.0, 2.0] for j in range(d)}), tmp_path / "wide.parquet")
    source = ParquetSource(Place(str(tmp_path / "wide.parquet")))
    asked = []

    class Found:
        """The schema, as Arrow has it: all names are made anew at each look at them."""

        def __init__(self, schema):
            self.schema = schema

        @property
        def names(self):
            asked.append(1)
            return self.schema.names

        def __len__(self):
            return len(self.schema)

        def field(self, i):
            return self.schema.field(i)

    source._found = Found(source._found)
    assert sum(block.num_rows for block in source.blocks()) == 2
    assert len(asked) < 10


def test_pairs_with_laws_of_their_own_are_those_of_fewer_columns(monkeypatch):
    monkeypatch.setattr("assay.questions.correlations.columns.MOST_COLUMNS", 30)
    monkeypatch.setattr("assay.questions.correlations.columns.MOST_EXACT", 10)
    X = np.random.default_rng(2).standard_normal((12, 50))
    labels = list(range(50))

    def drawn(X):
        table = gathered(prepare(read(X))[0], frozenset(), 0).every
        return drawn_fairly(table, labels, 0)

    assert len(drawn(X)) == 30
    X[:2, 7] = 0.5  # a tie of one column is enough: its pairs are judged by exact chances, one by one
    assert len(drawn(X)) == 10


@pytest.fixture
def wide(tmp_path, monkeypatch):
    """Writes a text table of 12 rows and so many columns, half of which go together; names are in quotes."""
    for bound in ("MOST_COLUMNS", "MOST_EXACT"):
        monkeypatch.setattr(f"assay.questions.correlations.columns.{bound}", 200)
    monkeypatch.setattr("assay.data.text.parse.WIDE", 64)

    def written(d):
        X = np.random.default_rng(3).standard_normal((12, d))
        X[:, 1::2] = X[:, :1] + 1e-3 * X[:, 1::2]
        pa_csv.write_csv(pa.table({f"g{j}": X[:, j] for j in range(d)}), tmp_path / f"{d}.csv")
        return tmp_path / f"{d}.csv"

    return written


def test_a_report_calls_python_a_few_hundred_times_for_each_column(wide):
    def report(path):
        study = assay.study(path, only=["correlations"], cache=False)
        assert drawn_pairs(study["correlations"], 1) and data_section(study) and dumps(study)

    # the first run pays for what is imported and kept for good
    _, few, many = (_calls(report, wide(d)) for d in (300, 500, 1500))
    # A column is read, understood, encoded, described and written by 510 calls. It was 770 when every column was made
    # coarse for figures that show ten, and ranked on its own to look for ties.
    assert many - few < 640 * 1000


def test_a_wide_table_takes_a_few_kilobytes_for_each_column(wide):
    peaks = []
    for d in (500, 500, 4500):  # the first run pays for what is imported and kept for good
        path, pool = wide(d), pa.proxy_memory_pool(pa.default_memory_pool())
        usual = pa.default_memory_pool()
        tracemalloc.start()
        pa.set_memory_pool(pool)
        try:
            gathered(prepare(read(path))[0], frozenset(), 0)
            peaks.append(tracemalloc.get_traced_memory()[1] + pool.max_memory())
        finally:
            pa.set_memory_pool(usual)
            tracemalloc.stop()
    # Its numbers are 96 bytes, in some copies, and what is known of it is a dozen objects: 2.2 kB. It was 3.2 when
    # quotes about names made each an Arrow column of text; a number for each pair of columns would be 40.
    assert peaks[2] - peaks[1] < 3_000 * 4000


def _calls(work, *given):
    """How often functions are called, of Python and of C, in this thread."""
    count = 0

    def told(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(told)
    try:
        work(*given)
    finally:
        sys.setprofile(None)
    return count
