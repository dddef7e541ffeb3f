"""Damaged files of every format give rows or one sentence: a few hundred of them here, any number by `make fuzz`."""

import subprocess
import sys

import pytest
from tests.fuzz.samples import MAKERS

CASES = 20
# models whose fitting takes half a minute, commands of half a second each, files that a process of its own reads
_OTHERWISE = {"models": 0, "words": 4, "statistics": 4}


@pytest.mark.skipif(sys.platform != "linux", reason="children are forks with limits, as Linux has them")
def test_damaged_files_give_rows_or_one_sentence(tmp_path):
    """A failure prints the seeds and where the files are; python -m tests.fuzz --format F --seed N repeats one."""
    for cases in (CASES, 4):
        forms = [form for form in MAKERS if _OTHERWISE.get(form, CASES) == cases]
        said = [word for form in forms for word in ("--format", form)]
        run = subprocess.run(
            [sys.executable, "-m", "tests.fuzz", "--cases", str(cases), "--workers", "1", "--keep", tmp_path, *said],
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stdout + run.stderr
