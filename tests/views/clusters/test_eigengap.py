"""The smallest eigenvalues stand where they are, and the gap drawn is the one after the groups."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.geometry import BoxAnnotation
from bokeh.models.annotations.legends import Legend

from assay import Graph, SpectralClustering
from assay.errors import ParameterError
from assay.views.clusters.eigengap import eigengap
from assay.views.html.embed import embed


def series(plot):
    (legend,) = [part for part in plot.above if isinstance(part, Legend)]
    return {item.label.value: item.renderers[0].data_source.data for item in legend.items}


def gaps(plot):
    return [(box.bottom, box.top) for box in plot.center if isinstance(box, BoxAnnotation)]


def test_the_groups_are_filled_and_the_gap_lies_above_them():
    plot = eigengap([0.0, 0.01, 0.3, 0.4], 2)
    parts = series(plot)
    assert parts["groups"]["value"].tolist() == [0.0, 0.01]
    assert parts["beyond the gap"]["number"].tolist() == [3, 4]
    assert parts["groups"]["told"].tolist() == ["from zero", "30"]
    assert parts["beyond the gap"]["told"].tolist() == ["1.33", "not known"]
    assert gaps(plot) == [(0.01, 0.3)]
    assert parts["groups"]["height"].tolist() == [0.001, 0.01]
    assert plot.yaxis.major_label_overrides[0.001] == "0"


def test_without_a_next_one_there_is_no_gap():
    assert gaps(eigengap([0.0, 0.0, 0.0], 3)) == []


def test_it_draws_what_a_model_found():
    W = np.kron(np.eye(3), 1.0 - np.eye(6)) + 0.01
    model = SpectralClustering("eigengap").fit_graph(Graph.of_adjacency(W))
    plot = eigengap(model.eigenvalues_, model.n_clusters_)
    assert len(series(plot)["groups"]["value"]) == 3
    assert embed({"a": plot}) == embed({"a": eigengap(model.eigenvalues_, 3)})


def test_what_is_no_rising_spectrum_is_refused():
    with pytest.raises(ParameterError, match="in rising order, none below zero; sort them first"):
        eigengap([0.4, 0.1], 1)
    with pytest.raises(ParameterError, match="in rising order, none below zero"):
        eigengap([-0.1, 0.1], 1)
    with pytest.raises(ParameterError, match="values are finite eigenvalues"):
        eigengap([0.0, np.nan], 1)
    with pytest.raises(ParameterError, match="k is how many of the 2 eigenvalues make the groups; got 3"):
        eigengap([0.0, 0.1], 3)
