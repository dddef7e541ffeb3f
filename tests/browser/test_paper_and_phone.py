"""The page where there is little room: on paper and on a phone nothing is cut, left out or read as something else."""

from __future__ import annotations

import base64
import itertools
import re

import numpy as np
import pytest

from assay.views.columns.histogram import as_read, by_level, by_logarithm
from assay.views.columns.pair import Axis, boxes_view
from assay.views.columns.two_histograms import levels_beside
from assay.views.html.figure_file import write_figure
from assay.views.network.drawn_links import DrawnLinks
from assay.views.network.link_scores import link_scores
from assay.views.network.matrix import ordered_matrix
from assay.views.network.ring import ring
from assay.views.rows.scores import biplot, score_source

A4 = {"paperWidth": 8.27, "paperHeight": 11.69}
# of every drawing on the page: pixels it reaches beyond its card, and opaque pixels it has
DRAWN = """(() => [...document.querySelectorAll("figure .bokeh")].map((place) => {
  const card = place.closest("figure").getBoundingClientRect(), at = place.getBoundingClientRect();
  let opaque = 0;
  const walk = (node) => {
    if (node instanceof HTMLCanvasElement && node.width > 0) {
      const pixels = node.getContext("2d").getImageData(0, 0, node.width, node.height).data;
      for (let i = 3; i < pixels.length; i += 4) opaque += pixels[i] > 200;
    }
    for (const child of [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children]) walk(child);
  };
  walk(place);
  return [at.right - card.right, opaque];
}))()"""
# words under the axes of a figure: how many are to be there, and how many are drawn
LABELS = """(async () => (await assayPlots).slice(0, 3).map((plot) => {
  const axis = plot.model.below.find((part) => part.ticker), view = plot.views.get_one(axis);
  const ticks = axis.ticker.ticks.length;
  const coords = view.tick_coords.major[0].length;
  return [ticks, coords, axis.major_label_policy.type];
}))()"""
WIDER = """[...document.querySelectorAll("main table")].filter((table) => {
  const box = table.closest(".scroll").getBoundingClientRect();
  return table.getBoundingClientRect().right > box.right + 1;
}).map((table) => table.caption.textContent)"""


