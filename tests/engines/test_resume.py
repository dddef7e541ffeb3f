"""A run that was interrupted goes on where it ended, on every engine, and ends with the same bits."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from assay.data.formats import arrow_files
from assay.data.partitions import numbered_floats
from assay.data.read import read
from assay.data.text import csv
from assay.engine import current
from assay.engine.current import map_reduce, scattered, using
from assay.errors import DataError
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments

ROWS, GROUP = 60_000, 5_000


def bits(moments):
    return [np.asarray(part).tobytes() for pair in moments._pairs() for part in pair]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    X = np.random.default_rng(2).standard_normal((ROWS, 4)) + 1e4
    table = pa.table({f"x{j}": X[:, j] for j in range(4)})
    pq.write_table(table, place / "one.parquet", row_group_size=GROUP)
    (place / "many").mkdir()
    for i in range(12):  # each a partition, also for workers, whose partitions are larger
        pq.write_table(table.slice(i * GROUP, GROUP), place / "many" / f"{i:02}.parquet")
    pa_csv.write_csv(pa.concat_tables([table] * 4), place / "one.csv")
    return place


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    """A partition for each row group, and one block in each."""
    monkeypatch.setattr(arrow_files, "_SMALLEST", 1)
    monkeypatch.setattr(arrow_files, "block_rows", lambda d: GROUP)
    monkeypatch.setattr(csv, "_PARTS", 1 << 30)


class StoppedError(Exception):
    """Something in the driver, such as a lost connection."""


def stop_after(parts):
    def tell(done):
        if done >= parts:
            raise StoppedError

    return tell


def twice(engine, resume, parts, blocks, map, merge):
    """A pass that is stopped after some parts, then the same again; the result and how many parts were found done."""
    with pytest.raises(StoppedError), using(engine, resume=resume):
        map_reduce(blocks(), map, merge, progress=stop_after(parts))
    assert list(resume.iterdir())
    with using(engine, resume=resume):
        found = map_reduce(blocks(), map, merge)
        kept = current._KEPT.get()
    assert list(resume.iterdir()) == []
    return found, kept


@pytest.mark.parametrize("name", ["one.parquet", "many/*.parquet", "one.csv"])
def test_a_run_goes_on_where_it_was_interrupted(engine, folder, tmp_path, name):
    def blocks():
        return numbered_floats(read(str(folder / name)))

    def work(part):
        return [(part[0], len(part[1]))], Moments.of(part[1])

    def merge(a, b):
        return a[0] + b[0], a[1] + b[1]

    expected = map_reduce(blocks(), work, merge)
    found, kept = twice(engine, tmp_path / "kept", 3, blocks, work, merge)
    assert found[0] == expected[0]
    assert bits(found[1]) == bits(expected[1])
    parts = len(blocks().parts())
    passes = {"one.parquet": 1, "many/*.parquet": 1, "one.csv": 2}[name]  # rows of text are counted beforehand
    helping = {"one.parquet": 0, "many/*.parquet": 12, "one.csv": 1}[name]  # what tells the parts
    assert kept.found + kept.worked == passes * parts + helping
    assert kept.found >= 3 + helping + (passes - 1) * parts
    assert 0 < kept.worked <= parts - 3


def test_passes_that_ended_are_not_repeated(engine, folder, tmp_path):
    def passes(source):
        return Moments.of(source), GroupedMoments.folds(source, 3)

    source = read(str(folder / "one.parquet"))
    expected = passes(source)
    with pytest.raises(StoppedError), using(engine, resume=tmp_path / "kept"):
        passes(source)
        raise StoppedError
    assert len(list((tmp_path / "kept").iterdir())) == 2  # one file for each pass, not for each part
    with using(engine, resume=tmp_path / "kept"):
        moments, folds = passes(read(str(folder / "one.parquet")))
        assert current._KEPT.get().worked == 0
    assert bits(moments) == bits(expected[0])
    assert [bits(part) for part in folds.parts] == [bits(part) for part in expected[1].parts]


def test_passes_over_blocks_that_workers_keep_are_kept_too(engine, folder, tmp_path):
    def passes():
        blocks = scattered(numbered_floats(read(str(folder / "one.parquet"))))
        return [map_reduce(blocks, lambda part, c=c: float((part[1] * c).sum()), float.__add__) for c in (1.0, 2.0)]

    expected = passes()
    with pytest.raises(StoppedError), using(engine, resume=tmp_path / "kept"):
        passes()
        raise StoppedError
    with using(engine, resume=tmp_path / "kept"):
        assert passes() == expected
        assert current._KEPT.get().worked == 0


def begun(file, resume, work):
    with pytest.raises(StoppedError), using(resume=resume):
        map_reduce(numbered_floats(read(file)), work, int.__add__, progress=stop_after(3))


def found_again(file, resume, work):
    with using(resume=resume):
        map_reduce(numbered_floats(read(file)), work, int.__add__)
        return current._KEPT.get().found


def counting(by):
    return lambda part: len(part[1]) * by


def test_other_work_and_changed_files_are_never_taken_for_the_same(folder, tmp_path):
    path, kept = tmp_path / "t.parquet", tmp_path / "kept"
    path.write_bytes((folder / "one.parquet").read_bytes())
    begun(path, kept, counting(1))
    assert found_again(path, kept, counting(2)) == 0
    begun(path, kept, counting(1))
    assert found_again(path, kept, counting(1)) == 3
    begun(path, kept, counting(1))
    os.utime(path, ns=(10**18, 10**18))
    assert found_again(path, kept, counting(1)) == 0


def test_a_damaged_result_is_worked_on_again(folder, tmp_path):
    kept = tmp_path / "kept"
    begun(folder / "one.parquet", kept, counting(1))
    first, second, _ = sorted(kept.iterdir())
    first.write_bytes(first.read_bytes()[:-3])
    content = bytearray(second.read_bytes())
    content[-1] ^= 1
    second.write_bytes(content)
    with using(resume=kept):
        blocks = numbered_floats(read(folder / "one.parquet"))
        assert map_reduce(blocks, counting(1), int.__add__) == ROWS
        assert (current._KEPT.get().found, current._KEPT.get().worked) == (1, ROWS // GROUP - 1)


def test_a_folder_that_others_may_write_to_is_refused(folder, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    kept.chmod(0o777)
    with pytest.raises(DataError, match="others may write to it, and what lies there is run"), using(resume=kept):
        pass
    kept.chmod(0o700)
    begun(folder / "one.parquet", kept, counting(1))
    next(kept.iterdir()).chmod(0o666)
    with pytest.raises(DataError, match="others may write to it"):
        found_again(folder / "one.parquet", kept, counting(1))
    with pytest.raises(DataError, match="cannot resume from .*: .*; give a folder"), using(resume=folder / "one.csv"):
        pass


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path):
    (tmp_path / "kept").mkdir(mode=0o700)
    os.chown(tmp_path / "kept", 4321, 4321)
    with pytest.raises(DataError, match="it belongs to another user"), using(resume=tmp_path / "kept"):
        pass


def test_what_lies_in_memory_is_worked_on_as_ever(tmp_path):
    with using(resume=tmp_path / "kept"):
        assert Moments.of(read(np.eye(5))).count == 5
        assert list((tmp_path / "kept").iterdir()) == []


def test_other_files_in_the_folder_stay(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert found_again(folder / "one.parquet", tmp_path, counting(1)) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


KILLED = """
import sys, time
from assay.data import row_cache as kept
from assay.data.formats import arrow_files
from assay.engine import resume
from assay.study import table

