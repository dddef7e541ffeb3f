"""How many of the best pairs would be links: from pairs of networks with links taken out, by their score.

    x    score of a pair, in units of the mean score of the links that are there
    hit  whether the pair is a link that was taken out
    p    the non-decreasing function of x nearest to the hits (isotonic regression), all folds together

It says what holds where as large a share of the links is missing as was taken out, a fifth; where fewer are missing,
fewer of the pairs are links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from assay.arrays import Array
from assay.models.network.link_prediction.best import best
from assay.models.network.link_prediction.scores import PairScores
from assay.summary.network.held_out_links import NonLinks, fold_of_links, taken_out
from assay.summary.network.random_graphs import Ends

_TAKEN = 500  # best pairs of a fold
_UNIT = 5_000  # links whose mean score is the unit


@dataclass(frozen=True, slots=True, eq=False)
class LinkCalibration:
    """Share of pairs that are links, by their score.

    Attributes:
        at: scores in units of that of links, ascending.
        share: of the pairs with this score that were links taken out.
    """

    at: Array
    share: Array

    def of(self, scores: PairScores, name: str, values: Array) -> Array:
        """(k,) share of pairs with such scores that are links.

        Args:
            scores: of the network.
            name: of the score.
            values: (k,) scores.
        """
        if not len(self.at):
            return np.full(len(values), np.nan)
        return np.asarray(np.interp(values / _unit(scores, name), self.at, self.share))


def calibrated(ends: Ends, name: str, *, folds: int, seed: int) -> LinkCalibration:
    """Measure it.

    Args:
        ends: of the links.
        name: of the score.
        folds: of links, each taken out once.
        seed: of the folds.
    """
    fold = fold_of_links(len(ends.sources), folds, np.random.default_rng(seed))
    found, hits = [], []
    for number in range(folds):
        held = taken_out(ends, np.flatnonzero(fold == number))
        if not len(held.numbers):
            continue
        scores = PairScores(held.training)
        us, vs, values = best(scores, name, _TAKEN)
        out = NonLinks(Ends(held.sources, held.targets, ends.n, ends.one_way))
        found.append(values / _unit(scores, name))
        hits.append(out.linked(us, vs))
    at, hit = np.concatenate([np.empty(0), *found]), np.concatenate([np.empty(0), *hits])
    if not len(at):
        return LinkCalibration(at, at)
    order = np.argsort(at, kind="stable")
    level, which, count = np.unique(at[order], return_inverse=True, return_counts=True)
    mean = np.bincount(which, weights=hit[order]) / count
    return LinkCalibration(level, isotonic_regression(mean, weights=count).x)


def _unit(scores: PairScores, name: str) -> float:
    picked = np.linspace(0, len(scores.ends.sources) - 1, min(_UNIT, len(scores.ends.sources))).astype(np.int64)
    mean = float(scores.of(scores.ends.sources[picked], scores.ends.targets[picked], (name,))[name].mean())
    return mean if mean > 0 else 1.0
