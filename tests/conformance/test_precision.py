"""float32 in, float32 out where scikit-learn does so, and the same answer as in float64 to the digits of float32."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn import cluster, decomposition, linear_model, manifold
from sklearn.impute import SimpleImputer

import assay

RNG = np.random.default_rng(0)
ROWS = RNG.random((50, 4)).astype(np.float32)
NUMBER = ROWS[:, 0] + 0.1 * ROWS[:, 1]
CLASS = NUMBER > 0.5

PEERS = [
    (assay.PCA(2), decomposition.PCA(2), "transform", None),
    (assay.KernelPCA(2), decomposition.KernelPCA(2), "transform", None),
    (assay.KernelPCA(2, kernel="gaussian"), decomposition.KernelPCA(2, kernel="rbf"), "transform", None),
    (assay.LSI(2), decomposition.TruncatedSVD(2), "transform", None),
    (assay.Isomap(), manifold.Isomap(n_neighbors=20), "transform", None),
    (assay.FillMissing(), SimpleImputer(), "transform", None),
    (assay.KMeans(2, random_state=0), cluster.KMeans(2, n_init=1), "transform", None),
    (assay.LeastSquares(), linear_model.LinearRegression(), "predict", NUMBER),
    (assay.Ridge(), linear_model.Ridge(), "predict", NUMBER),
    (assay.Logistic(), linear_model.LogisticRegression(), "decision_function", CLASS),
]
KINDS = [np.float32, np.float64, np.int64]


def named(case):
    return f"{case[0]}.{case[2]}"


@pytest.mark.parametrize("case", PEERS, ids=named)
def test_answers_have_the_type_that_scikit_learns_have(case):
    ours, theirs, method, y = case
    for kind in KINDS:
        X = np.round(100 * ROWS).astype(kind)
        answers = [getattr(model.fit(X, y), method)(X) for model in (ours, theirs)]
        assert answers[0].dtype == (np.float32 if kind is np.float32 else np.float64), kind
        was = sklearn.__version__.startswith("1.6.") and isinstance(theirs, linear_model.LogisticRegression)  # float64
        if not was:
            assert answers[1].dtype == answers[0].dtype, kind


@pytest.mark.parametrize("case", PEERS, ids=named)
def test_they_are_those_of_float64_rounded_once(case):
    model, _, method, y = case
    coarse = getattr(model.fit(ROWS, y), method)(ROWS)
    fine = getattr(model.fit(ROWS.astype(np.float64), y), method)(ROWS.astype(np.float64))
    # the same numbers went in: what differs is the last rounding, and steps of iterations that end at 1e-8
    size = np.abs(fine).max()
    np.testing.assert_allclose(coarse, fine, rtol=1e-6, atol=1e-6 * size)


def test_frames_sparse_rows_and_the_way_back_keep_it_too(tmp_path):
    model = assay.PCA(2).fit(ROWS)
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    named = assay.PCA(2).set_output(transform="pandas").fit(frame)
    assert set(named.transform(frame).dtypes) == {np.dtype(np.float32)}
    assert set(named.transform(frame.astype({"a": np.float64})).dtypes) == {np.dtype(np.float64)}
    assert model.transform(csr_matrix(ROWS)).dtype == np.float32
    scores = model.transform(ROWS)
    assert model.inverse_transform(scores).dtype == np.float32
    assert model.components_.dtype == np.float64
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(assay.load(tmp_path / "model").transform(ROWS), scores)


def test_a_chance_next_to_one_is_not_made_one_of():
    model = assay.Logistic().fit(ROWS, CLASS)
    w, b = model.coef_, model.intercept_
    row = (w * (20.0 - b) / (w @ w.T)).astype(np.float32)  # log odds of 20
    chance = model.predict_proba(row)[0, 1]
    assert chance.dtype == np.float64 and 1e-9 < 1.0 - chance < 1e-8


def test_both_sides_of_a_pair_have_their_own():
    u, v = (
        assay.CCA(1)
        .fit(ROWS[:, :2], ROWS[:, 2:].astype(np.float64))
        .transform(ROWS[:, :2], ROWS[:, 2:].astype(np.float64))
    )
    assert (u.dtype, v.dtype) == (np.float32, np.float64)


def test_what_float32_has_no_number_for_stays_float64():
    far = np.float32([[3e38, 3e38], [-3e38, -3e38], [0.0, 1e38]])
    scores = assay.PCA(1).fit(far).transform(far)
    assert scores.dtype == np.float64 and np.isfinite(scores).all() and np.abs(scores).max() > np.finfo(np.float32).max
