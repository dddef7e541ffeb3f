"""Looks at a column against tests of SciPy, and the laws they obey."""

import numpy as np
import pytest
from scipy import stats

from assay.comparison.looks import level_looks, measured_looks, standard_errors

RNG = np.random.default_rng(0)


def tables(x, n=40):
    """The tables as they are, and many draws that take every other value: rows that seem not to depend."""
    second = np.arange(len(x)) >= n
    every_other = np.argsort(np.argsort(x, kind="stable"), kind="stable") % 2 == 1
    return np.stack([second, *[every_other] * 99], axis=1).astype(float)


def test_location_is_wilcoxons_rank_sum():
    x = RNG.standard_normal(100)
    p = np.exp(-measured_looks(x, tables(x)).surprise[0, 0]) * 0.5
    oracle = stats.mannwhitneyu(x[40:], x[:40], use_continuity=False, method="asymptotic").pvalue
    # the variance of scores is that of ranks, but for rounding
    assert p == pytest.approx(oracle, rel=1e-9)


def test_spread_is_moods_test():
    x = RNG.standard_normal(100)
    p = np.exp(-measured_looks(x, tables(x)).surprise[1, 0]) * 0.3
    assert p == pytest.approx(stats.mood(x[:40], x[40:]).pvalue, rel=1e-6)


def test_all_levels_together_are_the_deviance():
    codes = np.r_[RNG.choice(4, 40, p=[0.5, 0.3, 0.1, 0.1]), RNG.choice(4, 60)].astype(float)
    second = tables(codes)[:, :1]
    draws = RNG.permuted(np.repeat(second, 999, axis=1), axis=0)
    look = level_looks(codes, tuple("abcd"), np.concatenate([second, draws], axis=1))
    table = np.array([np.bincount(codes[:40].astype(int)), np.bincount(codes[40:].astype(int))])
    p = stats.chi2_contingency(table, lambda_="log-likelihood", correction=False).pvalue
    # the spread of 999 draws is known to 7% (three standard deviations), the normal form of chi-square to 2%
    assert stats.norm.isf(np.exp(-look.surprise[-1, 0]) / 3) == pytest.approx(stats.norm.isf(p), rel=0.1)


def test_two_levels_are_one_look():
    look = level_looks(np.array([0.0, 1.0] * 50), ("no", "yes"), tables(np.arange(100)))
    assert look.names == ("yes",)
    assert look.scores.shape == (100, 1)


def test_rare_levels_are_one():
    codes = np.r_[np.zeros(90), np.arange(1, 11)]
    look = level_looks(codes, tuple(map(str, range(11))), tables(codes))
    assert look.names == ("one of 10 rare levels",)


def test_no_look_depends_on_the_scale():
    x = np.exp(RNG.standard_normal(100))
    second = tables(x)
    huge = measured_looks(x * 1e299, second).surprise
    assert np.allclose(huge, measured_looks(np.log(x), second).surprise)


def test_missing_values_are_left_out():
    x = RNG.standard_normal(100)
    second = tables(x)
    gaps = x.copy()
    gaps[::7] = np.nan
    kept = np.isfinite(gaps)
    assert np.allclose(measured_looks(gaps, second).surprise, measured_looks(x[kept], second[kept]).surprise)


def test_a_column_that_is_all_ties_surprises_nobody():
    look = measured_looks(np.ones(100), tables(np.arange(100)))
    assert look.surprise.max() <= 0.0


def test_standard_errors_undo_the_tail():
    assert standard_errors(-np.log(2 * stats.norm.sf(3.0))) == pytest.approx(3.0)
