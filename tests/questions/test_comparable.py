"""Columns are made comparable without making or losing order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew

from assay.evidence.measured import robust_scale, varied
from assay.questions.groups.comparable import Comparable


def test_what_comes_out_has_unit_variance_no_skew_and_no_far_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.lognormal(sigma=1.5, size=400), rng.standard_normal(400), rng.poisson(3, 400)])
    X[5, 1] = 1e6
    Z = Comparable.of(X, rng)[1]
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), 1.0)
    assert np.abs(skew(np.delete(Z, 5, axis=0), axis=0)).max() < 0.5
    assert np.abs(Z).max() < 8.5  # twice the four robust standard deviations at most


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(-1e8, 1e8), st.floats(1e-3, 1e3))
def test_units_do_not_matter(seed, shift, scale):
    X = np.random.default_rng(seed).standard_normal((60, 2)) ** 3
    one = Comparable.of(X, np.random.default_rng(0))[1]
    two = Comparable.of(scale * X + shift * scale, np.random.default_rng(0))[1]
    np.testing.assert_allclose(one, two, atol=1e-4)


def test_order_is_kept_and_other_rows_are_treated_alike():
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(300, 2))
    how, Z = Comparable.of(X, rng)
    for j in range(2):
        assert np.all(np.diff(Z[np.argsort(X[:, j]), j]) >= 0)
    np.testing.assert_allclose(how.apply(X[:7], rng), Z[:7])


def test_rounded_values_are_spread_within_what_rounds_to_them():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 8, 300).astype(float), rng.standard_normal(300)])
    how, Z = Comparable.of(X, rng)
    assert len(np.unique(Z[:, 0])) > 250
    whole = Z[:, 0] * how.scale[0] + how.mean[0]
    whole = whole * how.spread[0] + how.middle[0]
    assert np.abs(whole - X[:, 0]).max() <= 0.5 + 1e-9


def test_a_column_of_few_values_names_groups_and_is_left_out():
    X = np.column_stack([np.arange(20) % 4, np.arange(20) % 5, np.arange(20)])
    assert varied(X).tolist() == [False, True, True]


def test_half_the_rows_cannot_move_the_robust_scale():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1000, 1))
    X[:400] = 1e9
    middle, spread = robust_scale(X)
    assert middle[0] < 2 and spread[0] < 5
    assert robust_scale(np.array([[0.0]] * 8 + [[1.0]] * 2))[1] > 0


@pytest.mark.parametrize("scale", [1e9, 1e60, 1e138])
def test_values_of_two_scales_are_drawn_in_whatever_their_powers(scale):
    rng = np.random.default_rng(6)
    few = np.where(rng.random((80, 1)) < 0.6, 1.0 / scale, scale)
    rows = np.hstack([rng.standard_normal((80, 1)) * few, rng.random((80, 1)) ** 50, rng.standard_normal((80, 1))])
    how, Z = Comparable.of(rows, rng)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(Z.std(axis=0), 1.0)
    np.testing.assert_allclose(how.apply(rows, rng), Z, atol=1e-12)


def test_far_values_make_no_peak_where_they_are_drawn_in_to():
    from assay.questions.groups.dip import dip_chance, dips

    Z = Comparable.of(np.random.default_rng(3).standard_cauchy((500, 20)), np.random.default_rng(0))[1]
    # cut off at four robust standard deviations, 5% of a Cauchy column are a heap at either end: chances below 1e-4
    assert min(dip_chance(float(dip), 500) for dip in dips(Z)) > 0.01
