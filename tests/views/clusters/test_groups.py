"""Groups told apart twice: by a colour that is seen on light and dark pages, and by shape."""

from __future__ import annotations

import numpy as np
import pytest

from assay.views.clusters.groups import COLOURS, MARKERS, MOST, grouped

LIGHT, DARK = "#ffffff", "#1b1f23"


def luminance(colour):
    """WCAG 2 relative luminance."""
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("ground", [LIGHT, DARK])
def test_every_colour_stands_out_on_light_and_on_dark(colour, ground):
    low, high = sorted([luminance(colour), luminance(ground)])
    assert (high + 0.05) / (low + 0.05) >= 3


def test_no_two_groups_share_a_colour_or_a_shape():
    assert len(set(COLOURS)) == len(set(MARKERS)) == MOST == 10


def test_numbers_come_in_their_order_and_are_counted():
    looks = grouped([10, 2, 2, 10, 10])
    assert looks.names == ["2 (2)", "10 (3)"]
    assert looks.code.tolist() == [1, 0, 0, 1, 1]


def test_the_largest_ten_keep_their_own_looks_and_the_rest_are_one():
    labels = [f"g{j:02d}" for j in range(14) for _ in range(30 - j)]
    looks = grouped(labels)
    assert looks.names[:10] == [f"g{j:02d} ({30 - j})" for j in range(10)]
    assert looks.names[10] == f"other ({20 + 19 + 18 + 17})"
    assert len(set(zip(looks.colours, looks.markers, strict=True))) == 11
    assert {labels[i] for i in np.flatnonzero(looks.code == 10)} == {"g10", "g11", "g12", "g13"}
    assert looks.texts == labels


def test_what_is_not_known_is_neither_a_group_nor_left_out():
    looks = grouped(np.array(["a", None, np.nan, "a"], dtype=object))
    assert looks.names == ["a (2)", "not known (2)"]
    assert looks.code.tolist() == [0, 1, 1, 0]


def test_texts_and_numbers_may_be_mixed_and_long_ones_lose_their_middle():
    looks = grouped([3, "b", 1.5, "a label that is much too long for a legend"])
    assert looks.names[:2] == ["1.5 (1)", "3 (1)"]
    assert max(len(name) for name in looks.names) <= 18 + len(" (1)")
    assert grouped([]).names == []
