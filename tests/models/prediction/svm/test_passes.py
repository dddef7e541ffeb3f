"""Linear machines by passes: certified by the gap, equal to the solver that holds the rows, however blocks are cut."""

import numpy as np
import pytest

from assay.models.prediction.svm.margin import margin, tube
from assay.models.prediction.svm.passes import HingeSums, hinge_sums, slopes_along, solve_in_passes


def classes(n=3000, d=3, apart=1.0, seed=0):
    rng = np.random.default_rng(seed)
    s = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return rng.standard_normal((n, d)) * [1.0, 3.0, 0.5] + apart * s[:, None], s


def solved(Z, lower, upper, C, *, tol, cuts=1, max_iter=500):
    """By passes over blocks."""
    C = np.broadcast_to(C, len(Z))
    blocks = [slice(None)] if cuts == 1 else np.array_split(np.arange(len(Z)), cuts)

    def summed(work):
        total = work(blocks[0])
        for block in blocks[1:]:
            total = total + work(block)
        return total

    return solve_in_passes(
        lambda theta, mu: summed(lambda b: hinge_sums(Z[b], lower[b], upper[b], C[b], theta, mu)),
        lambda theta, step, mu, shares: summed(
            lambda b: slopes_along(Z[b], lower[b], upper[b], C[b], theta, step, mu, shares)
        ),
        Z.shape[1],
        C=float(C.mean()),
        tol=tol,
        max_iter=max_iter,
    )


def ends(s):
    return np.where(s > 0, 1.0, -np.inf), np.where(s > 0, np.inf, -1.0)


@pytest.mark.parametrize("C", [1e-4, 0.1, 10.0])
def test_the_gap_bounds_how_far_a_margin_is_from_the_best(C):
    X, s = classes()
    found, best = solved(X, *ends(s), C, tol=1e-4), margin(X, s, C, tol=1e-9)
    assert found.converged
    assert found.duality_gap <= 1e-4 * found.objective
    above = found.objective - best.objective
    assert -2e-9 * best.objective <= above <= found.duality_gap


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_the_gap_bounds_how_far_a_tube_is_from_the_best(epsilon):
    X, _ = classes()
    y = X @ [1.0, -2.0, 0.5] + np.random.default_rng(1).standard_t(3, len(X))
    found = solved(X, y - epsilon, y + epsilon, 0.1, tol=1e-4)
    best = tube(X, y, 0.1, epsilon=epsilon, tol=1e-9)
    above = found.objective - best.objective
    assert found.converged
    assert -2e-9 * best.objective <= above <= found.duality_gap <= 1e-4 * found.objective
    # objectives are strongly convex in w: |w - w*|^2 / 2 is at most what is above the least
    assert np.sum((found.coef - best.coef) ** 2) / 2 <= found.duality_gap + best.duality_gap


def test_a_row_counts_as_often_as_its_c_says():
    X, s = classes(n=400)
    C = np.random.default_rng(2).integers(1, 4, len(X)) * 0.05
    again = np.repeat(np.arange(len(X)), np.round(C / 0.05).astype(int))
    once = solved(X, *ends(s), C, tol=1e-5)
    often = solved(X[again], *ends(s[again]), 0.05, tol=1e-5)
    assert abs(once.objective - often.objective) <= once.duality_gap + often.duality_gap


def test_the_cut_of_blocks_changes_rounding_alone():
    X, s = classes()
    whole, cut = solved(X, *ends(s), 0.1, tol=1e-4), solved(X, *ends(s), 0.1, tol=1e-4, cuts=7)
    assert (whole.iterations, whole.passes) == (cut.iterations, cut.passes)
    np.testing.assert_allclose(cut.coef, whole.coef, rtol=1e-10)


def test_sums_are_the_slope_of_the_rounded_loss():
    X, s = classes(n=50)
    theta, mu, C = np.array([0.1, -0.2, 0.3, 0.05]), 0.7, np.full(50, 2.0)

    def rounded(at):
        """The integral of the multipliers, by a fine sum; its slope in each direction is minus that of the sums."""
        f = X @ at[:-1] + at[-1]
        grid = np.linspace(0.0, 1.0, 20_001)
        mids = (grid[1:] + grid[:-1]) / 2
        total = 0.0
        for value, sign in zip(f, s, strict=True):
            end = sign  # lower end 1 or upper end -1
            path = end + (value - end) * mids
            multiplier = np.clip((end - path) * sign / mu + 1.0, 0.0, 2.0) * sign
            total -= multiplier.mean() * (value - end)
        return total

    sums = hinge_sums(X, *ends(s), C, theta, mu)
    slope = np.append(theta[:-1], 0.0) - sums.slope(theta)
    step = 1e-4
    numeric = [-(rounded(theta + step * e) - rounded(theta - step * e)) / (2 * step) for e in np.eye(4)]
    # second differences of a piecewise quadratic and the grid of the integral: both below 1e-3 of the slope's size
    np.testing.assert_allclose(slope, numeric, atol=1e-3 * np.abs(slope).max())
    assert isinstance(sums + sums, HingeSums)


def test_classes_that_the_search_cannot_finish_are_not_called_converged():
    X, s = classes(apart=6.0, n=500)
    found = solved(X, *ends(s), 1e4, tol=1e-9, max_iter=3)
    assert not found.converged
    assert found.iterations <= 3
