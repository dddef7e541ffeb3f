"""The page as a browser sees it: drawn, silent, unbroken by hostile names, linked."""

from __future__ import annotations

import re

import pytest
from sample_study import HOSTILE, mixed

# every canvas of the page, through the shadow roots that Bokeh draws in, as [opaque pixels, their mean brightness]
INK = """(() => {
  const found = [];
  const walk = (node) => {
    if (node instanceof HTMLCanvasElement && node.width > 0) {
      const pixels = node.getContext("2d").getImageData(0, 0, node.width, node.height).data;
      let count = 0, sum = 0;
      for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i + 3] > 200) { count += 1; sum += (pixels[i] + pixels[i + 1] + pixels[i + 2]) / 3; }
      }
      if (count > 0) found.push([count, sum / count]);
    }
    for (const child of [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children]) walk(child);
  };
  walk(document.body);
  return found;
})()"""


TOOLTIPS = """(() => {
  const texts = [];
  const walk = (node) => {
    if (node.className === 'tip') texts.push(node.textContent.trim());
    for (const child of [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children]) walk(child);
  };
  walk(document.body);
  return texts;
})()"""
PLOTS = "Array.from((await assayViews)[0]).filter((view) => view.model.type === 'Figure')"


def frame_of(browser, view):
    """Where the data of a figure are on the screen: left, top, width, height."""
    browser.ask(f"document.getElementById('view-{view}').scrollIntoView({{block: 'center', behavior: 'instant'}})")
    return browser.ask(
        f"""(async () => {{
          const plot = {PLOTS}.find((view) => view.el.parentElement.id === 'view-{view}');
          const at = plot.canvas_view.el.getBoundingClientRect(), frame = plot.frame.bbox;
          return [at.left + frame.left, at.top + frame.top, frame.width, frame.height];
        }})()"""
    )


@pytest.mark.parametrize("name", ["wholesale", "wide", "noise", "one"])
def test_every_figure_is_drawn_and_nothing_is_fetched_or_complained_about(browser, page_of, name):
    browser.open(page_of(name))
    figures = browser.ask("document.querySelectorAll('figure').length")
    assert figures >= 2
    assert browser.ask("Number(document.documentElement.dataset.drawn)") == figures
    assert browser.complaints == []
    browser.wait(f"{INK}.length >= {figures}")
    assert min(count for count, _ in browser.ask(INK)) > 500
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("guarded", [True, False], ids=["with its policy", "without its policy"])
def test_hostile_names_stay_text(browser, page_of, tmp_path, guarded):
    page = page_of("hostile")
    if not guarded:  # the escaping must hold on its own, not because the policy forbids what slipped through
        open_page = re.sub(r'<meta http-equiv="Content-Security-Policy".*?>\n', "", page.read_text("utf-8"))
        page = tmp_path / "open.html"
        page.write_text(open_page, encoding="utf-8")
    browser.open(page)
    left, top, width, height = frame_of(browser, "biplot")
    names = set()
    for i in range(len(HOSTILE)):
        x, y = browser.ask(
            f"""(async () => {{
              const plot = {PLOTS}.find((view) => view.el.parentElement.id === 'view-biplot');
              const tips = plot.model.renderers.map((r) => r.data_source.data).find((data) => 'first' in data);
              const at = plot.canvas_view.el.getBoundingClientRect(), scale = plot.frame;
              return [at.left + scale.x_scale.compute(tips.x[{i}]), at.top + scale.y_scale.compute(tips.y[{i}])];
            }})()"""
        )
        assert left < x < left + width
        assert top < y < top + height
        browser.mouse("mouseMoved", x - 2, y)
        browser.mouse("mouseMoved", x, y)
        names.update(browser.ask(TOOLTIPS))
    assert set(HOSTILE[:5]) <= names
    assert browser.ask("document.title") == "<script>alert(1)</script>.csv – assay"
    assert browser.ask("document.scripts.length") == 3
    assert browser.ask("document.querySelectorAll('img, b[onmouseover]').length") == 0
    assert browser.complaints == []


def test_rows_selected_in_one_figure_are_selected_in_the_other_and_named(browser, page_of):
    browser.open(page_of("wholesale"), height=1200)
    left, top, width, height = frame_of(browser, "biplot")
    browser.mouse("mouseMoved", left + 3, top + 3)
    browser.mouse("mousePressed", left + 3, top + 3, "left")
    for part in (0.3, 0.6, 0.95):
        browser.mouse("mouseMoved", left + part * width, top + part * height, "left")
    browser.mouse("mouseReleased", left + 0.95 * width, top + 0.95 * height, "left")
    browser.wait("document.getElementById('selected-rows').textContent.includes('selected: rows')")
    selected = browser.ask(
        f"""(async () => {PLOTS}
             .flatMap((view) => view.model.renderers.map((r) => r.data_source).filter((s) => s.name === 'rows'))
             .map((source) => source.selected.indices.length))()"""
    )
    assert len(selected) == 2
    assert selected[0] == selected[1] > 400
    said = browser.ask("document.getElementById('selected-rows').textContent")
    assert said.startswith(f"{selected[0]} selected: rows ")


