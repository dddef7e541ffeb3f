"""How well scores tell links that were taken out from pairs that are not linked, the choice of the score included.

    outer  links in K folds; each fold is taken out, and the score that was chosen on the rest tells its links from
           pairs of like degrees
    inner  the rest once more: some of its links are taken out, and the score that tells those best is chosen

So no link has a part in choosing the score that it is told by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.models.network.link_prediction.best import best
from assay.models.network.link_prediction.scores import PairScores, names_of
from assay.summary.network.held_out_links import HeldOutLinks, NonLinks, auc, fold_of_links, taken_out, won
from assay.summary.network.random_graphs import Ends

FOLDS = 5
SCORED = 2_000  # links of a fold that are scored; all are taken out
_FEW = 2_500  # links up to which a choice is made from several inner splits
_SPLITS = 3
LISTED = 20  # pairs whose precision is measured


@dataclass(frozen=True, slots=True, eq=False)
class LinkFold:
    """One fold of links, taken out and told.

    Attributes:
        chosen: the score that was chosen without them.
        links: how many were scored.
        matched: by score, how often a link is above a pair of like degrees.
        uniform: by score, how often it is above any pair that is not linked; None where that was not asked for.
        hits: for the score chosen and for degrees, which of the 20 best pairs were links taken out, the best first;
            None likewise.
        taken: how many links were taken out.
    """

    chosen: str
    links: int
    matched: dict[str, float]
    uniform: dict[str, float] | None = None
    hits: dict[str, NDArray[np.bool_]] | None = None
    taken: int = 0

    @property
    def value(self) -> float:
        """How often the score chosen puts a link above a pair of like degrees."""
        return self.matched[self.chosen]

    @property
    def beyond(self) -> float:
        """The same beyond what degrees do."""
        return self.value - self.matched["degrees"]

    def precision(self, name: str) -> float:
        """Share of the 20 best pairs that were links taken out.

        Args:
            name: of the score, the chosen one or "degrees".
        """
        hits = (self.hits or {})[name]
        return float(hits.mean()) if len(hits) else 0.0


def told(
    ends: Ends, *, seed: int, which: Sequence[int] = range(FOLDS), only: str | None = None, listed: bool = False
) -> list[LinkFold]:
    """Take out one fold of links after another and tell them from other pairs.

    Args:
        ends: all links.
        seed: of the folds, the pairs and the start of the low-rank scores.
        which: folds to take out.
        only: a score that is used without a choice.
        listed: whether to compare with all pairs, too, and to count hits.

    Returns:
        A `LinkFold` each; one without links that could be scored is left out.
    """
    rng = np.random.default_rng(seed)
    fold = fold_of_links(len(ends.sources), FOLDS, rng)
    every = NonLinks(ends)
    found = []
    for number in which:
        own = np.random.default_rng([seed, number])
        held = taken_out(ends, np.flatnonzero(fold == number))
        chosen = only or chosen_on(held.training, own)
        compared = _compared(held, every, own)
        if compared is None:
            continue
        scores, links, matched = compared
        uniform, hits = (_uniform(scores, links, every, own), _hits(scores, held, chosen)) if listed else (None, None)
        found.append(LinkFold(chosen, len(links.sources), matched, uniform, hits, len(held.sources)))
    return found


def chosen_on(ends: Ends, rng: np.random.Generator) -> str:
    """The score that tells links of a network best that were taken out of it; of equals the plainest.

    Args:
        ends: of the links.
        rng: of what is taken out.
    """
    m, names = len(ends.sources), names_of(ends.one_way)
    every = NonLinks(ends)
    fold = fold_of_links(m, FOLDS, rng)
    total, links = dict.fromkeys(names, 0.0), 0
    for number in range(_SPLITS if m <= _FEW else 1):
        compared = _compared(taken_out(ends, np.flatnonzero(fold == number)), every, rng)
        if compared is None:
            continue
        _, scored, matched = compared
        links += len(scored.sources)
        for name in names:
            total[name] += len(scored.sources) * matched[name]
    return max(names, key=lambda name: round(total[name] / max(links, 1), 9))


def _compared(
    held: HeldOutLinks, every: NonLinks, rng: np.random.Generator
) -> tuple[PairScores, HeldOutLinks, dict[str, float]] | None:
    """Scores of the links taken out beside pairs of like degrees; None where there are none."""
    links = _some(held, rng)
    pairs = every.matched(links, _each(len(links.sources)), rng)
    links = _kept(links, pairs.found)
    if not len(links.sources):
        return None
    scores = PairScores(held.training)
    others_u, others_v = pairs.sources[pairs.found], pairs.targets[pairs.found]
    of_links = scores.of(links.sources, links.targets)
    of_others = scores.of(others_u.ravel(), others_v.ravel())
    matched = {
        name: float(won(of_links[name], of_others[name].reshape(others_u.shape)).mean()) for name in scores.names
    }
    return scores, links, matched


def _uniform(scores: PairScores, links: HeldOutLinks, every: NonLinks, rng: np.random.Generator) -> dict[str, float]:
    others = scores.of(*every.uniform(5 * SCORED, rng))
    own = scores.of(links.sources, links.targets)
    return {name: auc(own[name], others[name]) for name in scores.names}


def _hits(scores: PairScores, held: HeldOutLinks, chosen: str) -> dict[str, NDArray[np.bool_]]:
    out = NonLinks(Ends(held.sources, held.targets, held.training.n, held.training.one_way))
    found = {name: best(scores, name, LISTED)[:2] for name in {chosen, "degrees"}}
    return {name: out.linked(us, vs) for name, (us, vs) in found.items()}


def _some(held: HeldOutLinks, rng: np.random.Generator) -> HeldOutLinks:
    if len(held.sources) <= SCORED:
        return held
    picked = np.zeros(len(held.sources), dtype=np.bool_)
    picked[rng.permutation(len(held.sources))[:SCORED]] = True
    return _kept(held, picked)


def _kept(held: HeldOutLinks, kept: NDArray[np.bool_]) -> HeldOutLinks:
    return HeldOutLinks(held.training, held.sources[kept], held.targets[kept], held.numbers[kept])


def _each(links: int) -> int:
    """Pairs beside each link: more where links are few."""
    return int(np.clip(2_000 // max(links, 1), 1, 20))
