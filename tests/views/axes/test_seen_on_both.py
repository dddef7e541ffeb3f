"""What is drawn on the page's own ground is seen on a light page and on a dark one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assay.views.axes.theme import CHANCE, LINE, REAL, UNSEEN
from assay.views.columns.gap_patterns import gap_patterns
from assay.views.rows.anomaly_map import anomaly_map
from assay.views.rows.chosen_pair import chosen_pair

GROUNDS = ("#ffffff", "#1b1f23")  # of figures, in page.css
LEAST = 3.0  # what the guidelines for accessible pages ask of marks (WCAG 2.2, 1.4.11)


def _luminance(colour: str) -> float:
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("colour", [REAL, UNSEEN, CHANCE, LINE])
@pytest.mark.parametrize("ground", GROUNDS)
def test_colours_of_data_stand_out_on_both_grounds(colour, ground):
    assert contrast(colour, ground) >= LEAST


def _fixed_colours(plot) -> set[str]:
    """Colours of lines and words that no page changes."""
    found = set()
    for renderer in plot.renderers:
        glyphs = [renderer.line_renderer.glyph] if hasattr(renderer, "line_renderer") else [renderer.glyph]
        for glyph in glyphs:
            for name in ("text_color", "line_color"):
                value = getattr(glyph, name, None)
                if isinstance(value, str) and re.fullmatch("#[0-9a-f]{6}", value):
                    found.add(value)
    return found


def test_lines_and_words_on_the_ground_stand_out_on_both():
    places = np.stack([np.arange(9.0), np.arange(9.0)], axis=1)
    drawn = [
        anomaly_map(places, -places[:, 0], places[:, 0] > 7, boundary=lambda at: 7 - at[:, 0]),
        gap_patterns([[True, False]], [3], ["a", "b"]),
        chosen_pair(np.arange(5), linked=False),
    ]
    for plot in drawn:
        colours = _fixed_colours(plot)
        assert colours
        for colour in colours:
            assert min(contrast(colour, ground) for ground in GROUNDS) >= LEAST, (plot, colour)
