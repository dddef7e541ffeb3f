"""Each public name is listed once, in `assay.public`; what is written from that list is up to date and complete."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from tools.public import STUB, reference, stub

import assay
from assay.public import MODULES, PUBLIC


def test_no_name_is_listed_twice():
    assert sum(len(names) for names in PUBLIC.values()) == len(MODULES)


def test_each_name_is_listed_where_it_is_defined():
    for name, module in MODULES.items():
        assert inspect.unwrap(getattr(importlib.import_module(module), name)).__module__ == module, name


# what the mission says can be imported from assay itself
PROMISED = """
    read fuse study load dependence mercer_check pagerank learn_mdp expected_by_chance vc_bound euclidean_dimension
    Moments GroupedMoments Gram Graph Evidence Linear Polynomial Gaussian
    PCA KernelPCA LSI ClassicalMDS MDS Isomap DiffusionMap SNE SymmetricSNE TSNE VAE ZScore Mahalanobis SVDD RobustSVDD
    KMeans SpectralClustering Agglomerative Divisive GaussianMixture CCA TemporalCCA NonlinearCCA KernelCCA
    LeastSquares Ridge SVR DifferenceOfMeans Fisher GaussianRule SVM Logistic Perceptron NaiveBayes NearestCentroid
    SubspaceClassifier MatrixFactorization MDP
"""
WORDS = {
    "Gaussian": {"sigma": 1.0}, "MDS": {"metric": False, "dissimilarity": "precomputed"},
    "Mahalanobis": {"robust": True}, "Logistic": {"penalty": 0}, "PCA": {"n_components": "real"},
    "SVM": {"C": 1.0, "kernel": "linear", "tol": 1e-3}, "SVR": {"C": 1.0, "epsilon": 0.1},
    "Agglomerative": {"n_clusters": 2, "linkage": "ward", "metric": "euclidean"},
    "ClassicalMDS": {"dissimilarity": "precomputed"}, "KMeans": {"n_clusters": 2, "random_state": 0},
}  # fmt: skip


def test_the_names_and_words_that_were_promised_are_there():
    assert set(PROMISED.split()) <= set(assay.__all__)
    for name, words in WORDS.items():
        made = getattr(assay, name)(**words)
        assert {word: getattr(made, word) for word in words} == words


def test_the_stub_is_what_make_stub_writes():
    assert STUB.read_text() == stub(), "run `make stub`"


@pytest.fixture(scope="module")
def text():
    return reference()


class TestTheReference:
    def test_shows_every_public_name_once_under_its_question(self, text):
        for heading, names in PUBLIC.items():
            section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
            for name in names:
                assert len(re.findall(rf":: assay\.{name}$", section, re.MULTILINE)) == 1, name

    def test_shows_nothing_twice_and_nothing_that_is_not_there(self, text):
        paths = re.findall(r"^\.\. auto(?:class|function):: (\S+)$", text, re.MULTILINE)
        things = [getattr(importlib.import_module(path.rpartition(".")[0]), path.rpartition(".")[2]) for path in paths]
        assert len({id(thing) for thing in things}) == len(paths)

    def test_shows_what_a_class_can_do_and_the_results_it_gives(self, text):
        members = text.partition(":: assay.Ridge\n   :members: ")[2].partition("\n")[0].split(", ")
        assert {"fit", "partial_fit", "fit_moments", "path", "predict", "save"} <= set(members)
        assert not [name for name in members if name.startswith("_") or name == "get_params"]
        assert f".. autoclass:: {assay.Ridge.path.__module__}.RidgePath\n" in text

    def test_is_written_when_the_documentation_is_built(self):
        assert "reference()" in (Path(__file__).parents[2] / "docs" / "conf.py").read_text()
