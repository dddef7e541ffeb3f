"""The evidence lower bound of a variational autoencoder, for each row.

    log p(x) >= ELBO(x) = E_q log p(x | z) - KL(q(z | x) || N(0, I)),    q(z | x) = N(m(x), diag(s(x)^2)),  (n, k)
    draws               z = m + s * e,  e ~ N(0, I):  the expectation is differentiated through m and s
    Gaussian            log p(x | z) = -1/2 sum_j ((x_j - f_j(z))^2 / v_j + log 2 pi v_j)
    Bernoulli           log p(x | z) = sum_j x_j f_j(z) - log(1 + exp f_j(z)),  f_j(z) the log-odds
    KL                  1/2 sum_l (s_l^2 + m_l^2 - 1 - log s_l^2)

Reference: Kingma & Welling, Auto-encoding variational Bayes, ICLR 2014.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.arrays import Array
from assay.models.embedding.vae.network import Form, Weights, forward

# The least noise variance, in units of the standardised columns: without it the density of rows that the decoder fits
# exactly would have no bound. A thousandth of a standard deviation is also what float32 resolves with digits to spare.
LEAST_NOISE = 1e-6
_LOG_2PI = math.log(2.0 * math.pi)
_BLOCK = 2_000_000  # numbers in one array between layers


def posterior(weights: Weights, X: Any, form: Form, xp: Any = np) -> tuple[Any, Any]:
    """Mean and log variance of q(z | x), (n, k) each."""
    both = forward(weights["encoder"], X, form.activation, xp)
    k = both.shape[-1] // 2
    return both[..., :k], both[..., k:]


def divergence(mean: Any, log_variance: Any, xp: Any = np) -> Any:
    """KL(N(mean, diag(exp(log_variance))) || N(0, I)) by coordinate, in nats.

    >>> divergence(np.array([1.0]), np.array([0.0]))
    array([0.5])
    """
    return 0.5 * (xp.expm1(log_variance) - log_variance + mean**2)


def noise_variance(weights: Weights, xp: Any = np) -> Any:
    """Variance of a Gaussian column about the decoder's value: (1,) for all, or (d,)."""
    return LEAST_NOISE + xp.exp(weights["log_noise"])


def log_likelihood(weights: Weights, X: Any, Z: Any, form: Form, xp: Any = np) -> Any:
    """Log p(x | z) of rows X (n, d) and codes Z (..., n, k): (..., n)."""
    out = forward(weights["decoder"], Z, form.activation, xp)
    if form.likelihood == "bernoulli":
        return xp.sum(X * out - xp.logaddexp(0.0, out), axis=-1)
    variance = noise_variance(weights, xp)
    return -0.5 * xp.sum((X - out) ** 2 / variance + xp.log(variance) + _LOG_2PI, axis=-1)


def elbo(weights: Weights, X: Any, draws: Any, form: Form, xp: Any = np) -> Any:
    """(n,) lower bounds of log p(x).

    Args:
        weights: of encoder, decoder and noise.
        X: (n, d) rows as the networks see them.
        draws: (s, n, k) or (s, 1, k), standard normal; the expectation is the mean over s.
        form: activation and likelihood.
        xp: numpy or jax.numpy.
    """
    mean, log_variance = posterior(weights, X, form, xp)
    Z = mean + xp.exp(0.5 * log_variance) * draws
    told = xp.mean(log_likelihood(weights, X, Z, form, xp), axis=0)
    return told - xp.sum(divergence(mean, log_variance, xp), axis=-1)


def elbo_of_rows(weights: Weights, U: Array, form: Form, *, pairs: int) -> Array:
    """(n,) lower bounds of log p(x) for (n, d) rows as the networks see them, in blocks, without chance.

    Args:
        weights: of encoder, decoder and noise.
        U: rows.
        form: activation and likelihood.
        pairs: of draws for the expectation, the same for all rows.
    """
    k = len(weights["decoder"][0][0])
    draws = matched_draws(k, max(pairs, k))[:, None]
    widest = max(U.shape[1], k, *form.hidden, 1)
    rows = max(_BLOCK // (len(draws) * widest), 1)
    found = np.empty(len(U))
    with np.errstate(over="ignore", invalid="ignore"):  # a row beyond all bounds has a bound of -inf or NaN
        for start in range(0, len(U), rows):
            part = slice(start, start + rows)
            found[part] = elbo(weights, U[part], draws, form)
    return found


def matched_draws(k: int, pairs: int) -> Array:
    """(2 pairs, k) fixed normal draws whose first three moments are exactly those of N(0, I).

    Opposite pairs have mean zero, orthonormal columns unit covariance. The expected log-likelihood of a linear decoder
    is quadratic in the draws, hence exact.

    >>> draws = matched_draws(2, 4)
    >>> bool(np.allclose(draws.T @ draws / 8, np.eye(2)) and np.allclose(draws.mean(axis=0), 0))
    True
    """
    half = np.linalg.qr(np.random.default_rng(0).standard_normal((pairs, k)))[0] * math.sqrt(pairs)
    return np.concatenate([half, -half])