def on_paper(browser):
    browser.do("Emulation.setEmulatedMedia", media="print", features=[])
    browser.do("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)


@pytest.mark.parametrize("width", [1280, 390])
def test_on_paper_every_drawing_is_there_and_lies_inside_its_card(browser, page_of, width):
    browser.open(page_of("mixed"), width=width)
    before = browser.ask(DRAWN)
    assert len(before) >= 2
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    on_paper(browser)
    shown = [one for one in browser.ask(DRAWN) if one[1] > 0]
    assert len(shown) >= len(before) - 1  # the tools to explore are for the screen
    assert max(beyond for beyond, _ in shown) <= 0
    browser.ask("dispatchEvent(new Event('afterprint'))")
    browser.do("Emulation.setEmulatedMedia", media="", features=[])
    assert browser.ask("[...document.querySelectorAll('.bokeh')].every(({ style }) => !style.zoom && !style.width)")


def test_paper_has_no_tools_no_choices_and_no_table_that_is_cut(browser, page_of):
    browser.open(page_of("mixed"))
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    on_paper(browser)
    gone = "[...document.querySelectorAll('nav, .tools, .pages, .switch, .on-screen, #explore')]"
    assert browser.ask(f"{gone}.filter((part) => part.getClientRects().length > 0).length") == 0
    bars = "(async () => (await assayPlots).map((plot) => plot.toolbar_panel?.el).filter(Boolean)"
    assert browser.ask(f"{bars}.every((bar) => getComputedStyle(bar).visibility === 'hidden'))()")
    assert browser.ask("document.documentElement.scrollWidth") <= 718
    assert browser.ask(WIDER) == []


def test_evidence_of_findings_follows_on_paper_without_empty_pages(browser, page_of):
    browser.open(page_of("wholesale"))
    printed = base64.b64decode(browser.do("Page.printToPDF", **A4)["data"])
    sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", printed))
    tall = browser.ask("document.documentElement.scrollHeight")
    # two figures abreast, as on the screen: paper takes about as much height as the screen, at most half more
    assert sheets <= 1 + 1.5 * tall / 1050


@pytest.mark.parametrize("width", [1280, 390])
def test_a_table_too_wide_for_the_page_scrolls_in_a_box_of_its_own(browser, page_of, width):
    browser.open(page_of("mixed"), width=width, touch=width < 500)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    boxes = "[...document.querySelectorAll('main table')].map((table) => table.closest('.scroll'))"
    assert browser.ask(f"{boxes}.every((box) => box && ['auto', 'scroll'].includes(getComputedStyle(box).overflowX))")
    assert browser.ask(f"{boxes}.every((box) => box.tabIndex === 0 && box.getAttribute('aria-label'))")


def test_what_was_tested_is_read_on_a_phone_without_scrolling(browser, page_of):
    browser.open(page_of("wholesale"), width=390, touch=True)
    box = "document.querySelector('#ledger .scroll')"
    assert browser.ask(f"{box}.scrollWidth <= {box}.clientWidth")


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    n = 30
    path = DrawnLinks(list(range(n)), [*range(1, n), 0], [1.0] * n, list(range(n)))
    level = np.repeat(np.arange(3), 20)
    figures = {
        "boxes": boxes_view(
            Axis("island", level, levels=("Biscoe", "Dreamland", "Torgersen")), Axis("y", np.arange(60.0))
        ),
        "many": boxes_view(
            Axis("ward", np.repeat(np.arange(8), 9), levels=[f"a long name {k}" for k in range(8)]),
            Axis("y", np.arange(72.0)),
        ),
        "matrix": ordered_matrix(path, groups=[f"{k // 5}: of Thenardier" for k in range(n)]),
        "ring": ring(path, names=[f"node with a name {k}" for k in range(n)]),
        "scores": link_scores(["numbers of links"], [0.6], [0.8]),
    }
    return write_figure(figures, tmp_path_factory.mktemp("names") / "named.html", "Named")


@pytest.mark.parametrize("width", [1280, 390])
def test_no_level_loses_its_name_to_its_neighbours(browser, named, width):
    browser.open(named, width=width, touch=width < 500)
    for ticks, drawn, policy in browser.ask(LABELS):
        assert ticks == drawn > 2
        assert policy == "AllLabels"
    # and those that stand side by side have room there
    room = """(async () => {
      const [plot] = await assayPlots, axis = plot.model.below.find((part) => part.ticker);
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = `12px ${axis.major_label_text_font}`;
      const wide = [...axis.major_label_overrides.values()].flatMap((words) => words.text.split("\\n"))
        .map((line) => pen.measureText(line).width);
      return [plot.frame.bbox.width / 3.2, Math.max(...wide)];
    })()"""
    apart, widest = browser.ask(room)
    assert widest < apart


@pytest.mark.parametrize("width", [1280, 420, 390, 340])
def test_names_around_a_ring_end_inside_the_figure(browser, named, width):
    browser.open(named, width=width, touch=width < 500)
    beyond = browser.ask(
        """(async () => {
          const plot = (await assayPlots)[3], { left, right, top, bottom } = plot.frame.bbox;
          const pen = document.createElement("canvas").getContext("2d");
          const shown = plot.model.renderers.filter((marks) => marks.glyph?.type === "Text" && marks.visible);
          return shown.flatMap((marks) => {
            const { x, y, text } = marks.data_source.data;
            pen.font = `11px ${marks.glyph.text_font.value}`;
            return Array.from(text, (words, i) => {
              const long = pen.measureText(words).width, away = Math.hypot(x[i], y[i]);
              const px = plot.frame.x_scale.compute(x[i]) + long * x[i] / away;
              const py = plot.frame.y_scale.compute(y[i]) - long * y[i] / away;
              return Math.max(left - px, px - right, top - py, py - bottom);
            });
          });
        })()"""
    )
    assert len(beyond) >= 5
    assert max(beyond) <= 0


def test_words_under_an_axis_fit_on_a_phone(browser, named):
    browser.open(named, width=390, touch=True)
    words = """(async () => (await assayPlots).flatMap((plot) => {
      const pen = document.createElement("canvas").getContext("2d");
      return plot.model.below.filter((part) => part.axis_label).map((axis) => {
        pen.font = `13px ${axis.axis_label_text_font}`;
        return plot.frame.bbox.width + plot.frame.bbox.left - pen.measureText(axis.axis_label.text ?? "").width;
      });
    }))()"""
    assert min(browser.ask(words)) >= 0


def test_names_of_arrows_are_whole_on_a_phone(browser, tmp_path):
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 11, endpoint=False)
    loadings = np.stack([np.cos(angle), 0.3 * np.sin(angle)], axis=1) * 0.9
    drawn = biplot(score_source(rng.standard_normal((80, 2)), np.arange(80)), loadings, [f"column number {k}" for k in
                   range(11)], [0.5, 0.3])  # fmt: skip
    browser.open(write_figure(drawn, tmp_path / "biplot.html", "Biplot"), width=390, touch=True)
    cut = browser.ask(
        """(async () => {
          const [plot] = await assayPlots, { width } = plot.frame.bbox;
          const pen = document.createElement("canvas").getContext("2d");
          return plot.model.center.filter((part) => part.tags[0] === "name" && part.visible).map((name) => {
            pen.font = `bold 12px ${name.text_font}`;
            const half = pen.measureText(name.text.text).width / 2;
            const x = plot.frame.x_scale.compute(name.x) - plot.frame.bbox.left + name.x_offset;
            return Math.max(half - x, x + half - width);
          });
        })()"""
    )
    assert cut
    assert max(cut) <= 0


