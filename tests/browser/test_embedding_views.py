"""Maps as a browser draws them: selected together, readable at every width, and silent."""

from __future__ import annotations

import numpy as np
import pytest

from assay.views.clusters.scales import scale_choice
from assay.views.columns.decay import eigenvalue_decay
from assay.views.html.figure_file import write_figure
from assay.views.rows.embedding import add_map, embedding_map
from assay.views.rows.scores import score_pair, score_source
from assay.views.rows.shepard import shepard

RNG = np.random.default_rng(0)
HOSTILE = ("<script>document.title='broken'</script>", '<img src=x onerror="document.title=1">', "$$x$$ @row ${y}")
PLOTS = "Array.from((await assayViews)[0]).filter((view) => view.model.type === 'Figure')"
SAID = "document.getElementById('selected-rows').textContent"
TIPS = """(() => {
  const texts = [];
  const walk = (node) => {
    if (node.className === 'tip') texts.push(node.textContent.trim());
    for (const child of [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children]) walk(child);
  };
  walk(document.body);
  return texts;
})()"""


def on_screen(browser, number, x, y):
    """Where a place of the data is in the window."""
    return browser.ask(
        f"""(async () => {{
          const plot = {PLOTS}[{number}], at = plot.canvas_view.el.getBoundingClientRect();
          return [at.left + plot.frame.x_scale.compute({x}), at.top + plot.frame.y_scale.compute({y})];
        }})()"""
    )


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    places = np.vstack([RNG.normal(0, 1, (30, 2)), RNG.normal(20, 1, (20, 2))])
    source = add_map(score_source(RNG.standard_normal((50, 2)), np.arange(101, 151)), places)
    groups = [*(HOSTILE * 10), *(["plain"] * 20)]
    figures = {
        "map": embedding_map(source, groups=groups, names=groups),
        "scores": score_pair(source, 1, 2, [0.5, 0.3]),
    }
    return write_figure(figures, tmp_path_factory.mktemp("maps") / "linked.html", "Linked"), places


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    X = RNG.standard_normal((90, 3))
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.linalg.norm(X[:, None, :2] - X[:, :2], axis=2)
    figures = {
        "density": embedding_map(RNG.standard_normal((6000, 2)), groups=np.arange(6000) % 12),
        "colour": embedding_map(X, colour=X[:, 2], faint=RNG.uniform(size=90), axes=("east, km", "north, km")),
        "shepard": shepard(apart, near, near),
        "decay": eigenvalue_decay(np.r_[5.0, 2.0, 1.0, -0.2], kept=2, chance=[1.0]),
        "scales": scale_choice([5, 10, 20], [0.2, 0.1, 0.3], [0.5, 1.0, 1.0], 10),
    }
    return write_figure(figures, tmp_path_factory.mktemp("maps") / "gallery.html", "Gallery")


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    places = RNG.uniform(0, [3, 1], (40, 2))
    plot = embedding_map(places, names=[f"place {i}" for i in range(40)])
    return write_figure(plot, tmp_path_factory.mktemp("maps") / "named.html", "Named")


def test_rows_selected_on_the_map_are_selected_among_the_scores_and_named(browser, linked):
    page, places = linked
    browser.open(page, height=900)
    x0, y0 = on_screen(browser, 0, *(places[30:].min(axis=0) - 2))
    x1, y1 = on_screen(browser, 0, *(places[30:].max(axis=0) + 1))
    browser.mouse("mouseMoved", x0, y0)
    browser.mouse("mousePressed", x0, y0, "left")
    browser.mouse("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2, "left")
    browser.mouse("mouseMoved", x1, y1, "left")
    browser.mouse("mouseReleased", x1, y1, "left")
    browser.wait(f"{SAID} !== ''")
    assert browser.ask(SAID) == f"20 selected: rows {', '.join(str(row) for row in range(131, 151))}."
    selected = browser.ask(
        f"""(async () => {PLOTS}.flatMap((view) => view.model.renderers.map((r) => r.data_source))
             .filter((source) => source.name === 'rows').map((source) => Array.from(source.selected.indices)))()"""
    )
    assert len(selected) == 2
    assert selected[0] == selected[1] == list(range(30, 50))


def test_hostile_groups_and_names_stay_text_in_the_legend_and_under_the_pointer(browser, linked):
    page, places = linked
    browser.open(page, height=900)
    found = set()
    for i in range(3):
        x, y = on_screen(browser, 0, *places[i])
        browser.mouse("mouseMoved", x - 2, y)
        browser.mouse("mouseMoved", x, y)
        browser.wait(f"{TIPS}.length > 0")
        found.update(browser.ask(TIPS))
    assert found & set(HOSTILE)
    assert browser.ask("document.title") == "Linked – assay"
    assert browser.ask("document.querySelectorAll('img').length") == 0
    assert browser.complaints == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_figure_is_drawn_in_silence_on_wide_and_narrow_pages(browser, gallery, width, dark):
    browser.open(gallery, width=width, dark=dark)
    assert browser.ask("Number(document.documentElement.dataset.drawn)") == 5
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []


def test_both_axes_of_a_map_have_the_same_scale_and_show_every_point(browser, linked):
    page, places = linked
    for width in (500, 1280):
        browser.open(page, width=width)
        start_x, end_x, start_y, end_y, across, upward = browser.ask(
            f"""(async () => {{
              const {{x_range: x, y_range: y, bbox}} = {PLOTS}[0].frame;
              return [x.start, x.end, y.start, y.end, bbox.width, bbox.height];
            }})()"""
        )
        assert (end_x - start_x) / across == pytest.approx((end_y - start_y) / upward, rel=0.02)
        assert start_x < places[:, 0].min() and places[:, 0].max() < end_x
        assert start_y < places[:, 1].min() and places[:, 1].max() < end_y


def test_names_shown_never_overlap_and_a_wider_page_shows_more(browser, named):
    boxes = f"""(async () => {{
      const plot = {PLOTS}[0], context = document.createElement('canvas').getContext('2d');
      return plot.model.center.filter((part) => part.tags[0] === 'name' && part.visible).map((name) => {{
        context.font = `${{name.text_font_size}} ${{name.text_font}}`;
        const width = context.measureText(name.text.text).width;
        const x = plot.frame.x_scale.compute(name.x) + name.x_offset;
        const y = plot.frame.y_scale.compute(name.y) - name.y_offset;
        const left = x - width * {{left: 0, center: 0.5, right: 1}}[name.text_align];
        return [left, y - 6, left + width, y + 6];
      }});
    }})()"""
    settled = f"""(async () => {{
      const plot = {PLOTS}[0], names = plot.model.center.filter((part) => part.tags[0] === 'name');
      return names.every((name) => name.visible === (plot.frame.bbox.width >= name.tags[1]));
    }})()"""
    counts = []
    for width in (390, 1280):
        browser.open(named, width=width)
        browser.wait(settled)
        low, high = np.split(np.array(browser.ask(boxes)), 2, axis=1)
        overlap = np.all((low[:, None] < high) & (low < high[:, None]), axis=2)
        assert np.count_nonzero(overlap) == len(low)
        counts.append(len(low))
    assert counts[0] < counts[1]
