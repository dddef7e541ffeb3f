"""Ratings are told by their columns, and asked about levels and tastes."""

import json

import numpy as np
import pyarrow as pa
import pytest

import assay
from assay import Ratings
from assay.data.source import Source
from assay.errors import ParameterError
from assay.questions.tastes import QUESTION
from assay.report.write import write_report
from assay.study.forms.opened import opened


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A file of ratings with two factors, and a study of it."""
    rng = np.random.default_rng(1)
    M = 3.0 + 1.6 * rng.normal(size=(60, 1)) + 1.6 * rng.normal(size=40)
    M = M + 0.7 * rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40)) + 0.7 * rng.normal(size=(60, 40))
    path = tmp_path_factory.mktemp("ratings") / "ratings.csv"
    cells = np.argwhere(rng.random(M.shape) < 0.4)
    rows = [f"u{u},<i>film {i}</i>,{M[u, i]:.3f}" for u, i in cells]
    path.write_text("user,movie,rating\n" + "\n".join(rows) + "\n")
    return path, assay.study(str(path))


def test_a_file_of_ratings_is_studied_as_ratings_and_the_first_note_says_why(planted):
    _, study = planted
    assert study.data.form == "ratings"
    assert "'user', 'movie' and 'rating' say who rated what" in study.data.notes[0]
    assert study.data.facts[1:3] == ("60 users", "40 items")
    assert list(study.answers) == ["tastes"]


def test_tastes_and_levels_are_findings_with_numbers(planted):
    _, study = planted
    told = {finding.id: finding for finding in study.findings}
    assert set(told) == {"users", "items", "tastes"}
    assert {finding.evidence.verdict for finding in told.values()} == {"supported"}
    assert told["tastes"].sentence.startswith("Tastes differ beyond levels: factors take away ")
    assert "Users rate on different levels" in told["users"].sentence
    assert study.answers["tastes"].headline("supported") == "tastes, levels of items and levels of users"
    assert study.ledger.looks == 3


def test_the_page_shows_errors_items_and_who_rated_and_escapes_names(planted, tmp_path):
    _, study = planted
    write_report(study, html_path=tmp_path / "page.html", json_path=tmp_path / "findings.json")
    page = (tmp_path / "page.html").read_text()
    for title in ("Errors on ratings that were held out", "Items on the first two factors", "Who rated, and what was"):
        assert title in page
    assert "<i>film" not in page
    found = json.loads((tmp_path / "findings.json").read_text())
    errors = found["answers"]["tastes"]["numbers"]["held_out_errors"]
    assert errors["factors"]["rmse"] < errors["biases"]["rmse"] < errors["mean"]["rmse"]


def test_without_tastes_no_map_is_drawn_and_levels_are_recommended():
    rng = np.random.default_rng(100)
    M = 0.6 * rng.normal(size=(30, 1)) + 0.6 * rng.normal(size=20) + rng.normal(size=(30, 20))
    study = assay.study(Ratings.of_matrix(M))
    told = {finding.id: finding for finding in study.findings}
    assert told["tastes"].evidence.verdict == "not distinguishable from chance"
    assert told["tastes"].sentence.endswith("Recommend by the levels of the items.")
    titles = [view.name for view in study.answers["tastes"].views()]
    assert "no-item-map" in titles and "item-map" not in titles


def test_stricter_never_helps(planted):
    answer = planted[1].answers["tastes"]
    harder = answer.stricter(10.0, 0.05)
    assert harder.evidence.q >= answer.evidence.q
    assert {finding.evidence.verdict for finding in harder.findings()} == {"not distinguishable from chance"}


@pytest.mark.parametrize(
    "columns",
    [
        {"customer": ["a", "b"], "product": ["x", "y"], "quantity": [1, 2]},  # orders
        {"user": ["a", "b"], "item": ["x", "y"], "rating": ["good", "bad"]},
        {"user": ["a", "b"], "item": ["x", "y"], "rating": [1, 2], "age": [3, 4], "town": ["k", "l"]},
        {"user": [0.5, 1.5], "item": ["x", "y"], "rating": [1, 2]},
    ],
)
def test_tables_that_only_might_be_ratings_stay_tables(columns):
    assert isinstance(opened(pa.table(columns)), Source)


def test_counts_and_too_little_are_not_asked_about_and_the_reason_is_given():
    plays = pa.table({"user": ["a", "b"], "song": ["x", "y"], "plays": [1, 2]})
    subject = opened(plays, "ratings")
    assert QUESTION.why_not(subject, None) == "it is about how much items were liked, and these are counts"
    few = opened([("a", "x", 1), ("b", "x", 2)], "ratings")
    assert QUESTION.why_not(few, None) == "it takes 8 users"
    with pytest.raises(ParameterError, match="ratings are read without 'sheet'; they take user, item"):
        opened(plays, "ratings", {"sheet": 1})
