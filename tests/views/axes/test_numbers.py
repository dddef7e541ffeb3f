"""Numbers lose digits, never their size or their sign."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.views.axes.numbers import count, counted, fraction, number, percent, probability, rounded, told_apart


def read_back(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


@given(st.floats(min_value=-1e300, max_value=1e300, allow_nan=False))
def test_a_number_reads_back_within_half_a_unit_of_its_third_digit(value):
    assert read_back(number(value)) == pytest.approx(value, rel=5.1e-3, abs=0)


@given(st.floats(min_value=1e-4, max_value=1e7, exclude_max=True))
def test_a_number_has_at_most_four_significant_digits_or_is_whole(value):
    text = number(value)
    assert len(text.replace(",", "").replace(".", "").lstrip("0")) <= 4 or "." not in text


@given(st.floats(min_value=0, max_value=1))
def test_a_probability_is_never_called_zero_and_reads_back(p):
    relation, said = probability(p).split()
    value = float(said)
    assert value > 0
    if relation == "<":
        assert p < value
    elif relation == ">":
        assert value < p < 1
    else:
        assert value == pytest.approx(p, abs=0.0051 if p >= 0.1 else 0.00051 if p >= 0.01 else 0.000051)


def test_a_bound_is_marked_as_one():
    assert probability(0.001, bound=True) == "≤ .001"
    assert probability(1e-9, bound=True) == "< .0001"


@given(st.floats(min_value=1e-12, max_value=1))
def test_a_share_above_zero_is_not_called_zero(share):
    assert percent(share) not in ("0%", "0.0%")


@pytest.mark.parametrize("write", [number, percent, fraction, probability])
@pytest.mark.parametrize("value", [None, math.nan])
def test_what_is_not_known_is_a_dash(write, value):
    assert write(value) == "–"


def test_infinite_numbers_are_written_as_such():
    assert (number(math.inf), number(-math.inf)) == ("∞", "−∞")


def test_counts_take_the_plural_of_all_but_one():
    assert [counted(k, "row") for k in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert count(1234567) == "1,234,567"


@given(st.floats(min_value=-1e300, max_value=1e300, allow_nan=False))
def test_a_value_of_the_data_reads_back_with_four_digits_and_has_no_ascii_minus(value):
    assert read_back(rounded(value)) == pytest.approx(value, rel=5.1e-4, abs=0)
    assert "-" not in rounded(value)


@given(st.floats(min_value=1e-6, max_value=1e11))
def test_a_value_of_usual_size_is_written_without_a_power_of_ten(value):
    assert "e" not in rounded(value)


@pytest.mark.parametrize(("write", "digits"), [(percent, 1), (fraction, 2), (number, 3)])
@given(a=st.integers(1, 999), b=st.integers(1, 999))
def test_different_numbers_of_a_sentence_are_not_written_alike(write, digits, a, b):
    said = told_apart(write, [a / 1000, b / 1000], digits)
    assert (said[0] == said[1]) == (a == b)


def test_numbers_that_differ_by_rounding_alone_keep_their_few_digits():
    assert told_apart(number, [0.5, 0.5 + 1e-12], 3) == ["0.500", "0.500"]
