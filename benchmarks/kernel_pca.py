"""KernelPCA and DiffusionMap of 10,000 rows beside scikit-learn: the same eigenvalues, sooner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.decomposition as peers
from scipy.sparse import csr_array
from sklearn.datasets import make_circles, make_swiss_roll
from sklearn.manifold import spectral_embedding

from assay import DiffusionMap, Gaussian, Graph, KernelPCA, Nearest
from assay.summary.gram.kernels import median_distance
from benchmarks.harness import compare, show

N, K = 10_000, 10


def run() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    groups = rng.standard_normal((N, 20))
    groups[: N // 3] += 2.0
    circles = make_circles(N, noise=0.05, factor=0.3, random_state=0)[0]
    return kernel_pca("two groups in 20 columns", groups) + kernel_pca("two circles", circles) + diffusion()


def kernel_pca(what: str, X: np.ndarray) -> list[dict[str, Any]]:
    sigma = median_distance(X)
    options: dict[str, Any] = {"kernel": "rbf", "gamma": 1 / (2 * sigma**2)}
    truth = peers.KernelPCA(K, eigen_solver="arpack", **options).fit(X).eigenvalues_
    return compare(
        f"KernelPCA of {N:,} rows, {what}, {K} components; quality: largest relative error of an eigenvalue",
        {
            "assay KernelPCA": lambda: KernelPCA(K, kernel=Gaussian(sigma)).fit(X),
            "assay KernelPCA, 1,000 landmarks": lambda: KernelPCA(K, kernel=Gaussian(sigma), landmarks=1_000).fit(X),
            "scikit-learn KernelPCA arpack": lambda: peers.KernelPCA(K, eigen_solver="arpack", **options).fit(X),
            "scikit-learn KernelPCA randomized": lambda: peers.KernelPCA(
                K, eigen_solver="randomized", random_state=0, **options
            ).fit(X),
        },
        against="scikit-learn KernelPCA arpack",
        quality=_error(truth),
        rounds=3,
    )


def diffusion() -> list[dict[str, Any]]:
    """The walk itself on one graph: the peer takes no rows and corrects for no density."""
    X = make_swiss_roll(N, random_state=0)[0]
    weights = Nearest(20).graph(X).weighted(Gaussian()).weights
    graph = Graph(weights)
    narrow = csr_array((weights.data, weights.indices.astype(np.int32), weights.indptr.astype(np.int32)))
    return compare(
        f"DiffusionMap of a graph of {N:,} nodes, 20 neighbours, {K} components; "
        "quality: largest residual of P psi = lambda psi",
        {
            "assay DiffusionMap": lambda: DiffusionMap(K, density_exponent=0.0, t=0.0).fit_graph(graph).embedding_,
            "scikit-learn spectral_embedding": lambda: spectral_embedding(
                narrow, n_components=K + 1, random_state=0, drop_first=False
            )[:, 1:],
        },
        against="scikit-learn spectral_embedding",
        quality=_walk_residual(weights),
        rounds=3,
    )


def _error(truth: np.ndarray) -> Callable[[Any], str]:
    return lambda model: f"{np.abs(model.eigenvalues_ / truth - 1).max():.0e}"


def _walk_residual(weights: Any) -> Callable[[np.ndarray], str]:
    degree = np.asarray(weights.sum(axis=1))

    def residual(psi: np.ndarray) -> str:
        moved = weights @ psi / degree[:, None]
        values = np.sum(degree[:, None] * psi * moved, axis=0) / np.sum(degree[:, None] * psi**2, axis=0)
        return f"{(np.linalg.norm(moved - psi * values, axis=0) / np.linalg.norm(psi, axis=0)).max():.0e}"

    return residual


if __name__ == "__main__":
    show(run())
