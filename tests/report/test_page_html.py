"""Laws of the page that need no browser: complete, escaped, self-contained, small, the same each time."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sample_study

from assay.asking.card import Column, DataCard
from assay.report.page import _in_order, render
from assay.study.findings import Ledger, Study
from assay.views.html.escape import visible
from assay.views.html.view import View

STUDIES = ("wholesale", "wide", "noise", "one", "hostile")
VOID = {"meta", "input", "br", "hr"}
IMPLIED = {"th", "td", "tr"}  # HTML closes these by itself


class Page(HTMLParser):
    """A page taken apart: its words, tags, attributes and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.scripts, self.open = "", [], []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID | IMPLIED:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in IMPLIED:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif not self.open or self.open[-1] != "style":
            self.words += data

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


@cache
def text_of(name: str) -> str:
    return render(getattr(sample_study, name)())


@cache
def page(name: str) -> Page:
    return Page(text_of(name))


@pytest.mark.parametrize("name", STUDIES)
def test_every_sentence_stands_in_the_page_once(name):
    for finding in getattr(sample_study, name)().findings:
        assert page(name).words.count(visible(finding.sentence)) == 1


@pytest.mark.parametrize("name", STUDIES)
def test_tags_are_closed_in_order_and_ids_are_unique_and_found(name):
    assert page(name).open == []
    ids = Counter(page(name).values("id"))
    assert ids.most_common(1)[0][1] == 1
    for reference in ("aria-labelledby", "aria-describedby", "for", "data-filter"):
        assert set(page(name).values(reference)) <= set(ids)
    assert {href.removeprefix("#") for href in page(name).values("href")} <= set(ids)


@pytest.mark.parametrize("name", STUDIES)
def test_every_table_has_a_caption_and_every_figure_a_name_and_words(name):
    assert page(name).tags["table"] == page(name).tags["caption"] > 0
    figures = [attribute for tag, attribute, _ in page(name).attributes if tag == "figure"]
    assert Counter(figures) == {
        "aria-labelledby": page(name).tags["figure"],
        "aria-describedby": page(name).tags["figure"],
    }
    assert page(name).tags["h1"] == page(name).tags["main"] == page(name).tags["nav"] == 1


@pytest.mark.parametrize("name", STUDIES)
def test_nothing_is_fetched_and_only_the_scripts_of_the_page_may_run(name):
    found = page(name)
    assert found.values("src") == []
    assert all(href.startswith("#") for href in found.values("href"))
    assert found.tags["link"] == found.tags["iframe"] == found.tags["img"] == 0
    assert not re.search(r"url\(|@import", text_of(name).split("<style>")[1].split("</style>")[0])
    policy = next(value for value in found.values("content") if value.startswith("default-src"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in found.scripts]
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert "connect-src" not in rules


def test_names_that_are_markup_stay_words():
    found = page("hostile")
    assert found.tags["script"] == 3
    assert found.tags["img"] == 0
    assert not {name for _, name, _ in found.attributes if name.startswith("on")}
    for name in sample_study.HOSTILE:
        assert visible(name) in found.words
    assert "<script>alert(1)</script>.csv" in found.words
    assert "a <b>bold</b> note & more" in found.words


def test_verdicts_are_words_and_come_before_what_fell():
    words = page("wholesale").words
    assert words.count("Supported") >= 2
    assert words.index("would survive a second look") < words.index("2 of 6 components are real")
    order = ["Findings", "The views behind this", "What did not survive", "Everything that was tested", "The data"]
    places = [words.rindex(title) for title in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("verdict", "words", "section"),
    [
        ("supported", "Supported", "findings"),
        ("suggestive", "Suggestive", "findings"),
        ("not distinguishable from chance", "Not distinguishable from chance", "fallen"),
        ("not testable here", "Not testable here", "fallen"),
    ],
)
def test_each_verdict_is_said_in_words_where_it_belongs(verdict, words, section):
    study = sample_study.wholesale()
    evidence = replace(study.findings[0].evidence, verdict=verdict)
    text = render(replace(study, findings=(replace(study.findings[0], evidence=evidence, id="a b"),), answers={}))
    part = text.split(f'<section id="{section}"')[1].split("</section>")[0]
    assert f"</span> {words}</span>" in part
    assert study.findings[0].sentence in part
    Page(text)


def test_noise_gets_its_answer_and_no_map():
    found = page("noise")
    assert "Nothing here is distinguishable from chance." in found.words
    assert "The rows are not drawn along components: their axes would be noise." in found.words
    assert "view-biplot" not in found.values("id")
    assert {"view-scree", "view-cumulative"} <= set(found.values("id"))


def test_one_component_gets_a_strip_and_three_get_a_second_pair():
    assert {"view-strip", "view-order"} <= set(page("one").values("id"))
    assert "view-biplot" not in page("one").values("id")
    assert {"view-biplot", "view-pair", "view-order"} <= set(page("wide").values("id"))
    assert "view-pair" not in page("wholesale").values("id")


def test_rows_that_were_not_kept_are_not_drawn_but_the_columns_are():
    study = sample_study.wholesale()
    result = replace(study.answers["components"], scores=np.empty((0, 3)), score_rows=np.empty(0, dtype=np.intp))
    found = Page(render(replace(study, answers={"components": result})))
    assert "they were summarised, not kept" in found.words
    assert "Correlation of each column" in found.words


def test_no_cell_of_the_data_is_in_the_page():
    cells = {cell for line in sample_study.DATA.read_text().splitlines()[1:] for cell in line.split(",")}
    long = {cell for cell in cells if len(cell) >= 5}
    words = set(re.findall(r"\d+", page("wholesale").words + page("wholesale").scripts[1]))
    assert len(long) > 400
    assert not long & words


def test_the_numbers_of_the_scree_are_tabled():
    values = sample_study.wholesale().answers["components"].values
    for value in values:
        assert f"{value:.3g}".ljust(4, "0")[:4] in page("wholesale").words


def test_the_same_study_gives_the_same_bytes_here_and_elsewhere():
    first = text_of("wholesale")
    assert render(sample_study.wholesale()) == first
    code = (
        "import sys, hashlib; sys.path.append(sys.argv[1]); import sample_study\n"
        "from assay.report.page import render\n"
        "print(hashlib.sha256(render(sample_study.wholesale()).encode()).hexdigest())"
    )
    folder = str(Path(sample_study.__file__).parent)
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    other = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True, env=environment
    )
    assert other.stdout.strip() == hashlib.sha256(first.encode()).hexdigest()


