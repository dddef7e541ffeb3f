"""Views of predictions as a browser draws them: silent at any size of numbers and page, linked by row."""

from __future__ import annotations

import numpy as np
import pytest

from assay.views.columns.canonical_pairs import canonical_pairs_view, loadings_view
from assay.views.columns.correlation import correlation_view
from assay.views.columns.delay import delay_view
from assay.views.html.figure_file import write_figure
from assay.views.prediction.complexity import complexity_curve_view
from assay.views.prediction.confusion import confusion_view
from assay.views.prediction.margin import margin_view
from assay.views.prediction.path import coefficient_path_view
from assay.views.prediction.prediction import prediction_view
from assay.views.prediction.refusal import refusal_view
from assay.views.prediction.residuals import residual_view
from assay.views.prediction.roc import calibration_view, roc_view
from assay.views.rows.variates import canonical_variates_view

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(5, 1, 60)
SAID = TRUTH + RNG.normal(0, 0.3, 60)
HOSTILE = "<script>document.title='broken'</script> @row ${y} $$z$$"
SOURCES = """[...new Set(Array.from((await assayViews)[0]).filter((view) => view.model.type === 'Figure')
  .flatMap((view) => view.model.renderers.map((r) => r.data_source)))].filter((source) => source?.name === 'rows')"""


def figures():
    X = RNG.standard_normal((60, 2))
    side = X[:, 0] > 0
    at = np.array([0.0, 0.2, 1.0])
    names = [HOSTILE, *"bcdefgh"]
    return {
        "intervals": prediction_view(TRUTH, SAID, intervals=np.stack([SAID - 1, SAID + 1], axis=1), unit=HOSTILE),
        "huge": prediction_view(TRUTH * 1e299, SAID * 1e299),
        "tiny": prediction_view(TRUTH * 1e-301, SAID * 1e-301),
        "none": prediction_view([], []),
        "many": prediction_view(np.arange(6000.0), np.arange(6000.0)[::-1]),
        **residual_view(SAID, TRUTH - SAID),
        "path": coefficient_path_view(
            [0, 1, 10], RNG.standard_normal((3, 8)), names, chosen=1, x_label=HOSTILE, y_label=HOSTILE
        ),
        "wide path": coefficient_path_view([1e-300, 1.0, 1e300], np.full((3, 2), 1e300), names[:2]),
        "margin": margin_view(X, np.where(side, HOSTILE, "b"), lambda p: 2 * p[:, 0] + p[:, 1], support=[1, 2]),
        "variates": canonical_variates_view(X + 4 * side[:, None], np.where(side, HOSTILE, "b")),
        "variate": canonical_variates_view(X[:, :1], side),
        **canonical_pairs_view(X, X + 1, [1.0, 1.0], [0.9, 0.1], sides=(HOSTILE, "b")),
        "loadings": loadings_view(RNG.uniform(-1, 1, 8), RNG.uniform(-1, 1, 20), names),
        "cells": correlation_view(np.corrcoef(RNG.standard_normal((8, 30))), names, rank=np.eye(8)),
        "image": correlation_view(np.corrcoef(RNG.standard_normal((80, 30))), supported=np.eye(80, dtype=bool)),
        "complexity": complexity_curve_view([1, 10, 100], at, at, at / 9, chosen=1, one_standard_error=10),
        "refusal": refusal_view(at, at, lower=at / 2, upper=at, chosen=0.2),
        "roc": roc_view(at, at, area=0.5, band=(at, at / 2, at), chosen=(0.2, 0.2), positive=HOSTILE),
        "calibration": calibration_view(at, at, [3, 4, 5], lower=at / 2, upper=at, event=HOSTILE),
        "confusion": confusion_view(RNG.integers(0, 9, (8, 8)), names),
        "delay": delay_view([0, 1, 2], [0.1, 0.9, 0.2], 1, chance=0.3, unit=HOSTILE),
    }


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    shown = figures()
    return write_figure(shown, tmp_path_factory.mktemp("predictions") / "gallery.html", "Gallery"), len(shown)


@pytest.mark.parametrize(("width", "dark"), [(1100, False), (390, True)])
def test_every_figure_is_drawn_in_silence_on_wide_and_narrow_pages(browser, gallery, width, dark):
    page, number = gallery
    browser.open(page, width=width, dark=dark)
    assert browser.ask("Number(document.documentElement.dataset.drawn)") == number
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask("document.title") == "Gallery – assay"
    assert browser.complaints == []


def test_rows_selected_in_one_view_are_selected_in_all_by_their_numbers(browser, tmp_path):
    rows = np.arange(60) + 100
    shown = {
        "truth": prediction_view(TRUTH, SAID, rows=rows),
        **residual_view(SAID[20:], (TRUTH - SAID)[20:], rows=rows[20:]),
    }
    browser.open(write_figure(shown, tmp_path / "linked.html", "Linked"))
    browser.ask(f"(async () => {{ {SOURCES}[0].selected.indices = [3, 30, 59]; }})()")
    assert browser.ask("document.getElementById('selected-rows').textContent") == "3 selected: rows 103, 130, 159."
    picked = browser.ask(f"(async () => {SOURCES}.map((source) => Array.from(source.selected.indices)))()")
    assert picked == [[3, 30, 59], [10, 39]]
