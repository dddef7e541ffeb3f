"""Groups and rows that do not belong, on the page: drawn where they stood up, and only there."""

from dataclasses import replace

import numpy as np
import pytest
from sample_study import HOSTILE
from test_page_html import Page

import assay
from assay.asking.page import Page as Shared
from assay.report.headline import headline
from assay.report.page import render


def table(names, n=260):
    rng = np.random.default_rng(1)
    labels = rng.integers(3, size=n)
    X = np.array([[0, 0, 0, 0], [7, 5, 0, -4], [0, 6, 7, 4]])[labels] + rng.standard_normal((n, 4))
    X[17], X[40] = [-12.0, 14.0, -12.0, 14.0], [0.0, 0.0, 0.0, 40.0]
    return dict(zip(names, X.T, strict=True))


@pytest.fixture(scope="module")
def study():
    import pandas as pd

    return assay.study(pd.DataFrame(table(["height", "weight", "ph", "iron"])))


@pytest.fixture(scope="module")
def page(study):
    return Page(render(study))


def test_the_headline_counts_groups_and_rows(study):
    line = headline(study).line
    assert "3 groups of rows" in line and "2 rows that do not belong" in line


def test_groups_are_drawn_named_and_told_apart(page):
    assert "view-groups" in page.values("id")
    assert "What tells the groups apart" in page.words
    assert "Means of the groups in standard deviations from the mean of all rows" in page.words


def test_the_table_of_groups_holds_their_means(study):
    found = study.answers["groups"]
    labels = found.labels
    assert found.means.shape == (3, 4)
    np.testing.assert_allclose((np.bincount(labels)[:, None] * found.means).sum(axis=0) / len(labels), 0, atol=1e-9)
    apart = next(view for view in found.views() if view.figure is None)
    assert all(name in apart.numbers for name in ("height", "weight", "ph", "iron"))


def test_rows_that_do_not_belong_are_drawn_with_their_columns(page, study):
    assert {"view-distances", "view-contributions"} <= set(page.values("id"))
    found = study.answers["anomalies"]
    assert sorted(found.rows) == [17, 40]
    assert "iron" in page.words and "Rows that do not belong, the farthest first" in page.words


def test_the_same_rows_are_selected_in_views_with_rows_of_their_own(study):
    distances = study.answers["anomalies"].views()[0].figure
    shared = Shared(study.answers.values()).source
    own = next(r.data_source for r in distances.renderers if r.data_source.name == "rows")
    assert own is not shared and set(own.data["row"]) == set(shared.data["row"])


@pytest.mark.parametrize("verdict", ["not distinguishable from chance", "not testable here"])
def test_nothing_is_drawn_of_what_did_not_stand_up(study, verdict):
    groups, rows = study.answers["groups"], study.answers["anomalies"]
    groups = replace(groups, evidence=replace(groups.evidence, verdict=verdict))
    rows = replace(rows, evidence=replace(rows.evidence, verdict=verdict))
    shared = Shared([study.answers["components"], groups])
    assert shared.groups is None and groups.views(shared) == [] and rows.views(shared) == []


def test_names_from_the_data_are_shown_not_run(study):
    groups, rows = study.answers["groups"], study.answers["anomalies"]
    hostile = tuple(HOSTILE[:4])
    named = {"groups": replace(groups, columns=hostile), "anomalies": replace(rows, columns=hostile)}
    html = render(replace(study, answers={**study.answers, **named}))
    assert "<img src=x" not in html and "<b onmouseover" not in html