def test_five_thousand_columns_of_a_million_rows_stay_under_five_megabytes():
    assert len(render(sample_study.huge()).encode()) < 5e6


def test_endless_names_findings_and_columns_stay_under_five_megabytes():
    study = sample_study.wholesale()
    columns = tuple(
        Column("n" * 1000 + str(j), "text", used=j % 2 == 0, missing=j, note="why " * 200) for j in range(20_000)
    )
    findings = tuple(replace(study.findings[0], id=f"components-{j}") for j in range(5000))
    text = render(replace(study, data=replace(study.data, columns=columns), findings=findings))
    assert len(text.encode()) < 5e6
    assert "The other findings, the strongest first" in text


def test_a_study_of_nothing_is_still_a_page():
    found = Page(render(Study(DataCard("empty.csv", 0, 0, ()), (), Ledger(), "0.1.0")))
    assert "Nothing was tested here." in found.words
    assert found.tags["figure"] == 0
    assert len(found.scripts) == 1


def test_what_could_not_be_tested_leaves_no_nan_behind():
    study = sample_study.noise()
    evidence = replace(
        study.findings[0].evidence, p=None, q=None, held_out=np.nan, interval=(np.nan, np.nan), stability=np.nan,
        verdict="not testable here", null=None,
    )  # fmt: skip
    unknown = np.array([np.nan])
    result = replace(
        study.answers["components"], chance_median=unknown, chance_upper=unknown, tested=(evidence,), holds=(False,),
        law=SimpleNamespace(lower=np.nan, upper=np.inf), held_out=np.full(2, np.nan),
        held_out_interval=np.full((2, 2), np.nan),
    )  # fmt: skip
    found = Page(
        render(
            replace(study, answers={"components": result}, findings=(replace(study.findings[0], evidence=evidence),))
        )
    )
    assert "Not testable here" in found.words
    assert not re.search(r"\bnan\b|\binf\b", found.words, re.IGNORECASE)


def _with_components(study, components):
    return Page(render(replace(study, answers={"components": components}, findings=study.findings[:1])))


def test_a_single_known_direction_is_drawn_as_a_strip():
    study = sample_study.one()
    whole = study.answers["components"]
    alone = replace(whole, holds=whole.holds[:1], loadings=whole.loadings[:, :1], scores=whole.scores[:, :1])
    assert "view-strip" in _with_components(study, alone).values("id")


def test_the_component_of_a_single_column_is_that_column_and_not_drawn():
    study = sample_study.one()
    whole = study.answers["components"]
    firsts = ("values", "share", "held_out", "held_out_interval", "chance_median", "chance_upper", "columns", "tested")
    first = {name: getattr(whole, name)[:1] for name in firsts}
    one = replace(
        whole, **first, d=1, holds=whole.holds[:1], loadings=whole.loadings[:1, :1], scores=whole.scores[:, :1]
    )
    drawn = [found for found in _with_components(study, one).values("id") if found.startswith("view-")]
    assert drawn == []


def test_views_come_in_the_order_of_the_findings_that_they_are_behind():
    study = sample_study.wholesale()
    ((found, answer),) = study.answers.items()
    both = replace(study, answers={"a question without findings": answer, found: answer})
    ordered = _in_order(both, [[View("nothing", caption="-")], [View("something", caption="-")]])
    assert [view.name for views in ordered for view in views] == ["something", "nothing"]
