"""The correlation picture: a cell per pair in the order asked for, faint where not supported, the rest told."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Image, Text

from assay.errors import ParameterError
from assay.views.columns.correlation import CELLS, COLUMNS, NUMBERS, correlation_view
from assay.views.html.embed import embed

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((40, 5)) @ RNG.standard_normal((5, 5))
R = np.corrcoef(ROWS.T)
NAMES = ["age", "dose", "sex", "pulse", "weight"]


def said(plot, side="below"):
    return [item.label.value for part in getattr(plot, side) if isinstance(part, Legend) for item in part.items]


def cells(plot):
    return plot.renderers[0].data_source.data


def colours(plot):
    mapper = plot.renderers[0].glyph.fill_color.transform
    return np.array([mapper.palette[shade] for shade in cells(plot)["shade"]]).reshape(5, 5)


def red_and_blue(colour):
    return int(colour[1:3], 16), int(colour[5:7], 16)


def test_each_pair_has_its_cell_its_number_and_its_colour():
    plot = correlation_view(R, NAMES)
    data = cells(plot)
    for x, y, one, other, text in zip(*(data[k] for k in ("x", "y", "one", "other", "said")), strict=True):
        assert (one, other) == (NAMES[y], NAMES[x])
        assert text == ("" if x == y else f"{R[y, x]:.2f}".replace("-", "−"))
    tints = colours(plot)
    for i, j in zip(*np.triu_indices(5, 1), strict=True):
        red, blue = red_and_blue(tints[i, j])
        assert tints[i, j] == tints[j, i] and (red < blue if R[i, j] > 0.1 else True)
        assert red > blue if R[i, j] < -0.1 else True
    assert len(set(np.diag(tints))) == 1
    assert any(isinstance(r.glyph, Text) for r in plot.renderers)  # few enough for numbers


def test_strength_is_seen_without_colour_as_lightness():
    steps = np.linspace(-1, 1, 21)
    mapper = correlation_view(R).renderers[0].glyph.fill_color.transform
    levels = [mapper.palette[31 + round(30 * r)] for r in steps]
    light = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in levels]) @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(light[:11]) > 0) and np.all(np.diff(light[10:]) < 0)


def test_the_order_is_that_asked_for():
    plot = correlation_view(R, NAMES, order=[4, 2, 0, 1, 3])
    assert [t.text for t in plot.xaxis.major_label_overrides.values()] == ["weight", "sex", "age", "dose", "pulse"]
    assert cells(plot)["said"][1] == f"{R[4, 2]:.2f}".replace("-", "−")


def test_pearson_stands_above_the_diagonal_and_rank_below():
    ranks = np.where(np.eye(5), 1.0, -R)
    plot = correlation_view(R, NAMES, rank=ranks)
    data = cells(plot)
    above = data["x"] > data["y"]
    assert set(data["kind"][above]) == {"Pearson"} and set(data["kind"][data["x"] < data["y"]]) == {"rank"}
    assert data["said"][1] == f"{R[0, 1]:.2f}".replace("-", "−")
    assert data["said"][5] == f"{ranks[1, 0]:.2f}".replace("-", "−")
    assert said(plot) == ["Above the diagonal: Pearson. Below: rank."]


def test_pairs_that_are_not_supported_are_faint():
    sure = np.zeros((5, 5), dtype=bool)
    sure[0, 1] = sure[1, 0] = True
    strong, plain = (
        colours(correlation_view(np.ones((5, 5)), supported=sure)),
        colours(correlation_view(np.ones((5, 5)))),
    )
    assert strong[0, 1] == plain[0, 1] == plain[2, 3]
    assert min(int(strong[2, 3][k : k + 2], 16) for k in (1, 3, 5)) > 180  # near the ground
    assert "faint: not supported" in said(correlation_view(R, supported=sure), "above")


def test_correlations_of_single_precision_may_round_beyond_one():
    rounded = np.full((2, 2), 1.0 + 2e-7, dtype=np.float32)
    assert cells(correlation_view(rounded))["said"].tolist() == ["", "1.00", "1.00", ""]


def test_what_is_not_known_is_grey_and_counted():
    lacking = R.copy()
    lacking[2] = lacking[:, 2] = np.nan
    plot = correlation_view(lacking, NAMES)
    assert said(plot) == ["Grey: not known, 8 cells."]
    assert cells(plot)["said"][2] == "not known"


def test_of_too_many_columns_the_strongest_are_drawn_and_what_others_reach_is_told():
    d = COLUMNS + 50
    table = np.eye(d)
    partners = RNG.permutation(d)
    strength = np.linspace(0.9, 0.1, d // 2)
    for (i, j), r in zip(partners.reshape(-1, 2), strength, strict=True):
        table[i, j] = table[j, i] = r
    plot = correlation_view(table, order=np.arange(d)[::-1])
    (image,) = [r for r in plot.renderers if isinstance(r.glyph, Image)]
    assert image.data_source.data["image"][0].shape == (COLUMNS, COLUMNS)
    kept = np.sort(partners[:COLUMNS])[::-1]
    assert [t.text for t in plot.yaxis.major_label_overrides.values()] == [f"column {j + 1}" for j in kept]
    rest = strength[COLUMNS // 2]
    assert said(plot) == [
        f"150 of 200 columns are drawn, those with the strongest correlations; no other reaches more than {rest:.2f} "
        "with any column."
    ]


def test_sizes_between_are_drawn_with_as_much_as_has_room():
    for d in (NUMBERS + 1, CELLS + 1):
        plot = correlation_view(np.eye(d))
        assert not any(isinstance(r.glyph, Text) for r in plot.renderers)
        assert isinstance(plot.renderers[0].glyph, Image) == (d > CELLS)
    embed({"none": correlation_view(np.empty((0, 0))), "one": correlation_view([[1.0]])})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"matrix": R[:, :3]}, r"one line and one place per column, \(d, d\); got shape \(5, 3\)"),
        ({"matrix": 2 * R}, r"matrix holds correlations, between -1 and 1; got 2 at \(0, 0\), from 0"),
        ({"rank": R[:3, :3]}, r"rank has one line .* \(5, 5\); got shape \(3, 3\)"),
        ({"supported": np.ones((5, 5))}, r"true or false for each pair, \(5, 5\); got float64 values"),
        ({"order": [0, 1, 2, 3, 3]}, "order names each of the 5 columns once, from 0"),
        ({"names": ["a"]}, "names are one per column, 5 of them; got 1"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(change, text):
    with pytest.raises(ParameterError, match=text):
        correlation_view(**({"matrix": R} | change))


def test_a_large_table_is_one_image_with_what_the_page_needs_to_tell_its_cells():
    d = CELLS + 1
    table = np.corrcoef(RNG.standard_normal((d, 9)))
    table[4, 6] = table[6, 4] = np.nan
    plot = correlation_view(table, rank=-table, supported=np.eye(d, dtype=bool))
    data = cells(plot)
    known = ~np.isnan(table)
    shown = np.where(np.tri(d, k=-1, dtype=bool), -table, table)
    assert np.array_equal(data["known"][0], known) and np.array_equal(data["sure"][0], np.eye(d))
    assert np.allclose(data["hundredths"][0][known] / 100, shown[known], rtol=0, atol=0.005)
    assert plot.tags == ["pairs", [f"column {j + 1}" for j in range(d)], ("Pearson", "rank")]
    assert plot.hover[0].renderers == [plot.renderers[0]]


def test_next_to_nothing_has_no_sign():
    assert cells(correlation_view([[1.0, -0.002], [-0.002, 1.0]]))["said"].tolist() == ["", "0.00", "0.00", ""]
