"""Values that look wrong are pointed out, and ordinary ones are not."""

from datetime import date

import numpy as np
import pytest

from assay.study.suspicious_values import suspicious_numbers, suspicious_texts, suspicious_times

RNG = np.random.default_rng(0)


def of(x, **options):
    return suspicious_numbers(x, float(np.nanmin(x)), float(np.nanmax(x)), **options)


@pytest.mark.parametrize("marker", [-999.0, -1.0, 9999.0, -99.0])
def test_a_repeated_marker_far_outside_may_stand_for_missing(marker):
    x = np.r_[RNG.uniform(10, 12, 200), [marker] * 4]
    assert of(x) == f"{marker:g} may stand for missing (4 of 204 in a sample)"


def test_a_marker_inside_the_range_is_a_value():
    assert of(np.r_[RNG.uniform(-200, 200, 300), [-99.0] * 4]) == ""


@pytest.mark.parametrize("x", [RNG.standard_normal(500), RNG.integers(0, 9, 500).astype(float), np.arange(99.0)])
def test_ordinary_numbers_are_not_suspicious(x):
    assert of(x) == ""


def test_one_value_far_out_is_named():
    assert of(np.r_[RNG.standard_normal(300), 1e6]) == "largest value 1,000,000 lies far from the rest"


def test_on_a_logarithmic_scale_a_long_tail_is_ordinary():
    x = np.exp(3 * RNG.standard_normal(2000))
    assert of(x) != ""
    assert of(x, log=True) == ""


def test_few_or_missing_values_say_nothing():
    assert suspicious_numbers(np.full(50, np.nan), np.nan, np.nan) == ""
    assert of(np.array([1.0, 2.0, 1e9])) == ""


def test_spellings_formulas_and_markup_are_pointed_out():
    assert suspicious_texts(["a", "b", "c d"]) == ""
    assert "'North' and 'north' differ only in case or blanks" in suspicious_texts(["north", "North", "south"])
    assert (
        suspicious_texts(["Dear Anna", "dear anna ", "x"], quoted=False)
        == "1 text is there twice but for case or blanks"
    )
    assert "formulas" in suspicious_texts(["=SUM(A1:A3)", "x"])
    assert "formulas" in suspicious_texts(["@cmd", "x"])
    assert "markup" in suspicious_texts(["<script>alert(1)</script>"])
    assert suspicious_texts(["-5", "+49 30 1234", "a < b and c > d", "x=1"]) == ""


def test_dates_that_stand_for_unknown_or_lie_ahead_are_pointed_out():
    today = date(2026, 11, 15)
    days = RNG.uniform(18_000, 20_000, 50)
    assert suspicious_times(days, today=today) == ""
    assert "1970-01-01 may stand for unknown (2 of 52" in suspicious_times(np.r_[days, 0.0, 0.5], today=today)
    assert "1 of 51 in a sample lie more than a year" in suspicious_times(np.r_[days, 30_000.0], today=today)
    assert suspicious_times(np.full(3, np.nan), today=today) == ""
