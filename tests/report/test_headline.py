"""The one line at the top is true of the findings below it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import sample_study

from assay.asking.answer import Answer
from assay.asking.card import DataCard
from assay.asking.finding import Finding, Look
from assay.evidence.evidence import Evidence
from assay.report.headline import headline
from assay.study.findings import Ledger, Study


class Said(Answer):
    """An answer of findings that are there already."""

    rule = "none"

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings

    def stricter(self, factor, level):
        return self

    def findings(self):
        return self._findings

    def views(self, page=None):
        return []


def study_with(*verdicts: str, kinds: str = "group") -> Study:
    findings = [
        Finding(f"f{j}", kind, "x", f"Sentence {j}.", Evidence(1.0, n=9, method="m", verdict=verdict))
        for j, (verdict, kind) in enumerate(zip(verdicts, kinds.split() * len(verdicts), strict=False))
    ]
    answers = {kind: Said([f for f in findings if f.kind == kind]) for kind in dict.fromkeys(f.kind for f in findings)}
    looks = Ledger((Look("groups", 4, 1, "none"),))
    return Study(DataCard("a.csv", 9, 9, ()), tuple(findings), looks, "0.1.0", answers)


CHANCE, UNTESTABLE = "not distinguishable from chance", "not testable here"


@pytest.mark.parametrize(
    ("verdicts", "kinds", "line"),
    [
        (["supported"], "group", "1 group of 1 would survive a second look."),
        (["supported", CHANCE, "supported"], "group", "2 groups of 3 would survive a second look."),
        (["supported"] * 2, "group pair", "1 group of 1 and 1 pair of 1 would survive a second look."),
        (["suggestive", CHANCE], "group", "Nothing here is established; 1 group of 2 would be worth a second look."),
        ([CHANCE, UNTESTABLE], "group", "Nothing here is distinguishable from chance."),
        ([UNTESTABLE], "group", "Nothing was tested here."),
        ([], "group", "Nothing was tested here."),
    ],
)
def test_the_line_counts_what_stood_up(verdicts, kinds, line):
    assert headline(study_with(*verdicts, kinds=kinds)).line == line


def test_an_end_of_testing_is_not_taken_for_an_end_of_structure():
    study = sample_study.wide()
    result = study.answers["components"]
    assert "more may be real" not in headline(study).why
    ended = replace(result, tested=result.tested[: result.n_real])
    assert headline(replace(study, answers={"components": ended})).why.endswith(
        "Testing stopped there; more may be real."
    )


def test_suggestive_ones_are_mentioned_beside_supported_ones():
    assert headline(study_with("supported", "suggestive")).why == "Suggestive only: 1 group of 2."


def test_components_are_counted_of_all_that_could_be():
    assert headline(sample_study.wholesale()).line == "2 components of 6 would survive a second look."
    assert headline(sample_study.wide()).line == "3 components of 89 would survive a second look."


def test_what_components_carry_agrees_with_numpy():
    result = sample_study.wholesale().answers["components"]
    inside, unseen = re.findall(r"([\d.]+)%", headline(sample_study.wholesale()).why)
    assert float(inside) == pytest.approx(100 * result.values[:2].sum() / result.values.sum(), abs=0.05)
    assert float(unseen) == pytest.approx(100 * result.held_out[:2].sum(), abs=0.05)


def test_finding_nothing_says_how_near_it_came():
    study = sample_study.noise()
    result = study.answers["components"]
    found = headline(study)
    assert found.verdict == CHANCE
    assert found.why.startswith("That is an answer: of 12 structures examined in 200 rows")
    largest, needed = (float(x) for x in re.findall(r"([\d.]+)%", found.why))
    assert largest == pytest.approx(100 * result.share[0], abs=0.05)
    assert needed == pytest.approx(100 * result.chance_upper[0] / result.values.sum(), abs=0.05)
    assert largest < needed


@pytest.mark.parametrize("upper", [np.array([np.inf]), np.array([np.nan]), np.array([])])
def test_a_null_without_a_finite_end_is_not_quoted(upper):
    study = sample_study.noise()
    result = replace(study.answers["components"], chance_upper=upper)
    assert "%" not in headline(replace(study, answers={"components": result})).why
