"""What link prediction found: how well links are told, and the pairs that look most like links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from assay.errors import ParameterError
from assay.linalg.noise.fold_error import fold_error, fold_mean
from assay.models.network.link_prediction.best import EVERY, best, passed_over
from assay.models.network.link_prediction.calibration import LinkCalibration, calibrated
from assay.models.network.link_prediction.held_out import FOLDS, LISTED, SCORED, LinkFold
from assay.models.network.link_prediction.scores import PairScores

CALLED = {
    "degrees": "the numbers of links alone",
    "common": "common neighbours",
    "adamic_adar": "common neighbours, those with few links counting more (Adamic and Adar)",
    "resource": "common neighbours, each shared among its links (resource allocation)",
    "back": "links that are returned",
    "either": "resource allocation, links taken both ways",
    "low_rank_4": "4 eigenvectors of the links",
    "low_rank_16": "16 eigenvectors of the links",
}
SHORT = {
    "degrees": "numbers of links",
    "common": "common neighbours",
    "adamic_adar": "Adamic and Adar",
    "resource": "resource allocation",
    "back": "returned links",
    "either": "either way",
    "low_rank_4": "4 eigenvectors",
    "low_rank_16": "16 eigenvectors",
}


@dataclass(frozen=True, slots=True)
class Missing:
    """A pair that is not linked and looks as if it were.

    Attributes:
        source, target: names of its nodes, or their numbers in words.
        score: of the pair.
        common: neighbours they share; for links that lead one way, nodes on a way of two links from one to the other.
        chance: share of the pairs with such a score that were links, where a fifth of the links was taken out; at most
            that of the 20 best.
    """

    source: str
    target: str
    score: float
    common: int
    chance: float


@dataclass(frozen=True, eq=False, repr=False)
class LinkPrediction:
    """How well links are told that were taken out, and which pairs look most like links.

    Attributes:
        score: the one that tells links best, over all folds.
        folds: what was measured, fold by fold, each with a score chosen without its links.
        names: of the nodes, if they have any.
        notes: what was decided while the network was read.
    """

    score: str
    folds: tuple[LinkFold, ...]
    names: tuple[str, ...] | None
    _scores: PairScores = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"LinkPrediction({self.score}: an unseen link is above a pair of like degrees in {self.auc:.0%}, by "
            f"degrees alone in {self.auc_degrees:.0%})"
        )

    @cached_property
    def auc(self) -> float:
        """How often an unseen link scores above a pair of like degrees that is not linked."""
        return self._mean(lambda fold: fold.value)

    @cached_property
    def auc_degrees(self) -> float:
        """The same by degrees alone; about one half, as pairs are chosen to be alike in them."""
        return self._mean(lambda fold: fold.matched["degrees"])

    @cached_property
    def auc_uniform(self) -> float:
        """How often it scores above any pair that is not linked."""
        return self._mean(lambda fold: (fold.uniform or {})[fold.chosen])

    @cached_property
    def auc_uniform_degrees(self) -> float:
        """The same by degrees alone."""
        return self._mean(lambda fold: (fold.uniform or {})["degrees"])

    @cached_property
    def beyond(self) -> tuple[float, tuple[float, float]]:
        """`auc` beyond `auc_degrees`, mean over folds, and its 95% interval."""
        return fold_mean([fold.beyond for fold in self.folds], within=(-1.0, 1.0))

    @property
    def error(self) -> float:
        """Standard error of it."""
        return float(fold_error(np.array([fold.beyond for fold in self.folds])))

    @cached_property
    def precision(self) -> float:
        """Share of the 20 best pairs that were links, taken out with a fifth of all."""
        return float(np.mean([fold.precision(fold.chosen) for fold in self.folds]))

    @cached_property
    def precision_degrees(self) -> float:
        """The same by degrees alone."""
        return float(np.mean([fold.precision("degrees") for fold in self.folds]))

    @property
    def hidden(self) -> float:
        """Share of the links that were taken out at a time."""
        return float(np.mean([fold.taken for fold in self.folds])) / len(self._scores.ends.sources)

    def by_score(self) -> dict[str, tuple[float, float]]:
        """For each score how often a link is above a pair of like degrees, and above any pair."""
        links = [fold.links for fold in self.folds]
        found = {}
        for name in self._scores.names:
            like = np.average([fold.matched[name] for fold in self.folds], weights=links)
            every = np.average([(fold.uniform or {})[name] for fold in self.folds], weights=links)
            found[name] = float(like), float(every)
        return found

    def name(self, node: int) -> str:
        """What a node is called."""
        return str(node) if self.names is None else self.names[node]

    def score_of(self, source: object, target: object) -> float:
        """The score of a pair.

        Args:
            source: a node by name, or by number where nodes have no names.
            target: another one.
        """
        one, two = (np.array([self._number(node)]) for node in (source, target))
        return float(self._scores.of(one, two, (self.score,))[self.score][0])

    def top_missing(self, count: int = LISTED) -> list[Missing]:
        """The pairs with the largest scores that are not linked: what a link is, if any is missing.

        Args:
            count: how many.
        """
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ParameterError(f"count must be a whole number from 1 on, is {count!r}.")
        us, vs, values = best(self._scores, self.score, int(count))
        common = self._scores.of(us, vs, ("common",))["common"]
        # the best of all did no better than this where it could be seen, whatever pairs of lower score did
        chance = np.fmin(self._calibration.of(self._scores, self.score, values), self.precision)
        return [
            Missing(self.name(int(u)), self.name(int(v)), float(s), int(c), float(p))
            for u, v, s, c, p in zip(us, vs, values, common, chance, strict=True)
        ]

    def limits(self) -> list[str]:
        """What was not looked at because there is too much of it, in sentences."""
        said = []
        if any(fold.links < fold.taken for fold in self.folds) and max(fold.links for fold in self.folds) >= SCORED:
            said.append(f"Of each fold {SCORED:,} links were scored.")
        if self._scores.ends.n > EVERY and self.score.startswith("low_rank"):
            said.append("Only pairs that share a neighbour were looked at for missing links.")
        many = passed_over(self._scores)
        if many:
            said.append(f"Pairs that only share nodes with {many:,} links or more were not looked at.")
        return said

    def as_dict(self, count: int = LISTED) -> dict[str, Any]:
        """The same as plain values.

        Args:
            count: of missing links.
        """
        value, interval = self.beyond
        return {
            "score": self.score,
            "auc_like_degrees": self.auc,
            "auc_like_degrees_by_degrees": self.auc_degrees,
            "auc_any_pair": self.auc_uniform,
            "auc_any_pair_by_degrees": self.auc_uniform_degrees,
            "beyond_degrees": value,
            "beyond_degrees_interval": list(interval),
            "precision_of_20": self.precision,
            "precision_of_20_by_degrees": self.precision_degrees,
            "hidden": self.hidden,
            "folds": len(self.folds),
            "chosen": [fold.chosen for fold in self.folds],
            "scores": {
                name: {"auc_like_degrees": a, "auc_any_pair": b} for name, (a, b) in self.by_score().items()
            },
            "missing": [
                {
                    "source": one.source, "target": one.target, "score": one.score, "common": one.common,
                    "chance": one.chance,
                }
                for one in self.top_missing(count)
            ],
            "notes": [*self.notes, *self.limits()],
        }  # fmt: skip

    def _mean(self, of: Callable[[LinkFold], float]) -> float:
        return float(np.average([of(fold) for fold in self.folds], weights=[fold.links for fold in self.folds]))

    def _number(self, node: object) -> int:
        n = self._scores.ends.n
        if self.names is None:
            if isinstance(node, int | np.integer) and not isinstance(node, bool) and 0 <= node < n:
                return int(node)
            raise ParameterError(f"nodes are called 0 to {n - 1}; there is no {node!r}")
        found = self._numbers.get(str(node))
        if found is None:
            raise ParameterError(f"there is no node called {str(node)!r}; the first is called {self.names[0]!r}")
        return found

    @cached_property
    def _calibration(self) -> LinkCalibration:
        return calibrated(self._scores.ends, self.score, folds=FOLDS, seed=self._scores.seed)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names or ())}
