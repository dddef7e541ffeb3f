"""All pairs of columns: Pearson and Spearman matrices with p and q over all pairs, beside NumPy, pandas and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from assay import dependence
from benchmarks.harness import compare


def run() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3000))
    X[:, 1::2] += X[:, ::2]

    def arrays() -> tuple[Any, Any]:
        found = dependence(X)
        return found.pearson, found.rank

    def plain() -> tuple[Any, Any]:
        return np.corrcoef(X.T), np.corrcoef(stats.rankdata(X, axis=0).T)

    def scipy() -> tuple[Any, Any]:
        return np.corrcoef(X.T), stats.spearmanr(X).statistic

    exact = plain()

    def off(found: tuple[Any, Any]) -> str:
        return f"largest difference {max(np.abs(a - b).max() for a, b in zip(found, exact, strict=True)):.0e}"

    rows = compare(
        "Pearson and Spearman matrices, 500 x 3,000 (assay: p and q of 4.5 million pairs too; SciPy: p)",
        {"assay dependence": arrays, "NumPy, no p": plain, "SciPy spearmanr": scipy},
        against="assay dependence",
        quality=off,
        rounds=3,
    )
    small = X[:, :300]
    frame = pd.DataFrame(small)
    rows += compare(
        "Spearman matrix, 500 x 300",
        {"assay dependence": lambda: dependence(small).rank, "pandas corr": lambda: frame.corr("spearman").to_numpy()},
        against="assay dependence",
        quality=lambda found: f"largest difference {np.abs(found - exact[1][:300, :300]).max():.0e}",
        rounds=3,
    )
    wide = rng.standard_normal((200, 20_000))
    wide[:, 1] += wide[:, 0]
    rows += compare(
        "all 200 million pairs of 20,000 columns, 200 rows",
        {"assay dependence": lambda: dependence(wide)},
        against="assay dependence",
        quality=lambda found: f"{found.significant()} pair at q = .05 (1 was planted)",
        rounds=1,
    )
    return rows