arrow_files._SMALLEST, arrow_files.block_rows = 1, lambda d: 5_000
kept.KEPT_BYTES = table.KEPT_BYTES = 1 << 16  # passes read the file
save = resume.KeptResults._save

def told(self, key, value):
    save(self, key, value)
    print("kept", flush=True)
    time.sleep(0.3)

if "slow" in sys.argv:
    sys.argv.remove("slow")
    resume.KeptResults._save = told

clear = resume.KeptResults.clear

def counted(self):
    print(f"found {self.found} worked {self.worked}", flush=True)
    clear(self)

resume.KeptResults.clear = counted
from assay.cli import main

if __name__ == "__main__":  # workers import this file
    main()
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A folder with a table and its report on the engine of this machine, and what reports on it as another does."""
    place = tmp_path_factory.mktemp("reported")
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30_000, 3)) @ rng.standard_normal((3, 4))
    columns = {f"x{j}": X[:, j] for j in range(4)} | {"kind": rng.choice(["a", "b", "c"], 30_000)}
    pq.write_table(pa.table(columns), place / "big.parquet", row_group_size=GROUP)
    (place / "killed.py").write_text(KILLED)

    def command(name, engine, *more):
        asked = ["report", "big.parquet", "-o", f"{name}.html", "--json", f"{name}.json", "--engine", engine]
        asked += ["--only", "components,correlations", "--quick"]  # passes are kept, whatever is asked after them
        return [sys.executable, "-W", "ignore", "killed.py", *asked, *more]

    subprocess.run(command("whole", "local"), cwd=place, capture_output=True, check=True)
    return place, command


@pytest.mark.parametrize("engine", ["local", pytest.param("dask", marks=pytest.mark.slow)])
def test_a_report_that_was_killed_goes_on_and_says_what_one_that_was_not_says_on_any_engine(reported, engine):
    place, command = reported
    kept = place / f"kept by {engine}"
    how = {"cwd": place, "stdout": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen(command("killed", engine, "--resume", str(kept), "slow"), **how) as run:
        for _ in range(9):
            assert run.stdout.readline() == b"kept\n"
        os.killpg(run.pid, signal.SIGKILL)
    assert not (place / "killed.json").exists()
    assert list(kept.iterdir())
    goes_on = command(f"again {engine}", engine, "--resume", str(kept))
    said = subprocess.run(goes_on, cwd=place, capture_output=True, check=True).stdout
    assert int(said.split()[1]) >= 8  # the first pass whole, some parts of the second
    assert list(kept.iterdir()) == []
    again, whole = (json.loads((place / f"{name}.json").read_text()) for name in (f"again {engine}", "whole"))
    assert again == whole
