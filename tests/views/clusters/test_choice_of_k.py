"""The curves over k are drawn as given, with the k they name."""

import numpy as np
import pytest
from bokeh.models.annotations.geometry import Span
from bokeh.models.annotations.legends import Legend

from assay.errors import ParameterError
from assay.views.clusters.choice_of_k import choice_of_k
from assay.views.html.embed import embed

K, INERTIA, INDEX = [1, 2, 3, 4], [90.0, 40.0, 8.0, 6.0], [np.nan, 11.0, 30.0, 21.0]


def marked(plot):
    return [part.location for part in plot.center if isinstance(part, Span)]


def notes(plot):
    return " ".join(item.label.value for part in plot.below if isinstance(part, Legend) for item in part.items)


def test_both_curves_and_what_they_name_are_drawn():
    within, index = choice_of_k(K, INERTIA, INDEX, inflection=3, best_k=3).values()
    assert within.renderers[0].data_source.data["value"].tolist() == INERTIA
    assert index.renderers[0].data_source.data["k"].tolist() == [2, 3, 4]  # one group has no index
    assert marked(within) == [3] == marked(index)
    chord = within.renderers[2].data_source.data
    assert (list(chord["x"]), list(chord["y"])) == ([1, 4], [90.0, 6.0])


def test_it_says_that_it_is_no_evidence():
    for plot in choice_of_k(K, INERTIA, INDEX, inflection=3, best_k=3).values():
        assert "not evidence" in notes(plot)


def test_without_anything_to_name():
    figures = choice_of_k([1], [5.0], [np.nan])
    assert all(marked(plot) == [] for plot in figures.values())
    embed(figures)


def test_curves_of_another_length_are_refused():
    with pytest.raises(ParameterError, match=r"one inertia and one index for each k, \(4,\); got \(3,\) and \(4,\)"):
        choice_of_k(K, INERTIA[:3], INDEX)
