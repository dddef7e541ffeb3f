"""Summaries of regressions: the numbers statsmodels prints, as text, in a notebook and as a frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

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