def test_a_column_is_found_by_typing_part_of_its_name(browser, page_of):
    browser.open(page_of("wide"))
    browser.ask("document.getElementById('all-columns').closest('details').open = true")
    browser.ask("document.getElementById('all-columns-search').focus()")
    browser.do("Input.insertText", text="GENE_12")
    shown = "Array.from(document.querySelectorAll('#all-columns tbody tr')).filter((row) => row.offsetHeight > 0)"
    browser.wait(f"{shown}.length === 10")
    assert browser.ask(f"{shown}.every((row) => row.cells[0].textContent.startsWith('gene_12'))")


def test_figures_turn_light_on_dark_and_dark_on_paper(browser, page_of):
    def brightness():
        browser.wait(f"{INK}.length >= 4")
        return sum(count * mean for count, mean in browser.ask(INK)) / sum(count for count, _ in browser.ask(INK))

    browser.open(page_of("wholesale"))
    light = brightness()
    browser.open(page_of("wholesale"), dark=True)
    dark = brightness()
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    assert browser.ask("document.querySelector('#reading details').open")
    paper = brightness()
    browser.ask("dispatchEvent(new Event('afterprint'))")
    assert brightness() == pytest.approx(dark, abs=2)
    # drawings are made smaller on paper, which changes the share of thin lines; a figure in four left dark is noticed
    assert abs(paper - light) < abs(dark - light) / 4
    assert abs(dark - light) > 10
    browser.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.wait("document.documentElement.dataset.figures === 'light'")
    assert brightness() == pytest.approx(light, abs=2)


@pytest.mark.parametrize("name", ["wholesale", "hostile", "mixed", "broad", "hostile_look"])
def test_a_phone_shows_the_page_without_scrolling_sideways_and_fingers_scroll_it(browser, page_of, name):
    browser.open(page_of(name), width=390, height=800, touch=True)
    assert browser.ask("document.documentElement.scrollWidth") <= 390
    assert browser.ask(
        f"""(async () => {PLOTS}.flatMap((view) => view.model.toolbar.tools)
             .every((tool) => !/^Box(Select|Zoom)Tool$/.test(tool.type) || !tool.active))()"""
    )
    assert browser.complaints == []


def test_the_first_tab_stop_leads_past_the_header(browser, page_of):
    browser.open(page_of("noise"))
    browser.press("Tab")
    assert browser.ask("document.activeElement.getAttribute('href')") == "#findings"
    assert browser.ask("document.activeElement.getBoundingClientRect().left") >= 0


COLUMNS = "Array.from(document.querySelectorAll('#columns tbody tr')).map((row) => row.cells[0].textContent)"
TOLD = "document.querySelector('.pages output').textContent"
CELL = "document.querySelector('.cell').hidden ? '' : document.querySelector('.cell').textContent"


@pytest.mark.parametrize("name", ["mixed", "broad", "single_column", "single_row"])
def test_the_first_look_is_drawn_in_silence(browser, page_of, name):
    browser.open(page_of(name))
    figures = browser.ask("document.querySelectorAll('figure').length")
    assert browser.ask("Number(document.documentElement.dataset.drawn)") == figures >= 1
    browser.wait(f"{INK}.length >= {figures}")
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("guarded", [True, False], ids=["with its policy", "without its policy"])
def test_hostile_columns_levels_and_remarks_stay_text(browser, page_of, tmp_path, guarded):
    page = page_of("hostile_look")
    if not guarded:
        open_page = re.sub(r'<meta http-equiv="Content-Security-Policy".*?>\n', "", page.read_text("utf-8"))
        page = tmp_path / "open.html"
        page.write_text(open_page, encoding="utf-8")
    browser.open(page)
    left, top, width, height = frame_of(browser, "array")
    browser.mouse("mouseMoved", left + 2, top + height / 2)
    assert HOSTILE[0] in browser.ask(CELL)
    for part in (0.3, 0.6, 0.9):
        browser.mouse("mouseMoved", left + part * width, top + part * height)
    browser.ask("document.querySelector('#columns thead button').click()")
    assert set(HOSTILE[:2]) <= set(browser.ask(COLUMNS))
    assert browser.ask("document.title") == f"{HOSTILE[0]}.csv – assay"
    assert browser.ask("document.scripts.length") == 3
    assert browser.ask("document.querySelectorAll('img, b[onmouseover]').length") == 0
    assert browser.complaints == []


