"""Ellipses are level lines of the law on the axes drawn; the BIC is drawn as it was given."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.geometry import Span
from bokeh.models.annotations.legends import Legend
from scipy.stats import chi2

from assay.errors import ParameterError
from assay.views.clusters.groups import COLOURS
from assay.views.clusters.mixture import bic_choice, ellipse, mixture_map
from assay.views.html.embed import embed

RNG = np.random.default_rng(0)
ROWS, MEANS = RNG.standard_normal((60, 3)), np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
ROOTS = RNG.standard_normal((2, 3, 3))
FULL = ROOTS @ ROOTS.swapaxes(1, 2)


def rings(plot):
    found = [r.data_source.data for r in plot.renderers if type(r.glyph).__name__ == "MultiLine"]
    return [[np.stack([x, y], axis=1) for x, y in zip(data["x"], data["y"], strict=True)] for data in found]


def notes(plot):
    return " ".join(item.label.value for part in plot.below if isinstance(part, Legend) for item in part.items)


@pytest.mark.parametrize("columns", [(0, 1), (2, 0)])
def test_ellipses_lie_at_one_and_two_deviations_of_the_marginal_law(columns):
    drawn = rings(mixture_map(ROWS, MEANS, FULL, columns=columns))
    for deviations, lines in zip((1.0, 2.0), drawn, strict=True):
        for line, mean, S in zip(lines, MEANS, FULL, strict=True):
            gap = line - mean[list(columns)]
            inverse = np.linalg.inv(S[np.ix_(columns, columns)])
            np.testing.assert_allclose(np.einsum("ia,ab,ib->i", gap, inverse, gap), deviations**2, rtol=1e-9)
            np.testing.assert_allclose(line[0], line[-1], atol=1e-12)


def test_the_note_tells_how_much_the_ellipses_hold():
    shares = [f"{chi2(2).cdf(deviations**2):.0%}" for deviations in (1.0, 2.0)]
    assert all(share in notes(mixture_map(ROWS, MEANS, FULL)) for share in shares)


def test_every_type_of_covariance_is_drawn_as_its_dense_form():
    diag, sizes = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([2.0, 9.0])
    for given, name, dense in (
        (FULL[0], "tied", FULL[[0, 0]]),
        (diag, "diag", [np.diag(line) for line in diag]),
        (sizes, "spherical", [size * np.eye(3) for size in sizes]),
    ):
        np.testing.assert_allclose(
            rings(mixture_map(ROWS, MEANS, given, name)), rings(mixture_map(ROWS, MEANS, dense)), atol=1e-12
        )


def test_a_plane_shows_the_law_along_its_directions():
    A = np.linalg.qr(RNG.standard_normal((3, 2)))[0]
    (line, _), _ = rings(mixture_map(ROWS, MEANS, FULL, plane=A))
    np.testing.assert_allclose(line, ellipse(MEANS[0] @ A, A.T @ FULL[0] @ A, 1.0), atol=1e-12)


def test_components_have_the_colour_of_their_rows_and_their_weight_is_told():
    labels = np.where(ROWS[:, 0] > 0, 1, 0)
    plot = mixture_map(ROWS, MEANS, FULL, labels=labels, weights=[0.25, 0.75])
    lines = next(r for r in plot.renderers if type(r.glyph).__name__ == "MultiLine").data_source.data
    assert lines["tint"] == list(COLOURS[:2])
    assert lines["weight"].tolist() == [0.25, 0.75]
    only = mixture_map(ROWS, MEANS, FULL, labels=np.ones(60, dtype=int))
    tints = next(r for r in only.renderers if type(r.glyph).__name__ == "MultiLine").data_source.data["tint"]
    assert tints[1] == COLOURS[0] != tints[0]


def test_a_flat_component_is_drawn_as_a_line_and_the_page_can_be_made():
    plot = mixture_map(ROWS, MEANS[:1], np.diag([1.0, 0.0, 1.0])[None])
    np.testing.assert_allclose(rings(plot)[0][0][:, 1], 1.0, atol=1e-12)
    embed({"a": plot})


def test_the_bic_of_every_number_and_shape_is_drawn_and_the_chosen_marked():
    bic = np.array([[9.0, 8.0], [5.0, 7.0], [6.0, 7.5]])
    plot = bic_choice([1, 2, 3], bic, ["full", "diag"], chosen=2)
    (names,) = [part for part in plot.above if isinstance(part, Legend)]
    assert [item.label.value for item in names.items] == ["full", "diag"]
    drawn = [item.renderers[0].data_source.data["bic"] for item in names.items]
    np.testing.assert_array_equal(np.stack(drawn, axis=1), bic)
    assert [part.location for part in plot.center if isinstance(part, Span)] == [2]
    embed({"a": plot, "b": bic_choice([1], [[3.0]], ["full"])})


def test_mismatched_input_is_refused():
    with pytest.raises(ParameterError, match=r"points and means have the same columns; got shapes \(60, 2\)"):
        mixture_map(ROWS[:, :2], MEANS, FULL)
    with pytest.raises(ParameterError, match=r"diag covariances have shape \(2, 3\) here; got \(2, 3, 3\)"):
        mixture_map(ROWS, MEANS, FULL, "diag")
    with pytest.raises(ParameterError, match="covariance_type is one of 'full', 'tied', 'diag', 'spherical'; got 'x'"):
        mixture_map(ROWS, MEANS, FULL, "x")
    with pytest.raises(ParameterError, match=r"columns are two different numbers from 0 to 2; got \(1, 1\)"):
        mixture_map(ROWS, MEANS, FULL, columns=(1, 1))
    with pytest.raises(ParameterError, match=r"plane has shape \(3, 2\), a direction for each axis; got \(2, 3\)"):
        mixture_map(ROWS, MEANS, FULL, plane=np.ones((2, 3)))
    with pytest.raises(ParameterError, match=r"weights has one number per component, 2; got shape \(3,\)"):
        mixture_map(ROWS, MEANS, FULL, weights=np.ones(3))
    with pytest.raises(
        ParameterError, match=r"one column per shape; got shape \(1, 2\) for \(1,\) numbers and 1 shapes"
    ):
        bic_choice([1], [[1.0, 2.0]], ["full"])
