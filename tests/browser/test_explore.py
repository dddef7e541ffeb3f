"""Exploring in the browser: choose a pair, colour, filter, select, and read what comes of it."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sample_study

from assay.report import write_report
from assay.study.run import study

N = 240
PLOTS = "(await assayPlots)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Two shops that differ in sales, beside a number of noise; once coarse, once with rows."""
    rng = np.random.default_rng(9)
    folder = tmp_path_factory.mktemp("explore")
    shop = np.repeat(["north", "south"], N // 2)
    sales = rng.normal(100, 10, N) + 40 * (shop == "south")
    cost = 0.5 * sales + rng.normal(0, 3, N)
    noise = rng.standard_normal(N)
    kind = rng.choice(["new", "old", "used"], N)
    lines = ["key,shop,sales,cost,noise,kind,year"]
    lines += [
        f"k{j:04d}x,{shop[j]},{sales[j]:.3f},{cost[j]:.3f},{noise[j]:.4f},{kind[j]},{2005 + j % 9}" for j in range(N)
    ]
    data = folder / "shops.csv"
    data.write_text("\n".join(lines) + "\n")
    found = study(data, effort="quick")
    write_report(found, html_path=folder / "coarse.html")
    write_report(found, html_path=folder / "rows.html", include_rows=True)
    return folder


@pytest.fixture
def page(browser, pages):
    def opened(name="coarse", **how):
        browser.open(pages / f"{name}.html", **how)
        browser.wait("document.documentElement.dataset.explored === 'yes'")

    return opened


def choose(browser, name, words):
    """Choose an entry of a list by its words, as somebody with a keyboard does."""
    browser.ask(
        f"""(() => {{
          const list = document.getElementById('explore-{name}');
          list.focus();
          list.value = [...list.options].find((option) => option.textContent === {words!r}).value;
          list.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }})()"""
    )


def text(browser, name):
    return browser.ask(f"document.getElementById('explore-{name}').textContent")


def click(browser, name):
    browser.ask(f"document.getElementById('explore-{name}').click()")


def drawn(browser, part, field):
    return browser.ask(
        f"""(async () => {{
          const plot = {PLOTS}.find((view) => view.model.tags[0] === 'explore');
          return Array.from(plot.model.renderers.find((one) => one.name === '{part}').data_source.data['{field}']);
        }})()"""
    )


def test_a_pair_is_chosen_and_its_finding_is_told(browser, page):
    page()
    choose(browser, "x", "sales")
    choose(browser, "y", "cost")
    assert text(browser, "told").startswith("✓ Supported: rank correlation .9")
    assert len(drawn(browser, "line", "x")) > 5
    choose(browser, "y", "noise")
    assert "chance" in text(browser, "told")
    choose(browser, "y", "sales")
    assert text(browser, "told").startswith("One column by itself.")
    assert browser.complaints == []


def test_a_number_is_drawn_by_levels_and_two_categories_as_counts(browser, page):
    page()
    choose(browser, "x", "sales")
    choose(browser, "y", "shop")
    medians = drawn(browser, "boxes", "median")
    assert len(medians) == 2
    assert abs(medians[0] - medians[1]) == pytest.approx(40, abs=6)
    choose(browser, "x", "kind")
    counts = [int(count) for count in drawn(browser, "counts", "count") if count]
    assert sum(counts) == N
    assert len(counts) == 6
    assert drawn(browser, "boxes", "median") == []
    assert browser.complaints == []


def test_levels_that_were_chosen_upward_are_said_to_be_drawn_across(browser, page):
    page()
    choose(browser, "x", "sales")
    choose(browser, "y", "shop")
    assert "Levels are drawn across: shop." in text(browser, "caption")
    assert browser.ask("document.getElementById('explore-swap').hidden")  # it would change nothing
    choose(browser, "y", "cost")
    assert "Levels" not in text(browser, "caption")
    assert not browser.ask("document.getElementById('explore-swap').hidden")


def test_a_pair_is_told_with_its_size_on_these_rows_and_on_unseen_ones(browser, page):
    page()
    choose(browser, "x", "sales")
    choose(browser, "y", "cost")
    said = text(browser, "told")
    assert re.search(r"rank correlation \.\d\d on these rows, \.\d\d on unseen ones, p ", said), said
    line = browser.ask("[...document.querySelectorAll('.verdict .line')].map((one) => one.textContent)"
                       ".find((words) => words.includes('go together'))")  # fmt: skip
    sizes = re.findall(r"\.\d\d", said)[:2]
    assert line is None or "sales and cost" not in line or sizes[1] in line


def test_every_view_of_rows_takes_the_colours_and_gives_them_back(browser, page):
    page()
    tints = f"""(async () => {PLOTS}.flatMap((view) => view.model.renderers)
      .filter((one) => one.data_source?.name === 'rows' && one.glyph.type === 'Scatter')
      .map((one) => {{
        const colour = one.glyph.fill_color;
        return colour.field?.startsWith('explore') ? new Set(one.data_source.data[colour.field]).size : 0;
      }}))()"""
    plain = browser.ask(tints)
    assert len(plain) >= 2
    assert set(plain) == {0}
    choose(browser, "colour", "shop")
    assert set(browser.ask(tints)) == {2}
    assert browser.ask("[...document.querySelectorAll('#explore-key li')].map((item) => item.textContent)") == [
        "shop:", "●north", "■south"
    ]  # fmt: skip
    choose(browser, "colour", "sales")
    assert min(browser.ask(tints)) > 20
    choose(browser, "colour", "nothing")
    assert browser.ask(tints) == plain
    assert browser.complaints == []


def test_rows_that_do_not_pass_a_filter_are_faint_and_not_selected(browser, page):
    page()
    choose(browser, "filter", "shop")
    choose(browser, "level", "south")
    click(browser, "add")
    assert text(browser, "left").startswith(f"{N // 2} of {N} rows are left")
    choose(browser, "filter", "sales")
    browser.ask("document.getElementById('explore-from').value = '0'")
    click(browser, "pick")
    assert text(browser, "selected") == f"{N // 2} rows are selected; the rest are 0."
    browser.ask("document.querySelector('#explore-filters button').click()")
    assert text(browser, "left") == ""
    assert text(browser, "selected") == f"{N // 2} rows are selected; the rest are {N // 2}."
    assert browser.complaints == []


def test_rows_selected_by_the_mouse_are_compared_with_the_rest_without_a_p_value(browser, page):
    page(height=1200)
    choose(browser, "x", "sales")
    choose(browser, "y", "noise")
    browser.ask("document.getElementById('view-explore').scrollIntoView({block: 'center', behavior: 'instant'})")
    left, top, width, height = browser.ask(
        f"""(async () => {{
          const plot = {PLOTS}.find((view) => view.model.tags[0] === 'explore');
          const at = plot.canvas_view.el.getBoundingClientRect(), frame = plot.frame.bbox;
          return [at.left + frame.left, at.top + frame.top, frame.width, frame.height];
        }})()"""
    )
    browser.mouse("mouseMoved", left + 0.6 * width, top + 3)
    browser.mouse("mousePressed", left + 0.6 * width, top + 3, "left")
    for part in (0.8, 0.9, 0.995):
        browser.mouse("mouseMoved", left + part * width, top + part * height, "left")
    browser.mouse("mouseReleased", left + 0.995 * width, top + 0.995 * height, "left")
    browser.wait("!document.getElementById('explore-selected').textContent.startsWith('No')")
    rows = "[...document.querySelectorAll('#explore-difference tbody tr')]"
    lines = browser.ask(f"{rows}.map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert {line[0].partition(" = ")[0] for line in lines[:3]} == {"sales", "cost", "shop"}
    sizes = [abs(float(line[3].replace("−", "-"))) for line in lines]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1
    said = text(browser, "difference")
    assert "no evidence" in said
    assert " p " not in said
    assert browser.ask("document.getElementById('selected-rows').textContent").endswith(".")
    click(browser, "clear")
    assert text(browser, "selected").startswith("No rows are selected.")
    assert browser.complaints == []


def test_the_rows_themselves_are_listed_only_where_they_were_asked_for(browser, page):
    for name, listed in (("coarse", False), ("rows", True)):
        page(name)
        choose(browser, "filter", "kind")
        choose(browser, "level", "old")
        click(browser, "pick")
        assert (text(browser, "difference").count("k0") > 1) == listed
        assert browser.complaints == []


def test_years_are_written_as_years(browser, page):
    page()
    choose(browser, "x", "year")
    choose(browser, "y", "sales")
    words = browser.ask(
        f"""(async () => {{
          const axis = {PLOTS}.find((view) => view.model.tags[0] === 'explore').model.below.find((one) => one.ticker);
          return axis.formatter.doFormat(axis.ticker.ticks);
        }})()"""
    )
    assert set(words) <= {str(year) for year in range(2004, 2016)}
    assert len(words) == len(set(words)) > 2


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_nothing_is_wider_than_the_screen(browser, page, dark):
    page(width=390, height=800, dark=dark)
    assert browser.ask("document.documentElement.scrollWidth") == 390
    assert browser.ask("document.getElementById('view-explore').getBoundingClientRect().width") > 250


def test_every_tool_has_a_name_and_what_changes_is_announced(browser, page):
    page()
    nameless = browser.ask(
        """[...document.querySelectorAll('#explore select, #explore input')].filter((tool) => !tool.labels.length)
           .map((tool) => tool.id)"""
    )
    assert nameless == []
    for name in ("told", "left", "selected"):
        assert browser.ask(f"document.getElementById('explore-{name}').getAttribute('aria-live')") == "polite"


def test_hostile_names_stay_text(browser, tmp_path):
    path = tmp_path / "hostile.html"
    write_report(sample_study.hostile_look(), html_path=path)
    browser.open(path)
    browser.wait("document.documentElement.dataset.explored === 'yes'")
    click(browser, "pick")
    assert browser.ask("document.querySelectorAll('img, b[onmouseover], #explore script').length") == 0
    assert browser.complaints == []


# -- by the keyboard alone

# what has the keys, within figures too; its name as a screen reader says it; the section it is in
REACHED = """(() => {
  let at = document.activeElement;
  const home = at.closest('section')?.id ?? '';
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const look = getComputedStyle(at), label = at.labels?.[0]?.innerText || at.getAttribute('aria-label');
  const name = (label || at.title || at.innerText || '').trim();
  const mark = look.outlineStyle === 'none' ? 0 : parseFloat(look.outlineWidth);
  return { tag: at.tagName, id: at.id, name, home, mark, nth: [...document.querySelectorAll('*')].indexOf(at) };
})()"""


def stops(browser):
    """Everything that Tab reaches, from the top of the page to its end."""
    found = []
    for _ in range(400):
        browser.press("Tab")
        found.append(browser.ask(REACHED))
        if found[-1]["tag"] == "BODY":
            return found[:-1]
    raise AssertionError("Tab does not come to an end")


def test_tab_reaches_every_control_once_in_the_order_of_the_page_and_shows_where_it_is(browser, page):
    page()
    found = stops(browser)
    assert [stop for stop in found if not stop["name"] or stop["mark"] < 2] == []
    own = [stop["nth"] for stop in found if stop["nth"] >= 0]
    assert own == sorted(set(own))
    controls = browser.ask(
        """[...document.querySelectorAll('a[href], summary, select, button, input')].filter((one) =>
             one.checkVisibility() && !one.disabled && (one.type !== 'radio' || one.checked)).map((one) =>
             [...document.querySelectorAll('*')].indexOf(one))"""
    )
    assert set(controls) <= set(own)
    sections = browser.ask("[...document.querySelectorAll('main section')].map((one) => one.id)")
    places = [sections.index(stop["home"]) for stop in found if stop["home"]]
    assert places == sorted(places)


def tab_to(browser, wanted):
    for _ in range(400):
        browser.press("Tab")
        if wanted(browser.ask(REACHED)):
            return
    raise AssertionError("never reached")


def test_a_finding_unfolds_and_a_tool_of_a_figure_is_chosen_by_enter(browser, page):
    page()
    tab_to(browser, lambda stop: stop["tag"] == "SUMMARY")
    browser.press("Enter")
    assert browser.ask("document.querySelector('.verdict details').open") is True
    browser.press("Enter")
    assert browser.ask("document.querySelector('.verdict details').open") is False
    tab_to(browser, lambda stop: stop["name"] == "Lasso Select")
    lasso = f"""(async () => {PLOTS}.flatMap((plot) => plot.model.toolbar.tools)
      .some((tool) => tool.type === 'LassoSelectTool' && tool.active))()"""
    assert browser.ask(lasso) is False
    browser.press("Enter")
    assert browser.ask(lasso) is True


def test_rows_are_selected_in_every_view_without_a_pointer(browser, page):
    page()
    tab_to(browser, lambda stop: stop["id"] == "explore-filter")
    while browser.ask("document.getElementById('explore-filter').selectedOptions[0].textContent") != "sales":
        browser.press("ArrowDown")
    browser.press("Tab")
    for digit in "120":
        browser.press(digit)
    tab_to(browser, lambda stop: stop["id"] == "explore-pick")
    browser.press("Enter")
    many = int(
        re.match(r"(\d+) rows are selected", browser.ask("document.getElementById('explore-selected').innerText"))[1]
    )
    assert 90 < many < 150
    named = browser.ask("document.getElementById('selected-rows').innerText")
    assert named.startswith(f"{many} selected: rows ")
    assert browser.ask("document.querySelector('#explore-difference table') !== null")
