"""Residuals: their middle along the predictions, and their order beside a normal law's."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Image, Line, VArea
from scipy import stats

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.residuals import residual_view, running_quantiles
from assay.views.rows.cloud import SAMPLE, WHOLE

RNG = np.random.default_rng(0)
AT = RNG.uniform(0, 10, 400)
LEFT = RNG.normal(0, 0.2 + 0.1 * AT)


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def data(plot, kind):
    return [r.data_source.data for r in plot.renderers if isinstance(r.glyph, kind)]


def rows(plot):
    return next(r.data_source for r in plot.renderers if r.data_source.name == "rows")


def test_both_figures_draw_the_same_rows_from_one_source():
    over, beside = residual_view(AT, LEFT, rows=np.arange(400) + 7, unit="kg").values()
    assert rows(over) is rows(beside)
    np.testing.assert_array_equal(rows(over).data["predicted"], AT)
    np.testing.assert_array_equal(rows(over).data["residual"], LEFT)
    assert rows(over).data["row"][0] == 7
    assert over.yaxis.axis_label.text == beside.yaxis.axis_label.text == "true − predicted (kg)"


def test_running_quantiles_are_those_of_the_rows_nearby():
    x, (low, middle, high) = running_quantiles(AT, LEFT, (0.1, 0.5, 0.9))
    assert np.all(np.diff(x) >= 0) and np.all(low <= middle) and np.all(middle <= high)
    # the spread was made to grow as 0.2 + 0.1 x; 8 of 10 normal rows lie within 1.28 of it
    expected = 2 * stats.norm.ppf(0.9) * (0.2 + 0.1 * x)
    assert np.median(np.abs((high - low) / expected - 1)) < 0.2
    line, area = 3.0 * AT + 1.0, (0.25, 0.75)
    x, quartiles = running_quantiles(AT, line, area)
    assert np.all(np.abs(quartiles.mean(axis=0) - (3 * x + 1)) < 0.5)


def test_the_middle_and_the_band_are_drawn_and_named():
    over, _ = residual_view(AT, LEFT).values()
    x, (low, middle, high) = running_quantiles(AT, LEFT, (0.1, 0.5, 0.9))
    (band,) = data(over, VArea)
    np.testing.assert_array_equal(np.stack([band["x"], band["y1"], band["y2"]]), [x, low, high])
    assert any(np.array_equal(line["y"], middle) for line in data(over, Line))
    assert said(over, "above") == ["running median", "8 of 10 rows nearby"]


def test_quantiles_are_those_of_scipy_and_normal_residuals_stay_in_the_band():
    normal = 5 + 2 * np.random.default_rng(3).standard_normal(300)
    _, beside = residual_view(np.arange(300.0), normal).values()
    drawn = rows(beside).data
    order = np.argsort(drawn["residual"])
    np.testing.assert_allclose(drawn["normal"][order], stats.norm.ppf((np.arange(300) + 0.5) / 300), atol=1e-12)
    (band,) = data(beside, VArea)
    low, high = (np.interp(drawn["normal"], band["x"], band[key]) for key in ("y1", "y2"))
    assert np.mean((drawn["residual"] >= low) & (drawn["residual"] <= high)) > 0.9
    heavy = np.random.default_rng(3).standard_t(1.5, 300)
    _, beside = residual_view(np.arange(300.0), heavy).values()
    drawn, (band,) = rows(beside).data, data(beside, VArea)
    assert drawn["residual"].max() > 2 * np.max(band["y2"])


def test_the_band_of_order_statistics_is_that_of_scipy():
    values = np.sort(RNG.standard_normal(40))
    _, beside = residual_view(np.arange(40.0), values).values()
    (band,) = data(beside, VArea)
    quartile = np.quantile(values, [0.25, 0.75])
    slope = np.ptp(quartile) / (2 * stats.norm.ppf(0.75))
    expected = quartile.mean() + slope * stats.norm.ppf(stats.beta.ppf(0.975, np.arange(1, 41), np.arange(40, 0, -1)))
    np.testing.assert_allclose(band["y2"], expected, atol=1e-9)


def test_of_too_many_rows_the_extreme_residuals_are_always_drawn():
    left = RNG.standard_normal(WHOLE + 500)
    over, _ = residual_view(np.arange(len(left), dtype=float), left).values()
    drawn = rows(over).data
    assert len(drawn["row"]) == SAMPLE and data(over, Image)
    assert {int(np.argmax(left)) + 1, int(np.argmin(left)) + 1} <= set(drawn["row"].tolist())
    assert said(over)[0].startswith("2,000 rows are drawn as points; the shade counts all 5,500.")


@pytest.mark.parametrize("factor", [1e-302, 1e298])
def test_any_unit_gives_the_same_picture(factor):
    over, beside = residual_view(AT * factor, LEFT * factor).values()
    assert over.y_range.end == pytest.approx((LEFT.max() + 0.05 * np.ptp(LEFT)) * factor)
    embed({"over": over, "beside": beside})


@pytest.mark.parametrize("left", [[], [0.5], [0.0] * 30])
def test_few_or_equal_residuals_are_drawn_without_a_running_median(left):
    over, beside = residual_view([5.0] * len(left), left).values()
    assert not data(over, VArea) and said(over, "above") == []
    embed({"over": over, "beside": beside})


def test_what_does_not_fit_is_refused_with_the_rule():
    with pytest.raises(ParameterError, match=r"residuals has one number per row; got an array of shape \(2,\) for 3"):
        residual_view([1.0, 2.0, 3.0], [0.0, 1.0])
    with pytest.raises(ParameterError, match="residuals holds finite numbers .* got inf at 1"):
        residual_view([1.0, 2.0], [0.0, np.inf])