def test_words_of_small_pictures_are_whole_and_none_touches_another(browser, tmp_path):
    days = np.arange(17_897.0, 18_497.0)  # 2019-01-01 to 2020-08-22
    drawings = [
        by_level([5, 4], ["FEMALE", "MALE"]), by_level([5, 4], ["W" * 15, "a much longer name"]),
        levels_beside([5, 4], [4, 5], ["FEMALE", "MALE"]), as_read(days, kind="time"),
        as_read([2019.0, 2020.0, 2020.0]), as_read(np.linspace(90_210, 90_290, 50)), by_logarithm(np.arange(9e5)),
    ]  # fmt: skip
    style = (
        "svg { width: 240px } text { font: 11px system-ui, sans-serif; text-anchor: middle } "
        ".start { text-anchor: start } .end { text-anchor: end }"
    )
    page = tmp_path / "small.html"
    page.write_text(f"<style>{style}</style>{''.join(drawings)}", encoding="utf-8")
    browser.open(page)
    boxes = browser.ask(
        """[...document.querySelectorAll("svg")].map((drawing) => [...drawing.querySelectorAll("text")].map((words) => {
          const { x, y, width } = words.getBBox();
          return [x, x + width, Math.round(y)];
        }))"""
    )
    assert len(boxes) == len(drawings)
    for drawing in boxes:
        assert drawing
        assert min(left for left, _, _ in drawing) >= 0
        assert max(right for _, right, _ in drawing) <= 240
        for y in {y for _, _, y in drawing}:
            line = sorted((left, right) for left, right, at in drawing if at == y)
            assert all(before[1] <= after[0] for before, after in itertools.pairwise(line))


def test_a_table_of_few_columns_is_seen_whole_and_a_wider_one_shows_that_it_goes_on(browser, page_of):
    browser.open(page_of("mixed"), width=1280)
    browser.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    few = "[...document.querySelectorAll('main table')].filter((table) => table.tHead.rows[0].cells.length <= 3)"
    assert browser.ask(f"{few}.length") >= 2
    assert (
        browser.ask(f"{few}.filter((table) => table.offsetWidth > table.closest('.scroll').clientWidth + 1).length")
        == 0
    )
    browser.open(page_of("mixed"), width=390, height=800, touch=True)
    browser.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    wide, fits = (
        f"[...document.querySelectorAll('main .scroll')].filter((box) => box.scrollWidth {how} box.clientWidth && "
        "box.clientWidth)" for how in (">", "===")
    )  # fmt: skip
    faded = ".map((box) => getComputedStyle(box).getPropertyValue('--fade-right'))"
    assert browser.ask(f"{wide}.length") and "0px" not in browser.ask(wide + faded)
    assert set(browser.ask(fits + faded)) == {"0px"}
    browser.ask(f"{wide}.forEach((box) => {{ box.scrollLeft = box.scrollWidth; }})")
    browser.wait(f"{wide + faded}.every((fade) => fade === '0px')")


def test_the_first_column_of_a_wide_table_stays_in_sight(browser, page_of):
    browser.open(page_of("mixed"), width=390, touch=True)
    at = """(() => {
      const boxes = [...document.querySelectorAll("#data .scroll")];
      const box = boxes.find((one) => one.scrollWidth > one.clientWidth + 100);
      box.scrollLeft = 100;
      const head = box.querySelector("tbody th");
      return head.getBoundingClientRect().left - box.getBoundingClientRect().left;
    })()"""
    assert browser.ask(at) >= 0
