"""Majorisation: the stress never rises, its gradient is right, and threads change no bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.spatial.distance import pdist
from sklearn.manifold import smacof

from assay.models.embedding.mds._stress_kernels import place_points
from assay.models.embedding.mds.disparities import DissimilarityRanking
from assay.models.embedding.mds.multistart import from_all
from assay.models.embedding.mds.new_points import place_among, placing_stress
from assay.models.embedding.mds.smacof import majorise
from assay.models.embedding.mds.stress import RankStress, RawStress, StressPairs
from assay.optimize.team import Team


def problem(n, seed, *, weighted=False, ranks=None, d=5, team=None):
    rng = np.random.default_rng(seed)
    targets = pdist(rng.standard_normal((n, d)))
    weights = rng.random(len(targets)) + 0.05 if weighted else None
    pairs = StressPairs(n, weights, team or Team(1))
    if ranks is None:
        return RawStress(pairs, targets)
    return RankStress(pairs, DissimilarityRanking.of(targets.round(1), weights), ranks)


kinds = st.sampled_from([None, "primary", "secondary"])


@settings(max_examples=25, deadline=None)
@given(n=st.integers(3, 25), seed=st.integers(0, 999), weighted=st.booleans(), ranks=kinds, k=st.integers(1, 3))
def test_the_stress_never_rises_and_ends_where_a_guttman_transform_hardly_moves(n, seed, weighted, ranks, k):
    objective = problem(n, seed, weighted=weighted, ranks=ranks)
    found = majorise(objective, np.random.default_rng(seed).standard_normal((n, k)), tol=1e-5)
    assert (np.diff(found.history) <= 0.0).all() and found.history[-1] == found.value
    assert found.iterations == len(found.history) - 1
    if found.converged:
        X = np.ascontiguousarray(found.coordinates.T)
        step = objective.guttman_step(objective.evaluate(X).pull)
        assert np.linalg.norm(step) <= 3e-5 * np.linalg.norm(X) or found.move > 1e-5


@settings(max_examples=25, deadline=None)
@given(n=st.integers(3, 15), seed=st.integers(0, 999), weighted=st.booleans(), ranks=kinds)
def test_a_guttman_transform_alone_never_raises_the_stress(n, seed, weighted, ranks):
    objective = problem(n, seed, weighted=weighted, ranks=ranks)
    X = np.random.default_rng(seed).standard_normal((2, n))
    X -= X.mean(axis=1, keepdims=True)
    now = objective.evaluate(X)
    assert objective.evaluate(X - objective.guttman_step(now.pull)).value <= now.value * (1 + 1e-12)


@pytest.mark.parametrize("ranks", [None, "primary", "secondary"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_pull_is_the_gradient(ranks, weighted):
    objective = problem(8, 0, weighted=weighted, ranks=ranks)
    x = np.random.default_rng(1).standard_normal(16)
    now = objective.evaluate(x.reshape(2, 8))
    numeric = approx_fprime(x, lambda v: objective.evaluate(v.reshape(2, 8)).value, 1e-7)
    assert (now.factor * now.pull).ravel() == pytest.approx(numeric, abs=1e-4 * np.abs(numeric).max())


def test_the_weighted_step_solves_the_equations_of_the_majoriser():
    rng = np.random.default_rng(2)
    objective = problem(9, 2, weighted=True)
    W = np.zeros((9, 9))
    W[np.triu_indices(9, 1)] = objective.pairs.weights
    W += W.T
    V = np.diag(W.sum(axis=1)) - W
    pull = rng.standard_normal((2, 9))
    pull -= pull.mean(axis=1, keepdims=True)
    assert objective.guttman_step(pull) == pytest.approx(pull @ np.linalg.pinv(V))


def test_one_transform_is_scikit_learns():
    rng = np.random.default_rng(3)
    X, start = rng.standard_normal((12, 4)), rng.standard_normal((12, 2))
    targets = pdist(X)
    objective = RawStress(StressPairs(12, None, Team(1)), targets)
    found = majorise(objective, start, max_iter=1)
    D = np.zeros((12, 12))
    D[np.triu_indices(12, 1)] = targets
    Z, stress = smacof(D + D.T, init=start, n_init=1, n_components=2, max_iter=1, normalized_stress=False)
    assert found.coordinates == pytest.approx(Z - Z.mean(axis=0))
    sums = [((pdist(places) - targets) ** 2).sum() for places in (Z, start)]
    assert found.value == pytest.approx(sums[0])
    assert stress == pytest.approx(sums[0]) or stress == pytest.approx(sums[1])  # as of old, before the last step


def test_the_number_of_threads_changes_no_bit():
    n = 900  # enough pairs for several parts
    X = np.random.default_rng(4).standard_normal((2, n))
    with Team(1) as one, Team(3) as three:
        alone, together = (problem(n, 4, ranks="primary", team=team).evaluate(X) for team in (one, three))
    assert alone.value == together.value and np.array_equal(alone.pull, together.pull)
    starts = [np.random.default_rng(s).standard_normal((20, 2)) for s in range(3)]
    a, b = (
        from_all(starts, lambda: problem(20, 5, ranks="primary"), tol=1e-4, max_iter=200, threads=t) for t in (1, 3)
    )
    assert all(np.array_equal(x.coordinates, y.coordinates) for x, y in zip(a, b, strict=True))


def test_pairs_in_parts_add_up_to_scipys_distances():
    X = np.random.default_rng(6).standard_normal((3, 800))
    pairs = StressPairs(800, None, Team(2))
    assert pairs.distances(X) == pytest.approx(pdist(X.T))
    stress, pull = pairs.pull(X, np.zeros(800 * 799 // 2))
    assert stress == pytest.approx((pdist(X.T) ** 2).sum())
    assert pull == pytest.approx(800 * (X - X.mean(axis=1, keepdims=True)))


def test_a_callback_ends_all_starts_and_an_error_in_it_comes_out():
    starts = [np.random.default_rng(s).standard_normal((30, 2)) for s in range(4)]
    seen = []

    def enough(start, iteration, value):
        seen.append((start, iteration, value))
        return len(seen) >= 3

    runs = from_all(starts, lambda: problem(30, 7), tol=0.0, max_iter=500, threads=2, callback=enough)
    assert len(runs) == 4 and len(seen) == 3 and sum(run.iterations for run in runs) < 20

    def broken(start, iteration, value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        from_all(starts, lambda: problem(30, 7), tol=0.0, max_iter=10**9, threads=2, callback=broken)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), m=st.integers(1, 4), k=st.integers(1, 3))
def test_placing_a_point_lowers_its_stress_with_every_step(seed, m, k):
    rng = np.random.default_rng(seed)
    X, targets, weights = rng.standard_normal((9, k)), rng.random((m, 9)) * 3, rng.random((m, 9)) + 0.1
    places, moves = rng.standard_normal((m, k)), np.empty(m)
    before = placing_stress(X, targets, weights, places)
    for _ in range(5):
        place_points(X, targets, weights, places, 0.0, 1, moves)
        now = placing_stress(X, targets, weights, places)
        assert (now <= before * (1 + 1e-12)).all()
        before = now


def test_a_point_at_exact_distances_is_found_even_with_some_unknown():
    rng = np.random.default_rng(8)
    X, new = rng.standard_normal((30, 2)), rng.standard_normal((10, 2))
    targets = np.linalg.norm(new[:, None] - X, axis=2)
    known = rng.random(targets.shape) < 0.5
    known[:, 0] = True
    places, arrived = place_among(X, np.where(known, targets, np.nan), known)
    assert arrived.all() and places == pytest.approx(new, abs=1e-4)
