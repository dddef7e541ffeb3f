"""The confusion picture: counts and shares by row, what is right quiet, the largest confusions named."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations.legends import Legend
from bokeh.models.glyphs import Text

from assay.errors import ParameterError
from assay.views.html.embed import embed
from assay.views.prediction.confusion import CLASSES, confusion_view

COUNTS = np.array([[90, 10, 0], [1, 998, 1], [0, 0, 0]])


def said(plot):
    return [item.label.value for part in plot.below if isinstance(part, Legend) for item in part.items]


def cells(plot):
    return plot.renderers[0].data_source.data


def test_counts_and_shares_stand_in_their_cells_true_downward():
    data = cells(confusion_view(COUNTS, ["cat", "dog", "owl"]))
    at = {(true, called): k for k, (true, called) in enumerate(zip(data["true"], data["called"], strict=True))}
    assert data["count"][at["cat", "dog"]] == 10 and data["share"][at["cat", "dog"]] == "10.0%"
    assert (data["x"][at["cat", "dog"]], data["y"][at["cat", "dog"]]) == (1, 0)
    assert data["text"][at["owl", "cat"]] == "" and data["below"][at["dog", "dog"]] == "100%"


def test_confusions_stand_out_by_their_share_and_the_diagonal_stays_quiet():
    data = cells(confusion_view(COUNTS))
    right = data["x"] == data["y"]
    tints = np.array(data["tint"])
    assert len(set(tints[right])) == 1 and set(tints[right]).isdisjoint(tints[~right])
    blue = {n: int(tint[5:], 16) for n, tint in zip(data["count"][~right], tints[~right], strict=True)}
    assert blue[10] < blue[1] < 255  # the more orange the larger the share
    np.testing.assert_array_equal(data["seen"] == 0, (data["count"] == 0) & ~right)


def test_the_largest_confusions_are_named():
    assert said(confusion_view(COUNTS, ["cat", "dog", "owl"])) == [
        "1,088 of 1,100 rows are right (98.9%). Most confused: cat taken for dog (10, 10.0%); "
        "dog taken for cat (1, 0.1%); dog taken for owl (1, 0.1%)."
    ]
    assert said(confusion_view(np.diag([3, 4]))) == ["7 of 7 rows are right (100%)."]
    assert said(confusion_view([[0]])) == ["There are no rows."]


def test_of_too_many_classes_those_confused_most_are_drawn():
    counts = np.diag(np.full(50, 100))
    counts[40, 7], counts[7, 40] = 9, 3
    plot = confusion_view(counts)
    drawn = set(cells(plot)["true"])
    assert len(drawn) == CLASSES and {"class 8", "class 41"} <= drawn
    assert said(plot)[0].endswith("30 of 50 classes are drawn, those in most confusions.")
    assert not any(isinstance(r.glyph, Text) for r in plot.renderers)
    embed({"plot": plot})


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (COUNTS[:2], r"a line and a place for each class, \(g, g\); got shape \(2, 3\)"),
        (-COUNTS, "whole numbers that are not negative"),
        (COUNTS / 3, "counts of rows: whole numbers"),
        (np.where(COUNTS == 10, np.nan, COUNTS), "counts of rows: whole numbers"),
        (np.empty((0, 0)), r"got shape \(0, 0\)"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_rule(matrix, text):
    with pytest.raises(ParameterError, match=text):
        confusion_view(matrix)


def test_names_are_one_per_class_and_may_be_numbers():
    assert cells(confusion_view([[1, 0], [0, 1]], np.array([7, 8])))["true"][0] == "7"
    with pytest.raises(ParameterError, match="names are one per class, 3 of them; got 1"):
        confusion_view(COUNTS, ["a"])
