"""Adamic and Adar's score of all pairs two links apart, beside networkx, igraph and a sparse product: wiki-Vote."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from scipy import sparse

from assay import Graph, read_network
from assay.models.network.link_prediction.best import best, two_steps
from assay.models.network.link_prediction.scores import PairScores
from assay.summary.network.held_out_links import ends_of
from benchmarks.harness import compare, show

VOTES = Path(__file__).parents[2] / "shared/data/web_graphs/wiki_vote.csv"


def run() -> list[dict[str, Any]]:
    rows = _on("2,000 nodes, 10,000 links", _popular(2_000, 5), slow=True, rounds=3)
    if VOTES.exists():
        graph = read_network(VOTES).symmetrised().unweighted()
        rows += _on("wiki-Vote, 7,115 nodes, links taken both ways", graph, slow=False, rounds=3)
        rows += _part_by_networkx(graph)
    return rows


def _popular(n: int, each: int) -> Graph:
    made = np.array(list(networkx.barabasi_albert_graph(n, each, seed=0).edges()))
    return Graph.of_edges(made[:, 0], made[:, 1], n=n)


def _product(A: sparse.csr_array) -> tuple[float, int]:
    """The same by a product of sparse matrices, links and the diagonal taken out after."""
    degree = np.diff(A.indptr)
    scaled = sparse.csr_array(A * (1.0 / np.log(np.maximum(degree, 2)))[None, :])
    found = sparse.triu(scaled @ A, 1).tocsr()
    found = found - found.multiply(A)
    return float(found.sum()), int(found.count_nonzero())


def _on(what: str, graph: Graph, *, slow: bool, rounds: int) -> list[dict[str, Any]]:
    ends = ends_of(graph)
    A = sparse.csr_array((np.ones(graph.weights.nnz), graph.weights.indices, graph.weights.indptr), graph.weights.shape)

    def ours() -> tuple[float, int]:
        _, vs, values = two_steps(PairScores(ends), "adamic_adar")
        return float(values.sum()), len(vs)

    contenders: dict[str, Callable[[], tuple[float, int]]] = {
        "assay, all pairs": ours,
        "assay, the best 100": lambda: (float(best(PairScores(ends), "adamic_adar", 100)[2].sum()), 100),
        "SciPy, sparse product": lambda: _product(A),
    }
    if slow:
        made = networkx.from_scipy_sparse_array(A)

        def peer() -> tuple[float, int]:
            us, vs, _ = two_steps(PairScores(ends), "common")  # who is two links apart is given to it
            pairs = list(zip(us.tolist(), vs.tolist(), strict=True))
            scores = [score for *_, score in networkx.adamic_adar_index(made, pairs)]
            return float(np.sum(scores)), len(scores)

        contenders["networkx"] = peer
    if importlib.util.find_spec("igraph"):
        import igraph

        kept = igraph.Graph(n=graph.n, edges=np.stack([ends.sources, ends.targets], axis=1))
        contenders["igraph, every pair"] = lambda: (float(np.sum(kept.similarity_inverse_log_weighted())), graph.n**2)
    return compare(
        f"Adamic and Adar of all pairs two links apart, {what}; quality: sum of the scores, pairs",
        contenders,
        against="assay, all pairs",
        quality=lambda found: f"{found[0]:.6g}, {found[1]:,}",
        rounds=rounds,
    )


def _part_by_networkx(graph: Graph) -> list[dict[str, Any]]:
    """All pairs take networkx minutes: a fair 20,000 of them, scored by both."""
    ends = ends_of(graph)
    us, vs, _ = two_steps(PairScores(ends), "common")
    every = len(us)
    picked = np.random.default_rng(0).permutation(len(us))[:20_000]
    us, vs = us[picked].astype(np.int64), vs[picked].astype(np.int64)
    made = networkx.Graph(zip(ends.sources.tolist(), ends.targets.tolist(), strict=True))
    pairs = list(zip(us.tolist(), vs.tolist(), strict=True))
    return compare(
        f"Adamic and Adar of 20,000 of {every:,} pairs, wiki-Vote; quality: sum of the scores",
        {
            "assay": lambda: PairScores(ends).of(us, vs, ("adamic_adar",))["adamic_adar"],
            "networkx": lambda: np.array([score for *_, score in networkx.adamic_adar_index(made, pairs)]),
        },
        against="assay",
        quality=lambda scores: f"{scores.sum():.8g}",
        rounds=3,
    )


if __name__ == "__main__":
    show(run())
