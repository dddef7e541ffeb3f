"""PageRank beside networkx, igraph (PRPACK) and a plain power iteration with SciPy: wiki-Vote, and a large graph."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from assay import pagerank, read_network
from benchmarks.harness import compare, show

VOTES = Path(__file__).parents[2] / "shared/data/web_graphs/wiki_vote.csv"


def run() -> list[dict[str, Any]]:
    rows = _on("20,000 nodes, 200,000 links", popular(20_000, 200_000), slow=True, rounds=5)
    if VOTES.exists():
        rows += _on("wiki-Vote, 7,115 nodes, 103,689 links", read_network(VOTES).weights, slow=True, rounds=5)
    return rows + _on("1,000,000 nodes, 10,000,000 links", popular(1_000_000, 10_000_000), slow=False, rounds=3)


def popular(n: int, m: int) -> sparse.csr_array:
    """Links to nodes that differ in how popular they are; one node in twenty has no out-links."""
    rng = np.random.default_rng(0)
    source = rng.integers(0, n - n // 20, m, dtype=np.int32)
    target = np.minimum((rng.pareto(1.2, m) * n / 50).astype(np.int64) % n, n - 1).astype(np.int32)
    target = rng.permutation(n).astype(np.int32)[target]
    W = sparse.csr_array((np.ones(m), (source, target)), shape=(n, n))
    W.sum_duplicates()
    W.data[:] = 1.0
    return W


def plain(W: sparse.csr_array, damping: float = 0.85, tol: float = 1e-10) -> np.ndarray:
    """The power iteration as everybody writes it, to the same bound."""
    n = W.shape[0]
    out = np.asarray(W.sum(axis=1)).ravel()
    share = np.where(out > 0, 1 / np.where(out > 0, out, 1), 0.0)
    T, ends = W.T.tocsr(), out == 0
    x = np.full(n, 1 / n)
    while True:
        y = damping * (T @ (x * share) + x[ends].sum() / n) + (1 - damping) / n
        moved = np.abs(y - x).sum()
        x = y
        if damping * moved / (1 - damping) <= tol:
            return x


def _on(what: str, W: sparse.csr_array, *, slow: bool, rounds: int) -> list[dict[str, Any]]:
    # what a graph is kept in is made before; each contender starts from its own kind of graph
    contenders: dict[str, Callable[[], np.ndarray]] = {
        "assay pagerank": lambda: pagerank(W).scores,
        "SciPy power iteration": lambda: plain(W),
    }
    if slow and importlib.util.find_spec("networkx"):
        import networkx

        graph = networkx.from_scipy_sparse_array(W, create_using=networkx.DiGraph)
        contenders["networkx"] = lambda: np.array(
            list(networkx.pagerank(graph, tol=1e-10 * 0.15 / 0.85 / W.shape[0], max_iter=1000).values())
        )
    if importlib.util.find_spec("igraph"):
        import igraph

        kept = igraph.Graph(n=W.shape[0], edges=np.stack(W.nonzero(), axis=1), directed=True)
        contenders["igraph PRPACK"] = lambda: np.array(kept.pagerank(damping=0.85))
    exact = pagerank(W, tol=1e-12).scores
    return compare(
        f"PageRank to 1e-10, {what}; quality: sum of |differences| from assay's to 1e-12",
        contenders,
        against="assay pagerank",
        quality=lambda scores: f"{np.abs(scores - exact).sum():.0e}",
        rounds=rounds,
    )


if __name__ == "__main__":
    show(run())
