"""Standard input and growing files: rows as they come, in bounded memory."""

import gzip
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest

from assay.data.place import Place
from assay.data.read import read
from assay.data.text.arriving import GrowingFile
from assay.errors import DataError, ParameterError

COUNT = "import assay; s = assay.read('-'); print(s.to_arrow().shape, [p.sentence() for p in s.problems])"


def piped(content, code=COUNT):
    done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, timeout=60)
    return done.stdout.decode().strip() or done.stderr.decode().splitlines()[-1]


def table(n):
    return ("x,y\n" + "".join(f"{i},{i % 7}.5\n" for i in range(n))).encode()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_read_whole(pack):
    assert piped(pack(table(50_000))) == "(50000, 2) []"


def test_what_is_wrong_in_the_first_block_of_a_stream_is_told_once():
    content = table(100) + b"oops,1\n"
    assert piped(content) == """(101, 2) ["x: values are not numbers and count as missing: 1 (line 102: 'oops')."]"""


def test_nothing_on_standard_input_is_refused_in_words():
    assert "cannot read standard input: the file is empty" in piped(b"")


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_a_large_stream_is_read_in_bounded_memory():
    code = (
        "import assay, pathlib\n"
        "rows = sum(b.num_rows for b in assay.read('-').blocks())\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(rows, int(status.split('VmHWM:')[1].split()[0]) // 1024)"
    )
    rows, small = map(int, piped(table(10_000), code).split())
    assert rows == 10_000
    rows, large = map(int, piped(table(1) + table(100_000)[4:] * 100, code).split())
    assert rows == 10_000_001
    assert large - small < 200  # MB; text and numbers together have 300


def test_a_growing_file_is_followed_until_it_is_idle(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,y\n1,2\n3,4\n5,6\n")

    def write_on():
        for i in range(4):
            time.sleep(0.15)
            with path.open("a") as handle:
                handle.write(f"{i},{i}\n{i},")  # the last row is not whole yet
                handle.flush()
                time.sleep(0.05)
                handle.write("0\n")

    writer = threading.Thread(target=write_on)
    blocks = read(path, follow=True, idle=3.0, poll=0.02).blocks()
    first = next(blocks)
    assert first.num_rows == 3
    writer.start()
    rest = pa.Table.from_batches(list(blocks))
    writer.join()
    assert rest.column("x").to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert rest.column("y").to_pylist() == [0, 0, 1, 0, 2, 0, 3, 0]


def test_a_file_that_becomes_shorter_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,y\n1,2\n3,4\n5,6\n")
    blocks = GrowingFile(Place.of(path), idle=5.0, poll=0.02).blocks()
    next(blocks)
    path.write_text("x,y\n")
    with pytest.raises(DataError, match="became shorter while it was followed"):
        next(blocks)


def test_waiting_times_are_checked(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x\n1\n")
    with pytest.raises(ParameterError, match="poll is above 0"):
        read(path, follow=True, poll=0)
    with pytest.raises(ParameterError, match="a growing file has no option 'sheet'"):
        read(path, follow=True, sheet=1)
