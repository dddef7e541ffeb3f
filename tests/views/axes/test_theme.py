"""Colours can be told from both grounds and from each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from assay.views.axes import theme
from assay.views.axes.theme import figure, label

LIGHT, DARK = "#ffffff", "#1b1f23"
# what a protanope and a deuteranope see, linear RGB: Viénot, Brettel and Mollon, Color Res. Appl. 24 (1999)
SEEN_BY = {
    "protanope": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deuteranope": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


def linear(color: str) -> np.ndarray:
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """WCAG 2.2 contrast ratio."""
    light, dark = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) + 0.05 for c in (a, b)), reverse=True)
    return light / dark


@pytest.mark.parametrize("ground", [LIGHT, DARK])
@pytest.mark.parametrize("color", [theme.REAL, theme.CHANCE, theme.UNSEEN, theme.ARROW])
def test_marks_stand_out_on_light_and_on_dark(color, ground):
    assert contrast(color, ground) >= 3


def test_ink_is_legible_on_paper():
    assert contrast(theme.INK, LIGHT) >= 7


@pytest.mark.parametrize("eye", SEEN_BY)
def test_colours_that_carry_meaning_differ_for_the_colour_blind(eye):
    seen = [
        np.cbrt(np.clip(np.array(SEEN_BY[eye]) @ linear(c), 0, 1)) for c in (theme.REAL, theme.CHANCE, theme.UNSEEN)
    ]
    for a, b in itertools.combinations(seen, 2):
        assert np.linalg.norm(a - b) > 0.12


def test_a_figure_without_tools_leaves_touch_to_the_page():
    plot = figure(x_label="x", y_label="y")
    assert plot.toolbar_location is None
    assert plot.toolbar.logo is None
    assert plot.sizing_mode == "stretch_width"


def test_a_label_keeps_dollars_as_dollars():
    assert label(0, 0, "$$x$$").text.text == "$$x$$"
