"""Bellman's equation: actions that are left out on the way are never the best, and the bound holds without them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.models.decision.mdp import bellman
from assay.models.decision.mdp.bellman import Process, modified_policy_iteration, policy_iteration, value_iteration


def drawn(seed, n, actions, ends=0, discount=0.9, whole=False):
    """States with up to so many actions, three next states each; the last states are ends."""
    rng = np.random.default_rng(seed)
    many = np.where(np.arange(n) < n - ends, rng.integers(1, actions + 1, n), 0)
    m = int(many.sum())
    p = rng.random((m, 3)) + 0.01
    p /= p.sum(axis=1, keepdims=True)
    r = rng.integers(-2, 3, m).astype(float) if whole else rng.standard_normal(m)
    final = np.where(many == 0, rng.standard_normal(n), 0.0)
    return Process(
        np.concatenate([[0], np.cumsum(many)]),
        np.arange(0, 3 * m + 1, 3),
        rng.integers(0, n, 3 * m, dtype=np.int32),
        p.ravel(),
        r,
        final,
        discount,
    )


@settings(deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.integers(1, 8),
    st.integers(0, 2),
    st.sampled_from([0.0, 0.5, 0.95]),
    st.booleans(),
)
def test_leaving_actions_out_changes_no_value_beyond_the_bound(seed, n, actions, ends, discount, whole):
    process = drawn(seed, n, actions, min(ends, n - 1), discount, whole)
    exact = policy_iteration(process)
    for solve in (value_iteration, modified_policy_iteration):
        found = solve(process)
        assert found.converged
        assert np.abs(found.values - exact.values).max() <= found.distance + exact.distance
        assert found.distance <= 1e-9 * np.abs(process.r).max(initial=1.0) * 1.01 + found.rounding * 100
        # what is left out on the way is there again at the end
        assert len(found.pair_values) == len(process.r)
        np.testing.assert_allclose(found.pair_values, exact.pair_values, rtol=0, atol=found.distance + exact.distance)


def test_most_actions_are_left_out_and_none_that_is_best(monkeypatch):
    process = drawn(0, 2000, 8)
    exact = policy_iteration(process)
    best = np.flatnonzero(exact.pair_values >= exact.values[process.owner] - 1e-9)
    left = []
    narrow = bellman._Backups.narrow

    def watched(self, q, v, margin):
        before = len(self.process.r)
        done = narrow(self, q, v, margin)
        left.append((before, len(self.process.r)))
        if done and before == len(process.r):
            kept = np.flatnonzero(q >= v[process.owner] - margin)
            assert np.isin(best, kept).all()
        return done

    monkeypatch.setattr(bellman._Backups, "narrow", watched)
    value_iteration(process)
    assert left[0][0] == len(process.r)
    assert left[-1][1] < 1.4 * process.n  # of 4.5 actions for each state


@pytest.mark.parametrize("margin", [0.0, 0.3, 1.0])
def test_a_sieve_keeps_whole_pairs_in_their_order(margin):
    process = drawn(3, 50, 6, ends=5)
    q = np.random.default_rng(0).random(len(process.r))
    best = np.array([q[a:b].max(initial=-np.inf) for a, b in zip(process.first, process.first[1:], strict=False)])
    from assay.models.decision.mdp._bellman_kernels import narrow

    first, start, after, p, r = narrow(
        process.first, process.start, process.after, process.p, process.r, q, best, margin, 1.0
    )
    kept = np.flatnonzero(q >= best[process.owner] - margin)
    rows = (3 * kept[:, None] + np.arange(3)).ravel()
    np.testing.assert_array_equal(r, process.r[kept])
    np.testing.assert_array_equal(after, process.after[rows])
    np.testing.assert_array_equal(p, process.p[rows])
    np.testing.assert_array_equal(start, np.arange(0, 3 * len(kept) + 1, 3))
    np.testing.assert_array_equal(first, np.searchsorted(process.owner[kept], np.arange(process.n + 1)))
    none = narrow(process.first, process.start, process.after, process.p, process.r, q, best, margin, 0.0)
    assert [len(part) for part in none] == [0] * 5
