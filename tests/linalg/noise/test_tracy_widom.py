"""Tracy-Widom laws against published numbers, Painleve's equation and their own tails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp
from scipy.special import airy

from assay.errors import ParameterError
from assay.linalg.noise.tracy_widom import _log_cdf, tracy_widom_cdf, tracy_widom_quantile, tracy_widom_sf


@pytest.mark.parametrize(("p", "quantile"), [(0.90, 0.4501), (0.95, 0.9793), (0.99, 2.0234)])
def test_quantiles_of_f1_are_the_published_ones(p, quantile):
    assert tracy_widom_quantile(p) == pytest.approx(quantile, abs=6e-5)


def test_f2_at_minus_two_is_bornemanns_value():
    assert tracy_widom_cdf(-2.0, beta=2) == pytest.approx(0.413224142505257, abs=2e-12)


@pytest.mark.parametrize(
    ("beta", "mean", "variance"),
    [(1, -1.2065335745820, 1.607781034581), (2, -1.771086807411, 0.8131947928329)],
)
def test_moments_by_quadrature_are_the_published_ones(beta, mean, variance):
    nodes, weights = np.polynomial.legendre.leggauss(200)
    low, high = -10.0, 16.0
    x, w = low + (high - low) * (nodes + 1) / 2, weights * (high - low) / 2
    cdf = tracy_widom_cdf(x, beta)
    first = high - w @ cdf
    second = high**2 - 2 * w @ (x * cdf)
    assert first == pytest.approx(mean, abs=1e-10)
    assert second - first**2 == pytest.approx(variance, abs=1e-9)


def test_both_laws_solve_painleves_equation():
    """Hastings and McLeod: q'' = s q + 2 q^3, q ~ Ai; F2 = exp(-J), J'' = q^2, and F1^2 = F2 exp(-I), -I' = q."""

    def flow(s, y):
        q, slope, _, j_slope, _ = y
        return [slope, s * q + 2 * q**3, j_slope, q**2, -q]

    start = 6.0
    value, slope = airy(start)[:2]
    j = quad(lambda t: (t - start) * airy(t)[0] ** 2, start, 20)[0]
    j_slope = -quad(lambda t: airy(t)[0] ** 2, start, 20)[0]
    start_values = [value, slope, j, j_slope, quad(lambda t: airy(t)[0], start, 25)[0]]
    s = np.linspace(start, -3.0, 10)
    y = solve_ivp(flow, (start, -3.0), start_values, t_eval=s, rtol=1e-12, atol=1e-15, method="DOP853").y
    f2 = np.exp(-y[2])
    f1 = np.sqrt(f2 * np.exp(-y[4]))
    np.testing.assert_allclose(tracy_widom_cdf(s, 2), f2, atol=1e-7)
    np.testing.assert_allclose(tracy_widom_cdf(s, 1), f1, atol=1e-7)


@pytest.mark.parametrize("x", [8.0, 15.0, 29.0, 31.0, 60.0, 99.0])
def test_far_tail_keeps_its_relative_accuracy(x):
    """Far out, 1 - F1 is the trace of the kernel, half the integral of Ai beyond x."""
    scale = airy(x)[0]
    trace = 0.5 * scale * quad(lambda t: airy(x + t)[0] / scale, 0.0, 30.0 / np.sqrt(x), epsabs=0, epsrel=1e-12)[0]
    assert tracy_widom_sf(x) == pytest.approx(trace, rel=1e-8)


@pytest.mark.parametrize("beta", [1, 2])
def test_fitted_pieces_keep_the_accuracy_of_the_determinant(beta):
    x = np.random.default_rng(beta).uniform(-9.5, 45.0, 60)
    exact = _log_cdf(x, beta)
    np.testing.assert_allclose(tracy_widom_sf(x, beta), -np.expm1(exact), rtol=1e-10)
    np.testing.assert_allclose(tracy_widom_cdf(x, beta), np.exp(exact), atol=1e-12)


@pytest.mark.parametrize("beta", [1, 2])
def test_tail_falls_across_the_pieces(beta):
    x = np.sort(np.concatenate([np.linspace(-9, 50, 3001), np.array([-6, -2, 2, 8, 30]) + 1e-9]))
    assert np.all(np.diff(tracy_widom_sf(x, beta)) <= 1e-14)
    assert np.all(np.diff(np.log(tracy_widom_sf(x[x > -2], beta))) < 0)


@given(p=st.floats(1e-8, 1 - 1e-12), beta=st.sampled_from([1, 2]))
@settings(max_examples=40, deadline=None)
def test_quantile_inverts_the_cdf(p, beta):
    x = tracy_widom_quantile(p, beta)
    assert tracy_widom_cdf(x, beta) == pytest.approx(p, abs=1e-11)
    assert tracy_widom_sf(x, beta) == pytest.approx(1 - p, abs=1e-11)


def test_points_off_the_scale_give_sure_answers():
    x = np.array([-np.inf, -1e300, -50.0, 1e4, 1e300, np.inf])
    assert tracy_widom_sf(x).tolist() == [1, 1, 1, 0, 0, 0]
    assert tracy_widom_cdf(x).tolist() == [0, 0, 0, 1, 1, 1]
    assert np.isnan(tracy_widom_sf(np.nan))
    assert tracy_widom_quantile([0.0, 1.0]).tolist() == [-np.inf, np.inf]


def test_shapes_are_kept_and_numbers_give_floats():
    assert isinstance(tracy_widom_sf(0), float)
    assert tracy_widom_cdf(np.zeros((2, 3))).shape == (2, 3)
    assert tracy_widom_quantile(np.full((2, 1), 0.5)).shape == (2, 1)
    assert tracy_widom_sf([]).shape == (0,)


def test_impossible_requests_are_refused_with_the_rule():
    with pytest.raises(ParameterError, match=r"beta must be 1 .* or 2 .*, got 4"):
        tracy_widom_sf(0.0, beta=4)
    with pytest.raises(ParameterError, match=r"p must be between 0 and 1, got 95.*; give probabilities"):
        tracy_widom_quantile(95)
