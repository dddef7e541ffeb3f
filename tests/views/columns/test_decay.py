"""Eigenvalues are drawn where they are, those below zero too, and what is left out is said."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.columns.decay import eigenvalue_decay
from assay.views.html.embed import embed


def series(plot):
    """By the words of the legend: the data of the marks."""
    (legend,) = [part for part in plot.above if isinstance(part, Legend)]
    return {item.label.value: item.renderers[0].data_source.data for item in legend.items}


def notes(plot):
    return [item.label.value for part in plot.below if isinstance(part, Legend) for item in part.items]


def test_kept_left_out_and_negative_ones_are_told_apart():
    parts = series(eigenvalue_decay([3.0, 2.0, 0.5, 0.0, -0.1, -0.7], kept=2))
    assert parts["kept"]["height"].tolist() == [3.0, 2.0]
    assert parts["left out"]["height"].tolist() == [0.5, 0.0]
    assert parts["below zero"]["height"].tolist() == [-0.1, -0.7]
    assert parts["below zero"]["number"].tolist() == [5, 6]
    assert parts["below zero"]["told"].tolist() == ["−0.1", "−0.7"]


def test_negative_ones_may_be_given_apart():
    together = eigenvalue_decay([3.0, 1.0, -0.2, -0.5], kept=1)
    apart = eigenvalue_decay([3.0, 1.0], negative=[-0.5, -0.2], kept=1)
    assert embed({"a": together}) == embed({"a": apart})


def test_the_first_and_the_lowest_are_drawn_of_many_under_their_own_numbers():
    values = np.r_[np.linspace(9, 1, 300), np.linspace(-0.1, -0.9, 50)]
    plot = eigenvalue_decay(values, kept=2)
    parts = series(plot)
    assert len(parts["kept"]["height"]) + len(parts["left out"]["height"]) == 40
    np.testing.assert_array_equal(parts["below zero"]["height"], values[-20:])
    np.testing.assert_array_equal(parts["below zero"]["number"], np.arange(331, 351))
    assert notes(plot) == ["The first 40 and the lowest 20 of 350 eigenvalues are drawn."]
    assert notes(eigenvalue_decay(values[:300], kept=2)) == ["The first 40 of 300 eigenvalues are drawn."]
    assert notes(eigenvalue_decay(values[:40], kept=2)) == []


def test_those_that_were_not_computed_are_counted():
    plot = eigenvalue_decay([5.0, 4.0, 3.0], negative=[-2.0, -1.0], total=100, kept=2)
    assert series(plot)["below zero"]["number"].tolist() == [99, 100]
    assert notes(plot) == ["The first 3 and the lowest 2 of 100 eigenvalues are drawn."]
    with pytest.raises(ParameterError, match="total is at least the number of eigenvalues given, 2; got 1"):
        eigenvalue_decay([5.0, 4.0], total=1, kept=1)


def test_a_long_fall_gets_a_log_axis_unless_something_is_not_positive():
    fall = 10.0 ** -np.arange(6.0)
    assert eigenvalue_decay(fall, kept=1).yaxis.axis_label.text == "eigenvalue (log scale)"
    np.testing.assert_array_equal(series(eigenvalue_decay(fall, kept=6))["kept"]["height"], fall)
    for values in (np.r_[fall, 0.0], np.r_[fall, -1e-9], [3.0, 1.0]):
        assert eigenvalue_decay(values, kept=1).yaxis.axis_label.text == "eigenvalue"


def test_rounding_does_not_stretch_the_log_axis_and_is_still_told():
    parts = series(eigenvalue_decay([1.0, 0.1, 1e-40], kept=2))
    assert parts["left out"]["height"].tolist() == [1e-13]
    assert parts["left out"]["told"].tolist() == ["1e−40"]


def test_chance_is_drawn_beside_the_eigenvalues_it_belongs_to():
    parts = series(eigenvalue_decay([3.0, 2.0, 1.0], kept=1, chance=[1.5, 1.2]))
    assert parts["by chance"]["x"].tolist() == [1, 2]
    assert parts["by chance"]["y"].tolist() == [1.5, 1.2]


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0], [-1.0], [1e300, -1e300], [1e-300]])
def test_the_smallest_spectra_can_be_drawn(values):
    plot = eigenvalue_decay(values, kept=0)
    embed({"a": plot})
    assert sorted(y for data in series(plot).values() for y in data["height"].tolist()) == sorted(values)


def test_all_marks_lie_on_the_axis():
    plot = eigenvalue_decay(np.linspace(5, 1, 100), kept=3)
    places = np.concatenate([data["place"] for data in series(plot).values()])
    assert plot.x_range.start < places.min() <= places.max() < plot.x_range.end


def test_ticks_of_any_size_are_few_words_within_the_axis():
    plot = eigenvalue_decay([1.46e7, 8.3e6, -2e5], kept=2)
    assert list(plot.yaxis.major_label_overrides.values()) == ["0", "5M", "10M"]
    assert plot.y_range.start < -2e5 and plot.y_range.end > 1.46e7


def test_what_is_no_spectrum_is_refused():
    with pytest.raises(ParameterError, match="values are eigenvalues in descending order"):
        eigenvalue_decay([1.0, 2.0], kept=1)
    with pytest.raises(ParameterError, match="negative holds eigenvalues below zero; got 0.5"):
        eigenvalue_decay([1.0], negative=[-1.0, 0.5], kept=1)
    with pytest.raises(ParameterError, match="kept is how many of the 2 eigenvalues make the map; got 3"):
        eigenvalue_decay([2.0, 1.0], kept=3)
    with pytest.raises(ParameterError, match="values is one finite number per eigenvalue; got some that are not"):
        eigenvalue_decay([np.nan], kept=0)
    with pytest.raises(ParameterError, match=r"chance is one finite number per eigenvalue; got an array of shape"):
        eigenvalue_decay([1.0], kept=0, chance=[[1.0]])
