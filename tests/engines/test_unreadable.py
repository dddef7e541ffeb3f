"""What cannot be read stops the run with its place, or is left out and counted: the same on every engine."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

from assay.data.formats import arrow_files
from assay.data.partitions import numbered_floats
from assay.data.read import read
from assay.data.text import csv
from assay.engine.current import map_reduce, using
from assay.errors import DataError
from assay.summary.moments.moments import Moments

ROWS, GROUP = 60_000, 10_000


def bits(moments):
    return [np.asarray(part).tobytes() for pair in moments._pairs() for part in pair]


def overwritten(path, first, length):
    content = bytearray(path.read_bytes())
    content[first : first + length] = b"\xff" * length
    path.write_bytes(content)


def damage_group(path, group, column=1):
    """Overwrite the pages of a column chunk."""
    about = pq.ParquetFile(path).metadata.row_group(group).column(column)
    overwritten(path, about.data_page_offset, about.total_compressed_size)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).standard_normal((ROWS, 3)).round(2) + 1e4


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows):
    """Files with rows that cannot be read: 20,001 to 30,000, or those from some row on."""
    place = tmp_path_factory.mktemp("damaged")
    table = pa.table({f"x{j}": rows[:, j] for j in range(3)})
    how = {"row_group_size": GROUP, "use_dictionary": False}
    pq.write_table(table, place / "one.parquet", **how)
    damage_group(place / "one.parquet", 2)
    (place / "many").mkdir()
    for i in range(6):  # one run of row groups in each, also for workers, whose blocks are larger
        part = table.slice(i * GROUP, GROUP)
        pq.write_table(part, place / "many" / f"{i}.parquet", row_group_size=GROUP // 2, use_dictionary=False)
    damage_group(place / "many" / "1.parquet", 1)
    whole = (place / "many" / "2.parquet").read_bytes()
    (place / "many" / "2.parquet").write_bytes(whole[: len(whole) // 2])
    pa_feather.write_feather(table, place / "one.arrow", chunksize=GROUP, compression="zstd")
    size = (place / "one.arrow").stat().st_size
    overwritten(place / "one.arrow", size * 5 // 12, 4_000)  # in the middle of the third of six batches
    pa_csv.write_csv(pa.concat_tables([table] * 3), place / "one.csv")
    packed = gzip.compress((place / "one.csv").read_bytes(), 1)
    (place / "one.csv.gz").write_bytes(packed[: len(packed) * 2 // 3])
    return place


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    """A partition for each row group, and one block in each."""
    monkeypatch.setattr(arrow_files, "_SMALLEST", 1)
    monkeypatch.setattr(arrow_files, "block_rows", lambda d: GROUP)
    monkeypatch.setattr(csv, "FIRST_BLOCK", 1 << 16)


PLACES = {
    "one.parquet": r"one\.parquet: it is damaged in row group 3, rows 20,001 to 30,000 \(",
    "many/[01].parquet": r"1\.parquet: it is damaged in row group 2, rows 5,001 to 10,000 \(",
    "one.arrow": r"one\.arrow: it is damaged in batch 3, rows 20,001 to 30,000 \(",
    "one.csv.gz": r"one\.csv\.gz behind line [\d,]+, byte [\d,]+ of [\d,]+: the gzip data are damaged or end too early",
}


@pytest.mark.parametrize("name", PLACES)
def test_what_cannot_be_read_stops_the_run_with_its_place(engine, folder, name):
    with using(engine), pytest.raises(DataError, match=PLACES[name]):
        Moments.of(read(str(folder / name)))


def test_one_of_many_files_that_is_cut_short_stops_the_run_by_name(folder):
    with pytest.raises(DataError, match=r"2\.parquet: it is not a Parquet file that can be read, or it is damaged"):
        read(str(folder / "many" / "*.parquet"))


def left(rows, *gaps):
    keep = np.ones(len(rows), dtype=bool)
    for first, stop in gaps:
        keep[first:stop] = False
    return keep


@pytest.mark.parametrize("name", ["one.parquet", "many/*.parquet", "one.arrow", "one.csv.gz"])
def test_what_is_skipped_is_counted_and_the_rest_has_its_numbers(engine, folder, rows, name):
    def numbers(part):
        return [(part[0], len(part[1]), part[1][0, 0])]

    here = read(str(folder / name), skip_unreadable=True)
    expected = Moments.of(here)
    told = [problem.sentence() for problem in here.problems]
    with using(engine):
        source = read(str(folder / name), skip_unreadable=True)
        moments = Moments.of(source)
        assert [problem.sentence() for problem in source.problems] == told
        found = map_reduce(numbered_floats(source), numbers, list.__add__)
    assert bits(moments) == bits(expected)
    assert moments.count == sum(count for _, count, _ in found)
    if name.startswith("one.") and name != "one.csv.gz":
        unit = "batch" if name == "one.arrow" else "row group"
        assert told == [f"rows that cannot be read, left out: 10,000 ({unit} 3, rows 20,001 to 30,000)."]
        keep = left(rows, (20_000, 30_000))
        assert all(rows[row, 0] == first for row, _, first in found)
    elif name == "one.csv.gz":
        [sentence] = told
        assert sentence.startswith("stretches of a file that cannot be read, left out: 1 (cannot read ")
        rows = np.concatenate([rows] * 3)
        keep = np.arange(len(rows)) < moments.count
        assert 90_000 < moments.count < 150_000
    else:
        assert told[0] == "rows that cannot be read, left out: 5,000 (1.parquet, row group 2, rows 5,001 to 10,000)."
        assert told[1].startswith("files that cannot be read, left out: 1 (2.parquet, cannot read ")
        keep = left(rows, (15_000, 30_000))
    assert moments.count == keep.sum()
    assert moments.mean == pytest.approx(rows[keep].mean(axis=0), rel=1e-12)


def test_a_target_stays_beside_its_rows_where_rows_between_are_lost(tmp_path, rows):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": rows[:, 0], "y": 3 * rows[:, 0]}), path, row_group_size=GROUP, use_dictionary=False)
    damage_group(path, 2, column=0)
    from assay.models.prediction.ridge import Ridge

    model = Ridge(1e-9).fit(read(path, skip_unreadable=True), "y")
    assert model.coef_ == pytest.approx([3.0])


def test_pages_whose_checksum_is_wrong_are_not_taken_for_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"x": np.arange(1000.0)})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    about = pq.ParquetFile(path).metadata.row_group(0).column(0)
    overwritten(path, about.data_page_offset + about.total_compressed_size - 80, 3)
    with pytest.raises(DataError, match=r"damaged in row group 1, rows 1 to 1,000"):
        read(path).to_arrow()


def test_a_quote_that_is_never_closed_loses_the_rest_only(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,y\n" + b"1,2\n" * 5_000 + b'"3,4\n' + b"5,6\n" * 300_000)
    with pytest.raises(DataError, match="the quote that opens on line 5002 is not closed"):
        read(path).to_arrow()
    source = read(path, skip_unreadable=True)
    assert Moments.of(source).count <= 5_000
    assert [problem.count for problem in source.problems] == [1]


def test_none_of_many_files_can_be_read(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).write_bytes(b"PAR1 and no more PAR1")
    with pytest.raises(DataError, match="none of its files can be read; cannot read .*a.parquet"):
        read(str(tmp_path / "*.parquet"), skip_unreadable=True)


def test_a_study_says_what_was_left_out_and_names_rows_among_the_others(tmp_path):
    from assay.study.run import study

    rng = np.random.default_rng(3)
    X = rng.standard_normal((6_000, 3)).round(2)
    kind = rng.choice(["a", "b"], 6_000)
    X[:, 0] += 4.0 * (kind == "b")
    path = tmp_path / "t.parquet"
    table = pa.table({f"x{j}": X[:, j] for j in range(3)} | {"kind": kind})
    pq.write_table(table, path, row_group_size=2_000, use_dictionary=False)
    damage_group(path, 1)
    found = study(read(path, skip_unreadable=True))
    assert found.data.problems == ("rows that cannot be read, left out: 2,000 (row group 2, rows 2,001 to 4,000).",)
    assert "Rows are counted among those that could be read." in found.data.notes
    assert found.data.rows == 4_000
    kept = np.r_[0:2_000, 4_000:6_000]
    j = found.look.columns.index("x0")
    assert found.look.values[:, j] == pytest.approx(X[kept[found.look.rows - 1], 0])
