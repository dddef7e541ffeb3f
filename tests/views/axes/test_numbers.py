"""Numbers lose digits, never their size or their sign."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.views.axes.numbers import count, counted, fraction, number, percent, probability


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
    assert percent(share) != "0.0%"


@pytest.mark.parametrize("write", [number, percent, fraction, probability])
@pytest.mark.parametrize("value", [None, math.nan])
def test_what_is_not_known_is_a_dash(write, value):
    assert write(value) == "–"


def test_infinite_numbers_are_written_as_such():
    assert (number(math.inf), number(-math.inf)) == ("∞", "−∞")


def test_counts_take_the_plural_of_all_but_one():
    assert [counted(k, "row") for k in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert count(1234567) == "1,234,567"
