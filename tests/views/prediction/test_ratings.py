"""Ratings seen: errors, activity, items."""

import numpy as np
import pytest

from assay.errors import ParameterError
from assay.views.prediction.ratings import ITEMS, NAMED, activity, error_dots, item_map


def test_errors_are_drawn_in_order_with_their_intervals_and_the_last_stands_out():
    plot = error_dots(["mean", "levels", "<b>factors</b>"], [1.2, 1.0, 0.9], [1.1, 0.9, 0.8], [1.3, 1.1, 1.0])
    data = plot.renderers[0].data_source.data
    np.testing.assert_array_equal(data["low"], [1.1, 0.9, 0.8])
    assert data["span"][0] == "1.1 to 1.3"
    assert data["tint"][2] not in data["tint"][:2]
    assert plot.x_range.start < 0.8 and plot.x_range.end > 1.3
    with pytest.raises(ParameterError, match="one error, low and high for each of 2 names"):
        error_dots(["a", "b"], [1.0], [1.0], [1.0])


def test_shares_with_at_least_so_many_ratings_fall_from_all_to_the_busiest():
    plot = activity([5, 1, 1, 0], [2, 3, 2])
    users, items = plot.renderers[0].data_source.data, plot.renderers[2].data_source.data
    shares = dict(zip(users["x"].tolist(), users["y"].tolist(), strict=True))
    assert shares == {5: pytest.approx(1 / 3), 1: 1.0}  # one without ratings is no user here
    assert dict(zip(items["x"].tolist(), items["y"].tolist(), strict=True)) == {3: pytest.approx(1 / 3), 2: 1.0}


def test_the_items_rated_most_are_drawn_and_named():
    rng = np.random.default_rng(0)
    many = ITEMS + 50
    counts = rng.permutation(many)
    plot = item_map(rng.normal(size=(many, 3)), [f"item {i}" for i in range(many)], counts)
    data = plot.renderers[0].data_source.data
    assert len(data["row"]) == ITEMS
    assert set(data["row"] - 1) == set(np.argsort(-counts)[:ITEMS].tolist())
    assert sum(bool(name) for name in data["m_name"]) == NAMED


def test_one_factor_is_drawn_on_a_line():
    plot = item_map([[0.5], [-0.5]], ["a", "b"], [1, 2])
    np.testing.assert_array_equal(plot.renderers[0].data_source.data["m2"], [0.0, 0.0])


def test_axes_of_activity_are_counted_in_words_and_not_in_powers():
    plot = activity(np.arange(1, 2001), np.arange(1, 301))
    across, up = (list(axis.major_label_overrides.values()) for axis in (plot.xaxis[0], plot.yaxis[0]))
    assert [tick.text if hasattr(tick, "text") else tick for tick in across] == ["1", "10", "100", "1000"]
    assert [tick.text if hasattr(tick, "text") else tick for tick in up] == ["0.1%", "1%", "10%", "100%"]
