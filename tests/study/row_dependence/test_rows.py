"""How rows depend is found where they do, told where the user says so, and heeded by every question."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.read import read
from assay.errors import DataError, ParameterError
from assay.study.row_dependence.levels import LevelCandidate, could_name_subjects, levels_look
from assay.study.row_dependence.near_copies import copies_look
from assay.study.row_dependence.place import coordinates, place_look
from assay.study.row_dependence.serial import parts, serial_look
from assay.study.table import prepare


def series(n, d, phi, seed):
    rng = np.random.default_rng(seed)
    x, noise = np.zeros((n, d)), rng.standard_normal((n, d))
    x[0] = noise[0]
    for t in range(1, n):
        x[t] = phi * x[t - 1] + noise[t] * np.sqrt(1 - phi**2)
    return x


def subjects(seed, n=30, each=10, columns=6, icc=0.7):
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(n), each)
    own = rng.standard_normal((n, columns))[label]
    return np.sqrt(icc) * own + np.sqrt(1 - icc) * rng.standard_normal((n * each, columns)), label


def field(seed, side=14, columns=6, reach=2.5):
    k = np.arange(side)
    near = np.exp(-((k[:, None] - k) ** 2) / (2 * reach**2))
    root = np.linalg.cholesky(np.kron(near, near) + 1e-6 * np.eye(side**2))
    return root @ np.random.default_rng(seed).standard_normal((side**2, columns))


# With 60 tables and none called, a true rate of 5% is noticed with probability 1 - .95^60 = .95.
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.standard_normal((200, 6)),
        lambda rng: (rng.random((200, 6)) < 0.02).astype(float),
        lambda rng: rng.standard_normal((300, 1)) + 0.3 * rng.standard_normal((300, 8)),
        lambda rng: (2 * rng.standard_normal((3, 5)))[np.repeat(np.arange(3), 50)] + rng.standard_normal((150, 5)),
        lambda rng: np.column_stack(
            [(3 * rng.standard_normal((3, 5)))[(c := np.repeat(np.arange(3), 50))] + rng.standard_normal((150, 5)), c]
        ),
        lambda rng: (lambda x: x[np.argsort(x[:, 0])])(rng.standard_normal((300, 1)) + rng.standard_normal((300, 6))),
    ],
    ids=[
        "noise",
        "rare levels",
        "one factor",
        "sorted by class",
        "sorted by a column of classes",
        "sorted by a column",
    ],
)
def test_rows_in_any_order_or_sorted_are_no_series(make):
    found = [serial_look(make(np.random.default_rng(seed))) for seed in range(60)]
    assert sum(look is not None and look.design is not None for look in found) == 0


@pytest.mark.parametrize(("phi", "kind"), [(0.3, "Runs"), (0.9, "Serial")])
def test_series_are_seen_and_the_stronger_dependence_is_shifted(phi, kind):
    found = [serial_look(series(300, 6, phi, seed)).design for seed in range(10)]
    assert [type(design).__name__ for design in found] == [kind] * 10


def test_levels_are_cut_where_they_change():
    rng = np.random.default_rng(0)
    S = rng.standard_normal((150, 4)) + 3.0 * (np.arange(150) >= 60)[:, None]
    assert parts(S).tolist() == [0, 60, 150]


@pytest.mark.parametrize("ordered", [False, True])
def test_subjects_are_seen_in_any_order_and_an_age_is_not_one(ordered):
    for seed in range(5):
        X, label = subjects(seed)
        order = np.random.default_rng(seed).permutation(len(X))
        look = levels_look(X[order], tuple("abcdef"), {"who": LevelCandidate(label[order], ordered)})
        assert look is not None and 0.5 < look.shared < 0.85
        age = np.random.default_rng(seed).integers(20, 60, 300)
        smooth = age[:, None] / 20.0 + np.random.default_rng(seed).standard_normal((300, 6))
        assert levels_look(smooth, tuple("abcdef"), {"age": LevelCandidate(age - 20, True)}) is None


def test_a_measurement_at_whose_steps_others_change_names_no_subjects():
    """Of 30 such tables one at most is taken for subjects; with six waves for the order of any number three were."""
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        length = rng.integers(0, 56, 340)
        steps = (length[:, None] > [15, 25, 40]) * 3.0 + rng.standard_normal((340, 3))
        X = np.column_stack([steps, rng.standard_normal((340, 2))])
        found += levels_look(X, tuple("abcde"), {"length": LevelCandidate(length, True)}) is not None
    assert found <= 1


def test_numbers_that_name_subjects_are_seen_by_two_columns_of_eight():
    """Subjects numbered in no order, whose own level is in two columns only: 9 of 10 tables at least."""
    found = 0
    for seed in range(20):
        X, label = subjects(seed, columns=8)
        X[:, 2:] = np.random.default_rng(seed).standard_normal((len(X), 6))
        found += levels_look(X, tuple("abcdefgh"), {"who": LevelCandidate(label, True)}) is not None
    assert found >= 18


@pytest.mark.parametrize(("step", "how"), [(1.0, "groups"), (0.5, None)])
def test_numbers_with_fractions_name_no_subjects_though_their_ends_are_whole(step, how):
    rng = np.random.default_rng(6)
    label = np.repeat(np.arange(31), 10)
    X = rng.standard_normal((31, 6))[label] + 0.6 * rng.standard_normal((310, 6))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.insert(0, "sample", (step * label - 1.0))
    _, depend = prepare(read(frame.sample(frac=1.0, random_state=0)))
    assert (depend.how if depend.by == ("sample",) else None) == how


def test_levels_in_few_rows_do_not_name_subjects_of_other_rare_levels():
    """By the law of F, 12 of 60 such tables were taken for subjects."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        shares = [1.0 / np.arange(1, k + 1) ** power for k, power in ((40, 1.5), (12, 1.5), (40, 1.0))]
        y, z, who = (rng.choice(len(share), 600, p=share / share.sum()) for share in shares)
        levels = [(one[:, None] == np.unique(one)).astype(float) for one in (y, z)]
        owner = ("y",) * levels[0].shape[1] + ("z",) * levels[1].shape[1] + ("a", "b")
        X = np.column_stack([*levels, rng.standard_normal((600, 2))])
        assert levels_look(X, owner, {"who": LevelCandidate(who, False)}) is None


