"""Spectral seriation: the theorem on Robinson matrices, components, direction, ties."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError
from assay.summary.graph.seriation import few_positions, fiedler_positions, order_of


def robinson(n, seed):
    """Random similarities that fall away from the diagonal along every row, with no two equal steps."""
    rng = np.random.default_rng(seed)
    S = np.zeros((n, n))
    for offset in range(n - 1, 0, -1):
        i = np.arange(n - offset)
        nearer = np.zeros(n - offset)
        if offset < n - 1:
            nearer = np.maximum(
                np.append(S[i[:-1], i[:-1] + offset + 1], 0), np.append(0, S[i[1:] - 1, i[1:] + offset])
            )
        S[i, i + offset] = nearer + rng.random(n - offset)
    return S + S.T


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 30), st.integers(0, 10**6))
def test_the_hidden_order_of_a_robinson_matrix_is_found_exactly(n, seed):
    S = robinson(n, seed)
    assert all(np.all(np.diff(S[i, i + 1 :]) <= 0) and np.all(np.diff(S[i, :i]) >= 0) for i in range(n))
    shuffle = np.random.default_rng(seed + 1).permutation(n)
    found = shuffle[order_of(fiedler_positions(S[np.ix_(shuffle, shuffle)]))]
    assert found.tolist() in (list(range(n)), list(range(n))[::-1])


def test_a_long_band_is_put_back_in_order_from_its_entries_alone():
    n = 900
    W = sp.diags_array([np.full(n - j, 1.0 / j) for j in (1, 2, 3)] * 2, offsets=[1, 2, 3, -1, -2, -3]).tocsr()
    shuffle = np.random.default_rng(0).permutation(n)
    found = shuffle[order_of(fiedler_positions(W[shuffle][:, shuffle], shuffle.astype(float)))]
    np.testing.assert_array_equal(found, np.arange(n))


def test_components_keep_together_and_come_in_the_order_and_direction_asked_for():
    chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    W = sp.block_diag([chain, chain, sp.csr_array((1, 1))]).toarray()
    lean = np.array([8.0, 7, 6, 5, 1, 2, 3, 4, 4.5])
    assert order_of(fiedler_positions(W, lean)).tolist() == [4, 5, 6, 7, 8, 3, 2, 1, 0]
    plain = order_of(fiedler_positions(W))
    assert set(plain[:4]) == {0, 1, 2, 3} and plain[8] == 8


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6), st.booleans())
def test_few_nodes_stand_where_all_do_whatever_their_components(n, seed, leaning):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 2 / n), 1)
    lean = rng.standard_normal(n) if leaning else None
    found, expected = few_positions(W + W.T, lean), fiedler_positions(W + W.T, lean)
    # 1e-16 of rounding over the gaps of the spectrum, of which random weights have none below 1e-6
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_positions_lie_within_the_line_and_the_diagonal_does_not_count():
    S = robinson(12, 3)
    positions = fiedler_positions(S)
    assert positions.min() == pytest.approx(0.5 / 12) and positions.max() == pytest.approx(11.5 / 12)
    np.testing.assert_allclose(fiedler_positions(S + np.diag(np.full(12, 7.0))), positions)


def test_positions_equal_up_to_rounding_go_by_lean_and_then_by_number():
    x = np.array([0.5, 0.0, 0.5 + 1e-13, 1.0, 0.5 - 1e-13])
    assert order_of(x).tolist() == [1, 0, 2, 4, 3]
    assert order_of(x, np.array([3.0, 0, 2, 0, 1])).tolist() == [1, 4, 2, 0, 3]


def test_a_lean_of_another_length_is_refused():
    with pytest.raises(DataError, match=r"one number for each of 3 nodes, has shape \(2,\)"):
        fiedler_positions(np.ones((3, 3)), np.zeros(2))
