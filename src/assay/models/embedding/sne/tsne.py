"""t-SNE: which rows are near each other, drawn in one to three dimensions.

summary  P, (n, n) sparse: p_ij = (p_j|i + p_i|j) / 2n, Gaussian with the asked perplexity in each row
cost     KL(P || Q),  q_ij = w_ij / sum w,  w_ij = (1 + |y_i - y_j|^2 / a)^-a,  Y (n, q), a = 1 unless asked
solver   descent with exaggeration, momentum and restarts; repulsion over all pairs, or by a grid and two Fourier
         transforms (optimize.grid_potential)
reading  Y; only who is near whom means something
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy import sparse

from assay.arrays import Array
from assay.errors import ParameterError
from assay.models.embedding.sne.neighbour_embedding import Callback, Init, _NeighbourEmbedding
from assay.models.embedding.sne.new_points import place_student
from assay.optimize.layout.layout import Layout
from assay.optimize.layout.tsne_layout import Method, tsne_layout
from assay.summary.distances.metrics import Metric
from assay.summary.graph.perplexity import Affinities
from assay.summary.graph.target_links import checked_weight

LEAST_DOF = 0.1  # below, similarities hardly fall with distance and the layout has no end


class TSNE(_NeighbourEmbedding):
    """Draw rows so that near ones stay near: which groups and threads are there?

    Distances between groups, their sizes and their densities mean nothing in the picture.

    Args:
        n_components: 1, 2 or 3.
        perplexity: effective number of neighbours of a row, from 1 to below n. "auto": 30, or a third of the other
            rows if that is less.
        metric: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming", "gower" (columns of numbers
            and of categories, with gaps), "precomputed" (X is a matrix of distances), or a function of two rows.
        init: where points begin. "pca": on the first principal axes; "spectral": slow modes of the random walk along
            the affinities; "random"; or an (n, n_components) array. "auto": "pca" for rows, "spectral" for the rest.
        early_exaggeration: factor of P in the first 100 iterations, so that groups gather.
        exaggeration: factor of P in all others. Above 1 groups draw together and keep more of their order among each
            other; at 4 the picture is much like UMAP's.
        dof: a above, degrees of freedom of the similarities of points. Below 1 tails are heavier, and groups fall into
            finer ones; above 1 they are lighter, and towards infinity the picture is that of `SymmetricSNE`.
        target_weight: how much labels given to `fit` count, from 0 (not at all) to below 1: neighbours of another label
            count for 1 - target_weight of themselves. The map then shows labels apart because it was told to, even
            random ones: only unseen rows, which `transform` places without labels, tell whether the columns know them.
        learning_rate: step per unit of gradient. "auto": n / exaggeration.
        max_iter: at most so many iterations; a NotConverged warning tells when they were too few.
        tol: stop when the divergence changed by no more than this share of itself in 50 iterations.
        method: "exact" sums repulsion over all pairs, "grid" by splines and Fourier transforms; "auto" takes the
            faster.
        callback: called every 50 iterations as callback(iteration, divergence, embedding); True stops.
        random_state: seed of the random start, and of the noise of 1% added to any other.

    Attributes:
        embedding_: (n, n_components), centred.
        kl_divergence_: KL(P || Q) of the embedding, in nats, P without exaggeration.
        kl_history_: (m, 2) iteration and divergence.
        n_iter_: iterations taken.
        converged_: whether the tolerance ended them, not max_iter or the callback.
        perplexity_: as used; NaN for a graph of similarities.
        reached_perplexity_: (n,) of each row; off where many neighbours are equally near.
        metric_: the metric, with what it learned from the rows.
        rows_: (n, d) the fitted rows, for `transform`; none of them, (0, n), for sparse distances; None for a graph.
        route_: "exact" or "grid".
        sample_: (n,) which rows of a `Source` of more than 50,000 were laid out, a fair sample; None: all.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([0.0, 9.0], 20)[:, None] + rng.standard_normal((40, 5))
    >>> Y = TSNE().fit_transform(X)
    >>> between = np.linalg.norm(Y[:20].mean(axis=0) - Y[20:].mean(axis=0))
    >>> bool(between > 2 * np.linalg.norm(Y[:20] - Y[:20].mean(axis=0), axis=1).max())
    True

    References:
        van der Maaten, Hinton, JMLR 2008; Linderman et al., Nature Methods 2019; Belkina et al., Nature
        Communications 2019; Kobak, Berens, Nature Communications 2019; of tails Kobak, Linderman, Steinerberger,
        Kluger, Berens, ECML PKDD 2019; of exaggeration Böhm, Berens, Kobak, JMLR 2022.
    """

    _most_rows = 50_000

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | Literal["auto"] = "auto",
        metric: Metric = "euclidean",
        init: Init = "auto",
        early_exaggeration: float = 12.0,
        exaggeration: float = 1.0,
        dof: float = 1.0,
        target_weight: float = 0.0,
        learning_rate: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float = 5e-3,
        method: Method = "auto",
        callback: Callback | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.metric = metric
        self.init = init
        self.early_exaggeration = early_exaggeration
        self.exaggeration = exaggeration
        self.dof = dof
        self.target_weight = target_weight
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.callback = callback
        self.random_state = random_state

    def _lay_out(self, found: Affinities, start: Array) -> Layout:
        return tsne_layout(
            found.P,
            start,
            max_iter=self.max_iter,
            early_exaggeration=self.early_exaggeration,
            exaggeration=self.exaggeration,
            dof=self.dof,
            learning_rate=self._rate,
            tol=self.tol,
            method=self.method,
            callback=self.callback,
        )

    def _place(self, P: sparse.csr_array, start: Array) -> Array:
        return place_student(P, self.embedding_, start, dof=self.dof, exaggeration=self.exaggeration)

    def _refuse_options(self) -> None:
        super()._refuse_options()
        checked_weight(self.target_weight)
        for name, least in (("exaggeration", 1.0), ("dof", LEAST_DOF)):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not least <= float(value) < np.inf:
                raise ParameterError(f"{name} is a number of at least {least:g}; got {value!r}")
