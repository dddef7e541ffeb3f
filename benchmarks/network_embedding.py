"""NetworkEmbedding, two coordinates, beside scikit-learn's spectral embedding: a community network and a swiss roll."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import spectral_embedding

from assay import Graph, Nearest, NetworkEmbedding
from benchmarks.harness import compare, show

K = 2


def run() -> list[dict[str, Any]]:
    return _on("20 communities among 3,000 nodes", communities(3_000, 20)) + _on(
        "swiss roll, 5,000 rows, 10 nearest", swiss_roll(5_000)
    )


def communities(n: int, groups: int) -> Graph:
    """Half of the links of a node stay in its community, the others go anywhere: factoring fills in."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 12 * n))
    near = np.arange(12 * n) % 2 == 0
    ends[1, near] = (ends[0, near] + groups * rng.integers(1, n // groups, near.sum())) % n
    ends = ends[:, ends[0] != ends[1]]  # scikit-learn leaves loops out of the Laplacian
    return Graph.of_edges(*ends, n=n).largest_component().graph


def swiss_roll(n: int) -> Graph:
    """A sheet: factoring fills in little, the gap is small."""
    rows = make_swiss_roll(n, random_state=0)[0]
    return Nearest(10).graph(rows).unweighted().largest_component().graph


def _on(what: str, graph: Graph) -> list[dict[str, Any]]:
    W = graph.weights.copy()
    W.indices, W.indptr = W.indices.astype(np.int32), W.indptr.astype(np.int32)  # scikit-learn takes no others
    contenders: dict[str, Callable[[], np.ndarray]] = {
        "assay NetworkEmbedding": lambda: NetworkEmbedding(K).fit(graph).embedding_,
        "scikit-learn spectral_embedding arpack": lambda: _peer(W, "arpack"),
        "scikit-learn spectral_embedding lobpcg": lambda: _peer(W, "lobpcg"),
    }
    return compare(
        f"network embedding, {what}; quality: largest residual |L y - lambda D y| / |D y|",
        contenders,
        against="scikit-learn spectral_embedding arpack",
        quality=lambda Y: f"{residual(graph, Y):.0e}",
        rounds=3,
    )


def _peer(W: sparse.csr_array, solver: str) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(spectral_embedding(W, n_components=K, eigen_solver=solver, random_state=0))


def residual(graph: Graph, Y: np.ndarray) -> float:
    d = graph.degree[:, None]
    LY = d * Y - graph.weights @ Y
    values = (Y * LY).sum(axis=0) / (Y * d * Y).sum(axis=0)
    return float((np.linalg.norm(LY - values * d * Y, axis=0) / np.linalg.norm(d * Y, axis=0)).max())


if __name__ == "__main__":
    show(run())
