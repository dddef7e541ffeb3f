"""Multilayer perceptrons as lists of arrays, evaluated by numpy or, while they are trained, by JAX."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from assay.errors import ParameterError

Activation: TypeAlias = Literal["tanh", "relu", "linear"]
Likelihood: TypeAlias = Literal["gaussian", "bernoulli"]
Noise: TypeAlias = Literal["shared", "columns"]
Layers: TypeAlias = list[tuple[NDArray[Any], NDArray[Any]]]
# "encoder" and "decoder": Layers; "log_noise": (1,) or (d,), for Gaussian columns only
Weights: TypeAlias = dict[str, Any]


class Form(NamedTuple):
    """Which networks a model has, and what their output means."""

    activation: Activation = "tanh"
    likelihood: Likelihood = "gaussian"
    noise: Noise = "shared"
    hidden: tuple[int, ...] = ()

    def check(self) -> Form:
        """Refuse words and widths that mean nothing."""
        for name, words in (("activation", Activation), ("likelihood", Likelihood), ("noise", Noise)):
            if getattr(self, name) not in get_args(words):
                raise ParameterError(f"{name} is one of {', '.join(get_args(words))}; got {getattr(self, name)!r}")
        for width in self.hidden:
            check_positive("each width in hidden", width)
        return self


def check_positive(name: str, value: Any) -> None:
    """Refuse what is no whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ParameterError(f"{name} is a whole number from 1; got {value!r}")


def initial_layers(widths: list[int], rng: np.random.Generator) -> Layers:
    """Random layers of given widths, uniform within sqrt(6 / (fan in + fan out)), offsets zero (Glorot & Bengio 2010).

    >>> [weight.shape for weight, offset in initial_layers([5, 3, 2], np.random.default_rng(0))]
    [(5, 3), (3, 2)]
    """
    layers: Layers = []
    for fan_in, fan_out in pairwise(widths):
        bound = np.sqrt(6.0 / (fan_in + fan_out))
        weight = rng.uniform(-bound, bound, (fan_in, fan_out)).astype(np.float32)
        layers.append((weight, np.zeros(fan_out, dtype=np.float32)))
    return layers


def forward(layers: Layers, X: Any, activation: Activation, xp: Any = np) -> Any:
    """The output of a network for rows X; the last layer has no activation.

    Args:
        layers: (weight, offset) of each.
        X: (..., width of the first layer).
        activation: of the layers between.
        xp: numpy or jax.numpy.
    """
    out = X.reshape(math.prod(X.shape[:-1]), X.shape[-1])  # one product of matrices, not one for each draw
    for weight, offset in layers[:-1]:
        out = _bent(out @ weight + offset, activation, xp)
    weight, offset = layers[-1]
    return (out @ weight + offset).reshape(*X.shape[:-1], len(offset))


def _bent(X: Any, activation: Activation, xp: Any) -> Any:
    if activation == "tanh":
        return xp.tanh(X)
    return xp.maximum(X, 0.0) if activation == "relu" else X
