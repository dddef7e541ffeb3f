"""Workers that die, tasks that fail, drivers that are interrupted: nothing is counted twice, nothing is lost."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.data.formats import arrow_files
from assay.data.partitions import numbered_floats
from assay.data.read import read
from assay.engine.current import map_reduce, scattered, using
from assay.errors import EngineError
from assay.summary.moments.moments import Moments

psutil = pytest.importorskip("psutil")  # comes with distributed

ROWS = 90_000


def bits(moments):
    return [np.asarray(part).tobytes() for pair in moments._pairs() for part in pair]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Far from zero, where rounding shows; a partition for each row group."""
    place = tmp_path_factory.mktemp("faults") / "rows.parquet"
    X = np.random.default_rng(0).standard_normal((ROWS, 4)) + 1e4
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), place, row_group_size=7_500)
    return place


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    """A partition for each row group, and one block in each."""
    monkeypatch.setattr(arrow_files, "_SMALLEST", 1)
    monkeypatch.setattr(arrow_files, "block_rows", lambda d: 7_500)


def once(folder, fault, row=30_000):
    """A step that lets blocks pass; at the block that begins with a row, the first process to come along has a fault.

    All of it is inside the function: workers do not know this file.
    """
    marker = str(folder / "happened")

    def step(part):
        if part[0] == row:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return part
            if fault == "die":  # as a process does that the system takes the memory from
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("once")
        return part

    return step


def counted(blocks):
    """Each block by its number and content, in order of merging."""
    return map_reduce(blocks, lambda part: [(part[0], part[1].tobytes())], lambda a, b: a + b)


def disturbed(file, folder, fault, *, kept=False):
    """Blocks of the file with a fault on the way, and what they give; the same without, here."""
    here = numbered_floats(read(str(file)))
    blocks = numbered_floats(read(str(file))).map(once(folder, fault))
    blocks = scattered(blocks) if kept else blocks
    every, moments = counted(blocks), Moments.of(blocks)
    assert (folder / "happened").exists()
    with using("local"):
        assert every == counted(here)
        assert bits(moments) == bits(Moments.of(here))
    assert moments.count == ROWS


@pytest.mark.parametrize("workers", [1, 3])
def test_a_dask_worker_that_is_killed_changes_nothing(dask_clusters, workers, file, tmp_path):
    with using(dask_clusters(workers)):
        disturbed(file, tmp_path, "die")


@pytest.mark.parametrize("workers", [1, 3])
def test_blocks_that_a_killed_worker_held_are_read_again(dask_clusters, workers, file, tmp_path):
    with using(dask_clusters(workers)):
        blocks = scattered(numbered_floats(read(str(file))))
        before = counted(blocks)
        holder = dask_clusters(workers).run(os.getpid)
        os.kill(next(iter(holder.values())), signal.SIGKILL)
        assert counted(blocks) == before
        disturbed(file, tmp_path, "die", kept=True)


def test_a_task_that_fails_once_on_dask_changes_nothing(dask_clusters, file, tmp_path):
    with using(dask_clusters(3)):
        disturbed(file, tmp_path, "fail")


@pytest.mark.parametrize("fault", ["fail", "die"])
def test_a_task_that_fails_once_on_spark_changes_nothing(spark_session, fault, file, tmp_path):
    with using(spark_session):
        disturbed(file, tmp_path, fault)


def test_blocks_kept_by_spark_survive_a_killed_process(spark_session, file, tmp_path):
    with using(spark_session):
        disturbed(file, tmp_path, "die", kept=True)


def test_executors_do_not_go_through_all_they_have_loaded_after_every_task(spark_session, file):
    """PySpark collects garbage then, which took a tenth of a second with what assay needs in the process."""

    def objects(part):
        return [(len(gc.get_objects()), gc.get_freeze_count())]

    with using(spark_session):
        blocks = numbered_floats(read(str(file)))
        Moments.of(blocks)
        found = map_reduce(blocks, objects, list.__add__)
    assert all(frozen > 10 * looked_at for looked_at, frozen in found[-2:])


