"""Compiled loops run whether or not they can be kept, and what is kept is never run when it is damaged."""

import errno
import os
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import assay.compiled as compiled
from assay.errors import NotCached

LOOPS = """
from assay.compiled import njit

@njit(cache=True, nogil=True)
def add(a, b):
    return a + b

@njit(cache=True, nogil=True)
def twice(a):
    return add(a, a)
"""


@pytest.fixture
def loops(tmp_path, monkeypatch):
    """Loads the loops as another process would."""
    file = tmp_path / "loops.py"
    file.write_text(LOOPS)
    monkeypatch.setattr(compiled.numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_said", False)

    def load():
        names = {"__file__": str(file), "__name__": "loops"}
        exec(compile(LOOPS, str(file), "exec"), names)
        return names["add"]

    return load


def kept(tmp_path, ending):
    return list((tmp_path / "cache").rglob(f"*{ending}"))


def hits(function):
    return sum(function.stats.cache_hits.values())


def test_what_was_compiled_is_found_again(loops):
    assert loops()(1, 2) == 3
    again = loops()
    assert again(1, 2) == 3 and hits(again) == 1


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["empty", "cut", "zeroed", "text"])
def test_what_is_damaged_is_compiled_anew_and_repaired(loops, tmp_path, ending, damage):
    loops()(1, 2)
    (file,) = kept(tmp_path, ending)
    whole = file.read_bytes()
    half = len(whole) // 2
    file.write_bytes(
        {"empty": b"", "cut": whole[:half], "zeroed": whole[:half] + bytes(len(whole) - half), "text": b"no"}[damage]
    )
    again = loops()
    assert again(1, 2) == 3 and hits(again) == 0
    repaired = loops()
    assert repaired(1, 2) == 3 and hits(repaired) == 1


def test_code_of_another_signature_is_not_run(loops, tmp_path):
    """Two processes that save at once may leave the code of one under the name of the other."""
    loops()(1, 2)
    (whole,) = kept(tmp_path, ".nbc")
    of_integers = whole.read_bytes()
    for file in (*kept(tmp_path, ".nbi"), whole):
        file.unlink()
    loops()(0.5, 0.25)
    (file,) = kept(tmp_path, ".nbc")
    file.write_bytes(of_integers)
    again = loops()
    assert again(0.5, 0.25) == 0.75 and hits(again) == 0


def test_a_full_disk_is_said_once_and_changes_nothing(loops, monkeypatch):
    def full(self, sig, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(compiled.FunctionCache, "save_overload", full)
    add = loops()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert add(1, 2) == 3
        assert add(0.5, 0.25) == 0.75
        assert add(np.ones(2), 1.0).tolist() == [2.0, 2.0]
    assert [entry.category for entry in said] == [NotCached]
    assert "cannot be kept on disk (No space left on device)" in str(said[0].message)


def test_without_any_folder_loops_are_compiled_and_that_is_said_once(loops, monkeypatch):
    monkeypatch.setattr(compiled.FunctionCache._impl_class, "_locator_classes", [])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert loops()(1, 2) == 3
        assert loops()(1, 2) == 3
    assert [entry.category for entry in said] == [NotCached]
    assert "NUMBA_CACHE_DIR" in str(said[0].message)


@pytest.mark.skipif(os.name != "posix", reason="by limits of the system")
def test_a_command_without_room_for_compiled_code_runs_and_says_so_once(tmp_path):
    """No byte can be written to the cache: the limit on the size of files is zero."""
    code = textwrap.dedent("""
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        import numpy as np
        from assay.summary._splitmix import next_bits
        from assay.summary.gram._exp_kernels import np as again
        print(next_bits(np.array([1], np.uint64)), next_bits(np.array([1], np.uint64)))
    """)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "default::UserWarning"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and len(set(done.stdout.split())) == 1, done.stderr
    assert done.stderr.count("compiled code cannot be kept on disk (File too large)") == 1


def test_every_loop_is_compiled_by_way_of_one_module():
    house = Path(compiled.__file__).parent
    direct = [
        file.relative_to(house)
        for file in house.rglob("*.py")
        if re.search("^(from|import) numba", file.read_text("utf-8"), re.M)
    ]
    assert direct == [Path("compiled.py")]
