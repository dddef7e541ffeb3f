"""However the command is ended and wherever its words go, there is one line and the right exit code."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

TABLE = "a,b²,[red]c\n" + "".join(f"{i % 7},{i * i % 11},{i % 3}\n" for i in range(20))
EDGES = "from,to\n" + "".join(f"n{i % 5}–,n{i * 3 % 7}\x9b😀\n" for i in range(30))


def shell(command, cwd, **env):
    whole = f'"{sys.executable}" -m assay {command}'
    return subprocess.run(
        ["bash", "-c", whole], cwd=cwd, env=os.environ | env, capture_output=True, timeout=120, errors="surrogateescape"
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "edges.csv").write_text(EDGES, encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["chance 10 0.5", "chance 10 0.5 --json -", "--version", "--help"])
def test_a_full_standard_output_is_told_in_a_sentence(folder, command):
    done = shell(f"{command} > /dev/full", folder)
    assert done.returncode == 2
    assert done.stderr == "assay: cannot write to standard output: No space left on device; let it go elsewhere\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [("chance 10 .5 >&-", 0), ("chance 10 .5 <&- >&- 2>&-", 0), ("frob 2>&-", 2), ("frob 2>/dev/full", 2)],
)
def test_closed_and_full_streams_change_no_exit_code(folder, command, code):
    done = shell(command, folder)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


SHOWN = r"""
import sys
from assay.cli.streams import prepare
from assay.cli.terminal import terminal
prepare()
console = terminal()
print(console.width >= 20, file=sys.stderr)
print("\u2713 \u25cf 3 \u2013 2\u00b2 \U0001f600 \ud800")
console.print("[red]\u00e9[/red] :smile: 3.5 \u4e2d")
console.out_json('{"a": "\u2013\U0001f600\x9b"}\n')
"""


@pytest.mark.parametrize(
    ("env", "shown"),
    [
        ({"PYTHONIOENCODING": "ascii"}, ("+ * 3 - 2^2 \\U0001f600 \\ud800", "[red]\\xe9[/red] :smile: 3.5 \\u4e2d")),
        ({"PYTHONIOENCODING": "latin-1"}, ("+ * 3 - 2² \\U0001f600 \\ud800", "[red]é[/red] :smile: 3.5 \\u4e2d")),
        ({"PYTHONIOENCODING": "cp1252"}, ("+ * 3 – 2² \\U0001f600 \\ud800", "[red]é[/red] :smile: 3.5 \\u4e2d")),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, None),
        ({"PYTHONIOENCODING": "utf-8", "COLUMNS": "0", "LINES": "0"}, ("✓ ● 3 – 2² 😀 \\ud800", None)),
        ({"PYTHONIOENCODING": "utf-8", "COLUMNS": "²"}, ("✓ ● 3 – 2² 😀 \\ud800", None)),
        ({"COLUMNS": "3", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}, None),
    ],
)
def test_every_terminal_gets_words_and_json_it_can_hold(tmp_path, env, shown):
    done = subprocess.run([sys.executable, "-c", SHOWN], env=os.environ | env, capture_output=True, timeout=60)
    words, names, held = done.stdout.decode(env.get("PYTHONIOENCODING", "ascii")).splitlines()
    assert (done.returncode, done.stderr.strip()) == (0, b"True")
    assert shown is None or all(one in (None, other) for one, other in zip(shown, (words, names), strict=True))
    assert "\x9b" not in held and json.loads(held) == {"a": "–😀\x9b"}


@pytest.mark.parametrize(
    "command",
    ["report $'no\\x1b[31m\\u200b\\u061c'", "report t.csv --no$'\\x1b[31m'", "$'\\x1b[31m'",
     "report t.csv -o $'\\x1b/x'",
     "report t.csv --kind $'\\x9b'", "report t.csv --engine $'\\x1b'", "rank edges.csv --plot $'\\x1b.gif'",
     "watch t.csv --reference $'\\xff\\x1b.csv'", "report $'\\xff\\xfe.csv'", "report t.csv --seed $'\\x1b'"],
)  # fmt: skip
def test_wrong_words_are_told_within_half_a_second_and_act_on_no_terminal(folder, command):
    begun = os.times()
    done = shell(command, folder)
    ended = os.times()
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("assay: ") and done.stderr.count("\n") == 1 and done.stderr[:-1].isprintable()
    # of a processor, as the machine may be busy; the study alone takes more than a second to import
    assert ended.children_user - begun.children_user < 0.8


def test_secrets_are_shown_by_no_command_and_no_traceback(folder):
    for asked in (
        "report 'mysql://u:geheim@h/s3?secret_key=geheim' --debug",
        "report t.csv --engine 'http://u:geheim@h' --debug",
        "rank 'host=h password=geheim'",
    ):
        done = shell(asked, folder)
        assert done.returncode == 2 and "geheim" not in done.stdout + done.stderr and "***" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_too_little_memory_for_the_imports_is_one_sentence(folder):
    limited = f'ulimit -v 250000; "{sys.executable}" -m assay report t.csv'
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(["bash", "-c", limited], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3, done.stderr
    assert "there is not enough memory" in done.stderr and "Traceback" not in done.stderr
    assert "a limit of 256 MB of address space" in done.stderr  # said before what would hang is loaded
    assert [line[:7] for line in done.stderr.splitlines()] == ["assay: "]


@pytest.mark.parametrize("where", ["numpy", "typer", "assay.study.run", "sklearn"])
def test_an_interrupt_while_a_module_is_imported_is_one_line(folder, where):
    code = (
        "import os, signal, sys, importlib.abc\n"
        "class Stop(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {where!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from assay.__main__ import main\n"
        "sys.argv = ['assay', 'report', 't.csv']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "assay: stopped; nothing was written\n")


def test_an_interrupt_where_nothing_can_be_raised_is_not_lost(folder):
    code = (
        "import os, signal, sys, time, assay.cli\n"
        "from assay.__main__ import main\n"
        "class Lost:\n"
        "    def __del__(self): raise KeyboardInterrupt\n"
        "def run():\n"
        "    Lost()\n"
        "    time.sleep(60)\n"
        "assay.cli.run = run\n"
        "main()"
    )
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130 and done.stderr == "assay: stopped; nothing was written\n"
    assert time.monotonic() - begun < 50


def test_warnings_of_assay_are_notes_and_those_of_libraries_are_not_shown(folder):
    code = (
        "import sys, warnings, assay.cli.streams as streams\n"
        "from assay.errors import NotConverged\n"
        "streams.prepare()\n"
        "warnings.warn('it \\x1b[31m stopped early', NotConverged)\n"
        "warnings.warn('overflow encountered in multiply', RuntimeWarning)\n"
        "warnings.warn('of a library')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.stderr == "assay: note: it \\x1b[31m stopped early\n"
    asked = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert "RuntimeWarning" in asked.stderr
