"""The law of the spectrum: its symmetries, its exact cases, its size and power on seeded simulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kstest, pearsonr

from assay.errors import DataError, ParameterError
from assay.linalg.noise.column_noise import column_noise
from assay.linalg.noise.random_matrix import debias, real_components, spectrum_law, spike_alignment, spike_eigenvalue
from assay.linalg.one_thread import one_blas_thread

FEW = settings(max_examples=40, deadline=None)


@pytest.fixture(scope="module", autouse=True)
def _small_tables_need_no_threads():
    with one_blas_thread():
        yield


def eigen(X, standardise=False):
    """Non-zero eigenvalues and vectors of the sample covariance or correlation matrix."""
    n, d = X.shape
    X = X - X.mean(axis=0)
    if standardise:
        X = X / X.std(axis=0, ddof=1)
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = min(n - 1, d)
    return s[:kept] ** 2 / (n - 1), Vt[:kept].T


def spiked(rng, n, d, strengths, sparse=False):
    X = rng.standard_normal((n, d))
    for b in strengths:
        v = rng.standard_normal(d)
        if sparse:
            v = (np.argsort(v) < max(2, d // 5)).astype(float)
        X += np.sqrt(b) * rng.standard_normal((n, 1)) * (v / np.linalg.norm(v))
    return X


@st.composite
def spectra(draw):
    n, d = draw(st.integers(4, 60)), draw(st.integers(2, 40))
    X = np.random.default_rng(draw(st.integers(0, 10**6))).standard_normal((n, d))
    X[:, 0] *= draw(st.sampled_from([1.0, 2.0, 10.0]))
    return X


@given(X=spectra(), power=st.integers(-60, 60), columns=st.booleans(), correlation=st.booleans())
@FEW
def test_other_units_scale_the_noise_and_keep_the_rest(X, power, columns, correlation):
    values, vectors = eigen(X)
    n, d = X.shape
    c = 2.0**power
    vectors = vectors if columns else None
    one = spectrum_law(values, n, d, correlation=correlation, vectors=vectors)
    two = spectrum_law(c * values, n, d, correlation=correlation, vectors=vectors)
    assert two.n_real == one.n_real
    np.testing.assert_allclose(two.p_values, one.p_values, rtol=1e-9)
    np.testing.assert_allclose(two.alignment, one.alignment)
    for name in ("noise", "lower", "upper", "threshold", "debiased"):
        np.testing.assert_allclose(getattr(two, name), c * getattr(one, name))


@given(X=spectra(), columns=st.booleans(), level=st.sampled_from([0.001, 0.05, 0.3]))
@FEW
def test_p_values_rise_and_agree_with_the_threshold(X, columns, level):
    values, vectors = eigen(X)
    law = spectrum_law(values, *X.shape, level=level, vectors=vectors if columns else None)
    assert np.all(np.diff(law.p_values) >= 0)
    assert np.all((law.p_values >= 0) & (law.p_values <= 1))
    assert np.all(law.p_values[: law.n_real] <= level)
    if law.n_real < len(values):
        assert law.p_values[law.n_real] > level
        assert values[law.n_real] < law.threshold


@given(X=spectra())
@FEW
def test_cleaned_spectrum_keeps_the_trace(X):
    values, _ = eigen(X)
    n, d = X.shape
    law = spectrum_law(values, n, d)
    total = law.debiased.sum() + (d - len(values)) * law.noise
    assert total == pytest.approx(values.sum())
    assert np.all(law.debiased[: law.n_real] <= values[: law.n_real] * (1 + 1e-12))


@given(X=spectra())
@FEW
def test_rows_and_columns_swap_roles(X):
    """Without centring X X' and X' X share their eigenvalues; n + 1 rows stand for n degrees of freedom."""
    n, d = X.shape
    values = np.linalg.svd(X, compute_uv=False) ** 2
    one = spectrum_law(values / n, n + 1, d)
    two = spectrum_law(values / d, d + 1, n)
    assert one.n_real == two.n_real
    np.testing.assert_allclose(one.p_values, two.p_values, rtol=1e-7, atol=1e-12)


@given(X=spectra())
@FEW
def test_zeros_of_wide_tables_may_be_left_out(X):
    n, d = X.shape
    values, _ = eigen(X)
    padded = np.concatenate([values, np.zeros(d - len(values))])
    one, two = spectrum_law(values, n, d), spectrum_law(padded, n, d)
    assert one.n_real == two.n_real
    assert (one.noise, one.threshold) == pytest.approx((two.noise, two.threshold))
    np.testing.assert_allclose(one.p_values, two.p_values[: len(values)], rtol=1e-9)


@given(seed=st.integers(0, 10**6), n=st.integers(4, 200), r=st.floats(-0.9, 0.9), scale=st.floats(0.01, 100))
@FEW
def test_two_columns_give_the_p_of_their_correlation(seed, n, r, scale):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    X[:, 1] = scale * (r * X[:, 0] + np.sqrt(1 - r * r) * X[:, 1])
    expected = pearsonr(*X.T).pvalue
    values, vectors = eigen(X)
    assert spectrum_law(values, n, 2, vectors=vectors).p_values[0] == pytest.approx(expected, rel=1e-5)
    values, _ = eigen(X, standardise=True)
    assert spectrum_law(values, n, 2, correlation=True).p_values[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("n", "d"), [(4, 2), (30, 2), (3, 25)])
def test_two_dimensions_of_noise_give_uniform_p(n, d):
    rng = np.random.default_rng(n)
    p = [spectrum_law(eigen(rng.standard_normal((n, d)))[0], n, d).p_values[0] for _ in range(400)]
    assert kstest(p, "uniform").pvalue > 1e-3


def four_answers(X):
    """Whether any component is called real: covariance; correlation taken as one, as such, and with its vectors."""
    n, d = X.shape
    standard, vectors = eigen(X, standardise=True)
    return [
        spectrum_law(eigen(X)[0], n, d).n_real > 0,
        spectrum_law(standard, n, d).n_real > 0,
        spectrum_law(standard, n, d, correlation=True).n_real > 0,
        spectrum_law(standard, n, d, vectors=vectors).n_real > 0,
    ]


@pytest.mark.parametrize("margin", ["gaussian", "uniform"])
def test_noise_is_called_real_no_more_often_than_promised(margin):
    rng = np.random.default_rng(9)
    shapes, tables = [(12, 40), (25, 25), (60, 15), (200, 8), (400, 3), (500, 5)], 60
    found = np.zeros(4, dtype=int)
    for n, d in shapes:
        for _ in range(tables):
            found += four_answers(rng.standard_normal((n, d)) if margin == "gaussian" else rng.random((n, d)))
    assert np.all(found <= binom.isf(1e-4, tables * len(shapes), 0.05))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(40, 200), (60, 60), (100, 20), (300, 8), (500, 3), (1000, 5)])
def test_noise_of_any_shape_is_called_real_no_more_often_than_promised(n, d):
    rng = np.random.default_rng(n * d)
    found = np.sum([four_answers(rng.standard_normal((n, d))) for _ in range(120)], axis=0)
    assert np.all(found <= binom.isf(1e-4, 120, 0.05))


@pytest.mark.slow
def test_size_is_not_bought_with_blindness():
    """At n = 80, d = 40 each of the calibrated nulls is near 10% at level 10%, not far below."""
    rng = np.random.default_rng(8)
    p = []
    for _ in range(300):
        X = rng.standard_normal((80, 40))
        standard, vectors = eigen(X, standardise=True)
        p.append(
            [
                spectrum_law(eigen(X)[0], 80, 40).p_values[0],
                spectrum_law(standard, 80, 40, correlation=True).p_values[0],
                spectrum_law(standard, 80, 40, vectors=vectors).p_values[0],
            ]
        )
    low = (np.array(p) <= 0.1).sum(axis=0)
    assert np.all((low >= binom.ppf(1e-4, 300, 0.09)) & (low <= binom.isf(1e-4, 300, 0.1)))


def test_a_direction_half_above_the_edge_is_found():
    rng = np.random.default_rng(1)
    n, d = 200, 100
    b = 1.5 * (1 + np.sqrt(d / n)) - 1
    found = sum(spectrum_law(eigen(spiked(rng, n, d, [b]))[0], n, d).n_real >= 1 for _ in range(60))
    assert found >= binom.ppf(1e-3, 60, 0.95)


def test_strong_directions_do_not_hide_weak_ones():
    rng = np.random.default_rng(2)
    laws = [spectrum_law(eigen(spiked(rng, 120, 30, [1e6, 300.0, 5.0]))[0], 120, 30) for _ in range(40)]
    assert sum(law.n_real >= 3 for law in laws) >= 39
    assert sum(law.n_real > 3 for law in laws) <= binom.isf(1e-3, 40, 0.05)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "d"), [(200, 8), (80, 16), (30, 60)])
def test_standardised_columns_behind_a_strong_component_are_noise(n, d, sparse):
    rng = np.random.default_rng(n + d + sparse)
    tables = 40
    too_many = np.zeros(2, dtype=int)
    for _ in range(tables):
        values, vectors = eigen(spiked(rng, n, d, [0.8 * d], sparse), standardise=True)
        real = [
            spectrum_law(values, n, d, vectors=vectors).n_real,
            spectrum_law(values, n, d, correlation=True).n_real,
        ]
        assert min(real) >= 1
        too_many += np.array(real) > 1
    assert np.all(too_many <= binom.isf(1e-3, tables, 0.05))


def test_equal_noise_is_the_wrong_null_behind_a_strong_component_of_standardised_columns():
    values, vectors = eigen(spiked(np.random.default_rng(1), 400, 8, [20.0]), standardise=True)
    assert spectrum_law(values, 400, 8).n_real > 1
    assert spectrum_law(values, 400, 8, vectors=vectors).n_real == 1


@given(X=spectra(), columns=st.booleans(), level=st.sampled_from([0.01, 0.05, 0.4]))
@FEW
def test_points_of_chance_are_where_its_law_puts_them(X, columns, level):
    """A component above the median of its null has p below one half, above the upper point below level."""
    values, vectors = eigen(X)
    law = spectrum_law(values, *X.shape, level=level, vectors=vectors if columns else None)
    tested = len(law.chance_upper)
    assert tested == len(law.chance_median)
    assert tested in (law.n_real, law.n_real + 1)
    assert np.all(law.chance_median < law.chance_upper)
    above = values[:tested] > law.chance_upper
    np.testing.assert_array_equal(above, np.arange(tested) < law.n_real)
    assert law.threshold == (law.chance_upper[-1] if tested > law.n_real else np.inf)


def test_columns_in_different_units_are_no_structure_to_the_column_null():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((100, 10)) * np.geomspace(1, 100, 10)
    values, vectors = eigen(X)
    assert spectrum_law(values, 100, 10).n_real > 0
    assert spectrum_law(values, 100, 10, vectors=vectors).n_real == 0


def test_spike_is_debiased_and_aligned_by_its_formulas():
    rng = np.random.default_rng(4)
    n, d, b = 400, 200, 6.0
    values, _ = eigen(2.0 * spiked(rng, n, d, [b]))
    law = spectrum_law(values, n, d)
    assert law.n_real == 1
    assert law.noise == pytest.approx(4.0, rel=0.02)
    assert law.debiased[0] == pytest.approx(4.0 * (1 + b), rel=0.25)
    assert law.debiased[0] < values[0]
    gamma = (d - 1) / (n - 1)
    assert law.debiased[0] / law.noise - 1 == pytest.approx(debias(values[0], gamma, law.noise))
    assert law.alignment[0] == pytest.approx(spike_alignment(b, gamma), abs=0.05)
    assert law.alignment[1:].max() == 0.0
    assert values[1] < law.upper * 1.03
    assert values[-1] > law.lower * 0.9


def test_noise_level_of_weak_spikes_is_unbiased():
    """Spikes take noise with them: the plain mean of the rest is too low."""
    rng = np.random.default_rng(5)
    n, d = 60, 40
    laws = []
    rest = []
    for _ in range(60):
        values, _ = eigen(spiked(rng, n, d, [5.0, 5.0, 5.0]))
        laws.append(spectrum_law(values, n, d))
        rest.append(values[3:].mean())
    assert np.mean([law.noise for law in laws]) == pytest.approx(1.0, abs=0.015)
    assert np.mean(rest) < 0.96


def test_largest_value_is_where_the_spike_formula_puts_it():
    values = np.concatenate([[spike_eigenvalue(1.5, 0.5)], np.full(99, 1.0)])
    law = spectrum_law(values, 201, 100, level=0.5)
    assert law.n_real == 1
    assert law.debiased[0] / law.noise == pytest.approx(2.5, rel=0.1)


@pytest.mark.parametrize(
    ("values", "n", "d", "real", "testable"),
    [
        ([1.0], 100, 1, 0, False),
        ([3.0], 2, 10, 0, False),
        ([0.0, 0.0], 10, 2, 0, False),
        ([1.0] * 5, 100, 5, 0, True),
        ([2.0, 0, 0, 0, 0], 100, 5, 1, True),
        ([1.0, 1.0, 0, 0, 0], 100, 5, 2, True),
        ([1.9, 0.1], 100, 2, 1, True),
        ([1e300, 1e299, 1e299], 50, 3, 1, True),
        ([1e-300, 1e-300, 1e-300], 50, 3, 0, True),
    ],
)
def test_degenerate_spectra_have_defined_answers(values, n, d, real, testable):
    law = spectrum_law(values, n, d)
    assert (law.n_real, law.testable) == (real, testable)
    assert np.isfinite(law.debiased).all()
    assert np.isfinite([law.noise, law.lower, law.upper]).all()
    assert np.all(law.p_values[real:] > 0.05)


def test_a_column_that_is_the_sum_of_others_does_not_lower_the_noise():
    values = [1.3, 1.2, 1.1, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7]
    one, two = spectrum_law(values, 400, 9), spectrum_law([*values, 1e-17], 400, 10)
    assert two.noise == one.noise
    assert two.p_values[0] == one.p_values[0]
    assert two.debiased[-1] == 0.0


def test_component_of_two_equal_columns_is_real_and_nothing_else():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((300, 6))
    X[:, 5] = X[:, 4]
    values, vectors = eigen(X, standardise=True)
    assert spectrum_law(values, 300, 6, vectors=vectors).n_real == 1


def test_a_constant_column_changes_nothing():
    rng = np.random.default_rng(7)
    X = spiked(rng, 100, 6, [4.0])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    wide = np.column_stack([X, np.zeros(100)])
    (values, vectors), (more, longer) = eigen(X), eigen(wide)
    one, two = spectrum_law(values, 100, 6, vectors=vectors), spectrum_law(more, 100, 7, vectors=longer)
    assert one.n_real == two.n_real == 1
    assert two.p_values[0] == pytest.approx(one.p_values[0], rel=1e-6)


def test_arguments_are_left_as_they_were():
    values, vectors = eigen(np.random.default_rng(8).standard_normal((20, 5)))
    before = values.copy(), vectors.copy()
    spectrum_law(values, 20, 5, vectors=vectors)
    np.testing.assert_array_equal(values, before[0])
    np.testing.assert_array_equal(vectors, before[1])


@pytest.mark.parametrize(
    ("values", "n", "d", "message"),
    [
        ([1.0, 2.0], 10, 2, "eigenvalues must be descending; sort them, largest first"),
        ([1.0, np.nan], 10, 2, "eigenvalues must be finite, got nan; check the data for NaN"),
        ([np.inf, 1.0], 10, 2, "eigenvalues must be finite, got inf"),
        ([1.0, -0.5], 10, 2, "eigenvalues of a covariance are 0 or more, got -0.5"),
        ([3.0, 2.0, 1.0], 10, 2, r"values must be 1 to d=2 eigenvalues in a row, got shape \(3,\)"),
        ([], 10, 2, r"got shape \(0,\)"),
        ([[1.0]], 10, 2, r"got shape \(1, 1\)"),
    ],
)
def test_spectra_that_cannot_be_are_refused_with_the_rule(values, n, d, message):
    with pytest.raises(DataError, match=message):
        spectrum_law(values, n, d)


def test_parameters_that_cannot_be_are_refused_with_the_rule():
    with pytest.raises(ParameterError, match=r"needs n >= 2 rows and d >= 1 columns, got n=1, d=3"):
        spectrum_law([1.0], 1, 3)
    with pytest.raises(ParameterError, match="level must be between 0 and 1, got 5"):
        spectrum_law([1.0, 0.5], 10, 2, level=5)
    with pytest.raises(DataError, match=r"one column per eigenvalue, shape \(3, 2\), got \(2, 3\)"):
        spectrum_law([1.0, 0.5], 10, 3, vectors=np.ones((2, 3)))
    with pytest.raises(DataError, match="vectors must be finite"):
        spectrum_law([1.0, 0.5], 10, 2, vectors=np.full((2, 2), np.nan))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(5, 60),
    d=st.integers(2, 120),
    k=st.integers(0, 5),
    strength=st.sampled_from([0.0, 0.3, 0.6, 1.0, 3.0]),
    heavy=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_components_counted_by_bounds_are_those_of_the_law(seed, n, d, k, strength, heavy):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, (n, d)) if heavy else rng.standard_normal((n, d)) * np.exp(rng.normal(0, 1, d))
    X += strength * rng.standard_normal((n, k)) @ rng.standard_normal((k, d))
    values, vectors = eigen(X, standardise=True)
    law, counted = spectrum_law(values, n, d, vectors=vectors), real_components(values, n, d, vectors=vectors)
    assert counted.n_real == law.n_real
    np.testing.assert_array_equal(counted.debiased, law.debiased)
    assert counted.noise == law.noise


def test_the_noise_of_columns_is_worked_out_only_where_its_bound_leaves_the_count_open(monkeypatch):
    asked = []

    def counted(residual, components, total):
        asked.append(components.shape[1])
        return column_noise(residual, components, total)

    monkeypatch.setattr("assay.linalg.noise.random_matrix.column_noise", counted)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8)) @ rng.standard_normal((8, 900)) * 2.0 + rng.standard_normal((60, 900))
    values, vectors = eigen(X, standardise=True)
    assert real_components(values, 60, 900, vectors=vectors).n_real == 8
    assert asked == [8]
