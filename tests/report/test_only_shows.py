"""The report only shows: it draws no random number and tests nothing, whatever the study found."""

import html
import random
import re
import sys
from types import FunctionType

import numpy as np
import pandas as pd
import pytest
import sample_study

import assay
from assay.asking.words import LINE
from assay.evidence.evidence import Evidence
from assay.report.page import render
from assay.report.text import render as render_text


def table(n=2400):
    """So many rows and columns, of every kind, that every question has something to show and samples must be drawn."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n)
    X = np.array([[0, 0, 0, 0], [7, 5, 0, -4], [0, 6, 7, 4]])[group] + rng.standard_normal((n, 4))
    X[17] = [-14.0, 16.0, -14.0, 16.0]
    X = np.hstack([X, X[:, ::2] + 0.3 * rng.standard_normal((n, 2))])
    frame = pd.DataFrame(X, columns=["height", "weight", "ph", "iron", "length", "acid"])
    return frame.assign(ward=np.array(["a", "b"])[(group > 0).astype(int)])


STUDIES = {
    "patients": lambda: assay.study(table(), target="ward", side=["height", "weight"]),
    "customers": lambda: assay.study(sample_study.DATA),  # whose map shows more than chance
}


@pytest.fixture(scope="module", params=STUDIES)
def study(request):
    return STUDIES[request.param]()


class DrawnError(AssertionError):
    pass


def forbidden(*_args, **_options):
    raise DrawnError("a random number was drawn, or something was tested, while the report was made")


def test_most_questions_have_something_to_show(study):
    silent = {name for name, answer in study.answers.items() if all(v.figure is None for v in answer.views())}
    assert silent <= ({"groups", "anomalies"} if study.data.name == sample_study.DATA.name else {"map"})


def test_the_page_is_made_without_chance_and_without_tests(study, monkeypatch):
    before = render(study), render_text(study)
    for name in ("default_rng", "RandomState", "Generator", "permutation", "choice", "random", "normal", "shuffle"):
        monkeypatch.setattr(np.random, name, forbidden)
    for name in ("random", "choice", "shuffle", "sample", "getrandbits"):
        monkeypatch.setattr(random, name, forbidden)
    monkeypatch.setattr(Evidence, "__post_init__", forbidden)  # whatever is tested makes evidence
    for module in [sys.modules[f"assay.questions.{name}.test"] for name in study.answers]:
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                monkeypatch.setattr(module, name, forbidden)
    assert (render(study), render_text(study)) == before


# words of the workshop: what they mean is said otherwise, or once
JARGON = re.compile(
    r"\d looks?\b|[Aa]ll looks|of looks\b|\bLooks\b|p counted|counts? \S+ times|stricter|[Aa]lignment|made anew|"
    r"searched anew|\b0 tables|cut out of tables|exact cells|cosines? of ranks|prediction strength|effective number|"
    r"once the luck"
)


def test_words_are_those_of_an_analyst_in_page_terminal_and_json(study):
    page = render(study)
    words = html.unescape(re.sub(r"<(script|style|template)\b.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL))
    told = " ".join(text for text in _texts(study.as_dict()) if " " in text)
    for text in (words, render_text(study), told):
        assert not [text[max(m.start() - 60, 0) : m.end() + 20] for m in JARGON.finditer(text)]
    for finding in study.findings:
        assert 10 <= len(finding.line) <= LINE and len(finding.line.split()) <= 20
        assert not re.search(r"[<>\n]", finding.line) and not finding.line.endswith(".")
        assert finding.line in page or html.escape(finding.line) in page


def _texts(value):
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return (
        [text for one in value for text in _texts(one)] if isinstance(value, list) else [value] * isinstance(value, str)
    )


def test_the_guard_would_notice(monkeypatch):
    monkeypatch.setattr(np.random, "default_rng", forbidden)
    with pytest.raises(DrawnError):
        assay.study(table(60))
