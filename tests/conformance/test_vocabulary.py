"""One word for one thing: the parameters of everything public, read off their signatures."""

import inspect
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold

import assay
from assay.errors import ParameterError
from assay.models.options import stands_for
from assay.models.registry import MODELS, model_class
from assay.summary.gram.kernels import Kernel

ROOT = Path(__file__).parents[2]
# words that others use for what has one name here; the records named hold the thing itself
ELSEWHERE = {
    "seed": "random_state", "rng": "random_state",
    "folds": "cv", "n_folds": "cv", "splits": "cv", "outer": "cv",
    "standardise": "scale", "standardize": "scale", "normalise": "scale",
    "grid": "param_grid", "n_iter": "max_iter", "max_iterations": "max_iter", "tolerance": "tol",
    "n_nearest": "n_neighbors", "neighbours": "n_neighbors", "neighbors": "n_neighbors", "ks": "n_neighbors",
    "n_clusters_": "n_clusters", "sample_weights": "sample_weight", "significance": "level",
}  # fmt: skip
RECORDS = {("SharedMoments", "folds"), ("TemporalCCA.fit_lagged", "folds")}
PENALISED = {"Ridge", "ElasticNet", "MatrixFactorization"}
NAMES = [name for name in assay.__all__ if name != "__version__"]


def signatures():
    """Every public function, class and method of assay's own, by name, with its parameters."""
    for name in NAMES:
        thing = getattr(assay, name)
        if inspect.isclass(thing):
            yield name, thing
            for method in dir(thing):
                found = inspect.getattr_static(thing, method)
                found = found.__func__ if isinstance(found, classmethod | staticmethod) else found
                if method[0] != "_" and inspect.isfunction(found) and found.__module__.startswith("assay"):
                    yield f"{name}.{method}", found
        elif callable(thing):
            yield name, thing


def parameters():
    """For each parameter, who takes it and with which default."""
    taken = defaultdict(dict)
    for name, thing in signatures():
        for one in inspect.signature(thing).parameters.values():
            taken[one.name][name] = one.default
    return taken


TAKEN = parameters()


@pytest.mark.parametrize("word", ELSEWHERE)
def test_nothing_public_takes_another_word_for_it(word):
    others = {name for name in TAKEN.get(word, {}) if (name, word) not in RECORDS}
    assert not others, f"{word} is called {ELSEWHERE[word]}: {sorted(others)}"


def test_alpha_is_the_penalty_of_a_model_and_nothing_else():
    assert set(TAKEN["alpha"]) == PENALISED


def test_a_level_is_one_in_twenty_unless_the_caller_has_one():
    assert {default for default in TAKEN["level"].values() if default is not inspect.Parameter.empty} == {0.05}


def test_scale_is_yes_or_no():
    assert {type(default) for default in TAKEN["scale"].values()} == {bool}


def test_results_repeat_unless_asked_otherwise():
    """None stands for one number in models, and everything else says that number itself."""
    assert set(TAKEN["random_state"].values()) <= {None, 0}


def test_names_differ_by_more_than_case():
    lower = [name.lower() for name in NAMES]
    assert sorted(set(lower)) == sorted(lower)


@pytest.mark.parametrize(
    "name", [name for name in MODELS if "kernel" in inspect.signature(model_class(name)).parameters]
)
def test_a_kernel_is_an_object_a_name_or_the_gaussian_by_default(name):
    default = inspect.signature(model_class(name)).parameters["kernel"].default
    assert isinstance(stands_for("kernel", default), Kernel)


@pytest.mark.parametrize(
    "name", [name for name in MODELS if "graph" in inspect.signature(model_class(name)).parameters]
)
def test_a_graph_is_found_unless_it_is_given(name):
    default = inspect.signature(model_class(name)).parameters["graph"].default
    assert default == "auto" or name == "Divisive"  # which takes the graph itself, of rows linked already


def test_the_command_line_has_a_seed_and_a_level_and_no_other_words():
    text = "".join(path.read_text() for path in (ROOT / "src/assay/cli").glob("*.py"))
    assert re.search(r"\bseed: Seed\b", text) and re.search(r"\blevel: Level\b", text)
    assert not re.search(r"\balpha: |--alpha|--random-state", text)


class TestSplittersOfScikitLearn:
    """Folds of `KFold` are as good as the fold of each row, written out."""

    rows = np.random.default_rng(0).standard_normal((40, 5))
    y = rows @ [1.0, -1.0, 0.5, 0.0, 0.0] + np.random.default_rng(1).standard_normal(40)
    folds = np.repeat(np.arange(4), 10)

    @pytest.mark.parametrize("name", ["Ridge", "ElasticNet"])
    def test_penalties(self, name):
        make = getattr(assay, name)
        one, two = (make("held-out", cv=cv).fit(self.rows, self.y) for cv in (KFold(4), self.folds))
        np.testing.assert_array_equal(one.coef_, two.coef_)

    def test_penalties_of_classes(self):
        one, two = (assay.Logistic("held-out", cv=cv).fit(self.rows, self.y > 0) for cv in (KFold(4), self.folds))
        np.testing.assert_array_equal(one.coef_, two.coef_)

    @pytest.mark.parametrize("solver", ["moments", "dual"])
    def test_ridges(self, solver):
        both = self.rows, np.column_stack([self.y, self.rows[:, 0]])
        one, two = (
            assay.CCA(1, ridge=assay.HeldOutRidge(cv=cv), solver=solver).fit(*both) for cv in (KFold(4), self.folds)
        )
        np.testing.assert_array_equal(one.held_out_table_, two.held_out_table_)

    def test_moments(self):
        one, two = (assay.GroupedMoments.folds(self.rows, cv) for cv in (KFold(4), self.folds))
        assert [part.count for part in one.parts] == [10] * 4
        np.testing.assert_array_equal(one.parts[2].mean, two.parts[2].mean)
        np.testing.assert_allclose(one.parts[2].mean, self.rows[20:30].mean(axis=0), rtol=1e-13)

    def test_validation(self):
        pairs = list(KFold(4).split(self.rows))
        one, two = (assay.validate(assay.Ridge(), self.rows, self.y, cv=cv) for cv in (KFold(4), pairs))
        np.testing.assert_array_equal(one.scores, two.scores)

    def test_where_rows_are_read_in_blocks_a_splitter_is_refused(self):
        with pytest.raises(ParameterError, match="cv is a number of folds where rows are read in blocks"):
            assay.GroupedMoments.folds(assay.read(self.rows), KFold(4))


@pytest.mark.parametrize("given", [None, 0, 3, np.random.RandomState(0), np.random.default_rng(0)])
def test_every_form_of_random_state_is_taken_beside_models_too(given):
    assert len(next(assay.Folds(4, random_state=given).split(np.zeros((20, 1))))[1]) == 5
    assert assay.RandomFourier(3, random_state=given)([[0.0], [1.0]]).shape == (2, 3)


@pytest.mark.parametrize("given", [-1, 0.5, True, "chance"])
def test_what_is_no_random_state_is_refused(given):
    with pytest.raises(ValueError, match="random_state is a whole number from 0 on, None or a generator"):
        assay.RandomFourier(3, random_state=given)
