"""Each step of "adding a method" in CONTRIBUTING.md, enforced."""

import doctest
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
from pathlib import Path

import pytest
from sklearn.base import clone
from tests.conformance.checked import assert_passes, of_models

import assay
from assay import models
from assay.models.base import Estimator
from assay.models.registry import MODELS, model_class
from assay.public import MODULES

ROOT = Path(__file__).parents[2]


def fittable(name):
    """Whether its extra is installed; in CI every extra has to be."""
    needs = MODELS[name].needs
    return needs is None or importlib.util.find_spec(needs) is not None or "ASSAY_VAE" in os.environ


def written_models():
    """Every public Estimator class defined in a model file."""
    for info in pkgutil.walk_packages(models.__path__, "assay.models."):
        module = importlib.import_module(info.name)
        for name, cls in inspect.getmembers(module, inspect.isclass):
            if issubclass(cls, Estimator) and cls is not Estimator and cls.__module__ == info.name and name[0] != "_":
                yield name, info.name


def test_every_model_written_is_registered_where_it_lives():
    assert dict(written_models()) == {name: MODULES[name] for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
class TestEachModel:
    def test_is_exported_by_assay(self, name):
        assert getattr(assay, name) is model_class(name)

    def test_is_documented_in_its_guide(self, name):
        guide = ROOT / "docs" / "guide" / MODELS[name].guide
        assert re.search(rf"\b{name}\b", guide.read_text())

    def test_has_a_doctest_and_says_what_its_arguments_and_attributes_are(self, name):
        cls = model_class(name)
        assert doctest.DocTestParser().get_examples(cls.__doc__)
        for parameter in inspect.signature(cls).parameters:
            assert re.search(rf"^\s+{parameter}: ", cls.__doc__, re.MULTILINE), parameter
        assert "Attributes:" in cls.__doc__

    def test_its_file_begins_with_the_mathematics(self, name):
        opening = importlib.import_module(MODULES[name]).__doc__
        assert len(opening.splitlines()) >= 4 and re.search(r"\([nd], [ndk]\)", opening), "equations with shapes"

    def test_is_in_the_changelog(self, name):
        assert re.search(rf"\b{name}\b", (ROOT / "CHANGELOG.md").read_text())

    def test_is_benchmarked_if_hot(self, name):
        script = MODELS[name].benchmark
        assert script is None or re.search(rf"\b{name}\b", (ROOT / "benchmarks" / script).read_text())

    def test_has_tests_of_its_own(self, name):
        module = MODULES[name].rsplit(".", 1)[1]
        assert list((ROOT / "tests" / "models").rglob(f"test_{module}.py"))


# These checks of weights bring 15 rows of 30 columns, or columns without a spread within classes, which discriminants
# refuse unless they shrink: a refusal is the right answer there, and weights are checked with shrinkage.
SINGULAR = {
    "check_dtype_object",  # this and the next in scikit-learn 1.6
    "check_n_features_in_after_fitting",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
SHRUNK = {"Fisher": {"shrinkage": 0.2}, "GaussianRule": {"shrinkage": 0.2, "covariance": "equal"}}


@of_models([model_class(name)() for name in MODELS if fittable(name)])
def test_scikit_learns_own_checks_pass(estimator):
    shrunk = SHRUNK.get(type(estimator).__name__)
    assert_passes(estimator, without=SINGULAR if shrunk else ())
    if shrunk:
        assert_passes(clone(estimator).set_params(**shrunk))
