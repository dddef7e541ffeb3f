import numpy as np
import pytest
from scipy import stats

from assay.questions.groups.yeo_johnson import straightened, straightening_powers


def test_powers_are_those_of_scipy():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.lognormal(size=300), -rng.exponential(size=300), rng.standard_normal(300), rng.gamma(0.5, size=300) - 1.0]
    )
    expected = [stats.yeojohnson_normmax(column) for column in X.T]
    np.testing.assert_allclose(straightening_powers(X), expected, atol=1e-4)


@pytest.mark.parametrize("power", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
def test_columns_are_transformed_as_by_scipy(power):
    x = np.linspace(-3, 3, 41)
    np.testing.assert_allclose(
        straightened(x[:, None], np.array([power]))[:, 0], stats.yeojohnson(x, power), atol=1e-12
    )


def test_a_power_of_one_changes_nothing():
    x = np.random.default_rng(1).standard_normal((50, 2))
    np.testing.assert_allclose(straightened(x, np.ones(2)), x, atol=1e-14)


def test_far_values_neither_overflow_nor_warn():
    X = np.array([[0.0], [1.0], [2.0], [1e12], [-1e12]])
    assert np.isfinite(straightened(X, straightening_powers(X))).all()
