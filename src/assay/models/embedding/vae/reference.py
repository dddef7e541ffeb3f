"""The plain models that a VAE is compared with and begins from: probabilistic PCA, and independent base rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from assay.arrays import Array
from assay.linalg.eigen.spectral import column_signs
from assay.linalg.normal.linear_gaussian import LinearGaussian, probabilistic_pca
from assay.models.embedding.vae.elbo import LEAST_NOISE, divergence, posterior
from assay.models.embedding.vae.network import Form, Weights, initial_layers

# Random networks that had to begin with less noise than this share of a column's variance would see a cliff.
_FIRST_NOISE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class BaseRates:
    """Columns of zeros and ones, independent of each other.

    Attributes:
        log_odds: (d,) of a one.
    """

    log_odds: Array

    @classmethod
    def of(cls, X: Array) -> Self:
        """From (n, d) rows; half a zero and half a one are added to each column, so that no log-odds are infinite.

        >>> BaseRates.of(np.array([[1.0, 0.0], [0.0, 0.0]])).log_odds.round(3)
        array([ 0.   , -1.609])
        """
        ones = X.sum(axis=0)
        return cls(np.log(ones + 0.5) - np.log(len(X) - ones + 0.5))

    def log_density(self, X: Array) -> Array:
        """(n,) log probabilities of (n, d) rows."""
        told: Array = X @ self.log_odds - np.logaddexp(0.0, self.log_odds).sum()
        return told


def reference_of(U: Array, k: int, form: Form) -> LinearGaussian | BaseRates:
    """The reference for a likelihood, from (n, d) training rows as the networks see them."""
    if form.likelihood == "bernoulli":
        return BaseRates.of(U)
    if U.shape[1] == 0:
        return LinearGaussian(np.zeros(0), np.zeros((0, 0)), np.zeros(0), LEAST_NOISE)
    return probabilistic_pca(U, k, least_noise=LEAST_NOISE)


def initial_weights(
    d: int, k: int, form: Form, reference: LinearGaussian | BaseRates, rng: np.random.Generator
) -> Weights:
    """Random networks, but with the noise or the base rates of the reference, which gradients would be slow to find."""
    weights: Weights = {
        "encoder": initial_layers([d, *form.hidden, 2 * k], rng),
        "decoder": initial_layers([k, *reversed(form.hidden), d], rng),
    }
    if isinstance(reference, BaseRates):
        weights["decoder"][-1] = (weights["decoder"][-1][0], reference.log_odds.astype(np.float32))
    else:
        size = d if form.noise == "columns" else 1
        weights["log_noise"] = np.full(size, np.log(max(reference.noise, _FIRST_NOISE)), dtype=np.float32)
    return weights


def ordered(weights: Weights, U: Array, form: Form) -> tuple[Weights, Array]:
    """The same model with its coordinates by descending information, and what each carries on average, (k,) nats.

    Signs: the column that goes most with a coordinate goes up with it. Neither changes any ELBO, since N(0, I) does not
    know the order of its coordinates nor their signs.
    """
    mean, log_variance = posterior(weights, U, form)
    carried = divergence(mean, log_variance).mean(axis=0)
    order = np.argsort(-carried, kind="stable")
    k = len(order)
    sign = column_signs((U - U.mean(axis=0)).T @ mean).astype(np.float32)[order] if U.shape[1] else np.ones(k, "f4")
    weight, offset = weights["encoder"][-1]
    both, flip = np.concatenate([order, k + order]), np.concatenate([sign, np.ones_like(sign)])
    encoder = [*weights["encoder"][:-1], (weight[:, both] * flip, offset[both] * flip)]
    weight, offset = weights["decoder"][0]
    decoder = [(weight[order] * sign[:, None], offset), *weights["decoder"][1:]]
    return weights | {"encoder": encoder, "decoder": decoder}, carried[order]
