"""Words under a small picture: round, inside, few, all different."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.views.axes.ticks import brief, log_ticks, number_ticks, time_ticks

finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=200, deadline=None)
@given(finite, finite)
def test_number_ticks_lie_inside_and_are_few_and_told_apart(a, b):
    low, high = min(a, b), max(a, b)
    ticks = number_ticks(low, high)
    assert 1 <= len(ticks) <= 5
    slack = 1e-9 * max(abs(low), abs(high))
    assert all(low - slack <= at <= high + slack for at, _ in ticks)
    if high - low > 1e-4 * abs(high):
        assert len({words for _, words in ticks}) == len(ticks)


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 1e300), st.floats(0, 1e300))
def test_ticks_of_a_logarithm_lie_inside(a, b):
    low, high = min(a, b), max(a, b)
    ticks = log_ticks(low, high)
    assert 1 <= len(ticks) <= 5
    assert all(low * (1 - 1e-9) <= at <= high * (1 + 1e-9) for at, _ in ticks)


def test_a_span_without_two_powers_of_ten_gets_round_numbers():
    assert [words for _, words in log_ticks(20.0, 90.0)] == ["20", "40", "60", "80"]


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("1950-06-01", "2021-01-01", ["1960", "1980", "2000", "2020"]),
        ("2021-11-20", "2022-03-05", ["2021-12", "2022-01", "2022-02", "2022-03"]),
        ("2022-02-26", "2022-03-12", ["2022-03-01", "2022-03-11"]),
        ("2022-03-01T05:10", "2022-03-01T17:40", ["06:00", "09:00", "12:00", "15:00"]),
        ("2022-03-01T23:50", "2022-03-02T00:20", ["23:50", "00:00", "00:10", "00:20"]),
        ("2022-03-01T10:00:01", "2022-03-01T10:00:09", ["10:00:05"]),
    ],
)
def test_times_are_marked_where_a_calendar_is_round(start, end, words):
    days = [float(np.datetime64(t, "s").astype(float)) / 86400 for t in (start, end)]
    ticks = time_ticks(*days)
    assert [said for _, said in ticks] == words
    for at, said in ticks:
        assert said in str(np.datetime64(round(at * 86400), "s"))


@pytest.mark.parametrize("low", [-1e300, -5e6, 0.0, 1e9])
def test_what_is_no_date_is_a_number(low):
    assert time_ticks(low, low + abs(low) + 1.0)


def test_a_single_moment_has_its_date():
    assert time_ticks(19000.0, 19000.0) == [(19000.0, "2022-01-08")]


def test_brief_numbers_are_brief():
    for value in (1234.5678, -9.87654e-8, 5e8, 2.5e15, 999.9, 0.001234):
        assert len(brief(value)) <= 9
    assert brief(999.9) == "1k"
    assert brief(float("inf")) == "∞"
