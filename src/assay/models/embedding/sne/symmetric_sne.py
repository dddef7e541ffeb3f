"""Symmetric stochastic neighbour embedding: one distribution over all pairs, kept in few dimensions.

summary  P, (n, n) sparse: p_ij = (p_j|i + p_i|j) / 2n, Gaussian with the asked perplexity in each row
cost     KL(P || Q),  q_ij = exp(-|y_i - y_j|^2) / sum_kl exp(-|y_k - y_l|^2),  Y (n, q)
solver   descent with exaggeration, momentum and restarts, every pair summed (optimize.sne_layout)
reading  Y; crowded towards the middle, which TSNE cures
"""

from __future__ import annotations

from assay.models.embedding.sne.neighbour_embedding import _GaussianEmbedding


class SymmetricSNE(_GaussianEmbedding):
    """Draw rows so that near pairs stay near, with Gaussian tails: for up to 5,000 rows.

    Args:
        n_components: 1, 2 or 3.
        perplexity: effective number of neighbours of a row, from 1 to below n. "auto": 30, or a third of the other
            rows if that is less.
        metric: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "gower" (columns of numbers
            and of categories, with gaps), "precomputed" (X is a matrix of distances), or a function of two rows.
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
        kl_divergence_: KL(P || Q) of the embedding, in nats.
        kl_history_: (m, 2) iteration and divergence.
        n_iter_: iterations taken.
        converged_: whether the tolerance ended them, not max_iter or the callback.
        perplexity_: as used; NaN for a graph of similarities.
        reached_perplexity_: (n,) of each row; off where many neighbours are equally near.
        metric_: the metric, with what it learned from the rows.
        rows_: (n, d) the fitted rows, for `transform`; none of them, (0, n), for sparse distances; None for a graph.
        route_: "exact".
        sample_: (n,) which rows of a `Source` of more than 5,000 were laid out, a fair sample; None: all.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([0.0, 9.0], 20)[:, None] + rng.standard_normal((40, 5))
    >>> Y = SymmetricSNE().fit_transform(X)
    >>> between = np.linalg.norm(Y[:20].mean(axis=0) - Y[20:].mean(axis=0))
    >>> bool(between > np.linalg.norm(Y[:20] - Y[:20].mean(axis=0), axis=1).max())
    True

    References:
        Cook, Sutskever, Mnih, Hinton, AISTATS 2007; van der Maaten, Hinton, JMLR 2008, section 2.
    """

    _joint = True
