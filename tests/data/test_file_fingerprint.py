"""A file that changes while it is read is noticed, in whatever way it is read and changed."""

import os
import pickle
import re
import shutil
import sqlite3
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scipy import sparse

import assay
from assay.data import file_fingerprint as unchanged
from assay.data.file_fingerprint import Unchanged
from assay.data.formats import many
from assay.data.formats.edge_lists import EdgeListSource
from assay.data.place import Place
from assay.data.read import read
from assay.errors import DataError

TABLE = pa.table({"x": np.arange(200.0), "y": np.arange(200) % 7, "s": [f"w{i % 5}" for i in range(200)]})
CHANGED = "changed while it was being read .*; start again when nobody writes to it$"


def text(rows=200, first=0):
    return "x,y,s\n" + "".join(f"{i:06d},{i % 7},w{i % 5}\n" for i in range(first, first + rows))


def write_csv(path):
    path.write_text(text())


def write_parquet(path):
    pq.write_table(TABLE, path)


def write_arrow(path):
    with pa.ipc.new_file(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


def write_stream(path):
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


def write_json(path):
    path.write_text("".join(f'{{"x": {i}, "y": {i % 7}}}\n' for i in range(200)))


def write_json_array(path):
    path.write_text("[" + ",\n".join(f'{{"x": {i}, "y": {i % 7}}}' for i in range(200)) + "]")


def write_excel(path):
    import openpyxl

    book = openpyxl.Workbook()
    for row in [["x", "y"], *([i, i % 7] for i in range(30))]:
        book.active.append(row)
    book.save(path)


def write_npy(path):
    np.save(path, np.arange(400.0).reshape(100, 4))


def write_npz(path):
    np.savez(path, a=np.arange(400.0).reshape(100, 4), b=np.arange(100))


def write_sparse(path):
    sparse.save_npz(path, sparse.csr_matrix(np.eye(20)))


def write_libsvm(path):
    path.write_text("".join(f"{i % 2} 1:{i} 3:{i / 2}\n" for i in range(100)))


def write_sqlite(path):
    shop = sqlite3.connect(path)
    shop.execute("CREATE TABLE item (x REAL, y INTEGER)")
    shop.executemany("INSERT INTO item VALUES (?, ?)", [(i / 2, i) for i in range(300)])
    shop.commit()
    shop.close()


FORMATS = {
    "t.csv": write_csv,
    "t.parquet": write_parquet,
    "t.arrow": write_arrow,
    "t.arrows": write_stream,
    "t.jsonl": write_json,
    "t.json": write_json_array,
    "t.xlsx": write_excel,
    "t.npy": write_npy,
    "t.npz": write_npz,
    "sparse.npz": write_sparse,
    "t.libsvm": write_libsvm,
    "t.db": write_sqlite,
}


def passed(source):
    return sum(block.num_rows for block in source.blocks())


def grown(path):
    with path.open("ab") as handle:
        handle.write(b"\n")


def rewritten(path):
    content = path.read_bytes()
    path.write_bytes(content[:-9] + content[-8:-7] + content[-8:])


def replaced_alike(path):
    """By another file of the same size, written at the same time."""
    known, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    other = path.with_name("other")
    other.write_bytes(content)
    os.utime(other, ns=(known.st_atime_ns, known.st_mtime_ns))
    other.replace(path)


def rewritten_alike(path):
    """In its place, the time of writing set back."""
    known, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    with path.open("r+b") as handle:
        handle.write(content)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def gone(path):
    path.unlink()


def aged(path):
    """Long since written, so that times tell all there is to know."""
    os.utime(path, ns=(10**18, 10**18))
    return path


@pytest.mark.parametrize("change", [grown, rewritten, replaced_alike, rewritten_alike, gone])
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_changed_between_two_passes_is_refused(name, change, tmp_path):
    path = tmp_path / name
    FORMATS[name](path)
    source = read(aged(path))
    rows = passed(source)
    assert passed(source) == rows
    change(path)
    with pytest.raises(DataError, match=CHANGED) as caught:
        passed(source)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_what_changed_is_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text())
    source = read(aged(path))
    path.write_text(text(300))
    with pytest.raises(DataError, match=re.escape("(2,406 → 3,606 bytes)")):
        passed(source)
    path.write_text(text())
    with pytest.raises(DataError, match=r"\(written 2001-09-09 01:46:40\.000 UTC → 20"):
        passed(source)
    path.unlink()
    with pytest.raises(DataError, match=r"\(it is gone\)"):
        passed(source)


