"""Cells are exact: every place lies in the polygon of its nearest centre, in the plane and in a cut through space."""

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend
from scipy.spatial import ConvexHull, Voronoi
from scipy.spatial.distance import cdist

from assay.errors import ParameterError
from assay.views.clusters.groups import COLOURS
from assay.views.clusters.voronoi import cells, voronoi
from assay.views.html.embed import embed

RNG = np.random.default_rng(0)
BOX = (np.array([-2.0, -1.0]), np.array([3.0, 2.0]))


def inside(polygon, places):
    if not len(polygon):
        return np.zeros(len(places), dtype=bool)
    edge = np.roll(polygon, -1, axis=0) - polygon
    gap = places[:, None, :] - polygon[None]
    return (edge[:, 0] * gap[..., 1] - edge[:, 1] * gap[..., 0] >= -1e-9).all(axis=1)


def patches(plot):
    source = next(r for r in plot.renderers if type(r.glyph).__name__ == "Patches").data_source.data
    return {c: np.column_stack([x, y]) for c, x, y in zip(source["centre"], source["x"], source["y"], strict=True)}


def notes(plot):
    return " ".join(item.label.value for part in plot.below if isinstance(part, Legend) for item in part.items)


@pytest.mark.parametrize("k", [1, 2, 3, 30])
def test_every_place_lies_in_the_cell_of_its_nearest_site(k):
    sites = RNG.uniform(BOX[0], BOX[1], (k, 2))
    places = RNG.uniform(*BOX, (500, 2))
    found = np.array([inside(polygon, places) for polygon in cells(sites, np.zeros(k), BOX)])
    assert found[cdist(places, sites).argmin(axis=1), np.arange(500)].all()
    assert (found.sum(axis=0) == 1).all()


def test_the_corners_are_those_of_scipy():
    sites = RNG.uniform(*BOX, (25, 2))
    vertices = Voronoi(sites).vertices
    within = vertices[((vertices > BOX[0]) & (vertices < BOX[1])).all(axis=1)]
    corners = np.concatenate(cells(sites, np.zeros(25), BOX))
    assert len(within) > 20 and cdist(within, corners).min(axis=1).max() < 1e-9


def test_cells_fill_the_box_also_of_collinear_and_equal_sites():
    for sites in ([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]], [[9.0, 9.0]]):
        drawn = [polygon for polygon in cells(sites, np.zeros(len(sites)), BOX) if len(polygon)]
        assert sum(ConvexHull(polygon).volume for polygon in drawn) == pytest.approx(15.0, rel=1e-12)
        assert len(drawn) == len(np.unique(sites, axis=0))


def test_the_cut_through_more_columns_shows_the_true_cells():
    centers = RNG.standard_normal((9, 6))
    plane = np.linalg.qr(RNG.standard_normal((6, 2)))[0]
    drawn = patches(voronoi(RNG.standard_normal((200, 6)), centers, plane=plane))
    u = RNG.uniform(-2.0, 2.0, (400, 2))
    nearest = cdist(centers.mean(axis=0) + u @ plane.T, centers).argmin(axis=1)
    for centre, polygon in drawn.items():
        held = inside(polygon, u)
        assert (nearest[held] == centre).all()


def test_three_centres_lie_in_the_plane_so_that_no_row_is_outside_its_cell():
    X, centers = RNG.standard_normal((300, 5)), RNG.standard_normal((3, 5))
    labels = cdist(X, centers).argmin(axis=1)
    told = notes(voronoi(X, centers, labels))
    assert "cut by the plane" in told and "0% of the rows are drawn outside" in told


def test_rows_and_cells_have_one_colour_and_two_columns_need_no_excuse():
    X, centers = RNG.standard_normal((60, 2)), np.array([[-1.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    plot = voronoi(X, centers, cdist(X, centers).argmin(axis=1))
    source = next(r for r in plot.renderers if type(r.glyph).__name__ == "Patches").data_source.data
    assert source["tint"][:2] == list(COLOURS[:2]) and source["tint"][2] not in COLOURS
    assert "plane" not in notes(plot)
    embed({"cells": plot})


@pytest.mark.parametrize("d", [1, 2, 4])
def test_one_row_one_centre_and_one_column(d):
    one = voronoi(np.zeros((1, d)), np.zeros((1, d)), [0])
    two = voronoi(np.zeros((1, d)), np.arange(2.0)[:, None] + np.zeros((2, d)))
    for plot, k in ((one, 1), (two, 2)):
        drawn = patches(plot)
        areas = [ConvexHull(cell).volume for cell in drawn.values()]
        assert sorted(drawn) == list(range(k)) and min(areas) > 0
        whole = ConvexHull(np.concatenate(list(drawn.values()))).volume
        assert sum(areas) == pytest.approx(whole, rel=1e-9)
        assert list(embed({"plot": plot})[1]) == ["plot"]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match=r"have the same columns; got shapes \(1, 2\) and \(1, 3\)"):
        voronoi([[0.0, 0.0]], [[0.0, 0.0, 0.0]])
    with pytest.raises(ParameterError, match="labels are numbers of centres, from 0 to 0"):
        voronoi([[0.0, 0.0]], [[0.0, 0.0]], [1])
    with pytest.raises(ParameterError, match="centers are finite"):
        voronoi([[0.0, 0.0]], [[np.nan, 0.0]])
    with pytest.raises(ParameterError, match="two directions of length 1 at right angles"):
        voronoi(np.zeros((1, 3)), np.zeros((1, 3)), plane=np.ones((3, 2)))
