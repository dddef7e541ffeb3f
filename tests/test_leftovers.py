"""What a killed process leaves is removed by the next; what others use or own is not."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

import assay.leftovers as leftovers
from assay.data.files import atomic_write
from assay.leftovers import TemporaryFolder, partial_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere nothing that is open can be removed")

CHILD = """
import sys, tempfile
from pathlib import Path
from assay.data.files import atomic_write
from assay.leftovers import TemporaryFolder
place = Path(sys.argv[1])
tempfile.tempdir = str(place)
folder = TemporaryFolder()
(folder.path / "stripe").write_bytes(bytes(1000))
with atomic_write(place / "report.html") as handle:
    handle.write(b"half")
    handle.flush()
    print("begun", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "_swept", set())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def child(place):
    started = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout.readline() == "begun\n"
    yield started
    started.kill()
    started.communicate()


def ours(place):
    return sorted(path.name for path in place.iterdir() if path.name.lstrip(".").startswith("assay-"))


def test_the_next_run_removes_what_a_killed_one_left(place, child):
    assert len(ours(place)) == 2
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert len(ours(place)) == 2
    with atomic_write(place / "other.html") as handle:
        handle.write(b"whole")
    assert ours(place) == [] and [path.name for path in place.iterdir()] == ["other.html"]


def test_what_a_living_run_uses_stays(place, child):
    before = ours(place)
    with TemporaryFolder():
        assert set(before) < set(ours(place))
    assert ours(place) == before


def test_what_is_not_ours_stays(place, monkeypatch):
    others = [".report.html.k3j4.part", "assay-notes.part", "assay-0123456789abcdef", "x.assay-0123456789abcdef.part"]
    for name in others:
        (place / name).write_text("somebody's")
    elsewhere = place / "elsewhere"
    elsewhere.write_text("behind a link")
    (place / ".assay-0123456789abcdef.part").symlink_to(elsewhere)
    with TemporaryFolder():
        pass
    assert elsewhere.exists() and (place / ".assay-0123456789abcdef.part").is_symlink()
    assert all((place / name).exists() for name in others)
    (place / ".assay-00000000ffffffff.part").write_text("of another user")
    monkeypatch.setattr(leftovers, "_swept", set())
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: 12345)
        with TemporaryFolder():
            pass
    assert (place / ".assay-00000000ffffffff.part").exists()


def test_a_file_that_is_swept_before_it_is_locked_is_made_anew(place, monkeypatch):
    lock, taken = leftovers.fcntl.flock, []

    def swept_first(descriptor, how):
        if not taken:
            taken.extend(place.iterdir())
            taken[0].unlink()
        lock(descriptor, how)

    monkeypatch.setattr(leftovers.fcntl, "flock", swept_first)
    descriptor, path = partial_file(place, 0o600)
    os.close(descriptor)
    assert path.exists() and path != taken[0]


def test_files_without_locks_are_written_all_the_same(place, monkeypatch):
    def none(descriptor, how):
        raise OSError("no locks here")

    monkeypatch.setattr(leftovers.fcntl, "flock", none)
    with atomic_write(place / "a") as handle:
        handle.write(b"whole")
    assert (place / "a").read_bytes() == b"whole" and ours(place) == []