def test_a_file_that_grows_during_a_pass_is_refused_at_its_end(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text(200_000))
    source = read(path)
    blocks = source.blocks()
    next(blocks)
    grown(path)
    with pytest.raises(DataError, match=CHANGED):
        list(blocks)


def test_a_file_that_is_cut_during_a_pass_is_told_as_changed_not_as_damaged(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(0).random(300_000)}), path, row_group_size=50_000)
    for how in ({}, {"skip_unreadable": True}):
        pq.write_table(pa.table({"x": np.random.default_rng(0).random(300_000)}), path, row_group_size=50_000)
        blocks = read(path, **how).blocks()
        next(blocks)
        with path.open("r+b") as handle:
            handle.truncate(900_000)
        with pytest.raises(DataError, match=CHANGED):
            list(blocks)


def test_a_writing_within_the_grain_of_the_clock_is_noticed_by_the_content(tmp_path, monkeypatch):
    """Both times are equal where a file was written twice within one tick of the file system's clock."""
    path = tmp_path / "t.csv"
    path.write_text(text())
    known = path.stat()
    monkeypatch.setattr(unchanged, "_JUST_NOW", 10**20)
    source = read(path)
    path.write_text(text(first=1))
    monkeypatch.setattr(Path, "stat", lambda *args, **kwargs: known)
    with pytest.raises(DataError, match=r"\(other content of the same size\)"):
        passed(source)


def test_a_copy_on_another_machine_is_told_by_its_content_alone(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(text(30_000))
    source = read(path)
    travelled = pickle.dumps(source)
    monkeypatch.setattr(unchanged, "_machine", lambda: "elsewhere")
    shutil.copyfile(path, tmp_path / "copy")
    (tmp_path / "copy").replace(path)
    aged(path)
    assert passed(pickle.loads(travelled)) == 30_000
    path.write_text(text(30_000, first=1))
    with pytest.raises(DataError, match="other content of the same size"):
        passed(pickle.loads(travelled))
    path.write_text(text(30_001))
    with pytest.raises(DataError, match="bytes"):
        passed(pickle.loads(travelled))


def test_a_partition_knows_the_file_it_was_cut_from(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(0).random(3_000_000)}), path, row_group_size=500_000)
    parts = [pickle.dumps(part) for part in read(path).partitions()]
    assert len(parts) > 1 and passed(pickle.loads(parts[-1]))
    pq.write_table(pa.table({"x": np.random.default_rng(1).random(3_000_000)}), path, row_group_size=500_000)
    for part in parts:
        with pytest.raises(DataError, match=CHANGED):
            passed(pickle.loads(part))


def test_each_of_many_files_is_watched_also_those_that_are_opened_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(many, "_AT_ONCE", 2)
    for i in range(5):
        (tmp_path / f"{i}.csv").write_text(text(50))
    for changed in ("0.csv", "4.csv"):
        source = read(tmp_path / "*.csv")
        assert passed(source) == passed(source) == 250
        parts = [pickle.dumps(part) for part in source.partitions()]
        (tmp_path / changed).write_text(text(51))
        with pytest.raises(DataError, match=f"{changed}: it {CHANGED}"):
            passed(source)
        with pytest.raises(DataError, match=CHANGED):
            [passed(pickle.loads(part)) for part in parts]
        (tmp_path / changed).write_text(text(50))


def test_the_value_of_a_sensitive_folder_is_not_told(tmp_path):
    for who in ("ann", "bob"):
        (tmp_path / f"who={who}").mkdir()
        (tmp_path / f"who={who}/a.csv").write_text(text())
    source = read(tmp_path, sensitive=["who"])
    (tmp_path / "who=bob/a.csv").write_text(text(3))
    with pytest.raises(DataError, match=CHANGED) as caught:
        passed(source)
    assert "bob" not in str(caught.value)


