"""Bonferroni's principle as a calculator: the published number, binomial oracles, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from assay import expected_by_chance
from assay.errors import ParameterError


def test_the_number_of_the_method_list():
    # 5e17 pairs of people, 499,500 pairs of days, 1e-18 each
    hotels = expected_by_chance(10**9, 0.01**2 / 1e5, together=2, occasions=1000, times=2)
    assert hotels.expected == pytest.approx(249_750, rel=1e-5)
    assert hotels.looks == 10**9 * (10**9 - 1) // 2 * 499_500
    assert hotels.at_least_one == 1.0


@given(st.integers(1, 500), st.floats(1e-9, 1.0))
def test_independent_looks_follow_the_binomial_law(looks, chance):
    found = expected_by_chance(looks, chance)
    law = binom(looks, chance)
    assert found.expected == pytest.approx(law.mean(), rel=1e-12)
    assert found.at_least_one == pytest.approx(law.sf(0), rel=1e-9)
    assert found.at_least_one <= min(1.0, found.expected) * (1 + 1e-12)


@given(st.integers(2, 10**6), st.sampled_from([0.01, 0.05, 0.2]))
def test_looks_at_the_needed_chance_show_anything_no_more_often_than_the_level(things, level):
    needed = expected_by_chance(things, 0.5, together=2, level=level).needed
    again = expected_by_chance(things, needed, together=2, level=level)
    assert again.expected == pytest.approx(level, rel=1e-12)
    assert again.at_least_one <= level


def test_unrelated_columns_have_as_many_pairs_below_the_level_as_it_says():
    # 200 tables of 28 pairs; the count of one table has a standard error of about 1.2, so the mean one of .09
    from assay import dependence

    rng = np.random.default_rng(0)
    counts = [np.sum(dependence(rng.standard_normal((50, 8))).pairs.p <= 0.05) for _ in range(200)]
    assert np.mean(counts) == pytest.approx(expected_by_chance(8, 0.05, together=2).expected, abs=0.36)


def test_the_sentence_has_the_numbers():
    assert expected_by_chance(8, 0.05, together=2).sentence.startswith(
        "Of 28 tests of data without structure 1.4 would"
    )
    assert "249,750" in expected_by_chance(10**9, 1e-9, together=2, occasions=1000, times=2).sentence
    assert expected_by_chance(1, 0.5).sentence.startswith("Of 1 test of")


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        ({"things": 0}, "things is a whole number, at least 1; got 0"),
        ({"things": 2.5}, "things is a whole number"),
        ({"together": 0}, "together is a whole number"),
        ({"chance": 1.5}, "chance is a probability between 0 and 1; got 1.5"),
        ({"level": 1.0}, "level is a probability between 0 and 1"),
        ({"together": 9}, "9 of 8 things on 1 of 1 occasions cannot be"),
        ({"times": 2}, "2 of 1 occasions cannot be"),
    ],
)
def test_what_cannot_be_counted_is_refused(told, rule):
    with pytest.raises(ParameterError, match=rule):
        expected_by_chance(**{"things": 8, "chance": 0.05, **told})
