"""A variational autoencoder: rows from a few hidden coordinates through a curved map, and back.

model    z ~ N(0, I), (k,);  x = f(z) + e, e ~ N(0, v),  or x_j ~ Bernoulli with log-odds f_j(z);  f a network
solver   maximise the mean of ELBO(x) = E_q log p(x | z) - KL(q(z | x) || N(0, I)) <= log p(x),
         q(z | x) = N(m(x), diag(s(x)^2)), m and log s^2 a network: (n, d) -> (n, 2 k)
reading  codes Z = m(X), (n, k)                     chance  the ELBO of rows held out, beside the best linear model's

With f and m linear and a Gaussian x this is probabilistic PCA: the bound is then tight, and f spans the principal axes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.normal.linear_gaussian import LinearGaussian
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import RandomState, as_count, as_generator
from assay.models.base import Estimator
from assay.models.embedding.vae.columns import refuse_rows, units_of
from assay.models.embedding.vae.elbo import elbo_of_rows, noise_variance, posterior
from assay.models.embedding.vae.network import Activation, Form, Likelihood, Noise, forward
from assay.models.embedding.vae.reference import BaseRates, initial_weights, ordered, reference_of
from assay.models.embedding.vae.training import Schedule, VAETraining, load_jax, train
from assay.models.transformer import Transformer

Callback: TypeAlias = Callable[[int, float, float], Any]

# Fewer held-out rows than this cannot say when to stop; more than that say it no better.
_FEWEST_HELD_OUT, _MOST_HELD_OUT = 5, 10_000


class VAE(ClassNamePrefixFeaturesOutMixin, Transformer, Estimator):
    """Embed rows by a variational autoencoder: is there a curved sheet that describes them better than a flat one?

    Fitting needs JAX (`pip install 'assay[vae]'`); a fitted or loaded model does everything else without it.

    Args:
        n_components: how many hidden coordinates, at most as many as columns.
        hidden: widths of the encoder's hidden layers; the decoder has them in reverse. (): linear maps.
        likelihood: "gaussian" for numbers; "bernoulli" for values in [0, 1]. Those between 0 and 1 are taken as
            shares of ones: a score to compare models by then, not a density.
        activation: of the hidden layers: "tanh", "relu" or "linear".
        scale: divide each Gaussian column by its standard deviation first; otherwise all by one number.
        noise: "shared": the decoder misses every (scaled) Gaussian column by the same variance. "columns": each has
            its own.
        batch_size: rows of one step of Adam.
        learning_rate: of Adam; lowered to a quarter twice when patience runs out.
        max_iter: rounds, at most. A round is 20 steps, or as many times 20 as one pass over the rows needs.
        validation_fraction: share of the rows held out, to stop by and to judge by; at most 10,000 rows. Where it
            comes to fewer than 5 none are, and all rounds are run.
        patience: rounds without a better held-out ELBO that end a stage.
        random_state: seed of the split, the start, the order of the rows and the draws.

    Attributes:
        weights_: "encoder" and "decoder": a list of (weight, offset) for each layer; "log_noise" for Gaussian columns.
        elbo_: (rounds, 2) mean ELBO of the training rows while the round ran, and of the held-out rows after it; NaN
            where none were held out. All ELBOs are nats for each row in the units of the data.
        best_iter_: the round whose weights were kept: the best on the held-out rows, the last where there are none.
        n_iter_: rounds run.
        converged_: whether patience ended them.
        n_held_out_: rows held out; 0 where there were too few, and then nothing guards against learning by heart.
        held_out_elbo_: mean ELBO of the held-out rows. The best of `n_iter_` looks, so a little too high: `score` of
            rows that took no part has no such bias.
        linear_elbo_: mean log density of the same rows under probabilistic PCA with as many coordinates, fitted on
            the same training rows (Gaussian only). What is curved must beat this.
        base_rate_elbo_: mean log probability of the same rows under independent columns (Bernoulli only).
        gain_error_: standard error of `held_out_elbo_` less that reference, from the differences by row.
        latent_kl_: (k,) nats that each coordinate carries about a row, descending; one near zero is not used.
        noise_variance_: (d,) variance about the decoder's values, in the units of the data; zero for Bernoulli.
        mean_, scale_: (d,) what is taken off Gaussian columns and what they are divided by, from the training rows.
        varying_: (d,) False for Gaussian columns that are constant: they are given back as they were, and are no part
            of the density.
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 3, 400)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((400, 2))
    >>> vae = VAE(1, hidden=(32,), random_state=0).fit(X)
    >>> vae.transform(X).shape, bool(vae.held_out_elbo_ > vae.linear_elbo_)
    ((400, 1), True)

    References:
        Kingma & Welling, ICLR 2014; Rezende, Mohamed & Wierstra, ICML 2014; Lucas, Tucker, Grosse & Norouzi, Don't
        blame the ELBO, NeurIPS 2019 (the linear case).
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden: tuple[int, ...] = (64,),
        likelihood: Likelihood = "gaussian",
        activation: Activation = "tanh",
        scale: bool = True,
        noise: Noise = "shared",
        batch_size: int = 128,
        learning_rate: float = 3e-3,
        max_iter: int = 200,
        validation_fraction: float = 0.1,
        patience: int = 10,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.hidden = hidden
        self.likelihood = likelihood
        self.activation = activation
        self.scale = scale
        self.noise = noise
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: None = None, *, callback: Callback | None = None) -> Self:
        """Find the maps for (n, d) rows.

        Args:
            X: array, data frame or `Source`; a source is encoded first, by the kinds of its columns.
            y: not used.
            callback: called as callback(round, training, held_out) after each round, with the two mean ELBOs as in
                `elbo_`; True ends the fit.
        """
        load_jax()
        form = self._form.check()
        schedule = Schedule(self.batch_size, self.learning_rate, self.max_iter, self.patience).check()
        X = self._checked(X, reset=True, dtype=np.float64, ensure_min_samples=2, ensure_all_finite=False)
        if len(X) < 2:  # of a source, which scikit-learn does not count
            raise DataError(f"a VAE needs two rows or more; got {len(X)}")
        refuse_rows(X, self._names, self.likelihood)
        k = self._components(X.shape[1])
        rng = as_generator(self.random_state)
        order = rng.permutation(len(X))
        self.n_held_out_ = self._n_held_out(len(X))
        held, rest = order[: self.n_held_out_], order[self.n_held_out_ :]
        d = X.shape[1]
        self.mean_, self.scale_, self.varying_ = np.zeros(d), np.ones(d), np.ones(d, dtype=bool)
        if self.likelihood == "gaussian":
            self.mean_, self.scale_, self.varying_ = units_of(X, rest, self._names, standardise=self.scale)
        U, V = self._units(X[rest]), self._units(X[held])
        reference = reference_of(U, k, form)
        start = initial_weights(U.shape[1], k, form, reference, rng)
        # eight draws tell one round from the next; the figure that is reported has more
        judge = None if len(V) == 0 else lambda weights: float(elbo_of_rows(weights, V, form, pairs=4).mean())
        with one_blas_thread():
            found = train(start, U.astype(np.float32), form, schedule, rng, judge, self._in_units(callback))
        self._keep(found, U)
        self._compare(V, reference)
        return self

    def transform(self, X: Any) -> Array:
        """Codes of (n, d) rows: the means of q(z | x), (n, k)."""
        check_is_fitted(self)
        codes: Array = posterior(self.weights_, self._units(self._rows(X)), self._form)[0]
        return codes

    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Rows in the user's columns from (n, k) codes: the decoder's means."""
        check_is_fitted(self)
        codes = np.asarray(Z, dtype=np.float64)
        if codes.ndim != 2 or codes.shape[1] != self._n_features_out:
            raise ParameterError(f"codes have shape (n, {self._n_features_out}); got {codes.shape}")
        out = forward(self.weights_["decoder"], codes, self.activation)
        if self.likelihood == "bernoulli":
            return np.asarray(expit(out))
        rows = np.tile(self.mean_, (len(codes), 1))
        rows[:, self.varying_] += out * self.scale_[self.varying_]
        return rows

    def sample(self, n_samples: int = 1, *, random_state: RandomState = None) -> Array:
        """(n_samples, d) new rows of the model, noise included.

        Args:
            n_samples: how many.
            random_state: seed or generator.
        """
        check_is_fitted(self)
        rng = as_generator(random_state)
        n = as_count(n_samples, 2**40, name="n_samples", what="rows")
        means = self.inverse_transform(rng.standard_normal((n, self._n_features_out)))
        if self.likelihood == "bernoulli":
            return (rng.random(means.shape) < means).astype(np.float64)
        return means + rng.standard_normal(means.shape) * np.sqrt(self.noise_variance_)

    def score_samples(self, X: Any) -> Array:
        """(n,) ELBO of rows: lower bounds of their log densities, in nats and in the units of the data.

        The expectation is taken over 64 draws (2 k where that is more) that are the same for all rows and exact for
        quadratic functions, so that linear maps have their ELBO without error.
        """
        check_is_fitted(self)
        return self._elbo(self._units(self._rows(X)))

    def score(self, X: Any, y: None = None) -> float:
        """Mean ELBO of rows: higher is better."""
        return float(self.score_samples(X).mean())

    @property
    def _form(self) -> Form:
        return Form(self.activation, self.likelihood, self.noise, tuple(self.hidden))

    @property
    def _names(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_["decoder"][0][0])

    @property
    def _log_volume(self) -> float:
        """What a log density in the networks' units loses in those of the data."""
        return float(np.log(self.scale_[self.varying_]).sum())

    def _components(self, d: int) -> int:
        asked = self.n_components
        if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) and 1 <= asked <= d:
            return int(asked)
        raise ParameterError(f"n_components is a whole number from 1 to n_features = {d}; got {asked!r}")

    def _n_held_out(self, n: int) -> int:
        if not 0.0 <= self.validation_fraction < 1.0:
            raise ParameterError(f"validation_fraction is from 0 to below 1; got {self.validation_fraction!r}")
        asked = min(round(self.validation_fraction * n), _MOST_HELD_OUT, n - 2)
        return asked if asked >= _FEWEST_HELD_OUT else 0

    def _rows(self, X: Any) -> Array:
        rows: Array = np.asarray(self._checked(X, reset=False, dtype=np.float64), dtype=np.float64)
        refuse_rows(rows, self._names, self.likelihood)
        return rows

    def _units(self, X: Array) -> Array:
        """Rows as the networks see them, (n, columns that vary)."""
        rows: Array = (X[:, self.varying_] - self.mean_[self.varying_]) / self.scale_[self.varying_]
        return rows

    def _elbo(self, U: Array) -> Array:
        return elbo_of_rows(self.weights_, U, self._form, pairs=32) - self._log_volume

    def _in_units(self, callback: Callback | None) -> Callback | None:
        volume = self._log_volume
        if callback is None:
            return None
        return lambda number, training, held_out: callback(number, training - volume, held_out - volume)

    def _keep(self, found: VAETraining, U: Array) -> None:
        self.weights_, self.latent_kl_ = ordered(found.weights, U, self._form)
        self.elbo_ = found.elbo - self._log_volume
        self.n_iter_, self.best_iter_ = len(found.elbo), found.best
        self.converged_ = found.end == "patience"
        self.noise_variance_ = np.zeros(len(self.mean_))
        if self.likelihood == "gaussian":
            self.noise_variance_[self.varying_] = noise_variance(self.weights_) * self.scale_[self.varying_] ** 2
        if found.end == "max_iter" and self.n_held_out_ > 0:
            warnings.warn(
                f"{self.max_iter} rounds ended before the held-out ELBO had stopped rising; raise max_iter",
                NotConverged,
                stacklevel=3,
            )

    def _compare(self, V: Array, reference: LinearGaussian | BaseRates) -> None:
        """Here-out rows under the model and under the reference."""
        self.held_out_elbo_ = self.linear_elbo_ = self.base_rate_elbo_ = self.gain_error_ = float("nan")
        if len(V) == 0:
            return
        reached, plain = self._elbo(V), reference.log_density(V) - self._log_volume
        self.held_out_elbo_ = float(reached.mean())
        self.gain_error_ = float((reached - plain).std(ddof=1) / math.sqrt(len(V)))
        if isinstance(reference, BaseRates):
            self.base_rate_elbo_ = float(plain.mean())
        else:
            self.linear_elbo_ = float(plain.mean())
