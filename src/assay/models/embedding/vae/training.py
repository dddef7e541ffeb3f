"""Stochastic ascent of the ELBO by Adam: the only part that needs JAX.

All arithmetic is float32, whatever jax_enable_x64 says: the columns have unit variance, so that seven digits are far
more than the gradient from one draw for each row has. The random numbers are numpy's, so that a seed means the same in
every version and configuration of JAX. No setting of JAX is read or changed.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import ParameterError
from assay.models.embedding.vae.elbo import elbo
from assay.models.embedding.vae.network import Form, Weights, check_positive

Steps: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]

_DECAY, _DECAY_SQUARES, _TINY = 0.9, 0.999, 1e-8  # Adam's own (Kingma & Ba 2015)
# At a constant rate the weights keep dancing about the optimum: when patience runs out the climb goes on from the best
# weights at a quarter of the rate, this many times.
_CUTS, _CUT = 2, 4.0
# One call of the compiled loop takes so many steps, whatever the number of rows, so that tables of the same columns
# share one compilation; fewer where they come to more products than about half a second of one core, so that Python
# answers an interrupt between calls.
_STEPS, _PRODUCTS = 20, 1_000_000_000


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to climb.

    Attributes:
        batch_size: rows of one step.
        learning_rate: of Adam, at the start.
        max_iter: rounds, at most. A round is 20 steps, or as many times 20 as one pass over the rows needs.
        patience: rounds without a better held-out ELBO after which the rate is lowered, and at last the climb ends.
    """

    batch_size: int
    learning_rate: float
    max_iter: int
    patience: int

    def check(self) -> Schedule:
        """Refuse what cannot be climbed by."""
        for name in ("batch_size", "max_iter", "patience"):
            check_positive(name, getattr(self, name))
        if not (self.learning_rate > 0.0 and math.isfinite(self.learning_rate)):
            raise ParameterError(f"learning_rate is a positive number; got {self.learning_rate!r}")
        return self


@dataclass(frozen=True, slots=True, eq=False)
class VAETraining:
    """What came of it.

    Attributes:
        weights: those with the best held-out ELBO; the last where no rows were held out.
        elbo: (rounds, 2) mean ELBO of the training rows while a round ran, and of the held-out rows after it.
        best: the round after which the weights were taken.
        end: what ended it.
    """

    weights: Weights
    elbo: NDArray[np.float64]
    best: int
    end: Literal["patience", "callback", "max_iter"]


def train(
    weights: Weights,
    U: NDArray[np.float32],
    form: Form,
    schedule: Schedule,
    rng: np.random.Generator,
    held_out: Callable[[Weights], float] | None,
    callback: Callable[[int, float, float], Any] | None,
) -> VAETraining:
    """Climb the mean ELBO of rows U (n, d) from given weights.

    Args:
        weights: float32 arrays to begin from.
        U: rows as the networks see them.
        form: activation and likelihood.
        schedule: how long and how fast.
        rng: of the order of the rows and the draws.
        held_out: mean ELBO of weights on rows that are not in U; None to run all rounds.
        callback: called after each round with its number and the two means; true ends the climb.
    """
    jax = load_jax()
    climb = _compiled(form)
    state = (weights, *(jax.tree.map(np.zeros_like, weights) for _ in range(2)), np.float32(0.0))
    rounds, rate = _rounds(U, schedule.batch_size, weights, rng), schedule.learning_rate
    record: list[tuple[float, float]] = []
    best, kept, since, cuts = 0, weights, 0, 0
    for number in range(1, schedule.max_iter + 1):
        means = []
        for steps in next(rounds):
            state, mean = climb(state, steps, np.float32(rate))
            means.append(float(mean))  # waits for it, so that an interrupt is answered here
        reached = jax.tree.map(lambda array: np.asarray(array, dtype=np.float64), state[0])
        record.append((float(np.mean(means)), np.nan if held_out is None else held_out(reached)))
        if not np.isfinite(record[-1][: 1 if held_out is None else 2]).all():
            raise ParameterError(
                f"the ELBO is not finite after round {number} with learning_rate={schedule.learning_rate:g}; lower it"
            )
        since += 1
        if held_out is None or best == 0 or record[-1][1] > record[best - 1][1]:
            best, kept, since = number, reached, 0
        if callback is not None and callback(number, *record[-1]):
            return VAETraining(kept, np.array(record), best, "callback")
        if since == schedule.patience:
            if cuts == _CUTS:
                return VAETraining(kept, np.array(record), best, "patience")
            again = jax.tree.map(np.float32, kept)
            state, since, cuts, rate = (again, *state[1:]), 0, cuts + 1, rate / _CUT
    return VAETraining(kept, np.array(record), best, "max_iter")


def load_jax() -> Any:
    """The library, or a sentence that says how to get it."""
    try:
        return importlib.import_module("jax")
    except ImportError as error:
        raise ParameterError("fitting a VAE needs jax, which is not installed; run pip install 'assay[vae]'") from error


def _rounds(
    U: NDArray[np.float32], batch_size: int, weights: Weights, rng: np.random.Generator
) -> Iterator[Iterator[Steps]]:
    """For each round its calls, of one shape: batches of rows, (steps, batch, d), and their draws, (steps, batch, k).

    Every row comes at least once in a round.
    """
    n, k = len(U), len(weights["decoder"][0][0])
    size = sum(array.size for name in ("encoder", "decoder") for layer in weights[name] for array in layer)
    batch = min(batch_size, 1 << (n.bit_length() - 1))  # powers of two below batch_size: fewer shapes to compile
    steps = min(max(_PRODUCTS // (size * batch), 1), _STEPS)
    calls = -(-max(-(-n // batch), _STEPS) // steps)

    def one() -> Iterator[Steps]:
        taken = calls * steps * batch
        order = np.concatenate([rng.permutation(n) for _ in range(-(-taken // n))])[:taken]
        for part in order.reshape(calls, steps, batch):
            yield U[part], rng.standard_normal((steps, batch, k), dtype=np.float32)

    while True:
        yield one()


@cache
def _compiled(form: Form) -> Callable[..., Any]:
    """Several steps of Adam as one compiled call; JAX compiles once for each set of shapes."""
    jax = load_jax()
    gradient = jax.value_and_grad(lambda weights, X, e: elbo(weights, X, e[None], form, jax.numpy).mean())

    def step(state: Any, batch: Any, rate: Any) -> Any:
        weights, first, second, t = state
        value, slope = gradient(weights, *batch)
        t = t + 1.0
        first = jax.tree.map(lambda a, g: _DECAY * a + (1.0 - _DECAY) * g, first, slope)
        second = jax.tree.map(lambda b, g: _DECAY_SQUARES * b + (1.0 - _DECAY_SQUARES) * g * g, second, slope)
        gain = rate * jax.numpy.sqrt(1.0 - _DECAY_SQUARES**t) / (1.0 - _DECAY**t)
        weights = jax.tree.map(lambda w, a, b: w + gain * a / (jax.numpy.sqrt(b) + _TINY), weights, first, second)
        return (weights, first, second, t), value

    def climb(state: Any, steps: Any, rate: Any) -> Any:
        state, values = jax.lax.scan(lambda now, batch: step(now, batch, rate), state, steps)
        return state, values.mean()

    compiled: Callable[..., Any] = jax.jit(climb)
    return compiled
