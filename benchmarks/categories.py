"""MCA and MixedPCA beside prince: many rows of few categories; quality is the largest error of an eigenvalue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from assay import MCA, MixedPCA
from benchmarks.harness import compare, show

K = 5


def run() -> list[dict[str, Any]]:
    return categories() + mixed()


def categories() -> list[dict[str, Any]]:
    frame = _frame(np.random.default_rng(0), 100_000, 10, 0)
    contenders = {"assay MCA": lambda: MCA(K).fit(frame).eigenvalues_[:K], **_prince("MCA", frame)}
    return compare(
        "MCA of 100,000 x 10 categories of 5 levels; quality: largest error of an eigenvalue",
        contenders,
        against=list(contenders)[-1],
        quality=_error(frame, 10),
        rounds=3,
    )


def mixed() -> list[dict[str, Any]]:
    frame = _frame(np.random.default_rng(1), 100_000, 6, 10)
    contenders = {"assay MixedPCA": lambda: MixedPCA(K).fit(frame).eigenvalues_[:K], **_prince("FAMD", frame)}
    return compare(
        "FAMD of 100,000 x (6 categories, 10 numbers); quality: largest error of an eigenvalue",
        contenders,
        against=list(contenders)[-1],
        quality=_error(frame, 1),
        rounds=3,
    )


def _frame(rng: np.random.Generator, n: int, categories: int, numbers: int) -> pd.DataFrame:
    hidden = rng.standard_normal(n)
    told = {
        f"c{j}": np.array(list("abcde"))[np.digitize(hidden + 2.0 * rng.standard_normal(n), [-2, -0.5, 0.5, 2])]
        for j in range(categories)
    }
    return pd.DataFrame(told | {f"x{j}": hidden + 2.0 * rng.standard_normal(n) for j in range(numbers)})


def _prince(name: str, frame: pd.DataFrame) -> dict[str, Callable[[], Any]]:
    try:
        import prince
    except ImportError:
        return {}
    given = frame.astype({column: object for column in frame if column.startswith("c")})
    peer = getattr(prince, name)(n_components=K, engine="scipy")
    return {f"prince {name}": lambda: np.asarray(peer.fit(given).eigenvalues_)[:K]}


def _error(frame: pd.DataFrame, unit: int) -> Callable[[Any], float]:
    """Against singular values of the scaled rows themselves."""
    parts = []
    for name in frame:
        if name.startswith("c"):
            Z = np.asarray(pd.get_dummies(frame[name]), dtype=np.float64)
            parts.append((Z - Z.mean(axis=0)) / np.sqrt(Z.mean(axis=0) * unit))
        else:
            x = frame[name].to_numpy()
            parts.append(((x - x.mean()) / x.std())[:, None])
    exact = np.linalg.svd(np.hstack(parts), compute_uv=False)[:K] ** 2 / len(frame)
    return lambda values: float(np.abs(values - exact).max())


if __name__ == "__main__":
    show(run())
