"""Summaries of regressions: the numbers statsmodels prints, as text, in a notebook and as a frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from assay import (
    SVM,
    SVR,
    DifferenceOfMeans,
    Fisher,
    GaussianRule,
    NaiveBayes,
    NearestCentroid,
    Perceptron,
    SubspaceClassifier,
)
from assay.errors import ParameterError
from assay.models.prediction.elastic_net.elastic_net import ElasticNet
from assay.models.prediction.least_squares.least_squares import LeastSquares
from assay.models.prediction.logistic.logistic import Logistic
from assay.models.prediction.ridge import Ridge

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((60, 3)), columns=["a", "b<i>", "c\x1b[31m"])
Y = X.to_numpy() @ [1.0, 0.0, -2.0] + RNG.standard_normal(60)
MODELS = [
    LeastSquares().fit(X, Y),
    Ridge(1.0).fit(X, Y),
    ElasticNet(0.1).fit(X, Y),
    Logistic(penalty=0).fit(X, Y > 0),
    Logistic().fit(X, Y > 0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_summary_is_text_markup_and_frame_of_the_same_numbers(model):
    found = model.summary()
    assert repr(found) == str(found) and str(found).startswith(type(model).__name__)
    assert str(found.table) in str(found)
    frame = found.to_frame()
    assert list(frame["name"]) == ["intercept", "a", "b<i>", "c\x1b[31m"]
    np.testing.assert_array_equal(frame["estimate"], found.table.estimate)
    assert isinstance(found.to_frame("polars"), pl.DataFrame)
    shown = found._repr_html_()
    assert "<i>" not in shown and "b&lt;i&gt;" in shown and "\x1b" not in shown
    assert all(isinstance(value, float) for value in found.measures.values()) and found.measures["rows"] == 60


@pytest.mark.parametrize("model", [MODELS[1], MODELS[4]], ids=["Ridge", "Logistic"])
def test_a_penalised_model_has_no_p_anywhere_and_says_why(model):
    found = model.summary()
    assert found.to_frame()["p"].isna().all() and "penalised" in str(found) and "penalised" in found._repr_html_()
    assert "<th>p</th>" not in found._repr_html_()


def test_what_is_left_of_neighbours_is_compared_only_where_rows_have_an_order_and_count_once():
    line = MODELS[0]
    left = Y - line.predict(X)
    assert line.durbin_watson_ == pytest.approx(np.sum(np.diff(left) ** 2) / np.sum(left**2), rel=1e-9)
    assert line.summary().measures["durbin_watson"] == line.durbin_watson_
    weighted = LeastSquares().fit(X, Y, np.full(60, 2.0))
    assert np.isnan(weighted.durbin_watson_) and "Durbin" not in str(weighted.summary())
    two = LeastSquares().fit(X, np.column_stack([Y, -Y]))
    np.testing.assert_allclose(two.durbin_watson_, line.durbin_watson_, rtol=1e-9)


THREE = np.digitize(Y, [-1, 1]).astype(str)
MACHINES = {
    "SVR of a kernel": (SVR(), Y),
    "SVR of a line": (SVR(kernel="linear"), Y),
    "SVR in passes": (SVR(kernel="linear", solver="primal"), Y),
    "SVM of a kernel": (SVM(), THREE),
    "SVM of lines": (SVM(kernel="linear", probability=True, random_state=0), THREE),
    "SVM of a line": (SVM(kernel="linear"), Y > 0),
    "Fisher": (Fisher(), THREE),
    "GaussianRule": (GaussianRule(), THREE),
    "NaiveBayes": (NaiveBayes(), THREE),
    "DifferenceOfMeans": (DifferenceOfMeans(), Y > 0),
    "Perceptron": (Perceptron(), THREE),
    "NearestCentroid": (NearestCentroid(), THREE),
    "SubspaceClassifier": (SubspaceClassifier(2), THREE),
}


@pytest.mark.parametrize("case", MACHINES)
def test_every_other_predictor_says_what_is_known_and_has_no_p(case):
    model, target = MACHINES[case]
    found = model.fit(X, target).summary()
    assert str(found).startswith(f"{type(model).__name__}: 3 columns") and len(found.lines) > 1
    assert "\x1b" not in str(found) and "\x1b" not in found._repr_html_() and "<i>" not in found._repr_html_()
    assert all(isinstance(value, float) for value in found.measures.values())
    if getattr(model, "coef_", None) is None:
        with pytest.raises(ParameterError, match=f"{type(model).__name__} has no coefficients here"):
            found.to_frame()
        return
    frame = found.to_frame()
    every = np.column_stack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_)]).ravel()
    np.testing.assert_array_equal(frame["estimate"], every)
    assert frame["p"].isna().all() and "no law of the errors" in str(found)


def test_coefficients_speak_for_the_class_that_they_are_said_to_speak_for():
    for case in ("SVM of a line", "DifferenceOfMeans"):
        model, target = MACHINES[case]
        model.fit(X, target)
        assert "above zero speaks for True, below for False" in str(model.summary())
        frame = model.summary().to_frame()
        scores = frame["estimate"][0] + X.to_numpy() @ frame["estimate"][1:].to_numpy()
        assert ((scores > 0) == model.predict(X)).mean() == 1.0
    lines = MACHINES["SVM of lines"][0].fit(X, THREE)
    frame = lines.summary().to_frame()
    own = frame[frame["name"].str.startswith("0 against 2: ")]["estimate"].to_numpy()
    np.testing.assert_allclose(own[0] + X.to_numpy() @ own[1:], lines.pairwise_decisions(X)[:, 1], rtol=1e-6, atol=1e-6)


def test_a_predictor_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        SVR().summary()
