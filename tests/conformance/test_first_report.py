"""What a report of a small table loads and compiles: only what it needs, and each loop for one kind of arguments."""

import json
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

WHOLESALE = Path(__file__).parents[2] / "examples" / "data" / "wholesale_customers.csv"
UNUSED = ["pandas", "polars", "scipy.stats", "scipy.integrate", "scipy.interpolate", "scipy.ndimage", "dask", "PIL"]
UNUSED += ["numpy.f2py", "assay.models.decision.mdp.bellman"]
if any(needed.startswith("pandas") for needed in requires("bokeh") or []):  # as it did before it took narwhals
    UNUSED.remove("pandas")
PROBE = f"""
import json, sys
from assay.cli import run
from assay.cli.spared import own_process
own_process()
code = run()
assert not code, code
from numba.core.registry import CPUDispatcher
loops = {{
    f"{{name}}.{{what}}": len(loop.signatures)
    for name, module in list(sys.modules.items()) if name.startswith("assay.") and name.rsplit(".", 1)[-1][:1] == "_"
    for what, loop in vars(module).items() if isinstance(loop, CPUDispatcher) and loop.__module__ == name
}}
print(json.dumps([loops, [name for name in {UNUSED!r} if name in sys.modules]]))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """How often each loop was compiled or read from the cache, and which of the large modules were loaded."""
    page = tmp_path_factory.mktemp("page") / "report.html"
    command = [sys.executable, "-c", PROBE, "report", str(WHOLESALE), "-o", str(page), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 100_000
    return json.loads(done.stdout.splitlines()[-1])


def test_every_loop_is_compiled_for_one_kind_of_arguments(ran):
    loops, _ = ran
    assert sum(loops.values()) > 10
    assert {name: count for name, count in loops.items() if count > 1} == {}


def test_few_rows_need_neither_passes_of_k_means_nor_a_search_in_blocks(ran):
    loops, _ = ran
    compiled = {name.rsplit(".", 1)[-1] for name, count in loops.items() if count}
    assert "group_few" in compiled
    assert not compiled & {"reassign", "collect", "settle", "squares_to_own"}


def test_a_report_loads_nothing_that_it_does_not_use(ran):
    assert ran[1] == []


def test_what_was_spared_is_there_when_it_is_used():
    code = """
import sys
from assay.cli.spared import load_libraries, own_process
own_process()
load_libraries()
assert "sklearn" in sys.modules and "pandas" not in sys.modules and "scipy.stats" not in sys.modules
assert "numpy.f2py" not in sys.modules and "numpy.testing" not in sys.modules
import numpy as np
np.testing.assert_equal(np.f2py.get_include(), np.f2py.get_include())
import pyarrow as pa, scipy, sklearn.utils.fixes
assert scipy.stats.norm.cdf(0.0) == 0.5
import pandas as pd
assert pa.table({"a": [1]}).to_pandas().equals(pd.DataFrame({"a": [1]}))
from sklearn.utils.validation import validate_data
assert len(pa.array(pd.Series([1, 2]))) == 2
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("why", ["an engine", "a process of somebody else"])
def test_nothing_is_spared_where_others_may_use_it(why):
    own, engine = ("own_process()", "'dask'") if why == "an engine" else ("pass", "None")
    code = f"""
import sys
from assay.cli.spared import load_libraries, own_process
{own}
load_libraries({engine})
assert "sklearn" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
