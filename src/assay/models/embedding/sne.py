"""Stochastic neighbour embedding: each row's own distribution over its neighbours, kept in few dimensions.

summary  p_j|i, (n, n) sparse: Gaussian with the asked perplexity in each row, rows sum to one
cost     sum_i KL(P_i || Q_i),  q_j|i = exp(-|y_i - y_j|^2) / sum_k exp(-|y_i - y_k|^2),  Y (n, q)
solver   descent with exaggeration, momentum and restarts, every pair summed (optimize.sne_layout)
reading  Y; crowded towards the middle, which TSNE cures
"""

from __future__ import annotations

from typing import Any, Literal

from scipy import sparse

from assay.models.neighbour_embedding import Array, Callback, Init, _NeighbourEmbedding, refuse_beyond
from assay.optimize.layout import Layout
from assay.optimize.neighbour_placing import place_gaussian
from assay.optimize.sne_layout import sne_layout
from assay.summary.affinities import Affinities
from assay.summary.edges import Metric

LIMIT = 5000  # points; 25 million pairs in every step


class SNE(_NeighbourEmbedding):
    """Draw rows so that each would name the same neighbours: the ancestor of t-SNE, for up to 5,000 rows.

    Args:
        n_components: 1, 2 or 3.
        perplexity: effective number of neighbours of a row, from 1 to below n. "auto": 30, or a third of the other
            rows if that is less.
        metric: "euclidean", "cosine" or "precomputed" (X is a matrix of distances).
        init: where points begin. "pca": on the first principal axes; "spectral": slow modes of the random walk along
            the affinities; "random"; or an (n, n_components) array. "auto": "pca" for rows, "spectral" for the rest.
        early_exaggeration: factor of P in the first 50 iterations, so that groups gather.
        learning_rate: step per unit of gradient. "auto": n / exaggeration.
        max_iter: at most so many iterations; a NotConverged warning tells when they were too few.
        tol: stop when the divergence changed by no more than this share of itself in 50 iterations.
        callback: called every 50 iterations as callback(iteration, divergence, embedding); True stops.
        random_state: seed of the random start, and of the noise of 1% added to any other.

    Attributes:
        embedding_: (n, n_components), centred.
        kl_divergence_: sum over rows of KL(P_i || Q_i), in nats; divide by n to compare.
        kl_history_: (m, 2) iteration and divergence.
        n_iter_: iterations taken.
        converged_: whether the tolerance ended them, not max_iter or the callback.
        perplexity_: as used; NaN for a graph of similarities.
        reached_perplexity_: (n,) of each row; off where many neighbours are equally near.
        rows_: (n, d) the fitted rows, for `transform`; None for a graph.
        route_: "exact".

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([0.0, 9.0], 20)[:, None] + rng.standard_normal((40, 5))
    >>> Y = SNE().fit_transform(X)
    >>> between = np.linalg.norm(Y[:20].mean(axis=0) - Y[20:].mean(axis=0))
    >>> bool(between > np.linalg.norm(Y[:20] - Y[:20].mean(axis=0), axis=1).max())
    True

    References:
        Hinton, Roweis, Stochastic neighbor embedding, NIPS 2002.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | Literal["auto"] = "auto",
        metric: Metric = "euclidean",
        init: Init = "auto",
        early_exaggeration: float = 4.0,
        learning_rate: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 1e-3,
        callback: Callback | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.metric = metric
        self.init = init
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state

    def _lay_out(self, found: Affinities, start: Array) -> Layout:
        return sne_layout(
            found.conditional,
            start,
            joint=False,
            max_iter=self.max_iter,
            early_exaggeration=self.early_exaggeration,
            learning_rate=self._rate,
            tol=self.tol,
            callback=self.callback,
        )

    def _place(self, P: sparse.csr_array, start: Array) -> Array:
        return place_gaussian(P, self.embedding_, start)

    def _refuse_size(self, n: int) -> None:
        refuse_beyond(n, LIMIT, "SNE")
