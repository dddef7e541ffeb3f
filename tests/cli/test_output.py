"""What a command writes goes to files, or by the name - to standard output: whole, alone, and never over a device."""

import errno
import io
import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.cli.output import _send
from assay.errors import DataError

# a study of nothing, quick to make: what is asked here is where it goes
STUDY = """
import sys, assay.study.run as run
from assay.asking.card import DataCard
from assay.cli import main
from assay.study.findings import Ledger, Study
run.study = lambda *args, **options: Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0.1.0")
main()
"""
ROWS = "x,y\n" + "".join(f"{i % 7}.5,{i * i % 5}\n" for i in range(60))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "d.csv").write_text(ROWS)
    return tmp_path


def report(folder, *arguments, **how):
    return subprocess.run(
        [sys.executable, "-c", STUDY, "report", "d.csv", *map(str, arguments)],
        cwd=folder,
        stdout=how.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        timeout=120,
        **how,
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_page_on_standard_output_is_the_page_of_the_file_and_nothing_else(folder):
    to_file = report(folder, "-o", "p.html")
    piped = report(folder, "-o", "-")
    assert (to_file.returncode, piped.returncode) == (0, 0), piped.stderr
    assert piped.stdout == (folder / "p.html").read_bytes()
    assert b"9 rows" in piped.stderr and b"The page is" not in piped.stderr
    assert names(folder) == ["d.csv", "p.html"]


def test_the_findings_on_standard_output_are_json_and_nothing_else(folder):
    done = report(folder, "-o", "p.html", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["assay"] == "0.1.0"
    assert names(folder) == ["d.csv", "p.html"]


@pytest.mark.parametrize("more", [["--json", "-"], ["--json", "./../{here}/-"]])
def test_two_things_cannot_go_to_one_place(folder, more):
    output = "-" if more[1] == "-" else folder / "-"
    done = report(folder, "-o", output, *(word.format(here=folder.name) for word in more))
    assert (done.returncode, done.stdout) == (2, b"") and done.stderr.count(b"\n") == 1
    assert b"cannot both" in done.stderr and names(folder) == ["d.csv"]


def test_a_reader_who_leaves_early_is_no_fault(folder):
    read, write = os.pipe()
    os.close(read)
    try:
        done = report(folder, "-o", "-", stdout=write)
    finally:
        os.close(write)
    assert done.returncode == 0 and b"fault" not in done.stderr and b"Traceback" not in done.stderr
    assert names(folder) == ["d.csv"]


class Full(io.BytesIO):
    """A stream to a disk without room."""

    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_standard_output_that_is_full_or_closed_is_told_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "page").write_text("page")
    with (tmp_path / "elsewhere").open("wb") as elsewhere:
        full = io.TextIOWrapper(Full())
        monkeypatch.setattr(full.buffer, "fileno", elsewhere.fileno)
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(
            DataError, match="cannot write to standard output: No space left on device; let it go elsewhere"
        ):
            _send(tmp_path / "page")
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(DataError, match="cannot write to standard output: it is closed"):
        _send(tmp_path / "page")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("command", ["report d.csv -o", "report d.csv -o p.html --json", "compare d.csv d.csv -o",
                                     "summarize d.csv -o", "watch d.csv -o", "watch d.csv --state",
                                     "mdp d.csv --plot"])  # fmt: skip
def test_no_command_replaces_what_is_no_file(folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    os.mkfifo("pipe.html")
    (folder / "link.html").symlink_to("pipe.html")
    for place in ("pipe.html", "link.html"):
        done = CliRunner().invoke(app, [*command.split(), place])
        assert done.exit_code == 2 and "it is a pipe, not a file, and would be replaced" in done.output
        assert done.output.count("\n") == 1
    assert (folder / "pipe.html").is_fifo() and (folder / "link.html").is_symlink()
    assert names(folder) == ["d.csv", "link.html", "pipe.html"]


def test_a_summary_goes_through_a_pipe(folder):
    done = subprocess.run(
        [sys.executable, "-m", "assay", "summarize", "d.csv", "-o", "-"], cwd=folder, capture_output=True
    )
    assert done.returncode == 0 and b"60 rows" in done.stderr, done.stderr
    (folder / "s.assay").write_bytes(done.stdout)
    assert assay.load(folder / "s.assay").total.count == 60
