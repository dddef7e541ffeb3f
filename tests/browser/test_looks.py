"""What figures share, as a browser draws it: room for their words, clean edges in the dark, cells that answer."""

from __future__ import annotations

import numpy as np
import pytest

from assay.views.columns.canonical_pairs import canonical_pairs_view
from assay.views.columns.correlation import CELLS, COLUMNS, correlation_view
from assay.views.html.figure_file import write_figure
from assay.views.prediction.margin import margin_view
from assay.views.prediction.path import coefficient_path_view
from assay.views.prediction.prediction import prediction_view
from assay.views.prediction.roc import roc_view

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2))
HOSTILE = "<b>gene</b> @row $$x$$"
# of each legend: pixels that its words reach beyond the room made for them, downward and to the right
BEYOND = """(plots) => plots.flatMap((plot) => [...plot.model.above, ...plot.model.below]
  .filter((part) => part.type === 'Legend').map((part) => {
    const view = plot.views.get_one(part), canvas = plot.canvas_view.el.getBoundingClientRect();
    const words = [...view.shadow_el.querySelectorAll('.bk-label, .bk-title')].map((el) => el.getBoundingClientRect());
    const low = Math.max(...words.map((box) => box.bottom)) - canvas.top;
    return [low - view.layout.bbox.bottom, Math.max(...words.map((box) => box.right)) - canvas.right];
  }))"""
TIPS = """(() => {
  const texts = [];
  const walk = (node) => {
    if (node.className === 'tip') texts.push(node.textContent.trim());
    for (const child of [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children]) walk(child);
  };
  walk(document.body);
  return texts;
})()"""


@pytest.fixture(scope="module")
def legends(tmp_path_factory):
    at = np.array([0.0, 0.2, 1.0])
    side = np.where(X[:, 0] > 0, "the first of two classes", "the second")
    figures = {
        "margin": margin_view(X, side, lambda p: 2 * p[:, 0] + p[:, 1], support=[1, 2]),
        "roc": roc_view(at, at, area=0.5, band=(at, at / 2, at), chosen=(0.2, 0.2)),
        "cells": correlation_view(np.corrcoef(X[:16].reshape(8, 4)), supported=np.eye(8, dtype=bool)),
        **canonical_pairs_view(X, X + 1, [1.0, 1.0], [0.9, 0.1]),
    }
    return write_figure(figures, tmp_path_factory.mktemp("looks") / "legends.html", "Legends")


@pytest.mark.parametrize("width", [420, 360])
def test_words_of_a_legend_have_room_at_every_moment_of_a_narrower_page(browser, legends, width):
    browser.open(legends, width=1100)
    browser.ask(
        f"""(async () => {{
          globalThis.beyond = [];
          const plots = await assayPlots, measure = {BEYOND};
          for (const plot of plots) plot.repainted.connect(() => beyond.push(...measure([plot])));
        }})()"""
    )
    browser.do("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.wait(f"(async () => (await assayPlots).every((plot) => plot.bbox.width < {width}))()")
    painted = np.array(browser.ask("beyond"))
    assert len(painted) >= 5
    assert painted[:, 0].max() <= 0


@pytest.mark.parametrize("width", [420, 340])
def test_words_of_a_legend_wrap_at_the_edge_of_a_narrow_page(browser, legends, width):
    browser.open(legends, width=width)
    assert np.max(browser.ask(f"(async () => ({BEYOND})(await assayPlots))()")) <= 0


def test_nothing_of_the_light_page_is_left_at_the_edge_of_a_dark_one(browser, tmp_path):
    figures = {
        "prediction": prediction_view(X[:, 0], X[:, 0] + X[:, 1] / 9),
        "path": coefficient_path_view([0.1, 1, 10], RNG.standard_normal((3, 4)), list("abcd")),
    }
    browser.open(write_figure(figures, tmp_path / "dark.html", "Dark"), dark=True)
    edges = browser.ask(
        """(async () => (await assayPlots).map((plot) => {
          const {canvas} = plot.canvas_view.primary;
          const column = canvas.getContext('2d').getImageData(0, 0, 1, canvas.height).data;
          return column.filter((_, i) => i % 4 === 3 && column[i] > 0).length;
        }))()"""
    )
    assert edges == [0, 0]


@pytest.mark.parametrize("ranked", [False, True])
def test_cells_of_a_large_table_tell_their_pair_and_its_value(browser, tmp_path, ranked):
    d = COLUMNS
    assert d > CELLS
    table = np.corrcoef(RNG.standard_normal((d, 12)))
    table[5, 9] = table[9, 5] = np.nan
    names = [HOSTILE, *(f"column {j}" for j in range(1, d))]
    supported = np.abs(table) > 0.5
    rank = -table if ranked else None
    page = write_figure(correlation_view(table, names, rank=rank, supported=supported), tmp_path / "big.html", "Big")
    browser.open(page, width=1100, height=1200)
    for down, across in ((3, 0), (0, 70), (100, 149), (149, 2), (5, 9)):
        x, y = browser.ask(
            f"""(async () => {{
              const [plot] = await assayPlots, at = plot.canvas_view.el.getBoundingClientRect();
              return [at.left + plot.frame.x_scale.compute({across}), at.top + plot.frame.y_scale.compute({down})];
            }})()"""
        )
        browser.mouse("mouseMoved", x - 20, y)
        browser.mouse("mouseMoved", x, y)
        pair = f"{names[down]}, {names[across]}"
        browser.wait(f"{TIPS}[0] === {pair!r}")
        value = -table[down, across] if ranked and down > across else table[down, across]
        kind = ("rank" if down > across else "Pearson") if ranked else "correlation"
        words = "not known" if np.isnan(value) else f"{value:.2f}".replace("-", "−")
        assert browser.ask(TIPS)[1:] == [f"{kind} {words}", "yes" if supported[down, across] else "no"]
    assert browser.complaints == []


def test_words_of_cells_of_a_large_table_are_sent_once_for_each_column(tmp_path):
    small, large = (
        write_figure(correlation_view(np.eye(d), [f"a long name {j}" for j in range(d)]), tmp_path / f"{d}.html", "t")
        for d in (2, COLUMNS)
    )
    assert large.stat().st_size - small.stat().st_size < 200_000