def test_a_part_that_kills_every_worker_is_an_error_in_words(dask_clusters, file, monkeypatch):
    # two deaths are enough for Dask to give the part up, of three allowed: a new worker imports for seconds
    monkeypatch.setattr(dask_clusters(3).cluster.scheduler, "allowed_failures", 1)
    blocks = numbered_floats(read(str(file)))

    def deadly(part):
        if part[0] == 30_000:
            os.kill(os.getpid(), 9)
        return part

    with using(dask_clusters(3)):
        with pytest.raises(EngineError, match="died again and again on the same part"):
            counted(blocks.map(deadly))
        assert len(counted(blocks)) == 12


def test_a_cluster_that_loses_all_workers_is_not_waited_for(monkeypatch, file):
    distributed = pytest.importorskip("distributed")
    from assay.engine import dask

    monkeypatch.setattr(dask, "_ALONE", 2.0)
    monkeypatch.setattr(dask, "_WAITING", 1)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        using(client),
        pytest.raises(EngineError, match="no workers for 2 seconds: start some"),
    ):
        blocks = numbered_floats(read(str(file)))
        map_reduce(blocks, lambda part: 1, int.__add__, progress=lambda done: cluster.scale(0) if done == 1 else None)


@pytest.mark.parametrize(
    ("engine", "who"), [("tcp://127.0.0.1:9", "Dask scheduler"), ("spark://127.0.0.1:9", "Spark master")]
)
def test_an_address_where_nobody_listens_is_told_soon(monkeypatch, engine, who):
    pytest.importorskip("distributed")
    from assay.engine import dask

    monkeypatch.setattr(dask, "_ANSWERS", 1.0)
    begun = time.monotonic()
    with pytest.raises(EngineError, match=f"no {who} answers at {engine}"), using(engine):
        pass
    assert time.monotonic() - begun < 30


def test_an_interrupted_driver_drops_what_has_not_begun(dask_clusters, file, tmp_path):
    def slow(part):
        (tmp_path / str(part[0])).touch()
        time.sleep(0.2)
        return 1

    def interrupt(done):
        raise KeyboardInterrupt

    with using(dask_clusters(1)):
        blocks = numbered_floats(read(str(file)))
        with pytest.raises(KeyboardInterrupt):
            map_reduce(blocks, slow, int.__add__, progress=interrupt)
        assert map_reduce(blocks, lambda part: len(part[1]), int.__add__) == ROWS
    assert len(list(tmp_path.iterdir())) < 5


INTERRUPTED = """
import sys, time
import typer
from assay.cli.terminal import explained
from assay.data.formats import arrow_files
from assay.data.partitions import numbered_floats
from assay.data.read import read
from assay.engine.current import map_reduce, using

arrow_files._SMALLEST, arrow_files.block_rows = 1, lambda d: 7_500
app = typer.Typer()

def slow(part):
    time.sleep(0.5)
    return 1

@app.command()
def main(engine: str, file: str):
    with explained(False), using(engine):
        blocks = numbered_floats(read(file))
        for _ in range(60):
            map_reduce(blocks, slow, int.__add__, progress=lambda done: print(done, flush=True))

if __name__ == "__main__":
    app()
"""


@pytest.mark.parametrize("engine", ["local", "dask", "spark"])
def test_control_c_ends_the_run_with_130_and_leaves_no_process_behind(engine, file, tmp_path):
    if engine == "spark" and shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("there is no Java runtime")
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    command = [sys.executable, "-W", "ignore", str(script), engine, str(file)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        assert run.stdout.readline().strip().isdigit()
        others = psutil.Process(run.pid).children(recursive=True)
        assert bool(others) == (engine != "local")
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: workers get it too
        _, said = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 130, said.decode()
    assert "assay: stopped; nothing was written" in said.decode()
    _, alive = psutil.wait_procs(others, timeout=10)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
