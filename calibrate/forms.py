"""Links, ratings, trials and texts: without structure beyond what chance keeps, and with some planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from assay.arrays import Whole
from calibrate.family import Drawn, Family, Generator, supports

_NODES = 120
_WORDS = 400


def _links(pairs: Whole) -> pd.DataFrame:
    return pd.DataFrame({"source": [f"n{int(a)}" for a in pairs[:, 0]], "target": [f"n{int(b)}" for b in pairs[:, 1]]})


def _distinct(pairs: Whole) -> Whole:
    """Pairs of different nodes, each once, whichever way."""
    ordered = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(ordered, axis=0)


def _even(rng: Generator) -> Drawn:
    return Drawn(_links(_distinct(rng.integers(_NODES, size=(420, 2)))))


def _power_law(rng: Generator) -> Drawn:
    """Ends drawn by weights with a power law, so that some nodes have many links."""
    weight = rng.pareto(1.5, _NODES) + 0.3
    return Drawn(_links(_distinct(rng.choice(_NODES, size=(500, 2), p=weight / weight.sum()))))


def _preferred(rng: Generator) -> Drawn:
    """Every new node is linked with three, by the links that they have."""
    pairs, ends = [], [0, 1, 2]
    for node in range(3, _NODES):
        chosen = set(rng.choice(ends, 6).tolist())
        for other in list(chosen)[:3]:
            pairs.append((node, other))
            ends += [node, other]
    return Drawn(_links(_distinct(np.array(pairs))))


def _blocks(rng: Generator) -> Drawn:
    """Four communities of thirty, with ten times as many links inside as between."""
    block = np.repeat(np.arange(4), _NODES // 4)
    there = rng.random((_NODES, _NODES)) < np.where(block[:, None] == block, 0.2, 0.02)
    return Drawn(_links(np.argwhere(np.triu(there, 1)).astype(np.int64)))


def _ratings(tastes: float) -> Callable[[Generator], Drawn]:
    """Levels of 60 users and 40 items, noise, and two factors of this size."""

    def draw(rng: Generator) -> Drawn:
        level = 0.6 * rng.standard_normal((60, 1)) + 0.6 * rng.standard_normal(40)
        factors = tastes * rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
        values = 3.0 + level + factors + rng.standard_normal((60, 40))
        user, item = np.nonzero(rng.random((60, 40)) < 0.4)
        names = {"user": [f"u{u}" for u in user], "item": [f"i{i}" for i in item]}
        return Drawn(pd.DataFrame(names | {"rating": values[user, item]}))

    return draw


def _trials(gain: float) -> Callable[[Generator], Drawn]:
    """Eighty walks over six states; the better of two actions gives so much more."""

    def draw(rng: Generator) -> Drawn:
        best, rows = rng.integers(2, size=6), []
        for trial in range(80):
            state = int(rng.integers(6))
            for step in range(8):
                action = int(rng.integers(2))
                reward = 0.3 * state + gain * (action == best[state]) + rng.standard_normal()
                rows.append((trial, step, f"s{state}", "ab"[action], reward))
                state = int(rng.integers(6))
        return Drawn(pd.DataFrame(rows, columns=["trial", "step", "state", "action", "reward"]))

    return draw


def _texts(topical: float) -> Callable[[Generator], Drawn]:
    """Three hundred texts of twenty words, of which this share is from one of five topics."""

    def draw(rng: Generator) -> Drawn:
        usual = 1.0 / (np.arange(_WORDS) + 10.0)
        topics = np.array_split(rng.permutation(_WORDS), 5)
        texts = []
        for _ in range(300):
            words = rng.choice(_WORDS, 20, p=usual / usual.sum())
            own = rng.random(20) < topical
            words[own] = rng.choice(topics[rng.integers(5)], int(own.sum()))
            texts.append(" ".join(f"w{chr(97 + w // 26)}{chr(97 + w % 26)}" for w in words))
        return Drawn(pd.DataFrame({"text": texts, "size": rng.standard_normal(300)}))

    return draw


def _finds(kind: str) -> Callable[[Any, Drawn], bool]:
    return lambda study, drawn: supports(study, kind)


FORMS = (
    Family("links, even degrees", "independent", _even),
    Family("links, power-law degrees", "independent", _power_law),
    Family("links, grown by preference", "independent", _preferred),
    Family("trials in which actions do not matter", "independent", _trials(0.0)),
    Family("texts of random words", "independent", _texts(0.0)),
    Family("ratings by levels alone", "planted", _ratings(0.0), false=("tastes",), tables=12),
    Family("links in four communities", "planted", _blocks, _finds("communities"), tables=12),
    Family("ratings with two tastes", "planted", _ratings(0.7), _finds("tastes"), tables=12),
    Family("trials in which actions matter", "planted", _trials(1.0), _finds("policy"), tables=12),
    Family("texts of five topics", "planted", _texts(0.5), _finds("theme"), tables=12),
)