def test_a_class_is_no_subject_unless_its_name_says_so():
    assert not could_name_subjects("species", 3, 150) and could_name_subjects("site", 6, 150)
    assert could_name_subjects("model", 38, 234) and not could_name_subjects("letter", 26, 20_000)
    assert not could_name_subjects("subject", 100, 100)


def test_copies_are_seen_with_and_without_jitter_and_lines_are_none():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((100, 6)), 3, axis=0)
    assert copies_look(X).copies == copies_look(X + 0.01 * rng.standard_normal(X.shape)).copies == 200
    assert copies_look(X + 0.05 * rng.standard_normal(X.shape)).copies >= 190
    assert copies_look(rng.random((400, 1)) * np.ones((1, 5)) + 1e-6 * rng.standard_normal((400, 5))) is None
    assert copies_look((rng.random((300, 5)) < 0.3).astype(float)) is None
    assert copies_look(series(300, 4, 0.99, 0)) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.standard_normal((300, 2)),
        lambda rng: rng.standard_normal((300, 6)),
        lambda rng: np.exp(2.0 * rng.standard_normal((200, 3))),
        lambda rng: rng.standard_normal((300, 1)) + 0.05 * rng.standard_normal((300, 6)),
        lambda rng: np.column_stack([rng.random((300, 5)) < 0.5, rng.standard_normal((300, 2))]).astype(float),
        lambda rng: 3.0 * rng.integers(0, 3, (300, 1)) + 0.1 * rng.standard_normal((300, 4)),
        lambda rng: np.round(rng.standard_normal((300, 4)), 2),
    ],
    ids=["plane", "six columns", "heavy tails", "near a line", "cells and numbers", "tight groups", "rounded"],
)
def test_rows_of_one_law_are_no_copies(make):
    # with 60 tables and none called, a true rate of 5% is noticed with probability 1 - .95^60 = .95
    assert not any(copies_look(make(np.random.default_rng(seed))) for seed in range(60))


