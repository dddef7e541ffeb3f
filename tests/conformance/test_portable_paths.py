"""The paths of tests/portable.py: what they set, where they cannot go, and that a failure is told."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "portable.py"
spec = importlib.util.spec_from_file_location("portable", SCRIPT)
portable = sys.modules["portable"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(portable)

NEW_NAMES = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")
OLD_NAMES = ("SSE41", "AVX", "FMA3", "AVX2", "AVX512F", "AVX512_SKX")
XEON = portable.Machine("x86_64", NEW_NAMES, frozenset({"AVX", "FMA3", "AVX2", *NEW_NAMES[:3]}), 8)
OLDER_NUMPY = portable.Machine("AMD64", OLD_NAMES, frozenset({*OLD_NAMES}), 8)
ATOM = portable.Machine("x86_64", NEW_NAMES, frozenset({"SSE42"}), 2)
ARM = portable.Machine("aarch64", ("ASIMDHP", "SVE"), frozenset({"ASIMD", "ASIMDHP"}), 4)
BY_NAME = {path.name: path for path in portable.PATHS}


def names(machine):
    return [path.name for path in portable.PATHS if machine.can_take(path)]


def test_a_machine_takes_the_paths_of_older_ones_and_no_newer():
    assert names(XEON) == names(OLDER_NUMPY) == list(BY_NAME)
    assert names(ATOM) == ["oldest", "oldest-two-threads", "baseline", "two-threads"]
    assert names(ARM) == ["baseline", "two-threads"]


def test_only_loops_that_would_run_are_left_out():
    assert XEON.settings(BY_NAME["oldest"]) == {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3,X86_V4,AVX512_ICL",
        "NUMBA_CPU_NAME": "generic",
        "OPENBLAS_NUM_THREADS": "1",
    }
    assert XEON.settings(BY_NAME["haswell"])["NPY_DISABLE_CPU_FEATURES"] == "X86_V4,AVX512_ICL"
    assert OLDER_NUMPY.settings(BY_NAME["haswell"])["NPY_DISABLE_CPU_FEATURES"] == "AVX512F,AVX512_SKX"
    assert ATOM.settings(BY_NAME["two-threads"]) == {"OPENBLAS_NUM_THREADS": "2"}
    assert ARM.settings(BY_NAME["baseline"])["NPY_DISABLE_CPU_FEATURES"] == "ASIMDHP"


def test_a_text_picks_one_path_and_many_texts_pick_all():
    assert {portable.picked(portable.PATHS, str(i)) for i in range(100)} == set(portable.PATHS)


def test_numpy_starts_on_every_path_of_this_machine_without_a_warning():
    machine = portable.Machine.this()
    for path in filter(machine.can_take, portable.PATHS):
        code = "import numpy, numba, os; print(os.environ['OPENBLAS_NUM_THREADS'])"
        command = [sys.executable, "-W", "error", "-c", code]
        plain = {name: value for name, value in portable.os.environ.items() if name not in portable.SETTINGS}
        done = subprocess.run(command, env=plain | machine.settings(path), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{path.threads}\n", "")


@pytest.mark.parametrize(("body", "code"), [("assert True", 0), ("assert False", 1)])
def test_a_path_that_fails_is_named_and_ends_with_an_error(tmp_path, capfd, body, code):
    (tmp_path / "test_one.py").write_text(f"def test_one():\n    {body}\n")
    assert portable.main(["baseline", "two-threads", "--", str(tmp_path / "test_one.py")]) == code
    said = capfd.readouterr().out
    assert "path 1 of 2, baseline: " in said and "path 2 of 2, two-threads: OPENBLAS_NUM_THREADS=2" in said
    assert ("to repeat: python tests/portable.py baseline two-threads" in said) == bool(code)


def test_a_path_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        portable.main(["pentium"])
    assert "has no path pentium" in capsys.readouterr().err
