"""The Shepard diagram draws the pairs it is given, and says what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import HoverTool
from bokeh.models.annotations.legends import Legend
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.rows.shepard import PAIRS, shepard

X = np.random.default_rng(0).standard_normal((20, 4))
D, Y = squareform(pdist(X)), squareform(pdist(X[:, :2]))
UPPER = np.triu_indices(20, 1)


def points(plot):
    return plot.renderers[0].data_source.data


def line(plot):
    return next(r for r in plot.renderers if type(r.glyph).__name__ == "Line").data_source.data


def notes(plot):
    return [item.label.value for part in plot.below if isinstance(part, Legend) for item in part.items]


def test_every_pair_is_drawn_once():
    data = points(shepard(D, Y, rows=np.arange(100, 120), names=[f"n{i}" for i in range(20)]))
    np.testing.assert_array_equal(data["given"], D[UPPER])
    np.testing.assert_array_equal(data["kept"], Y[UPPER])
    np.testing.assert_array_equal(data["first"], UPPER[0] + 100)
    assert data["other"].tolist() == [f"n{j}" for j in UPPER[1]]


def test_pairs_may_be_given_as_such():
    plot = shepard(D[UPPER], Y[UPPER])
    np.testing.assert_array_equal(points(plot)["kept"], Y[UPPER])
    assert "@first" not in plot.select_one(HoverTool).tooltips


def test_a_metric_map_is_held_against_equal_distances():
    ends = line(shepard(D, Y))
    np.testing.assert_array_equal(ends["x"], ends["y"])
    assert ends["x"][0] <= D[UPPER].min() and ends["x"][-1] >= D[UPPER].max()


def test_steps_are_those_of_the_monotone_fit():
    fitted = IsotonicRegression().fit_transform(D[UPPER], Y[UPPER])
    H = np.zeros_like(D)
    H[UPPER] = fitted
    steps = line(shepard(D, Y, H))
    assert np.all(np.diff(steps["x"]) >= 0)
    assert np.all(np.diff(steps["y"]) >= 0)
    order = np.argsort(D[UPPER])
    np.testing.assert_allclose(np.interp(D[UPPER][order], steps["x"], steps["y"]), fitted[order], atol=1e-12)


def test_many_pairs_are_sampled_alike_each_time_over_a_shade_and_this_is_said():
    given, kept = np.random.default_rng(1).uniform(1, 2, (2, PAIRS + 1000))
    plot = shepard(given, kept)
    data = points(plot)
    assert len(data["given"]) == PAIRS == 3000
    pairs = dict(zip(given.tolist(), kept.tolist(), strict=True))
    assert all(pairs[x] == y for x, y in zip(data["given"].tolist(), data["kept"].tolist(), strict=True))
    assert notes(plot) == ["3,000 of 4,000 pairs are drawn, at random; the shade counts all."]
    shade = next(r for r in plot.renderers if type(r.glyph).__name__ == "Image").glyph
    assert shade.x <= given.min() and shade.x + shade.dw >= given.max()
    assert embed({"a": plot}) == embed({"a": shepard(given, kept)})
    assert notes(shepard(D, Y)) == []


def test_missing_pairs_are_counted_not_drawn():
    holes = D.copy()
    holes[2, 5] = holes[5, 2] = np.nan
    plot = shepard(holes, Y)
    assert len(points(plot)["given"]) == 189
    assert notes(plot) == ["Pairs without a dissimilarity or distance: 1."]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_the_smallest_diagrams_can_be_drawn(n):
    for plot in (shepard(D[:n, :n], Y[:n, :n]), shepard(D[:n, :n], Y[:n, :n], Y[:n, :n])):
        embed({"a": plot})
        assert len(points(plot)["given"]) == n * (n - 1) // 2


def test_hostile_names_stay_in_the_data():
    script, _ = embed({"a": shepard(D[:3, :3], Y[:3, :3], names=["</script>", "<b>", "$$x$$"])})
    assert not set("<>&") & set(script)


def test_mismatched_input_is_refused():
    with pytest.raises(ParameterError, match=r"are \(n, n\) or \(m,\) alike; got \(20, 20\), \(3, 3\), \(3, 3\)"):
        shepard(D, Y[:3, :3])
    with pytest.raises(ParameterError, match=r"names has one entry per row; got shape \(2,\) for 20 rows"):
        shepard(D, Y, names=["a", "b"])
