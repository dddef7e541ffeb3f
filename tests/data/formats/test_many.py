"""Many files as one table: patterns, partitioned folders, remote ones; and what may not be put together."""

import errno
import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq
import pytest

from assay.data.formats.many import ManySource
from assay.data.read import read
from assay.errors import DataError, ParameterError


def parquet(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def told(source):
    list(source.blocks())
    return [(problem.what, problem.column, problem.count, problem.examples) for problem in source.problems]


def test_files_are_read_in_the_order_of_their_names(tmp_path):
    for name in ("b", "a", "c"):
        parquet(tmp_path / f"{name}.parquet", x=[ord(name)])
    source = read(f"{tmp_path}/*.parquet")
    assert isinstance(source, ManySource)
    assert source.to_arrow().to_pydict() == {"x": [97, 98, 99]}
    assert source.rows == 3
    assert source.notes == ("3 files were read as one table, a.parquet first.",)
    assert source.name == "*.parquet"
    assert read(tmp_path).to_arrow() == read(f"{tmp_path}/[a-c].parquet").to_arrow() == source.to_arrow()
    assert read(f"{tmp_path}/?.parquet").to_arrow() == source.to_arrow()


def test_a_partitioned_folder_is_read_as_pyarrow_reads_it(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table(
        {"x": rng.normal(size=60), "year": rng.integers(2018, 2021, 60), "town": ["New York", "a/b=c"] * 30}
    )
    pa_dataset.write_dataset(
        table, tmp_path / "t", format="parquet", partitioning=["year", "town"], partitioning_flavor="hive"
    )
    (tmp_path / "t" / "_SUCCESS").touch()
    source = read(tmp_path / "t")
    key = [("x", "ascending")]
    assert source.to_arrow().sort_by(key).to_pylist() == table.sort_by(key).to_pylist()
    assert source.arrow_schema.field("year").type == pa.int64()
    assert {field.name: field.kind for field in source.schema}["town"] in ("category", "boolean")
    one_year = read(f"{tmp_path}/t/year=2019/**/*.parquet")
    assert one_year.rows == table["year"].to_pylist().count(2019)


def test_the_default_partition_is_missing(tmp_path):
    parquet(tmp_path / "k=__HIVE_DEFAULT_PARTITION__" / "a.parquet", x=[1.0])
    parquet(tmp_path / "k=7" / "a.parquet", x=[2.0])
    assert read(tmp_path).to_arrow().sort_by("x").to_pydict() == {"x": [1.0, 2.0], "k": [None, 7]}


def test_a_sensitive_partition_is_in_no_row_name_or_message(tmp_path):
    for who in ("planted1", "planted2"):
        path = tmp_path / f"who={who}" / "a.csv"
        path.parent.mkdir()
        path.write_text("x,y\n" + "1,2\n" * 50 + "oops,2\n")
    source = read(tmp_path, sensitive=["who"])
    everything = str(source.to_arrow().to_pylist()) + str(told(source)) + str(source.notes) + str(source.schema)
    assert "planted" not in everything
    assert any("who=.../a.csv, line 52" in place for _, _, _, examples in told(source) for place, _ in examples)
    (tmp_path / "who=planted3").mkdir()
    (tmp_path / "who=planted3" / "a.csv").write_text("x,z\n1,2\n")
    with pytest.raises(DataError, match="has no column 'y'") as refusal:
        read(tmp_path, sensitive=["who"])
    assert "planted" not in str(refusal.value)
    with pytest.raises(ParameterError, match="column 'whom' was declared sensitive"):
        read(tmp_path, sensitive=["whom"])


def test_columns_in_another_order_are_aligned(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    (tmp_path / "b.csv").write_text("y,x\nb,2\n")
    assert read(f"{tmp_path}/*.csv").to_arrow().to_pydict() == {"x": [1, 2], "y": ["a", "b"]}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("x\n2\n", "b.csv has no column 'y', which a.csv has"),
        ("x,y,z\n2,b,3\n", "b.csv has a column 'z', which a.csv has not"),
        ("x,Y\n2,b\n", "b.csv has no column 'y', which a.csv has"),
    ],
)
def test_files_of_different_columns_are_not_put_together(tmp_path, second, message):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    (tmp_path / "b.csv").write_text(second)
    with pytest.raises(DataError, match=message + r"; read one of them, or put tables together with assay\.fuse"):
        read(f"{tmp_path}/*.csv")


def test_whole_numbers_and_fractions_are_both_numbers(tmp_path):
    parquet(tmp_path / "a.parquet", x=[1, 2])
    parquet(tmp_path / "b.parquet", x=[0.5])
    parquet(tmp_path / "c.parquet", x=pa.array([3], pa.int8()))
    parquet(tmp_path / "d.parquet", x=pa.array([None], pa.null()))
    source = read(tmp_path)
    assert source.to_arrow().to_pydict() == {"x": [1.0, 2.0, 0.5, 3.0, None]}
    assert told(source) == []


def test_what_contradicts_the_first_file_is_told_with_its_file(tmp_path):
    parquet(tmp_path / "a.parquet", x=[1.0, 2.0])
    parquet(tmp_path / "b.parquet", x=["3", "many", "NA", "more"])
    source = read(tmp_path)
    assert source.to_arrow().to_pydict() == {"x": [1.0, 2.0, 3.0, None, None, None]}
    examples = (("b.parquet, row 2", "many"), ("b.parquet, row 4", "more"))
    assert told(source) == [("values are not numbers and count as missing", "x", 2, examples)]


def test_problems_of_each_file_keep_their_count_and_get_its_name(tmp_path):
    good = "".join(json.dumps({"x": i}) + "\n" for i in range(40))
    (tmp_path / "a.jsonl").write_text(good + "nope\n" * 7)
    (tmp_path / "b.jsonl").write_text(good + "nope\n")
    (problem,) = told(read(tmp_path))
    assert problem[2] == 8
    assert problem[3][0] == ("a.jsonl, line 41", None)


def test_files_beyond_the_first_hundred_are_checked_in_their_turn(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.formats.many._AT_ONCE", 2)
    for name, value in zip("abc", (1, 2, 0.5), strict=True):
        parquet(tmp_path / f"{name}.parquet", x=[value])
    source = read(tmp_path)
    assert source.rows is None
    assert source.to_arrow().to_pydict() == {"x": [1, 2, None]}
    assert told(source)[0][2:] == (1, (("c.parquet, row 1", "0.5"),))
    assert source.rows == 3
    parquet(tmp_path / "d.parquet", y=[1])
    later = read(tmp_path)
    with pytest.raises(DataError, match="d.parquet has no column 'x'"):
        list(later.blocks())


def test_progress_runs_from_nothing_to_all(tmp_path):
    for name in "abcd":
        (tmp_path / f"{name}.csv").write_text("x,y\n" + "1.5,2\n" * 1000)
    source = read(tmp_path)
    seen = [source.fraction_read for _ in source.blocks()]
    assert seen == sorted(seen)
    assert seen[0] <= 0.5
    assert source.fraction_read == 1.0


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    parquet(outside / "secret.parquet", x=[666.0])
    inside = tmp_path / "inside"
    parquet(inside / "a.parquet", x=[1.0])
    (inside / "b.parquet").symlink_to(inside / "a.parquet")
    (inside / "leak.parquet").symlink_to(outside / "secret.parquet")
    (inside / "folder").symlink_to(outside)
    for data in (
        inside,
        f"{inside}/*.parquet",
        f"{inside}/**/*.parquet",
        inside.as_uri(),
        f"{inside.as_uri()}/*.parquet",
    ):
        source = read(data)
        assert source.to_arrow().to_pydict() == {"x": [1.0, 1.0]}
        assert any("inks lead out of the folder and are not followed" in note for note in source.notes), data
    with pytest.raises(DataError, match="no file has such a name"):
        read(f"{inside}/leak*")


def test_a_folder_of_one_table_and_its_description_is_that_table(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n")
    (tmp_path / "README.md").write_text("about the table")
    source = read(tmp_path)
    assert source.to_arrow().to_pydict() == {"x": [1], "y": [2]}
    assert source.notes[-1] == "Files are not tables and were left out: 1 (README.md)."


def test_a_folder_of_pictures_with_a_list_is_a_folder_of_pictures(tmp_path):
    from PIL import Image

    for i in range(3):
        Image.new("L", (4, 4), color=80 * i).save(tmp_path / f"{i}.png")
    (tmp_path / "list.csv").write_text("file\n1.png\n")
    source = read(tmp_path, size=4)
    assert source.to_arrow().num_rows == 3
    assert "Tables in the folder were left out: list.csv." in source.notes


def test_folders_that_hold_no_one_table_are_refused(tmp_path):
    with pytest.raises(DataError, match="the folder holds no tables, images, sounds or texts"):
        read(tmp_path)
    (tmp_path / "a.csv").write_text("x\n1\n")
    parquet(tmp_path / "a.parquet", x=[1])
    with pytest.raises(DataError, match=r"tables of several formats \(1 csv, 1 parquet\); give a pattern such as"):
        read(tmp_path)


def test_folders_must_name_the_same_keys(tmp_path):
    parquet(tmp_path / "a=1" / "t.parquet", x=[1])
    parquet(tmp_path / "b=1" / "t.parquet", x=[1])
    with pytest.raises(DataError, match="the folders of b=1/t.parquet do not name the same columns as those"):
        read(tmp_path)


def test_a_key_that_is_also_a_column_is_refused(tmp_path):
    parquet(tmp_path / "x=1" / "t.parquet", x=[1])
    with pytest.raises(DataError, match="column 'x' is both in the files and in the names of their folders"):
        read(tmp_path)


@pytest.fixture
def remote(monkeypatch):
    """A file system that is not this machine's, at remote://bucket."""
    files = pa_fs._MockFileSystem()

    class FileSystem:
        @staticmethod
        def from_uri(url):
            scheme, _, path = url.partition("://")
            assert scheme == "remote"
            return files, path.partition("?")[0].rstrip("/")

    monkeypatch.setattr(pa_fs, "FileSystem", FileSystem)

    def write(path, content):
        files.create_dir(path.rpartition("/")[0])
        with files.open_output_stream(path) as stream:
            stream.write(content)

    return write


def as_parquet(**columns):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


def test_remote_files_folders_and_patterns_are_read(remote):
    remote("bucket/t/year=2020/a.parquet", as_parquet(x=[1.0]))
    remote("bucket/t/year=2021/b.parquet", as_parquet(x=[2.0]))
    remote("bucket/t/_SUCCESS", b"")
    remote("bucket/one.jsonl", b'{"x": 1}\n')
    remote("bucket/two.csv", b"x,y\n1,2\n")
    assert read("remote://bucket/t/year=2020/a.parquet").to_arrow().to_pydict() == {"x": [1.0]}
    partitioned = {"x": [1.0, 2.0], "year": [2020, 2021]}
    assert read("remote://bucket/t").to_arrow().to_pydict() == partitioned
    assert read("remote://bucket/t/*/*.parquet?region=eu").to_arrow().to_pydict() == partitioned
    assert read("remote://bucket/**/b.parquet").to_arrow().to_pydict() == {"x": [2.0], "year": [2021]}
    assert read("remote://bucket/one.jsonl").to_arrow().to_pydict() == {"x": [1.0]}
    assert read("remote://bucket/two.csv").to_arrow().to_pydict() == {"x": [1], "y": [2]}
    with pytest.raises(DataError, match="cannot read remote://bucket/none.csv: there is no such file"):
        read("remote://bucket/none.csv")
    with pytest.raises(DataError, match=r"cannot read remote://bucket/\*\.xlsx: no file has such a name"):
        read("remote://bucket/*.xlsx")


def test_remote_arrays_are_read_by_their_blocks(remote):
    import io

    X = np.asfortranarray(np.random.default_rng(0).normal(size=(70_000, 2)))
    buffer = io.BytesIO()
    np.save(buffer, X)
    remote("bucket/x.npy", buffer.getvalue())
    np.testing.assert_array_equal(np.concatenate(list(read("remote://bucket/x.npy").float_blocks())), X)


def shut(folder, monkeypatch):
    """Let a folder be one that may not be listed, also for the administrator."""

    def refusing(listing):
        def listed(path=".", *args):
            if Path(path) == folder:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return listing(path, *args)

        return listed

    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))


@pytest.mark.parametrize("pattern", ["", "/*.csv", "/**/*.csv"])
def test_a_folder_that_may_not_be_listed_is_told_and_not_taken_for_an_empty_one(tmp_path, monkeypatch, pattern):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    shut(tmp_path, monkeypatch)
    with pytest.raises(DataError, match=f"cannot read {re.escape(str(tmp_path))}: Permission denied; take another"):
        read(f"{tmp_path}{pattern}")


@pytest.mark.parametrize("pattern", ["", "/**/*.csv", "/*/*.csv"])
def test_a_folder_within_that_may_not_be_listed_is_noted(tmp_path, monkeypatch, pattern):
    for name in ("open", "shut"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("x,y\n1,2\n3,4\n")
    shut(tmp_path / "shut", monkeypatch)
    source = read(f"{tmp_path}{pattern}")
    assert len(source.to_arrow()) == 2
    assert any("Folders cannot be opened and are left out: 1 (shut" in note for note in source.notes)


def test_a_folder_whose_files_may_not_be_looked_at_is_not_taken_for_an_empty_one(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")

    def refused(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "is_symlink", refused)
    with pytest.raises(DataError, match="what is in it may not be looked at"):
        read(tmp_path)
