"""Verdicts as rows: short lines, one scale that compares, the strongest first, nothing lost where there are many."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sample_study
from scipy.stats import norm

from assay.asking.beyond import CAP, beyond, place
from assay.asking.finding import Finding, a_few_of_each, strongest_first
from assay.asking.found import found
from assay.asking.words import LINE, one_line
from assay.evidence.evidence import Evidence, Null
from assay.report.page import render
from assay.report.verdicts import gauge, verdicts

CHANCE = "not distinguishable from chance"


def finding(
    statistic: float, *, median=1.0, upper=2.0, verdict="supported", kind="group", name="a", **given
) -> Finding:
    evidence = Evidence(statistic, Null("shuffled", median, upper), p=0.01, q=0.02, n=99, verdict=verdict)
    return Finding(name, kind, "x", f"{name} is so.", replace(evidence, **given))


def dot(one: Finding) -> float:
    return float(re.search(r"--found:([\d.]+)%", gauge(one))[1])


def test_more_evidence_is_never_drawn_nearer_to_chance():
    sizes = np.geomspace(0.1, 100, 60)
    found_at = [beyond(finding(size).evidence) for size in sizes]
    assert found_at == sorted(found_at) and found_at[-1] > found_at[0]
    drawn = [dot(finding(size)) for size in sizes]
    assert drawn == sorted(drawn)
    by_law = [beyond(Evidence(1.0, p=p, q=p, verdict="supported")) for p in np.geomspace(1e-200, 0.05, 40)]
    assert by_law == sorted(by_law, reverse=True)


@pytest.mark.parametrize(("shift", "stretch"), [(0.0, 1.0), (-3.0, 1.0), (0.5, 100.0), (-1e3, 1e-3)])
def test_equal_evidence_is_drawn_alike_however_the_statistic_is_measured(shift, stretch):
    measured = [stretch * value + shift for value in (4.0, 1.0, 2.0)]
    one = finding(measured[0], median=measured[1], upper=measured[2])
    assert beyond(one.evidence) == pytest.approx(3.0, rel=1e-6)
    assert dot(one) == pytest.approx(dot(finding(4.0)), abs=0.1)


def test_a_law_of_p_alone_gives_what_a_normal_statistic_would():
    p = float(norm.sf(3.0))
    drawn = finding(3.0, median=0.0, upper=float(norm.isf(0.05)), p=p, q=p)
    assert beyond(replace(drawn.evidence, null=None)) == pytest.approx(beyond(drawn.evidence), rel=1e-9)


def test_the_mark_of_chance_stands_at_the_same_place_for_all_and_the_verdict_agrees_with_it():
    some = [finding(v, upper=u) for v, u in ((4.22, 1.35), (0.585, 0.504), (9.0, 8.9), (1e6, 2.0))]
    assert len({re.search(r"--reach:([\d.]+)%", gauge(one))[1] for one in some}) == 1
    reach = 100 * place(1.0)
    assert dot(finding(1.5)) == pytest.approx(reach, abs=0.1)  # supported by a tail that the quantile does not know
    assert dot(finding(50.0, verdict=CHANCE)) == pytest.approx(reach, abs=0.1)
    assert dot(finding(0.2, verdict=CHANCE)) == 0.0
    assert "far" in gauge(finding(5 * CAP)) and dot(finding(5 * CAP)) == 100.0


def test_4_22_against_1_35_looks_other_than_585_against_504():
    far, near = finding(4.22, median=1.25, upper=1.35), finding(0.585, median=0.49, upper=0.504)
    assert dot(far) - dot(near) > 5.0


def test_the_gauge_says_in_words_what_it_draws():
    assert 'aria-label="3.0 times as far as chance reaches one time in twenty"' in gauge(finding(4.0))
    untested = Finding("a", "k", "x", "A.", Evidence(1.0))
    assert "aria-label" not in gauge(untested) and beyond(untested.evidence) is None


def test_the_strongest_come_first_within_their_verdict():
    fact = Finding("fact", "schema", "x", "F.", Evidence(1.0, verdict="supported"))
    some = [
        finding(2.5, name="weak"), finding(9.0, name="fell", verdict=CHANCE), finding(9.0, name="strong"),
        finding(30.0, name="perhaps", verdict="suggestive"), fact,
    ]  # fmt: skip
    assert [one.id for one in strongest_first(some)] == ["fact", "strong", "weak", "perhaps", "fell"]
    text = verdicts(some, "findings")
    places = [text.index(f'id="finding-{name}"') for name in ("fact", "strong", "weak", "perhaps", "fell")]
    assert places == sorted(places)


def test_many_of_a_kind_leave_room_for_others_and_none_is_lost():
    many = [finding(5.0 + j, name=f"pair {j}", kind="pair") for j in range(200)] + [finding(3.0, name="group 1")]
    first, rest = a_few_of_each(strongest_first(many))
    assert [one.kind for one in first].count("pair") == 6 and first[-1].id == "group 1"
    assert sorted(one.id for one in (*first, *rest)) == sorted(one.id for one in many)
    text = html.unescape(verdicts(many, "findings"))
    assert text.count('<li class="verdict') == 7
    assert all(one.line in text for one in many)
    assert 'type="search"' in text


@pytest.mark.parametrize("length", [1, 30, 100, 5000])
def test_a_line_keeps_its_length_and_its_end_whatever_names_are(length):
    names = "a" * length, "b" * length
    line = one_line(
        lambda short: f"19 of 28 pairs of columns go together, most {short(names[0])} and {short(names[1])} (.80)"
    )
    assert len(line) <= LINE and line.endswith("(.80)")


def test_a_line_is_one_line_of_plain_words_whatever_it_was_made_of():
    one = Finding("a", "k", "x", "Said.", Evidence(1.0), line="two\nlines\t of\u2028 <b>markup</b> " + "x" * 300)
    assert len(one.line) == LINE and "\n" not in one.line and "\u2028" not in one.line
    assert "<b>" not in verdicts([one], "f").split('class="line">')[1].split("</h3>")[0]
    assert Finding("a", "k", "x", "First. Second.", Evidence(1.0)).line == "First"


def test_every_question_of_assay_says_how_to_read_it_in_two_sentences_and_where_more_is_said():
    docs = Path(__file__).parents[2] / "docs"
    for question in found().questions:
        assert question.reading.count(". ") == 1 and question.reading.endswith("."), question.name
        assert 60 < len(question.reading) < 300
        assert (docs / question.guide).is_file()


def test_how_to_read_stands_with_the_finding_and_with_its_first_figure():
    text = html.unescape(render(sample_study.wholesale()))
    reading = next(question.reading for question in found().questions if question.name == "components")
    assert text.count(reading) == 2
    row = text.split('id="finding-components"')[1].split("</li>")[0]
    assert (reading in row and "docs/guide/components.md" in row and 'href="#scree-title"' in row) or "-title" in row
