"""What figures are given: axes hold it whatever its size, ticks differ, and what cannot be drawn is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import ParameterError
from assay.views.axes.given import LARGEST, log_padded, matrix, padded, row_numbers, shares, vector
from assay.views.axes.ticks import power_ticks
from assay.views.rows.cloud import SAMPLE, WHOLE, as_text, drawn_rows

FINITE = st.floats(-LARGEST, LARGEST)
POSITIVE = st.floats(1e-300, 1e300)


@settings(max_examples=100, deadline=None)
@given(st.lists(FINITE, max_size=6))
def test_a_padded_axis_is_finite_wide_and_holds_every_value(values):
    low, high = padded(np.array(values))
    assert np.isfinite([low, high]).all() and low < high
    assert all(low <= value <= high for value in values)


@settings(max_examples=60, deadline=None)
@given(st.lists(POSITIVE, min_size=1, max_size=6))
def test_a_logarithmic_axis_is_finite_positive_and_holds_every_value(values):
    low, high = log_padded(np.array(values), 0.05, 0.05)
    assert 0 < low < high < np.inf
    assert all(low <= value <= high for value in values)
    ticks = power_ticks(low, high)
    assert 1 <= len(ticks) <= 8 and all(low * (1 - 1e-6) <= at <= high * (1 + 1e-6) for at, _ in ticks)
    assert len({words for _, words in ticks}) == len(ticks)


def test_rows_drawn_are_a_fair_sample_that_keeps_what_is_asked_for():
    assert drawn_rows(WHOLE).tolist() == list(range(WHOLE))
    kept = drawn_rows(50_000, np.array([49_999, 7]))
    assert len(kept) == SAMPLE and {7, 49_999} <= set(kept.tolist())
    assert abs(kept.mean() / 25_000 - 1) < 0.05


def test_numbers_under_the_pointer_keep_their_digits_at_any_size():
    texts = as_text(np.array([-1e-300, 0.0, 1234567.0, 1e300, -2.5]))
    assert texts.tolist() == ["−1e-300", "0", "1234567", "1e+300", "−2.5"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: vector("x", [[1.0]]), r"x has one number per row; got an array of shape \(1, 1\)$"),
        (lambda: vector("x", [1.0, np.nan]), "got nan at 1, counted from 0. Leave such rows out"),
        (lambda: vector("x", [1e301]), r"up to 1e\+300 in size; got 1e\+301 at 0"),
        (lambda: matrix("x", [[0.0, -np.inf]]), r"got -inf at \(0, 1\)"),
        (lambda: matrix("x", [1.0], (None, 2)), r"lines and columns \(any number, 2\); got an array of shape \(1,\)"),
        (lambda: shares("x", [0.5, -0.1]), "x holds shares from 0 to 1; got -0.1"),
        (lambda: row_numbers([[1]], 1), r"got shape \(1, 1\) for 1 rows"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_place(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
