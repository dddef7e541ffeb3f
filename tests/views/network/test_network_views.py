"""Networks on a ring, as chords and as a matrix."""

import json
import math

import numpy as np
import pytest
from bokeh.embed import json_item
from bokeh.models import Legend

import assay
from assay.errors import ParameterError
from assay.summary.graph.graph import Graph
from assay.views.network.drawn_links import DrawnLinks, heaviest
from assay.views.network.matrix import ordered_matrix
from assay.views.network.node_map import node_map
from assay.views.network.ring import LINKS, NODES, ring


def random_graph(n=40, m=120, seed=0, directed=False):
    rng = np.random.default_rng(seed)
    ends = rng.integers(n, size=(m, 2))
    return Graph.of_edges(*ends.T, rng.integers(1, 9, m).astype(float), n=n, directed=directed)


def curves(plot):
    return next(r for r in plot.renderers if "x0" in r.data_source.data)


def nodes(plot):
    return next(r.data_source for r in plot.renderers if r.data_source.name == "rows")


def test_nodes_lie_on_the_unit_circle_in_the_order_given_and_links_end_at_them():
    graph = random_graph()
    order = np.random.default_rng(1).permutation(graph.n)
    plot = ring(DrawnLinks.of(graph, order))
    at = nodes(plot).data
    assert np.allclose(np.hypot(at["x"], at["y"]), 1.0)
    assert at["row"].tolist() == [str(node) for node in order]
    turned = np.unwrap(np.arctan2(at["y"], at["x"]))
    assert (np.diff(turned) < 0).all()  # clockwise, from the top
    links = curves(plot).data_source.data
    places = {(round(x, 9), round(y, 9)) for x, y in zip(at["x"], at["y"], strict=True)}
    for x, y in (("x0", "y0"), ("x1", "y1")):
        assert {(round(a, 9), round(b, 9)) for a, b in zip(links[x], links[y], strict=True)} <= places


@pytest.mark.parametrize("power", [2.0, 3.0, 2.5])
def test_curves_are_those_of_the_formula(power):
    graph = Graph.of_edges([0, 1], [1, 2], n=3)
    plot = ring(DrawnLinks.of(graph, [0, 1, 2]), power=power)
    drawn = curves(plot)
    data = drawn.data_source.data
    for link in range(2):
        end, start = np.array([data["x1"][link], data["y1"][link]]), np.array([data["x0"][link], data["y0"][link]])
        for t in (0.0, 0.3, 0.5, 1.0):
            wanted = end * t**power + start * (1 - t) ** power
            if power == 2.5:  # a line through points of the curve
                along = np.linspace(0, 1, len(data["xs"][link]))
                got = np.array([np.interp(t, along, data[key][link]) for key in ("xs", "ys")])
                # between points a line is h^2 / 8 times the second derivative, 2 p (p - 1) at most, away
                assert np.allclose(got, wanted, rtol=0, atol=2 * 2.5 * 1.5 / 8 * along[1] ** 2)
                continue
            # Bezier curves whose control points are what the glyph says
            glyph, k = drawn.glyph, int(power)
            middle = [(glyph.cx, glyph.cy)] if k == 2 else [(glyph.cx0, glyph.cy0), (glyph.cx1, glyph.cy1)]
            points = [start, *(np.array(m, dtype=float) for m in middle), end]
            got = sum(math.comb(k, i) * (1 - t) ** (k - i) * t**i * p for i, p in enumerate(points))
            assert np.allclose(got, wanted)


def test_of_many_links_the_heaviest_are_drawn_and_the_threshold_is_said():
    graph = random_graph(60, 900)
    links = DrawnLinks.of(graph, np.arange(60))
    kept, least = heaviest(links, np.ones(60, dtype=bool), 50)
    assert 50 <= len(kept) <= 75
    left = np.setdiff1d(np.arange(len(links.weights)), kept)
    assert links.weights[kept].min() == least >= links.weights[left].max()
    plot = ring(links, most=50)
    assert len(curves(plot).data_source.data["x0"]) == len(kept)
    words = " ".join(item.label.value for layout in plot.below if isinstance(layout, Legend) for item in layout.items)
    assert f"weight {least:g} or more" in words


