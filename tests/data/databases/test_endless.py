"""Views without an end, and files written to harm: a sentence, or Ctrl-C at once."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from assay.data.read import read
from assay.errors import DataError, ParameterError

SOURCES = Path(__file__).parents[3] / "src"
COUNTING = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t"


@pytest.fixture
def endless(tmp_path):
    path = tmp_path / "t.db"
    base = sqlite3.connect(path)
    base.execute(f"CREATE VIEW rows AS {COUNTING}")
    base.execute(f"CREATE VIEW silent AS {COUNTING} WHERE x < 0")
    base.execute("CREATE TABLE t (x)")
    base.commit()
    base.close()
    return path


def interpreter(script, *arguments):
    """A process of its own: SQLite cannot be told to stop, and what it was left with takes a core until that ends."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_a_view_that_gives_no_rows_is_given_up_and_the_program_can_end(endless):
    script = """
        import sys
        from assay.data.read import read
        from assay.errors import DataError
        try:
            read(sys.argv[1], table="silent", patience=0.5)
        except DataError as error:
            sys.exit(print(error))
    """
    with interpreter(script, endless) as running:
        try:
            said = running.communicate(timeout=60)[0]
        finally:
            running.kill()
    assert re.search(r"it has given no rows for 0.5 s; .* or wait longer by patience=", said) and not running.returncode


def test_a_view_that_gives_rows_without_end_is_given_up(endless):
    source = read(endless, table="rows", most_rows=200_000)
    with pytest.raises(DataError, match=r"t.rows: it has more than 200,000 rows; .* allow more by most_rows="):
        list(source.blocks())
    assert next(read(endless, table="rows").blocks()).num_rows > 60_000


@pytest.mark.parametrize("wrong", [{"patience": 0}, {"patience": "long"}, {"most_rows": -1}])
def test_bounds_are_numbers_above_nothing(endless, wrong):
    with pytest.raises(ParameterError, match="patience and most_rows are numbers above 0"):
        read(endless, table="t", **wrong)


@pytest.mark.parametrize("view", ["rows", "silent"])
def test_an_interrupt_ends_it_at_once(endless, view):
    script = """
        import sys
        from assay.data.read import read
        read(sys.argv[1], table="t")
        print("ready", flush=True)
        try:
            list(read(sys.argv[1], table=sys.argv[2]).blocks())
        except KeyboardInterrupt:
            sys.exit(130)
    """
    with interpreter(script, endless, view) as running:
        try:
            assert running.stdout.readline() == "ready\n"
            time.sleep(1.5)
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=20) == 130
        finally:
            running.kill()
