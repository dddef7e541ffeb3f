"""What a study tells while it runs: which question of how many, and how far it is."""

import re

import numpy as np
import pytest

import assay
from assay.asking.found import found


def told_by(**options):
    told = []
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 1)) + 0.5 * rng.standard_normal((60, 4))
    made = assay.study(rows, progress=lambda what, rows, share: told.append((what, rows, share)), **options)
    return made, told


@pytest.fixture(scope="module")
def whole():
    return told_by()


def test_every_question_is_numbered_and_told_once_it_begins(whole):
    made, told = whole
    heads = [*dict.fromkeys(m[0] for what, _, _ in told if (m := re.match(r"\d+ of \d+: [^?]*\?", what)))]
    numbers = [tuple(map(int, re.findall(r"\d+", head)[:2])) for head in heads]
    assert numbers == [(k, len(heads)) for k in range(1, len(heads) + 1)]
    entries = [*made.ledger.questions[1:], *made.ledger.not_asked]  # the first line is on the rows
    assert sorted(head.partition(": ")[2] for head in heads) == sorted(entry.question for entry in entries)


@pytest.mark.parametrize("question", ["components", "groups", "map", "stringing", "prediction"])
def test_questions_that_draw_chance_tell_which_share_of_the_draws_is_made(question):
    _, told = told_by(only=question, **({"target": "column 1"} if question == "prediction" else {}))
    wording = next(each.wording for each in found().questions if each.name == question)
    shares = [share for what, _, share in told if what == wording and share is not None]
    assert len(shares) > 2 and min(shares) < 0.5 and max(shares) <= 1.0
    assert all(what.startswith(wording) for what, _, _ in told[-3:])


def test_nothing_told_says_a_question_twice(whole):
    assert all(what.count("?") <= 1 and ": " not in what.partition("?")[2] for what, _, _ in whole[1])
