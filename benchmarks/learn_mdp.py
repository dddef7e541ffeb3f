"""Learning from trials: 1,000,000 steps to a policy, beside pandas and dense value iteration; and 200 draws of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from assay import learn_mdp
from benchmarks.harness import compare, show

STATES, ACTIONS, LENGTH, DISCOUNT = 200, 4, 50, 0.95


def run(steps: int = 1_000_000) -> list[dict[str, Any]]:
    frame = _drawn(steps)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    best = learn_mdp(table, DISCOUNT).values
    return compare(
        f"{steps:,} steps, {STATES} states, {ACTIONS} actions, 5 next states; quality: largest difference of values",
        {
            "assay learn_mdp": lambda: learn_mdp(table, DISCOUNT).values,
            "assay learn_mdp, 200 draws": lambda: _with_draws(table),
            "pandas, dense value iteration": lambda: by_pandas(frame),
        },
        against="pandas, dense value iteration",
        quality=_difference(best),
        rounds=1,
    )


def by_pandas(frame: pd.DataFrame) -> np.ndarray:
    """Counts by grouping, then dense value iteration, stopped by the sup norm."""
    steps = frame.copy()
    steps["next"] = steps.groupby("trial")["state"].shift(-1)
    known = steps.dropna(subset=["next"]).astype({"next": np.int64})
    P = np.zeros((STATES, ACTIONS, STATES))
    counts = known.groupby(["state", "action", "next"]).size()
    P[tuple(np.array(counts.index.to_list()).T)] = counts
    P /= P.sum(axis=2, keepdims=True)
    R = steps.groupby(["state", "action"])["reward"].mean().unstack().to_numpy()
    v = np.zeros(STATES)
    while True:
        new = (R + DISCOUNT * (P @ v)).max(axis=1)
        if np.abs(new - v).max() * DISCOUNT / (1 - DISCOUNT) <= 1e-9:
            return new
        v = new


def _with_draws(table: pa.Table) -> np.ndarray:
    found = learn_mdp(table, DISCOUNT)
    _ = found.choices, found.more_trials
    return found.values


def _drawn(steps: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    after = rng.integers(0, STATES, (STATES, ACTIONS, 5))
    action, pick = rng.integers(0, ACTIONS, steps), rng.integers(0, 5, steps)
    state = np.empty(steps, np.int64)
    for i in range(steps):
        state[i] = rng.integers(STATES) if i % LENGTH == 0 else after[state[i - 1], action[i - 1], pick[i - 1]]
    usual = rng.normal(size=(STATES, ACTIONS))
    return pd.DataFrame(
        {
            "trial": np.arange(steps) // LENGTH,
            "step": np.arange(steps) % LENGTH,
            "state": state,
            "action": action,
            "reward": usual[state, action] + rng.normal(size=steps),
        }
    )


def _difference(best: np.ndarray) -> Callable[[np.ndarray], str]:
    return lambda values: f"{np.abs(values - best).max():.1e}"


if __name__ == "__main__":
    show(run(int(sys.argv[1])) if len(sys.argv) > 1 else run())
