"""Learning from parts: the same as from all rows, in any order; what cannot be fitted yet, refused or loaded."""

import warnings
from copy import copy

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import assay
from assay.errors import Caution, DataError, ParameterError

MODELS = {
    "PCA": assay.PCA(3),
    "PCA, scaled": assay.PCA(0.9, scale=True, whiten=True),
    "Ridge": assay.Ridge(2.0),
    "LeastSquares": assay.LeastSquares(),
    "Fisher": assay.Fisher(),
    "GaussianRule": assay.GaussianRule(),
    "GaussianRule, equal": assay.GaussianRule("equal", priors="equal", shrinkage=0.1),
    "NaiveBayes": assay.NaiveBayes(),
    "Mahalanobis": assay.Mahalanobis(),
    "ZScore": assay.ZScore(),
}


def rows(n=240, d=5, seed=0):
    """Correlated rows far from zero, three classes of them, and two numbers to predict."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 1.5 * rng.standard_normal((3, d))[y] + 100.0
    return X, np.array(["a", "b", "c"])[y], X[:, :2] @ [[1.0, 0.5], [2.0, -1.0]] + rng.standard_normal((n, 2))


def target(model, y, t):
    kind = model.__sklearn_tags__().estimator_type
    return {"classifier": y, "regressor": t[:, 0]}.get(kind)


def learned(model, X, y, parts):
    for part in parts:
        model.partial_fit(X[part], None if y is None else y[part])
    return model


# Durbin-Watson hangs on the order of rows, which sums forget: not a number by parts
ORDERED = ("_serial", "durbin_watson_")


def assert_same(found, whole):
    """Every number fitted, to what sums in another order leave of 16 digits at a condition of some thousands."""
    assert vars(whole).keys() <= vars(found).keys()
    for name, value in vars(whole).items():
        if name in ORDERED and hasattr(found, "summary_"):
            assert np.isnan(getattr(found, name)).all()
        elif isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind == "f":
            size = np.abs(value).max(initial=1e-300)
            np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, atol=1e-9 * size, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("order", ["cut", "shuffled", "by class"])
def test_parts_in_any_order_give_the_model_of_all_rows(name, order):
    X, y, t = rows()
    model = MODELS[name]
    y = target(model, y, t)
    parts = {
        "cut": [slice(0, 11), slice(11, 180), slice(180, 240)],
        "shuffled": np.array_split(np.random.default_rng(1).permutation(240), 5),
        "by class": np.array_split(np.argsort(rows()[1], kind="stable"), 3),
    }[order]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the rows so far are kept", Caution)
        found = learned(clone(model), X, y, parts)
    assert_same(found, clone(model).fit(X, y))


@pytest.mark.parametrize("name", ["Ridge", "LeastSquares", "Fisher", "GaussianRule", "NaiveBayes"])
def test_weights_and_several_targets_go_with_their_part(name):
    X, y, t = rows()
    t = t if name in ("Ridge", "LeastSquares") else y
    w = np.random.default_rng(2).integers(0, 4, len(X)).astype(float)
    found, whole = clone(MODELS[name]), clone(MODELS[name]).fit(X, t, sample_weight=w)
    for part in (slice(100, 240), slice(0, 100)):
        found.partial_fit(X[part], t[part], sample_weight=w[part])
    assert_same(found, whole)


def test_a_price_chosen_on_held_out_rows_needs_all_of_them():
    assert not hasattr(assay.Ridge("held-out"), "partial_fit") and hasattr(assay.Ridge(1.0), "partial_fit")


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_goes_on_where_it_was(name, tmp_path):
    X, y, t = rows()
    y = target(MODELS[name], y, t)
    model = learned(clone(MODELS[name]), X, y, [slice(0, 150)])
    model.save(tmp_path / "model")
    back = learned(assay.load(tmp_path / "model"), X, y, [slice(150, 240)])
    assert_same(back, clone(MODELS[name]).fit(X, y))


@pytest.mark.parametrize("name", ["PCA", "LeastSquares", "Fisher", "ZScore"])
def test_fit_begins_anew_and_parts_after_it_say_that_they_do(name):
    X, y, t = rows()
    y = target(MODELS[name], y, t)
    model = learned(clone(MODELS[name]), X[:, :3], y, [slice(0, 100)])
    model.fit(X, y)
    assert not hasattr(model, "summary_")
    assert_same(model, clone(MODELS[name]).fit(X, y))
    with pytest.warns(Caution, match=f"{name} was fitted by fit, which keeps no summary.*partial_fit begins anew"):
        learned(model, X, y, [slice(0, 120)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned(model, X, y, [slice(120, 240)])
    assert_same(model, clone(MODELS[name]).fit(X, y))


def test_names_and_encodings_are_those_of_the_first_part():
    X, _, t = rows()
    frame = pd.DataFrame(X, columns=list("pqrst"))
    table = frame.assign(colour=np.where(X[:, 0] > 100.0, "red", "blue"), price=t[:, 0])
    model, whole = assay.Ridge(), assay.Ridge().fit(assay.read(table), "price")
    for part in (table[:90], table[90:]):
        model.partial_fit(assay.read(part), "price")
    assert list(model.feature_names_in_) == list(whole.feature_names_in_) and model.target_ == "price"
    assert_same(model, whole)
    np.testing.assert_allclose(model.predict(assay.read(table)), whole.predict(assay.read(table)), rtol=1e-9)
    named = assay.PCA(2).partial_fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        named.partial_fit(frame[list("tsrqp")])
    assert list(named.feature_names_in_) == list("pqrst")


def test_a_part_that_is_refused_leaves_the_model_as_it_was():
    X, y, _ = rows()
    bad = X.copy()
    bad[7, 2] = np.nan
    fisher, pca = assay.Fisher().partial_fit(X, y), assay.PCA(2).partial_fit(X)
    for model, given in ((fisher, (bad, y)), (pca, (bad,)), (pca, (X[:, :4],)), (fisher, (X, y[:9]))):
        before = dict(vars(model))
        with pytest.raises(ValueError, match="row 7, column 2|4 features|inconsistent"):
            model.partial_fit(*given)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())


def test_rows_that_do_not_suffice_yet_are_kept_and_nothing_is_answered():
    X, y, _ = rows()
    model = assay.GaussianRule()
    with pytest.warns(Caution, match="kept, but cannot be fitted yet: the weight of class c is zero"):
        model.partial_fit(X[y != "c"], y[y != "c"], classes=["a", "b", "c"])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X[y == "c"], y[y == "c"])
    assert_same(model, assay.GaussianRule().fit(X, y))
    # a class that comes late with one row: what was learned before answers until there are more
    with pytest.warns(Caution, match="cannot be fitted yet: class d has 1 row"):
        model.partial_fit(X[:1], ["d"])
    assert list(model.classes_) == ["a", "b", "c"] and model.predict(X[:1]).shape == (1,)
    model.partial_fit(X[:30] + 5.0, ["d"] * 30)
    assert list(model.classes_) == ["a", "b", "c", "d"]
    with pytest.warns(Caution, match="z-scores of 2 rows"):
        assay.ZScore().partial_fit(X[:2])
    with pytest.raises(AttributeError) as told:
        assay.ZScore(robust=True).partial_fit(X)
    assert "with robust=True, which needs all rows at once: use fit" in str(told.value.__cause__)


def test_centres_are_the_means_of_the_rows_that_came_to_them():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = 1e6 + 20.0 * np.eye(3)[y] + rng.standard_normal((300, 3))
    w = rng.integers(1, 4, 300).astype(float)
    model, whole = assay.KMeans(3, random_state=0), assay.KMeans(3, random_state=0, tol=0.0).fit(X, sample_weight=w)
    for part in np.array_split(np.arange(300), 4):
        model.partial_fit(X[part], sample_weight=w[part])
    order = np.argsort(model.cluster_centers_[:, 0])
    np.testing.assert_allclose(
        model.cluster_centers_[order], whole.cluster_centers_[np.argsort(whole.cluster_centers_[:, 0])], rtol=1e-13
    )
    assert model.sizes_.sum() == w.sum() and model.labels_.shape == (75,)
    assert np.isnan(model.explained_variance_)
    model.plot(X)
    again = copy(model)
    np.testing.assert_allclose(
        again.partial_fit(csr_array(X[:40])).cluster_centers_, model.partial_fit(X[:40]).cluster_centers_, rtol=1e-13
    )
    with pytest.raises(ParameterError, match="one weight for each of the 40 rows"):
        model.partial_fit(X[:40], sample_weight=w)


def test_parts_of_digits_are_grouped_as_well_as_by_mini_batches(tmp_path):
    X = load_digits().data
    parts = np.array_split(np.random.default_rng(0).permutation(len(X)), 6)
    ours, peer = assay.KMeans(10, random_state=0), MiniBatchKMeans(10, random_state=0, n_init=3)
    for part in parts:
        ours.partial_fit(X[part])
        peer.partial_fit(X[part])
    assert ours.score(X) > 1.02 * peer.score(X)  # both negative
    ours.save(tmp_path / "means")
    back = assay.load(tmp_path / "means").partial_fit(X)
    np.testing.assert_array_equal(back.cluster_centers_, ours.partial_fit(X).cluster_centers_)
    with pytest.raises(ParameterError, match="n_clusters=10 is more than the n_samples=4 rows"):
        assay.KMeans(10).partial_fit(X[:4])
    with pytest.raises(DataError, match="fitted on 64 columns; these data have 3"):
        ours.partial_fit(assay.read(pd.DataFrame(X[:, :3])))
