"""The map of the rows on the page: drawn where it stood up, said to be left out where it did not."""

from dataclasses import replace

import numpy as np
import pytest
from sample_study import noise, wholesale
from test_page_html import Page

from assay.asking.finding import Finding
from assay.asking.page import Page as Shared
from assay.evidence.evidence import Evidence, Null
from assay.questions.map.test import RowMap
from assay.report.page import render


def with_map(study, verdict="supported"):
    """The study with a map of its rows, of random places."""
    rows = study.answers["components"].score_rows
    rng = np.random.default_rng(0)
    evidence = Evidence(
        0.6, Null("shuffled", 0.4, 0.45), 0.001, 0.001, 0.55, (0.5, 0.6), 0.8, len(rows), verdict=verdict
    )
    standing = np.linspace(0.0, 1.0, len(rows))
    found = RowMap(
        rows, rng.standard_normal((len(rows), 2)), np.full(len(rows), 0.6), standing, np.full(9, 0.4), 10, 30.0,
        evidence, True,
    )  # fmt: skip
    findings = (*study.findings, Finding("map", "map", "the rows", "A map of the rows.", evidence))
    return replace(study, findings=findings, answers={**study.answers, "map": found})


def test_a_map_that_stood_up_is_drawn_and_counted():
    page = Page(render(with_map(wholesale())))
    assert "view-map" in page.values("id")
    assert "2 components of 6 and the map of the rows would survive a second look." in page.words
    assert "a row keeps 60.0% here, on maps of shuffled columns 40.0%" in page.words


def test_it_is_drawn_without_components_too():
    page = Page(render(with_map(noise())))
    assert {"view-map", "selected-rows"} <= set(page.values("id"))
    assert "The map of the rows would survive a second look." in page.words
    assert "The rows are not drawn along components: their axes would be noise." in page.words


@pytest.mark.parametrize("verdict", ["not distinguishable from chance", "not testable here"])
def test_a_map_that_did_not_is_left_out_and_that_is_said(verdict):
    page = Page(render(with_map(wholesale(), verdict)))
    assert "view-map" not in page.values("id")
    assert "No map of the rows is drawn: shuffled columns give one that is as good." in page.words


def test_map_and_scores_draw_from_one_source_so_that_rows_are_selected_together():
    study = with_map(wholesale())
    result, found = study.answers["components"], study.answers["map"]
    shared = Shared([result, found])
    source = shared.source
    (view,) = found.views(shared)
    scores = next(view for view in result.views(shared) if view.about == "rows")
    assert all(any(r.data_source is source for r in v.figure.renderers) for v in (view, scores))
    drawn = next(r for r in view.figure.renderers if r.data_source is source)
    np.testing.assert_array_equal(source.data[drawn.glyph.x], found.coordinates[:, 0])
    np.testing.assert_array_equal(source.data[drawn.glyph.y], found.coordinates[:, 1])


def test_rows_that_stand_lower_are_drawn_fainter():
    found = with_map(wholesale()).answers["map"]
    (view,) = found.views()
    marks = next(r for r in view.figure.renderers if len(r.data_source.data.get("row", [])) == len(found.rows))
    opacity = marks.data_source.data[marks.glyph.fill_alpha]
    assert (np.diff(opacity) > 0).all()
    np.testing.assert_array_equal(marks.data_source.data["row"], found.rows + 1)


def test_a_study_without_a_map_says_nothing_of_one():
    assert "map of the rows" not in Page(render(wholesale())).words
