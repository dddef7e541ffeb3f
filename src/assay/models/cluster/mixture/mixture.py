"""Gaussian mixture: rows as draws from k normal laws, fitted by expectation and maximisation.

law      p(x) = sum_g pi_g N(x | mu_g, S_g),  mu (k, d),  S full, tied, diagonal or spherical
summary  N_g, sum r w and sum r w w^T of each component, (k, d, d), one pass for each step    (responsibilities)
solver   EM: the log-likelihood never falls; eigenvalues of S_g are at least floor             (optimize.em)
reading  r_ig = pi_g N(x_i | mu_g, S_g) / p(x_i), (n, k): how far row i belongs to component g
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import FloatBlocks, float_blocks
from assay.data.source import Source
from assay.engine.current import mapped_blocks, scattered
from assay.errors import NotConverged
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import RandomState, as_count, as_generator
from assay.models.base import Estimator, on_engine
from assay.models.cluster.mixture.gaussians import (
    MixtureComponents,
    MixtureWhitening,
    Shape,
    drawn_from,
    in_units,
    maximised,
    n_parameters,
    reading,
)
from assay.models.cluster.mixture.options import Options
from assay.models.cluster.mixture.responsibilities import MixtureTable, shared_out
from assay.optimize.em import Climb, EMStep, climb
from assay.summary.incomplete.expectation import Frame
from assay.summary.moments.accumulate import refuse_unusable


class GaussianMixture(DensityMixin, Estimator):
    """Describe rows as draws from a few normal laws: which could each row come from, and how surely?

    Args:
        n_components: how many laws; at most as many as rows.
        covariance_type: "full", each component has its own covariance; "tied", all share one; "diag", columns are
            independent within a component; "spherical", each component is a ball of its own size.
        tol: stop when a step raises the mean log-likelihood of a row by at most this.
        floor: the smallest variance of a component in any direction, as a share of the data's: no eigenvalue of a
            covariance of standardised columns (for "spherical": of columns in one common unit) is below it. It is
            kept by exact constrained maximisation, so that the likelihood never falls, and units do not matter;
            scikit-learn's `reg_covar` is instead added, in squared units of the data.
        max_iter: steps at most; stopping there warns (NotConverged).
        n_init: starts tried; the likeliest result is kept.
        init_params: how to begin: "kmeans", from the groups of k-means on columns in units of the floor; or
            "random_from_data", from rows drawn at random, each component as wide as the data.
        weights_init: (k,) weights to begin with.
        means_init: (k, d) means to begin with; components are then numbered as these are.
        precisions_init: inverse covariances to begin with: (k, d, d), (d, d), (k, d) or (k,), as the type asks for.
        warm_start: begin the next fit where the last one ended, with its numbers of the components, instead of from the
            groups of k-means; `n_init` then counts for the first fit only. A fit of another number of components or
            columns, or of another type of covariance, begins anew.
        random_state: seed of the starts, and of `sample`.

    Attributes:
        weights_: (k,) shares of the components, largest first unless given means or the last fit order them. A
            component that lost all rows has weight 0.
        means_: (k, d).
        covariances_: (k, d, d), (d, d), (k, d) or (k,), divisor n. Constant columns have variance zero and do not
            count in any density, but for "spherical", where all columns share one variance.
        precisions_cholesky_: of the same shape: U upper triangular with U U^T the inverse covariance, or one over the
            standard deviations; zero for constant columns.
        floored_: (k,), for "tied" (1,): directions in which each covariance is held at the floor. Components with
            all of them there have collapsed onto a point.
        log_likelihood_: of all rows at the end, in nats.
        log_likelihoods_: at the start and after each step kept; never falling.
        lower_bound_: mean log-likelihood of a row at the end.
        bic_, aic_: of the rows fitted; smaller is better.
        residual_: the most that one more step would change a weight, or a mean in standard deviations of its column.
        converged_: whether the last step gained at most tol.
        n_iter_: steps made; the last is not kept where rounding outweighed its gain.
        n_samples_: rows fitted.

    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2]])
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> mixture.means_.round(3).ravel(), mixture.predict(X)
    (array([0.2, 5.1]), array([0, 0, 0, 1, 1]))

    Reference: Dempster, Laird & Rubin 1977; McLachlan & Peel, Finite Mixture Models, 2000.
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: Shape = "full",
        tol: float = 1e-3,
        floor: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: Literal["kmeans", "random_from_data"] = "kmeans",
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.floor = floor
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.warm_start = warm_start
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Find the components of (n, d) rows.

        Args:
            X: array, data frame or `Source`. A source is encoded first, by the kinds of its columns, and read once for
                each step, so it may be larger than memory.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        options = Options.of(self)
        blocks = self._blocks(X, reset=True)
        if self.warm_start and hasattr(self, "means_"):
            options = options.going_on(self.weights_, self.means_, self.precisions_, self.n_features_in_)
        names = tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        table = MixtureTable.of(scattered(blocks), options.shape, names)
        options.refuse_few(table.rows)

        def evaluate(law: MixtureComponents) -> EMStep[MixtureComponents]:
            sums = table.sums(law)
            value = sums.log_likelihood / sums.rows
            return EMStep(law, value, value, maximised(law, sums, options.floor))

        starts = options.starts(table, self.n_features_in_, self._seed())
        with one_blas_thread():  # once: setting it anew for each step costs more than the step of a small table
            climbs = [climb(evaluate, start, tol=options.tol, max_iter=options.max_iter) for start in starts]
        return self._keep(max(climbs, key=lambda ended: ended.last.objective), table, options)

    def fit_predict(self, X: Any, y: None = None) -> NDArray[np.int64]:
        """Fit, and give the most probable component of each row."""
        return self.fit(X).predict(X)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(n,) the most probable component of each row, from 0."""
        labels: NDArray[np.int64] = np.argmax(self._shared_out(X)[1], axis=1)
        return labels

    def predict_proba(self, X: Any) -> Array:
        """(n, k) the probability of each component given the row; each line sums to 1."""
        return self._shared_out(X)[1]

    def score_samples(self, X: Any) -> Array:
        """(n,) log density of each row, in nats."""
        return self._shared_out(X)[0]

    def score(self, X: Any, y: None = None) -> float:
        """Mean log density of the rows: how well they are described, comparable on rows not seen."""
        return float(np.mean(self.score_samples(X)))

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on rows; smaller is better. Reference: Schwarz 1978."""
        logs = self.score_samples(X)
        return self._criterion(float(logs.sum()), np.log(len(logs)))

    def aic(self, X: Any) -> float:
        """Akaike information criterion on rows; smaller is better."""
        return self._criterion(float(self.score_samples(X).sum()), 2.0)

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> tuple[Array, NDArray[np.int64]]:
        """Draw rows from the fitted law.

        Args:
            n_samples: how many.
            random_state: seed or generator; by default that of the model, so that the same rows come each time.

        Returns:
            (n, d) rows, and (n,) the component of each.
        """
        check_is_fitted(self)
        n = as_count(n_samples, 2**40, name="n_samples", what="rows")
        rng = as_generator(self._seed() if random_state is None else random_state)
        return drawn_from(self.covariance_type, self.weights_, self.means_, self.precisions_cholesky_, n, rng)

    @property
    def precisions_(self) -> Array:
        """Inverse covariances, in the shape of `covariances_`; zero for constant columns."""
        check_is_fitted(self)
        U = self.precisions_cholesky_
        return U @ U.swapaxes(-1, -2) if self.covariance_type in ("full", "tied") else U**2

    def _keep(self, ended: Climb[EMStep[MixtureComponents]], table: MixtureTable, options: Options) -> Self:
        law, after, n = ended.last.at, ended.last.next, table.rows
        moves = np.abs(after.weights - law.weights).max(), np.abs(after.means - law.means).max()
        if options.means is None:
            law = law.ordered()
        self.weights_ = law.weights
        self.means_, self.covariances_, self.precisions_cholesky_ = in_units(law, table.frame, table.mean)
        self.floored_ = law.floored
        self.log_likelihoods_ = ended.log_likelihoods * n
        self.log_likelihood_ = float(self.log_likelihoods_[-1])
        self.lower_bound_ = ended.last.log_likelihood
        self.n_samples_ = n
        self.bic_ = self._criterion(self.log_likelihood_, np.log(n))
        self.aic_ = self._criterion(self.log_likelihood_, 2.0)
        self.residual_ = float(max(moves))
        self.n_iter_, self.converged_ = ended.n_iter, ended.converged
        if not ended.converged:
            warnings.warn(
                f"EM stopped after {ended.n_iter} steps, the last of which raised the log-likelihood of a row by "
                f"{ended.rise:.2g} (tol={options.tol:g}): raise max_iter or tol",
                NotConverged,
                stacklevel=4,
            )
        return self

    def _blocks(self, X: Any, *, reset: bool) -> FloatBlocks:
        if not isinstance(X, Source):
            # the first pass of a fit finds what is not finite and says where
            least = 2 if reset else 1
            kinds = [np.float64, np.float32]
            return float_blocks(
                self._checked(X, reset=reset, dtype=kinds, ensure_min_samples=least, ensure_all_finite=not reset)
            )
        return float_blocks(self._as_numbers(X, reset=reset))

    def _shared_out(self, X: Any) -> tuple[Array, Array]:
        """Log densities (n,) and probabilities of the components (n, k)."""
        check_is_fitted(self)
        blocks = self._blocks(X, reset=False)
        law, names = self._reading(), blocks.columns

        def read(part: tuple[int, NDArray[Any]]) -> tuple[Array, Array]:
            start, rows = part
            if not np.isfinite(rows).all():
                refuse_unusable(rows, start, names)
            return shared_out(rows, *law)

        parts = mapped_blocks(blocks, read)
        return np.concatenate([logs for logs, _ in parts]), np.concatenate([shares for _, shares in parts])

    def _reading(self) -> tuple[Frame, MixtureWhitening]:
        return reading(self.covariance_type, self.weights_, self.means_, self.precisions_cholesky_)

    def _criterion(self, log_likelihood: float, price: float) -> float:
        frame, _ = self._reading()
        k, d = len(self.weights_), len(frame.active)
        return price * n_parameters(self.covariance_type, k, d) - 2.0 * log_likelihood
