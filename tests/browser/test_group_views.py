"""Groups, trees and rows that do not belong as a browser draws them: silent, and selected together by their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from assay.views.clusters.voronoi import voronoi
from assay.views.html.figure_file import write_figure
from assay.views.rows.anomaly_map import anomaly_map
from assay.views.rows.contribution_map import contribution_map
from assay.views.rows.embedding import embedding_map
from assay.views.tree.dendrogram import dendrogram

RNG = np.random.default_rng(3)
SOURCES = """(await assayViews).flatMap((manager) => Array.from(manager)).filter((view) => view.model.type === 'Figure')
  .flatMap((view) => view.model.renderers.map((r) => r.data_source)).filter((source) => source?.name === 'rows')"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    X = RNG.standard_normal((60, 2))
    X[7] = [9.0, 9.0]
    flagged = np.arange(60) == 7
    figures = {
        "map": embedding_map(X, rows=np.arange(1, 61)),
        "anomalies": anomaly_map(X[::-1], -np.hypot(*X[::-1].T), flagged[::-1], rows=np.arange(60, 0, -1),
                                 boundary=lambda at: 4 - np.hypot(*at.T)),
        "columns": contribution_map([[0.7, 0.3]], ["<b>a</b>", "b"], rows=[8]),
        "tree": dendrogram(linkage(RNG.standard_normal((400, 3)), "ward"), cut=3),
        "cells": voronoi(X, np.array([[0.0, 0.0], [2.0, 1.0], [-1.0, 2.0]])),
    }  # fmt: skip
    return write_figure(figures, tmp_path_factory.mktemp("groups") / "groups.html", "Groups")


def test_every_figure_is_drawn_without_a_complaint(browser, page):
    browser.open(page, height=900)
    browser.wait("document.documentElement.dataset.drawn === '5'")
    assert browser.ask("document.querySelectorAll('b').length") == 0


def test_rows_selected_in_one_table_are_selected_in_another_by_their_numbers(browser, page):
    browser.open(page, height=900)
    browser.wait("document.documentElement.dataset.drawn === '5'")
    rows = browser.ask(
        f"""(async () => {{
          const [one, two] = [...new Set({SOURCES})];
          one.selected.indices = [7, 20];
          const numbers = (source) => Array.from(source.selected.indices, (i) => source.data.row[i]);
          return [one, two].map((source) => numbers(source).sort((a, b) => a - b));
        }})()"""
    )
    assert rows == [[8, 21], [8, 21]]