def test_the_table_of_columns_is_searched_narrowed_and_paged_without_jumping(browser, page_of):
    browser.open(page_of("broad"))
    height = "document.querySelector('#data').getBoundingClientRect().height"
    before = browser.ask(height)
    assert len(browser.ask(COLUMNS)) == 50
    assert browser.ask(TOLD) == "1 to 50 of 5,000"
    browser.ask("document.querySelector('[data-step=\"1\"]').click()")
    assert browser.ask(TOLD) == "51 to 100 of 5,000"
    browser.ask("document.getElementById('columns-search').focus()")
    browser.do("Input.insertText", text="PROBE 12")
    browser.wait(f"{TOLD} === '1 to 50 of 100, from 5,000'")
    assert all(name.startswith("probe 12") for name in browser.ask(COLUMNS))
    browser.ask("document.querySelector('[data-only]').click()")
    assert browser.ask(COLUMNS) == [f"probe {j} of the long array" for j in (1200, 1220, 1281)]
    browser.ask(
        """(() => { const kind =
               document.getElementById('columns').closest('.finder').querySelector('select'); kind.value = 'category';
           kind.dispatchEvent(new Event('input', {bubbles: true})); })()"""
    )
    assert browser.ask(TOLD) == "None is like this."
    assert browser.ask(height) == before


def test_the_table_of_columns_is_sorted_by_the_keyboard_both_ways_and_back(browser, page_of):
    browser.open(page_of("broad"))
    heads = browser.ask("Array.from(document.querySelectorAll('#columns thead th')).map((head) => head.innerText)")
    missing = next(j for j, head in enumerate(heads) if head.startswith("Missing"))
    cells = (
        f"Array.from(document.querySelectorAll('#columns tbody tr')).map((row) => row.cells[{missing}].textContent)"
        ".map((text) => Number(text.split(' ')[0].replaceAll(',', '')))"
    )
    sorting = f"document.querySelectorAll('#columns thead th')[{missing}].getAttribute('aria-sort')"
    start = browser.ask(COLUMNS)
    browser.ask(f"document.querySelectorAll('#columns thead button')[{missing}].focus()")
    browser.press("Enter")
    largest = browser.ask(cells)
    assert browser.ask(sorting) == "descending"
    assert largest == sorted(largest, reverse=True)
    assert largest[0] > 900_000
    browser.press("Enter")
    assert browser.ask(sorting) == "ascending"
    assert browser.ask(cells) == [0] * 50
    browser.press("Enter")
    assert browser.ask(sorting) is None
    assert browser.ask(COLUMNS) == start
    assert browser.complaints == []


def test_paper_gets_a_hundred_columns_and_the_screen_its_fifty_back(browser, page_of):
    browser.open(page_of("broad"))
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.ask(COLUMNS)) == 100
    browser.ask("dispatchEvent(new Event('afterprint'))")
    assert len(browser.ask(COLUMNS)) == 50


def test_one_switch_changes_all_histograms_by_the_keyboard(browser, page_of):
    browser.open(page_of("mixed"))
    shown = """['read', 'log', 'standard'].map((version) => document.querySelectorAll(`.histograms .${version}`))
                .map((parts) => Array.from(parts).filter((part) => part.offsetHeight > 0).length)"""
    quantities = browser.ask("document.querySelectorAll('.histograms .read').length")
    assert browser.ask(shown) == [quantities, 0, 0]
    height = browser.ask("document.querySelector('.histograms').offsetHeight")
    browser.ask("document.querySelector('.switch input:checked').focus()")
    browser.press("ArrowRight")
    assert browser.ask(shown) == [0, quantities, 0]
    browser.press("ArrowRight")
    assert browser.ask(shown) == [0, 0, quantities]
    assert browser.ask("document.querySelector('.histograms').offsetHeight") == pytest.approx(height, abs=2)


def test_cells_are_named_under_the_pointer_and_by_the_arrow_keys(browser, page_of):
    look = mixed().look
    browser.open(page_of("mixed"))
    left, top, width, height = frame_of(browser, "array")
    number = look.columns.index("height")
    z = (look.values[:, number] - look.centre[number]) / look.scale[number]
    for i in (3, 170, 399):
        browser.mouse("mouseMoved", left + 1.5 * width / 16, top + (i + 0.5) * height / 400)
        row, name, value = browser.ask(CELL).split(" · ")
        assert (row, name) == (f"Row {look.rows[i]:,}", "height")
        if i == 170:
            assert value == "missing"
        else:
            side = "above" if z[i] > 0 else "below"
            assert value == f"{abs(z[i]):.1f} standard deviations {side} the mean"
    browser.mouse("mouseMoved", left - 30, top)
    assert browser.ask(CELL) == ""
    browser.ask("document.getElementById('view-array').focus()")
    browser.press("ArrowRight")
    before = browser.ask(CELL)
    browser.press("ArrowRight")
    browser.press("ArrowDown")
    assert before != browser.ask(CELL) != ""
    assert "white cells" not in before and "charges" in browser.ask(CELL)
