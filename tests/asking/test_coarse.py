"""Coarse values: few steps, no level of few rows, no end that is a value, and the order of things kept."""

from __future__ import annotations

import numpy as np
import pytest

from assay.asking.coarse import FEWEST, MISSING, OTHER, STEPS, coarse_look, pooled, stepped
from assay.asking.table import FirstLook

RNG = np.random.default_rng(21)
COLUMNS = {
    "normal": RNG.standard_normal(700),
    "with gaps": np.where(RNG.random(700) < 0.2, np.nan, RNG.normal(5, 2, 700)),
    "skewed": np.exp(RNG.normal(8, 2, 700)),
    "one far away": np.r_[RNG.normal(0, 1, 699), 1e9],
    "far on both sides": np.r_[RNG.normal(0, 1, 698), -1e6, 1e6],
    "tiny": RNG.normal(1, 1, 700) * 1e-200,
    "with an offset": 1e6 + RNG.random(700),
    "mostly zero": np.where(RNG.random(700) < 0.9, 0.0, RNG.random(700)),
    "two rows": RNG.random(2),
    "one row": RNG.random(1),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("log", [False, True])
def test_numbers_lie_in_their_steps_which_are_few_and_whose_ends_are_no_values(name, log):
    x = COLUMNS[name]
    steps = stepped(x, log=log)
    there = np.isfinite(x)
    assert len(steps.low) <= STEPS
    assert np.array_equal(steps.codes == MISSING, ~there)
    codes = steps.codes[there]
    slack = 1e-9 * np.abs(x[there]).max()
    assert np.all(steps.low[codes] <= x[there] + slack)
    assert np.all(x[there] <= steps.high[codes] + slack)
    assert np.all(np.diff(steps.low) >= 0)
    values, counts = np.unique(x[there], return_counts=True)
    alone = set(values[counts < FEWEST].tolist())
    assert not alone & {*steps.low.tolist(), *steps.high.tolist(), *steps.spread()[there].tolist()}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_drawn_lies_within_the_step_and_keeps_gaps(name):
    steps = stepped(COLUMNS[name])
    drawn, there = steps.spread(), steps.codes != MISSING
    assert np.array_equal(np.isnan(drawn), ~there)
    codes = steps.codes[there]
    width = steps.high[codes] - steps.low[codes]
    assert np.all(drawn[there] >= steps.low[codes] - 0.11 * width)
    assert np.all(drawn[there] <= steps.high[codes] + 0.11 * width)


def test_numbers_that_several_rows_share_stay_as_they_are():
    years = np.repeat([2005.0, 2007.0, 2009.0], FEWEST)
    steps = stepped(years)
    assert steps.low.tolist() == steps.high.tolist() == [2005.0, 2007.0, 2009.0]
    assert steps.spread().tolist() == years.tolist()
    assert stepped(np.array([np.nan])) is None
    assert stepped(np.array([1e200, 0.0])) is None


@pytest.mark.parametrize("ordered", [False, True])
def test_levels_of_few_rows_are_one_without_a_name(ordered):
    counts = [9, FEWEST - 1, FEWEST, 1]
    codes = np.repeat(np.arange(4.0), counts)
    names = ("a", "secret", "b", "rare")
    found = pooled(np.r_[codes, np.nan], names, ordered=ordered)
    assert found.names == ("a", "b", OTHER)
    assert found.pooled == 2
    assert np.bincount(found.codes[:-1]).tolist() == [9, FEWEST, FEWEST]
    assert found.codes[-1] == MISSING


def test_a_coarse_look_holds_no_value_of_a_number_and_no_name_of_a_rare_level():
    values = np.column_stack([COLUMNS["normal"], np.where(np.arange(700) < 3, 1.0, 0.0), np.full(700, 12.0)])
    look = FirstLook(
        ("x", "c", "t"), ("number", "category", "text"), (None,) * 3, np.arange(1, 701), values, np.zeros(3),
        np.ones(3), levels={"c": ("often", "secret")}, total=700,
    )  # fmt: skip
    found = coarse_look(look, look.columns)
    assert not set(values[:, 0]) & set(found.values[:, 0])
    assert np.corrcoef(values[:, 0], found.values[:, 0])[0, 1] > 0.999
    assert found.levels["c"] == ("often", OTHER)
    assert look.levels["c"] == ("often", "secret")


def test_a_coarse_look_holds_only_the_columns_that_are_wanted_and_these_as_a_look_at_all_has_them():
    values = np.column_stack([COLUMNS["normal"], COLUMNS["normal"][::-1], np.arange(700) % 2.0, np.full(700, 7.0)])
    look = FirstLook(
        ("x", "y", "c", "t"), ("number", "number", "category", "text"), (None,) * 4, np.arange(1, 701), values,
        np.zeros(4), np.ones(4), levels={"c": ("a", "b")}, total=700,
    )  # fmt: skip
    every, some = coarse_look(look, look.columns), coarse_look(look, {"y", "t"})
    assert np.array_equal(some.values[:, [1, 3]], every.values[:, [1, 3]])
    assert np.isnan(some.values[:, [0, 2]]).all()
    assert not some.levels
