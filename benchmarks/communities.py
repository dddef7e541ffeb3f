"""Communities beside Louvain of networkx and Leiden of igraph: modularity and time, one search each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from assay import Graph, communities, modularity, read_network
from benchmarks.harness import compare, show

DATA = Path(__file__).parents[2] / "shared/data"


def run() -> list[dict[str, Any]]:
    rows = _on("200 planted parts of 50, 10,000 nodes, 100,000 links", planted(200, 50, 8.0, 12.0), rounds=3)
    rows += _on("20 faint planted parts of 500, 10,000 nodes, 80,000 links", planted(20, 500, 7.0, 9.0), rounds=3)
    for what, path in (
        ("Game of Thrones, 796 nodes, 2,823 weighted links", DATA / "game_of_thrones/asoiaf-all-edges.csv"),
        ("wiki-Vote, 7,115 nodes, 103,689 links", DATA / "web_graphs/wiki_vote.csv"),
    ):
        if path.exists():
            rows += _on(what, read_network(path).symmetrised("average"), rounds=3)
    return rows


def planted(parts: int, size: int, inside: float, outside: float) -> Graph:
    """Parts whose nodes have about so many links inside and outside."""
    rng, n = np.random.default_rng(0), parts * size
    near, far = (int(n * mean / 2) for mean in (inside, outside))
    first = rng.integers(0, n, near + far)
    second = np.concatenate([first[:near] // size * size + rng.integers(0, size, near), rng.integers(0, n, far)])
    kept = first != second
    return Graph.of_edges(first[kept], second[kept], n=n).unweighted()


def _on(what: str, graph: Graph, *, rounds: int) -> list[dict[str, Any]]:
    # what a graph is kept in is made before; each contender starts from its own kind of graph
    contenders: dict[str, Callable[[], Any]] = {
        "assay communities": lambda: communities(graph, runs=1).labels,
        "assay communities, best of 10": lambda: communities(graph).labels,
    }
    W = graph.weights.tocoo()
    once = W.row < W.col
    if importlib.util.find_spec("igraph"):
        import igraph

        kept = igraph.Graph(n=graph.n, edges=np.stack([W.row[once], W.col[once]], axis=1))
        values = W.data[once].tolist()
        contenders["igraph Leiden, 2 rounds"] = lambda: np.array(
            kept.community_leiden("modularity", weights=values).membership
        )
        contenders["igraph Leiden, to the end"] = lambda: np.array(
            kept.community_leiden("modularity", weights=values, n_iterations=-1).membership
        )
    if importlib.util.find_spec("networkx"):
        import networkx

        G = networkx.from_scipy_sparse_array(graph.weights)
        contenders["networkx Louvain"] = lambda: _labels(networkx.community.louvain_communities(G, seed=0), graph.n)
    return compare(
        f"Communities, {what}; quality: modularity",
        contenders,
        against="assay communities",
        quality=lambda labels: f"{modularity(graph, labels):.4f}",
        rounds=rounds,
    )


def _labels(parts: list[set[int]], n: int) -> np.ndarray[Any, Any]:
    labels = np.zeros(n, np.int64)
    for number, part in enumerate(parts):
        labels[list(part)] = number
    return labels


if __name__ == "__main__":
    show(run())
