"""Decision processes: 1,000,000 states beside plain SciPy, 1,000 beside dense code in the manner of mdptoolbox."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from assay import MDP
from benchmarks.harness import compare, show

DISCOUNT, TOL, ACTIONS, NEXT = 0.95, 1e-9, 4, 5


def run() -> list[dict[str, Any]]:
    return few() + many(1_000_000)


def few() -> list[dict[str, Any]]:
    P, R = _drawn(1000)
    dense = np.stack([M.toarray() for M in P])
    return compare(
        "1,000 states x 4 actions, 5 next states each, discount .95; quality: residual of Bellman's equation",
        {
            "assay MDP, policy iteration": lambda: MDP(P, R, DISCOUNT).policy_iteration().values,
            "assay MDP, modified": lambda: MDP(P, R, DISCOUNT).modified_policy_iteration(tol=TOL).values,
            "dense, policy iteration": lambda: dense_policy_iteration(dense, R),
            "dense, value iteration": lambda: dense_value_iteration(dense, R),
            "SciPy, value iteration": lambda: sparse_value_iteration(P, R),
            "SciPy, stopped by the span": lambda: sparse_value_iteration(P, R, span=True),
        },
        against="dense, value iteration",
        quality=_residual(P, R),
        rounds=3,
    )


def many(n: int) -> list[dict[str, Any]]:
    P, R = _drawn(n)
    return compare(
        f"{n:,} states x 4 actions, 5 next states each, discount .95, matrices to values; quality: as above",
        {
            "assay MDP, modified": lambda: MDP(P, R, DISCOUNT).modified_policy_iteration(tol=TOL).values,
            "assay MDP, value iteration": lambda: MDP(P, R, DISCOUNT).value_iteration(tol=TOL).values,
            "assay MDP, made and checked only": lambda: MDP(P, R, DISCOUNT).notes,
            # the sup norm takes ten times as many products
            "SciPy, stopped by the span": lambda: sparse_value_iteration(P, R, span=True),
        },
        against="SciPy, stopped by the span",
        quality=_residual(P, R),
        rounds=3,
    )


def dense_value_iteration(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Dense matrices, stopped by the sup norm."""
    v = np.zeros(len(R))
    while True:
        new = (R + DISCOUNT * (P @ v).T).max(axis=1)
        if np.abs(new - v).max() * DISCOUNT / (1 - DISCOUNT) <= TOL:
            return new
        v = new


def dense_policy_iteration(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Dense matrices, each policy solved by LU."""
    rows, policy = np.arange(len(R)), R.argmax(axis=1)
    while True:
        v = np.linalg.solve(np.eye(len(R)) - DISCOUNT * P[policy, rows], R[rows, policy])
        better = (R + DISCOUNT * (P @ v).T).argmax(axis=1)
        if (better == policy).all():
            return v
        policy = better


def sparse_value_iteration(P: list[sparse.csr_array], R: np.ndarray, *, span: bool = False) -> np.ndarray:
    """A product of a sparse matrix for each action, stopped by the sup norm or by the span, as assay is."""
    v = np.zeros(len(R))
    while True:
        new = np.max([R[:, a] + DISCOUNT * (M @ v) for a, M in enumerate(P)], axis=0)
        low, high = DISCOUNT / (1 - DISCOUNT) * np.array([(new - v).min(), (new - v).max()])
        if span and (high - low) / 2 <= TOL:
            return new + (low + high) / 2
        if max(-low, high) <= TOL:
            return new
        v = new


def _drawn(n: int) -> tuple[list[sparse.csr_array], np.ndarray]:
    rng = np.random.default_rng(0)
    made = []
    for _ in range(ACTIONS):
        p = rng.random((n, NEXT))
        p /= p.sum(axis=1, keepdims=True)
        after = rng.integers(0, n, (n, NEXT), dtype=np.int32)
        M = sparse.csr_array((p.ravel(), after.ravel(), np.arange(0, NEXT * n + 1, NEXT)), shape=(n, n))
        M.sum_duplicates()
        made.append(M)
    return made, rng.random((n, ACTIONS))


def _residual(P: list[sparse.csr_array], R: np.ndarray) -> Callable[[np.ndarray], str]:
    def of(v: Any) -> str:
        if not isinstance(v, np.ndarray):
            return ""
        best = np.max([R[:, a] + DISCOUNT * (M @ v) for a, M in enumerate(P)], axis=0)
        return f"{np.abs(best - v).max():.1e}"

    return of


if __name__ == "__main__":
    show(few() + many(int(sys.argv[1])) if len(sys.argv) > 1 else run())