@pytest.mark.parametrize("kind", ["images", "texts"])
def test_every_file_of_a_folder_of_media_is_watched(kind, tmp_path):
    for i in range(4):
        if kind == "images":
            Image.fromarray(np.full((4, 4), 9 * i, dtype=np.uint8)).save(tmp_path / f"{i}.png")
        else:
            (tmp_path / f"{i}.txt").write_text(f"some words, {i} of them")
    source = read(tmp_path)
    assert passed(source) == 4
    with next(tmp_path.glob("3.*")).open("ab") as handle:
        handle.write(b" and more")
    with pytest.raises(DataError, match=f"3.*: it {CHANGED}"):
        passed(source)
    if kind == "texts":
        with pytest.raises(DataError, match=CHANGED):
            list(source.texts())


def test_rows_that_wait_beside_a_database_are_watched_too(tmp_path):
    path = tmp_path / "t.db"
    shop = sqlite3.connect(path)
    shop.execute("PRAGMA journal_mode = WAL")
    shop.execute("CREATE TABLE item (x REAL)")
    shop.executemany("INSERT INTO item VALUES (?)", [(i / 2,) for i in range(300)])
    shop.commit()
    for where in (path, f"sqlite:///{path}"):
        source = read(where)
        assert passed(source) == passed(source)
        shop.execute("INSERT INTO item VALUES (7)")
        shop.commit()
        with pytest.raises(DataError, match=CHANGED):
            passed(source)
    shop.close()


def test_a_data_set_of_pyarrow_and_a_list_of_edges_are_watched(tmp_path):
    for i in range(2):
        pq.write_table(TABLE, tmp_path / f"{i}.parquet")
    source = read(pa_dataset.dataset(tmp_path))
    assert passed(source) == 400
    parts = source.partitions()
    pq.write_table(TABLE.slice(1), tmp_path / "1.parquet")
    with pytest.raises(DataError, match=CHANGED):
        passed(source)
    assert passed(parts[0]) == 200  # of another file
    with pytest.raises(DataError, match=CHANGED):
        passed(parts[1])
    path = tmp_path / "e.txt"
    path.write_text("a b\nb c\n")
    edges = EdgeListSource(path)
    assert passed(edges) == 2
    path.write_text("a b\nb c\nc d\n")
    with pytest.raises(DataError, match=CHANGED):
        passed(edges)


def test_a_file_that_is_only_read_or_opened_again_is_the_same(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text())
    source = read(path)
    path.read_bytes()
    assert passed(source) == passed(pickle.loads(pickle.dumps(source))) == 200


def test_a_growing_file_is_followed_as_before(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text())
    source = read(path, follow=True, idle=0.1)
    grown(path)
    assert passed(source) == 200


def test_a_study_of_a_file_that_grows_between_its_passes_stops_with_one_sentence(tmp_path, monkeypatch):
    """The rows of one pass and those of another would be told as one table."""
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    np.savetxt(path, rng.standard_normal((30_000, 3)), delimiter=",", header="a,b,c", comments="")
    source = read(path)
    whole = source._batches

    def batches():
        yield from whole()
        with path.open("a") as handle:
            handle.write("1,2,3\n" * 5000)

    source._batches = batches
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", 1 << 10)  # as of a large file, of which nothing is kept
    with pytest.raises(DataError, match=CHANGED):
        assay.study(source)


def test_looking_at_many_files_is_quick(tmp_path):
    """The first look reads a little of each, the others ask the file system only."""
    for i in range(1000):
        (tmp_path / str(i)).write_bytes(b"x" * 1000)
        aged(tmp_path / str(i))
    start = time.perf_counter()
    files = Unchanged(Place(str(tmp_path / str(i))) for i in range(1000))
    first = time.perf_counter()
    files.check()
    assert first - start < 5.0 and time.perf_counter() - first < 1.0  # a hundredth of that on an idle machine
