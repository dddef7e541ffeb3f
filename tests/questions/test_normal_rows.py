"""Normal rows are told from others by their bulk, and their law is that of the distances."""

import numpy as np
import pytest
from scipy import stats

from assay.questions.anomalies.normal_rows import _LAWS, NormalRows, NormalShape


def odds(X, left_out=0):
    """Of normal rows against nearly normal ones and against others."""
    X = X - np.median(X, axis=0)
    X = X / np.median(np.abs(X), axis=0)
    scores = np.log(np.linalg.norm(X, axis=1))
    shape = NormalShape.of(X, scores, len(X))
    return shape.odds(np.sort(scores)[-left_out - 1])


@pytest.mark.parametrize("law", _LAWS)
def test_laws_of_columns_are_densities_with_half_of_the_values_within_one(law):
    from scipy.integrate import quad

    def density(x):
        return np.exp(law.likelihoods(np.array([[x]]))[4, 0, 0])  # the fifth of nine scales is 1

    assert quad(density, -np.inf, np.inf)[0] == pytest.approx(1.0, abs=1e-7)
    assert quad(density, -np.inf, 0.0)[0] == pytest.approx(0.5, abs=1e-7)
    assert quad(density, -1.0, 1.0)[0] == pytest.approx(0.5, abs=1e-9)
    assert np.exp(law.log_within(np.array([3.0])))[4, 0] == pytest.approx(quad(density, -3.0, 3.0)[0], abs=1e-9)


def test_normal_rows_have_odds_for_them_and_long_tails_against():
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((300, 5))
    one = normal.copy()
    one[:, 2] = rng.standard_t(3, 300)
    stretched = normal / np.sqrt(rng.chisquare(5, (300, 1)) / 5)
    assert min(odds(normal)) > 0.0
    for other in (
        one,
        stretched,
        rng.standard_t(5, (300, 5)),
        rng.laplace(size=(300, 5)),
        rng.lognormal(size=(300, 5)),
    ):
        assert odds(other)[1] < -5.0
    for nearly in (rng.standard_t(8, (2000, 5)), rng.gamma(30, size=(2000, 5))):
        against_nearly, against_others = odds(nearly)
        assert against_nearly < against_others and against_nearly < -5.0


@pytest.mark.parametrize("left_out", [3, 30])
def test_a_long_tail_does_not_look_normal_once_its_end_is_left_out(left_out):
    X = np.random.default_rng(1).standard_t(3, (300, 5))
    assert odds(X, left_out)[1] < 0.0


def test_too_many_left_out_leave_nothing_to_tell():
    assert odds(np.random.default_rng(2).standard_normal((300, 5)), 80) == (-np.inf, -np.inf)


def test_the_law_is_that_of_distances_by_other_rows():
    law = stats.f(4, 196)
    within = 0.5 * np.log(law.ppf((np.arange(2000) + 0.5) / 2000))
    start, end = within[-400], within[-5]
    seen = within[-399:-4] - start
    placed = NormalRows(4, 200.0).placed(within, start, end, seen, np.ones(len(seen)))
    for far in (0.1, 0.4):
        expected = law.sf(np.exp(2 * (end + far))) / law.sf(np.exp(2 * end))
        assert placed.beyond(end + far, end, 1) == pytest.approx(expected, rel=0.1)


def test_chances_below_the_smallest_number_are_still_told_apart():
    # with two columns P(F > x) = (1 + 2 x / g)^(-g / 2); what is left out is a share 2 / g of it
    g, scores = 1e5, np.log([3.0, 10.0, 30.0, 45.0])
    law = NormalRows(2, g + 2.0)
    logs = [float(law._log_tail(score, np.zeros(1))[0]) for score in scores]
    np.testing.assert_allclose(logs, -g / 2.0 * np.log1p(2.0 * np.exp(2.0 * scores) / g), rtol=1e-4)
