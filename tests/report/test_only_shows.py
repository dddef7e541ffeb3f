"""The report only shows: it draws no random number and tests nothing, whatever the study found."""

import random
import sys
from types import FunctionType

import numpy as np
import pandas as pd
import pytest
import sample_study

import assay
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


def test_the_guard_would_notice(monkeypatch):
    monkeypatch.setattr(np.random, "default_rng", forbidden)
    with pytest.raises(DrawnError):
        assay.study(table(60))
