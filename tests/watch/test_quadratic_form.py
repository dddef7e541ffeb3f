"""Weighted sums of squares of normal numbers."""

import numpy as np
import pytest
from scipy.stats import chi2, f

from assay.errors import ParameterError
from assay.watch.quadratic_form import QuadraticForm

CHANCES = [0.6, 0.3, 0.05, 1e-3, 1e-8, 1e-14]
# the saddlepoint's own error: it falls with the number of terms, for one term it is 12% at most here
ERROR = {1: 0.13, 2: 0.06, 5: 0.02, 40: 0.002, 300: 0.002}


@pytest.mark.parametrize("q", ERROR)
@pytest.mark.parametrize("p", CHANCES)
def test_with_equal_weights_it_is_the_chi_square_and_the_f_law(q, p):
    assert QuadraticForm(np.full(q, 3.0)).tail(3.0 * chi2.isf(p, q)) == pytest.approx(p, rel=ERROR[q])
    assert QuadraticForm(np.full(q, 3.0), 60.0).tail(3.0 * q * f.isf(p, q, 60)) == pytest.approx(p, rel=ERROR[q])


def test_with_unequal_weights_it_is_what_draws_show():
    w = np.geomspace(1.0, 0.01, 12)
    draws = np.random.default_rng(0).chisquare(1, (200_000, 12)) @ w
    for p in (0.5, 0.1, 0.01, 0.001):
        found = QuadraticForm(w).tail(float(np.quantile(draws, 1.0 - p)))
        # four standard errors of the share, and 5% for the approximation
        assert abs(found - p) < 4.0 * np.sqrt(p / 200_000) + 0.05 * p


@pytest.mark.parametrize("dof", [np.inf, 80.0])
@pytest.mark.parametrize("weights", [np.ones(1), np.ones(200), np.geomspace(1.0, 1e-4, 50)])
def test_the_table_says_the_same(weights, dof):
    law = QuadraticForm(weights, dof)
    for x in law.mean * np.geomspace(0.3, 30.0, 25):
        if law.tail(x) > 1e-290:
            assert law.quick_tail(x) == pytest.approx(law.tail(x), rel=0.01)


def test_beyond_the_table_its_end_is_told():
    assert QuadraticForm(np.ones(3)).quick_tail(1e6) < 1e-280
    assert QuadraticForm(np.ones(3)).quick_tail(0.0) > 0.85
    assert QuadraticForm(np.ones(3)).tail(0.0) == 1.0


@pytest.mark.parametrize("weights", [[], [0.0], [1.0, -1.0], [np.nan], [[1.0]]])
def test_weights_without_sense_are_refused(weights):
    with pytest.raises(ParameterError, match="weights are finite numbers of at least 0"):
        QuadraticForm(np.array(weights))
    with pytest.raises(ParameterError, match="degrees of freedom are above 0"):
        QuadraticForm(np.ones(2), 0.0)