def test_links_of_one_weight_are_drawn_evenly_and_counted():
    n = 100
    ends = np.array([(a, b) for a in range(n) for b in range(a + 1, n)])
    links = DrawnLinks(*ends.T, np.ones(len(ends)), np.arange(n))
    kept, _ = heaviest(links, np.ones(n, dtype=bool), 500)
    assert len(kept) == 500
    touched = np.bincount(np.concatenate([links.sources[kept], links.targets[kept]]), minlength=n)
    assert touched.min() > 0


def test_of_very_many_nodes_the_largest_are_drawn():
    n = NODES + 500
    size = np.arange(n)
    plot = ring(DrawnLinks([0], [1], [1.0], np.arange(n)), size=size)
    assert nodes(plot).data["row"].tolist() == [str(node) for node in range(500, n)]


def test_nodes_of_a_group_stand_together_and_the_largest_group_first():
    graph = random_graph(12, 30)
    groups = ["b", "a", "a", "", "a", "b"] * 2
    order = DrawnLinks.of(graph, np.arange(12), groups).order
    assert [groups[node] for node in order] == ["a"] * 6 + ["b"] * 4 + [""] * 2


def test_a_matrix_has_a_dark_cell_for_each_link_and_no_other():
    graph = random_graph(20, 40, directed=True)
    order = np.random.default_rng(2).permutation(20)
    image = ordered_matrix(DrawnLinks.of(graph, order), directed=True).renderers[0].data_source.data["image"][0]
    dense = graph.weights.toarray()[np.ix_(order, order)]
    np.fill_diagonal(dense, 0)
    assert np.array_equal(image > 0, dense > 0)


def test_a_matrix_of_many_nodes_adds_links_up_in_cells():
    n = 1000
    image = ordered_matrix(DrawnLinks([0, 999], [1, 500], [1.0, 1.0], np.arange(n))).renderers[0]
    cells = image.data_source.data["image"][0]
    assert cells.shape == (320, 320)
    assert np.count_nonzero(cells) == 3  # a link among neighbours falls on the diagonal, the other is there twice
    assert cells[0, 0] > 0
    assert cells[319, 160] > 0


def test_what_does_not_fit_is_refused_in_words():
    links = DrawnLinks([0], [1], [1.0], [0, 1])
    with pytest.raises(ParameterError, match="power of the curves is 1 or larger"):
        ring(links, power=0.5)
    with pytest.raises(ParameterError, match="names has one entry for each node; got 1 for 2 nodes"):
        ring(links, names=["a"])
    with pytest.raises(ParameterError, match="every one of 2 nodes once"):
        DrawnLinks([0], [1], [1.0], [0, 0])


@pytest.mark.parametrize("graph", [Graph.of_edges([0], [1]), Graph.of_edges([0], [0]), Graph.of_edges([], [], n=3)])
def test_graphs_of_hardly_anything_are_drawn(graph):
    assert len(assay.plot(graph).figures) == 3


def test_a_drawn_network_stays_small():
    assert LINKS <= 2000
    plot = assay.plot(random_graph(3000, 20000))
    assert len(json.dumps(json_item(plot))) < 1_500_000


def test_nodes_without_a_group_are_said_to_be_in_none():
    graph = random_graph()
    groups = ["a"] * 30 + [""] * 10
    for plot in (
        ring(DrawnLinks.of(graph, np.arange(40)), groups=groups),
        node_map(np.random.default_rng(0).normal(size=(40, 2)), [], np.ones(40), names=["n"] * 40, groups=groups),
    ):
        said = [item.label.value for legend in plot.select(Legend) for item in legend.items]
        assert {"a (30)", "in no group (10)"} <= set(said)
