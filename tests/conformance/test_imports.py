"""Starting is quick, and the core needs none of the heavy or optional parts."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = ["numba", "bokeh", "dask", "distributed", "pyspark", "jax", "pandas", "sklearn", "scipy"]


def loaded_by(code):
    probe = f"{code}\nimport sys, json; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_importing_assay_loads_nothing_heavy():
    assert loaded_by("import assay") == []


def test_help_loads_nothing_heavy():
    assert (
        loaded_by("from typer.testing import CliRunner\nfrom assay.cli import app\nCliRunner().invoke(app, ['--help'])")
        == []
    )


def test_models_and_summaries_load_neither_plots_nor_clusters_nor_compilers():
    assert set(loaded_by("import assay; assay.PCA, assay.Moments, assay.Gram, assay.Graph, assay.load")) <= {
        "sklearn",
        "scipy",
        "pandas",  # scikit-learn and narwhals look for it where it is installed
    }


def test_a_vae_is_made_saved_and_loaded_without_jax(tmp_path):
    file = str(tmp_path / "vae")
    assert "jax" not in loaded_by(f"import assay; assay.VAE(3).save({file!r}); assay.load({file!r})")


@pytest.mark.parametrize("arguments", [["-c", "import assay"], ["-m", "assay", "--help"]])
def test_starting_takes_well_under_half_a_second(arguments):
    def once():
        before = os.times()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = os.times()
        # time on the processor: what others do on the machine does not count
        return after.children_user + after.children_system - before.children_user - before.children_system

    once()
    assert min(once() for _ in range(3)) < 0.4


def test_study_is_a_function_to_call_and_a_room_to_enter():
    code = """
import inspect, assay
assert list(inspect.signature(assay.study).parameters)[:2] == ["data", "target"]
import assay.study.findings
assert assay.study.findings.Study and callable(assay.study)
from assay import study
assert study is assay.study
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_can_be_had():
    import assay

    for name in assay.__all__:
        assert getattr(assay, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = assay.nonsense
    assert set(assay.__all__) <= set(dir(assay))
