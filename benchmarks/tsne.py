"""t-SNE of handwritten digits beside scikit-learn, openTSNE and scikit-learn-intelex (where installed).

The quality figure is the divergence against one P (90 exact nearest neighbours, perplexity 30), with Z summed over all
pairs, whoever made the map.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import sklearn.manifold as peers
from scipy import sparse

from assay import TSNE
from assay.errors import NotConverged
from assay.summary.graph.perplexity import affinities
from benchmarks.harness import compare, show

USPS = Path(__file__).resolve().parents[2] / "shared/data/usps_digits/usps.parquet"
SHIFTS = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1)]


def run() -> list[dict[str, Any]]:
    return ten_thousand() + seventy_thousand()


def ten_thousand() -> list[dict[str, Any]]:
    X = principal(pictures().reshape(-1, 256))
    return compare(
        f"t-SNE of {len(X):,} x 50 digits, perplexity 30; quality: exact divergence",
        {
            "assay TSNE": lambda: ours(X),
            "assay TSNE, 250 iterations": lambda: ours(X, max_iter=250),
            "assay TSNE, 150 iterations": lambda: ours(X, max_iter=150),
            "scikit-learn TSNE": lambda: peers.TSNE(random_state=0).fit_transform(X),
            **_open_tsne(X),
            **_intelex(X),
        },
        against="scikit-learn TSNE",
        quality=exact_divergence(affinities(X, 30.0).P),
        rounds=1,
    )


def seventy_thousand() -> list[dict[str, Any]]:
    """Each digit shifted by a pixel eight ways, with a little noise."""
    given = pictures()
    moved = np.concatenate([np.roll(given, shift, axis=(1, 2)) for shift in SHIFTS])[:70_000].reshape(-1, 256)
    X = principal(moved + np.random.default_rng(0).normal(0.0, 0.05, moved.shape).astype(np.float32))
    return compare(
        f"t-SNE of {len(X):,} x 50 shifted digits, perplexity 30; quality: exact divergence",
        {"assay TSNE": lambda: ours(X), "assay TSNE, 250 iterations": lambda: ours(X, max_iter=250), **_open_tsne(X)},
        against="openTSNE" if _open_tsne(X) else "assay TSNE",
        quality=exact_divergence(affinities(X, 30.0).P),
        rounds=1,
    )


def ours(X: np.ndarray, **options: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # a number of iterations was asked for
        return TSNE(perplexity=30, **options).fit_transform(X)


def pictures() -> np.ndarray:
    """(n, 16, 16) the USPS digits where they are at hand, else scikit-learn's smaller ones in a frame."""
    if USPS.exists():
        table = pq.read_table(USPS)
        pixels = [name for name in table.column_names if name not in ("digit", "split")]
        return np.column_stack([table[name].to_numpy() for name in pixels]).astype(np.float32).reshape(-1, 16, 16)
    from sklearn.datasets import load_digits

    return np.pad(load_digits().images.astype(np.float32) / 8, ((0, 0), (4, 4), (4, 4)))


def principal(X: np.ndarray, k: int = 50) -> np.ndarray:
    X = X - X.mean(axis=0)
    return np.ascontiguousarray((X @ np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :k]).astype(np.float64))


def exact_divergence(P: sparse.csr_array) -> Callable[[Any], str]:
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))

    def divergence(given: Any) -> str:
        Y = np.asarray(given, dtype=np.float64)
        squares = np.einsum("ij,ij->i", Y, Y)
        Z = -float(len(Y))
        for start in range(0, len(Y), 500):
            part = slice(start, start + 500)
            Z += float((1 / (1 + np.maximum(squares[part, None] + squares - 2 * Y[part] @ Y.T, 0))).sum())
        apart = ((Y[rows] - Y[P.indices]) ** 2).sum(axis=1)
        return f"{float(np.sum(P.data * np.log(P.data * (1 + apart) * Z))):.4f}"

    return divergence


def _open_tsne(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    try:
        from openTSNE import TSNE as OpenTSNE
    except ImportError:
        return {}
    return {"openTSNE": lambda: OpenTSNE(perplexity=30, n_jobs=-1, random_state=0).fit(X)}


def _intelex(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    try:
        from sklearnex.manifold import TSNE as Intelex
    except ImportError:
        return {}
    return {"scikit-learn-intelex TSNE": lambda: Intelex(random_state=0).fit_transform(X)}


if __name__ == "__main__":
    show(run())