def test_subjects_that_follow_each_other_with_as_many_rows_are_taken_together_without_a_name():
    for seed in range(5):
        X, label = subjects(seed)
        assert serial_look(X).design.label.tolist() == label.tolist()


def test_a_column_of_times_orders_a_series_in_any_order_of_the_file():
    table = pd.DataFrame(series(200, 4, 0.9, 0), columns=list("abcd"))
    table["day"] = pd.date_range("2024-01-01", periods=200)
    for rows in (table, table.sample(frac=1.0, random_state=1)):
        found = assay.study(rows).rows
        assert found.how == "time" and found.by == ("day",) and not found.told


def test_columns_that_drift_with_a_date_are_told_apart_from_series_and_a_hint_is_given():
    rng = np.random.default_rng(0)
    day = pd.date_range("2024-01-01", periods=200)
    drift = np.linspace(0, 2, 200)[:, None] * [1, -1, 1, 1] + 0.5 * rng.standard_normal((200, 4))
    for X, hint in ((drift, "--time day"), (rng.standard_normal((200, 4)), "")):
        table = pd.DataFrame(X, columns=list("abcd")).assign(day=day).sample(frac=1.0, random_state=1)
        table, rows = prepare(assay.read(table))
        assert rows.how == "independent" and hint in rows.sentence and bool(rows.sentence) == bool(hint)


def test_near_places_are_alike_in_fields_and_not_in_noise():
    at = np.stack(np.meshgrid(np.arange(14.0), np.arange(14.0)), axis=-1).reshape(-1, 2)
    look = place_look(field(0), at, ("x", "y"))
    assert look.p < 1e-10 and look.left < 0.3 and look.design.reach > 2.0
    assert place_look(np.random.default_rng(0).standard_normal((196, 6)), at, ("x", "y")).p > 1e-3
    assert coordinates(["Lat.", "name", "LON"]) == ("Lat.", "LON") and coordinates(["a", "b"]) is None


def test_the_page_says_first_how_many_rows_count():
    X, label = subjects(0)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(subject=[f"s{k}" for k in label])
    found = assay.study(table.sample(frac=1.0, random_state=0))
    assert found.rows.how == "groups" and found.rows.by == ("subject",)
    assert "rows tell as much as about" in found.data.notes[0] and found.rows.effective < 100
    assert found.ledger.questions[0].question == "Do rows depend on each other?"
    assert not next(column for column in found.data.columns if column.name == "subject").used


def test_what_the_user_says_goes_first():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((120, 4)), columns=list("abcd"))
    table["when"], table["who"], table["u"], table["v"] = (
        rng.permutation(120),
        np.arange(120) % 15,
        *rng.random((2, 120)),
    )
    for told, how in ({"time": "when"}, "time"), ({"by": "who"}, "groups"), ({"place": ("u", "v")}, "place"):
        found = assay.study(table, drop=[name for name in ("when", "who", "u", "v") if name not in str(told)], **told)
        assert found.rows.how == how and found.rows.told
        assert found.rows.by == (told[next(iter(told))] if how == "place" else (told[next(iter(told))],))


def test_what_cannot_be_said_of_rows_is_refused():
    table = pd.DataFrame(
        {"a": np.arange(30.0), "b": np.arange(30.0) ** 2, "t": [None, *range(29)], "w": ["x y z"] * 30}
    )
    with pytest.raises(ParameterError, match="no column 'date' for --time"):
        assay.study(table, time="date")
    with pytest.raises(ParameterError, match="--place takes two columns"):
        assay.study(table, place=("a",))
    with pytest.raises(DataError, match="the time 't' is missing in 1 of 30 rows"):
        assay.study(table, time="t")


def test_where_too_few_rows_count_nothing_is_supported_and_the_reason_is_said():
    found = assay.study(np.random.default_rng(3).standard_normal((200, 4)).cumsum(axis=0))
    assert found.rows.design.limit.endswith("too few to tell structure from chance")
    assert all(finding.evidence.verdict != "supported" for finding in found.findings)
