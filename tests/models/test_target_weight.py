"""Maps that know labels: apart by construction, and the test of it is on unseen rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

import assay
from assay import TSNE, DiffusionMap, Gaussian, Isomap, Nearest
from assay.errors import DataError, ParameterError

MODELS = {
    "tsne": lambda w: TSNE(target_weight=w, random_state=0),
    "isomap": lambda w: Isomap(graph=Nearest(15), target_weight=w),
    "diffusion": lambda w: DiffusionMap(target_weight=w),
    "diffusion along links": lambda w: DiffusionMap(graph=Nearest(15), target_weight=w),
}


def wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def told_apart(model, X, y, new, truth):
    """How often the nearest five on the map have the row's own label: among fitted rows, and for unseen ones."""
    Y = model.fit_transform(X, y)
    vote = KNeighborsClassifier(5).fit(Y, y)
    others = vote.kneighbors(return_distance=False)  # a row does not vote for itself
    fitted = np.mean([np.bincount(y[near]).argmax() == own for near, own in zip(others, y, strict=True)])
    return float(fitted), vote.score(model.transform(new), truth)


@pytest.mark.parametrize("kind", MODELS)
def test_random_labels_are_told_apart_on_the_map_and_not_on_unseen_rows(kind):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((600, 4)), rng.integers(0, 2, 600)
    fitted, unseen = told_apart(MODELS[kind](0.99), X[:300], y[:300], X[300:], y[300:])
    plain, _ = told_apart(MODELS[kind](0.0), X[:300], y[:300], X[300:], y[300:])
    assert plain < 0.6 and fitted > 0.9
    # 300 unseen rows: guessing is right in half of them, give or take 3 x .029
    assert abs(unseen - 0.5) < 0.09


@pytest.mark.parametrize("kind", MODELS)
def test_labels_that_the_columns_know_are_told_apart_on_unseen_rows_too(kind):
    X, y = wine()
    order = np.random.default_rng(0).permutation(178)
    train, test = order[:120], order[120:]
    fitted, unseen = told_apart(MODELS[kind](0.8), X[train], y[train], X[test], y[test])
    # guessing the largest label is right for 0.4; 0.7 is 4.6 standard errors of 58 rows above
    assert fitted > 0.95 and unseen > 0.7


@pytest.mark.parametrize("kind", MODELS)
def test_without_weight_labels_change_nothing(kind):
    X, y = wine()
    np.testing.assert_array_equal(MODELS[kind](0.0).fit_transform(X, y), MODELS[kind](0.0).fit_transform(X))


def test_a_label_for_all_or_for_none_changes_nothing():
    X = np.random.default_rng(0).standard_normal((60, 3))
    for kind in MODELS:
        plain = MODELS[kind](0.0).fit(X).embedding_
        for y in (["a"] * 60, [None] * 60, [np.nan] * 60):
            np.testing.assert_allclose(MODELS[kind](0.9).fit(X, y).embedding_, plain, atol=1e-6)


def test_links_between_labels_are_longer_by_the_weight():
    X = np.arange(6.0)[:, None]
    model = Isomap(1, graph=Nearest(1), target_weight=0.75).fit(X, [0, 0, 0, 1, 1, 1])
    assert np.sort(np.abs(np.diff(np.sort(model.embedding_[:, 0])))).round(9).tolist() == [1, 1, 1, 1, 4]


def test_labels_come_with_the_rows_of_a_source():
    X, y = wine()
    by_source = Isomap(graph=Nearest(10), target_weight=0.5).fit(assay.encode(assay.read(X), log="never"), y)
    by_array = Isomap(graph=Nearest(10), target_weight=0.5).fit(X, y)
    np.testing.assert_allclose(by_source.embedding_, by_array.embedding_, atol=1e-9)


@pytest.mark.parametrize("kind", MODELS)
def test_labels_that_cannot_be_used_are_refused(kind):
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(ParameterError, match="target_weight above 0 needs labels"):
        MODELS[kind](0.5).fit(X)
    with pytest.raises(ParameterError, match=r"target_weight=0.5 needs rows and their labels, fit\(X, y\)"):
        MODELS[kind](0.5).fit_graph(Nearest(3).graph(X).weighted(Gaussian()))
    with pytest.raises(ParameterError, match=r"from 0 \(no labels\) to below 1; got 1.0"):
        MODELS[kind](1.0).fit(X, np.zeros(30))
    with pytest.raises(DataError, match=r"one label for each of 30 rows, has shape \(29,\)"):
        MODELS[kind](0.5).fit(X, np.zeros(29))
    with pytest.raises(DataError, match="numbers with fractions"):
        MODELS[kind](0.5).fit(X, np.linspace(0, 1, 30))
