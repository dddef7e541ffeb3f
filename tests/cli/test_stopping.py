"""A signal that ends programs ends a command as an interrupt does: in a sentence, with nothing left behind."""

import errno
import os
import signal
import subprocess
import sys

import pytest
import typer

from assay.cli.stopping import ENDING, Stopped, stoppable
from assay.cli.terminal import explained

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")

# a report that has begun to write, with a folder of scratch files and rows of a stream on disk
BEGUN = """
import os, sys, time
import pyarrow as pa
import assay.study.run as run
from assay.cli import app
from assay.data.files import atomic_write
from assay.data.row_cache import KeptSource
from assay.data.streams import StreamSource
from assay.leftovers import TemporaryFolder

def study(*args, **options):
    kept = KeptSource(StreamSource(pa.table({"a": [float(i)] * 10_000}) for i in range(9)), limit=100_000)
    list(kept.blocks())
    folder = TemporaryFolder()
    (folder.path / "stripe").write_bytes(bytes(1000))
    with atomic_write("page.html") as handle:
        handle.write(b"half")
        handle.flush()
        for number in signals:
            os.kill(os.getpid(), int(number))
        time.sleep(60)

run.study = study
signals = sys.argv.pop().split(",")
app(["report", "d.csv", "-o", "page.html"])
"""


def begun(tmp_path, *signals, **how):
    work, scratch = tmp_path / "work", tmp_path / "scratch"
    work.mkdir()
    scratch.mkdir()
    (work / "d.csv").write_text("x,y\n1,2\n2,1\n3,5\n")
    done = subprocess.run(
        [sys.executable, "-c", BEGUN, ",".join(str(int(number)) for number in signals)],
        cwd=work, env={**os.environ, "TMPDIR": str(scratch)}, capture_output=True, text=True, timeout=120, **how,
    )  # fmt: skip
    return done, [path.name for path in work.iterdir()], [path.name for path in scratch.iterdir()]


@pytest.mark.parametrize("number", [signal.SIGINT, *ENDING])
def test_a_signal_leaves_nothing_behind_and_is_told_by_the_exit_code(tmp_path, number):
    done, work, scratch = begun(tmp_path, number)
    assert (done.returncode, done.stderr) == (128 + number, "assay: stopped; nothing was written\n")
    assert (work, scratch) == (["d.csv"], [])


def test_a_signal_that_comes_twice_does_not_cut_the_cleaning_short(tmp_path):
    done, work, scratch = begun(tmp_path, signal.SIGHUP, signal.SIGHUP, signal.SIGTERM)
    assert done.returncode == 128 + signal.SIGHUP, done.stderr
    assert (work, scratch) == (["d.csv"], [])


def test_rows_of_a_stream_have_no_name_on_disk_that_a_kill_could_leave(tmp_path):
    done, work, scratch = begun(tmp_path, signal.SIGKILL)
    assert done.returncode == -signal.SIGKILL
    assert len(work) == 2 and len(scratch) == 1 and scratch[0].endswith(".part")  # what the next run removes


def test_what_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with stoppable():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_there_during_a_command_only():
    before = [signal.getsignal(number) for number in ENDING]
    with pytest.raises(Stopped), stoppable():
        assert all(signal.getsignal(number) not in before for number in ENDING)
        os.kill(os.getpid(), signal.SIGTERM)
    assert [signal.getsignal(number) for number in ENDING] == before


def test_importing_assay_changes_no_signal():
    code = (
        "import signal; numbers = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})\n"
        "before = [signal.getsignal(n) for n in numbers]\n"
        "import assay, assay.cli, assay.compiled, assay.study.run\n"
        "assert [signal.getsignal(n) for n in numbers] == before"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number", ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EIO", "EMFILE", "ENAMETOOLONG"])
def test_what_the_machine_refuses_is_told_in_a_sentence_with_what_to_do(capsys, number):
    code = getattr(errno, number)
    with pytest.raises(typer.Exit) as end, explained(False) as step:
        step.what = "Reading"
        raise OSError(code, os.strerror(code), "/some/where")
    said = capsys.readouterr().err
    assert end.value.exit_code == 2 and said.count("\n") == 1 and "fault of assay" not in said
    assert said.startswith(f"assay: /some/where: {os.strerror(code)}; ") and "nothing was written" in said


def test_a_folder_that_is_gone_is_told_in_a_sentence(tmp_path):
    gone = tmp_path / "gone"
    code = f"import os; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n"
    code += "from assay.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "report", "d.csv"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "assay: the folder in which assay was started is gone; change to one that is there\n"
