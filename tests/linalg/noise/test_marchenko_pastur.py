"""The Marchenko-Pastur bulk and the spikes that leave it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.linalg import eigh

from assay.errors import ParameterError
from assay.linalg.noise.marchenko_pastur import debias, marchenko_pastur, spike_alignment, spike_eigenvalue
from assay.linalg.one_thread import one_blas_thread


@pytest.fixture(scope="module", autouse=True)
def _small_tables_need_no_threads():
    with one_blas_thread():
        yield


GAMMAS = [1e-6, 0.02, 0.5, 1.0, 1.5, 20.0]


def share_below(law, x, power=0):
    """Integral of t^power times the density up to x; t = lower + width sin^2(a) takes the root at the edges away."""
    width = law.upper - law.lower

    def integrand(a):
        t = law.lower + width * np.sin(a) ** 2
        return t**power * law.density(t) * width * np.sin(2 * a)

    end = np.arcsin(np.sqrt(np.clip((x - law.lower) / width, 0, 1)))
    near = np.sqrt(law.lower / width)  # at gamma near 1 the density has a peak as narrow as this, easily stepped over
    peak = [near * times for times in (1, 10, 100) if 0 < near * times < end]
    return quad(integrand, 0, end, epsabs=1e-12, epsrel=1e-11, limit=200, points=peak or None)[0]


def test_edges_are_the_reference_ones():
    law = marchenko_pastur(0.5)
    assert law.lower == pytest.approx(0.0857864, abs=5e-8)
    assert law.upper == pytest.approx(2.9142136, abs=5e-8)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_density_integrates_to_one_less_the_atom(gamma):
    law = marchenko_pastur(gamma, noise=3.0)
    assert share_below(law, law.upper) == pytest.approx(1 - law.atom, abs=1e-8)
    assert law.atom == pytest.approx(max(0, 1 - 1 / gamma))


@pytest.mark.parametrize("gamma", GAMMAS)
def test_moments_are_those_of_the_noise(gamma):
    law = marchenko_pastur(gamma, noise=3.0)
    assert share_below(law, law.upper, power=1) == pytest.approx(3.0, rel=1e-8)
    assert share_below(law, law.upper, power=2) == pytest.approx(9.0 * (1 + gamma), rel=1e-8)


@given(gamma=st.floats(1e-3, 30), noise=st.floats(1e-3, 1e3), at=st.floats(0.01, 0.99))
@example(gamma=0.99999, noise=1.0, at=0.5)
@settings(max_examples=30, deadline=None)
def test_cdf_is_the_integral_of_the_density(gamma, noise, at):
    law = marchenko_pastur(gamma, noise)
    x = law.lower + at * (law.upper - law.lower)
    assert law.cdf(x) == pytest.approx(law.atom + share_below(law, x), abs=1e-8)


@given(gamma=st.floats(1e-10, 1e4), p=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_quantile_inverts_the_cdf(gamma, p):
    law = marchenko_pastur(gamma, noise=2.0)
    x = law.quantile(p)
    assert law.cdf(x) == pytest.approx(max(p, law.atom), abs=1e-7)
    assert x == 0.0 if p < law.atom else law.lower - 1e-9 <= x <= law.upper + 1e-9


def test_cdf_starts_at_the_atom_and_ends_at_one():
    law = marchenko_pastur(4.0)
    assert law.cdf([-1.0, 0.0, law.lower, law.upper, 1e9]).tolist() == pytest.approx([0, 0.75, 0.75, 1, 1])
    assert np.all(np.diff(law.cdf(np.linspace(-1, 12, 500))) >= 0)
    assert law.density([-1.0, 0.0, 0.5, 100.0]).tolist() == [0, 0, 0, 0]


def test_bulk_of_simulated_noise_follows_the_law():
    X = np.random.default_rng(0).standard_normal((600, 300))
    values = np.linalg.eigvalsh(X.T @ X / 600)
    law = marchenko_pastur(0.5)
    expected = law.quantile((np.arange(300) + 0.5) / 300)
    np.testing.assert_allclose(values, expected, atol=0.05)


def test_spikes_are_the_reference_ones():
    assert spike_eigenvalue(1.5, 0.5) == pytest.approx(10 / 3)
    assert spike_alignment(1.5, 0.5) == pytest.approx(0.58333, abs=5e-6)
    assert spike_eigenvalue(0.5, 0.5) == pytest.approx(marchenko_pastur(0.5).upper)
    assert spike_alignment(0.5, 0.5) == 0.0


@given(b=st.floats(1.001, 1e6), gamma=st.floats(1e-4, 1e3), noise=st.floats(1e-6, 1e6))
@settings(max_examples=80, deadline=None)
def test_debias_inverts_spike_eigenvalue(b, gamma, noise):
    strength = b * np.sqrt(gamma)
    value = noise * spike_eigenvalue(strength, gamma)
    # At the threshold the map is flat: an error e of the eigenvalue becomes sqrt(e) of b.
    assert debias(value, gamma, noise) == pytest.approx(strength, rel=1e-8 / (b - 1) + 1e-9)


@given(gamma=st.floats(1e-4, 1e3), share=st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_spikes_below_the_threshold_cannot_be_told(gamma, share):
    b = share * np.sqrt(gamma)
    assert spike_alignment(b, gamma) == 0.0
    assert spike_eigenvalue(b, gamma) == pytest.approx(marchenko_pastur(gamma).upper)
    assert debias(share * 0.999 * marchenko_pastur(gamma).upper, gamma) == 0.0


def test_alignment_grows_with_the_spike_towards_one():
    b = np.geomspace(1e-3, 1e6, 200)
    alignment = spike_alignment(b, 2.0)
    assert np.all(np.diff(alignment) >= 0)
    assert alignment[0] == 0.0
    assert alignment[-1] == pytest.approx(1.0, abs=1e-5)


def test_a_simulated_spike_lands_where_the_formulas_say():
    rng = np.random.default_rng(1)
    n, d, b = 800, 400, 1.5
    X = rng.standard_normal((n, d))
    X[:, 0] *= np.sqrt(1 + b)
    values, vectors = eigh(X.T @ X / n, subset_by_index=[d - 1, d - 1])
    # sd of a spike is about (1 + b) sqrt(2 / n (1 - gamma / b^2)) = 0.11
    assert values[-1] == pytest.approx(spike_eigenvalue(b, d / n), abs=0.3)
    assert vectors[0, -1] ** 2 == pytest.approx(spike_alignment(b, d / n), abs=0.09)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_impossible_arguments_are_refused_with_the_rule(bad):
    with pytest.raises(ParameterError, match="gamma, columns per row, must be positive and finite, got"):
        marchenko_pastur(bad)
    with pytest.raises(ParameterError, match="noise, a variance, must be positive and finite, got"):
        debias(1.0, 0.5, bad)


def test_impossible_spikes_and_shares_are_refused():
    with pytest.raises(ParameterError, match=r"excess variance of a spike, must be 0 or more, got -0\.1"):
        spike_alignment(-0.1, 0.5)
    with pytest.raises(ParameterError, match=r"p must be between 0 and 1, got 50\.0; give shares"):
        marchenko_pastur(0.5).quantile(50)
