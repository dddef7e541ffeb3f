"""What communities found among some links say of the links left out, and what comes back of them.

A fifth of the links is left out, communities are found among the rest, and the links left out are counted inside them.
What degrees alone would give: a pair of nodes that is not linked among the rest, in one region of the network, is
linked with probability in proportion to the product of their numbers of links k among the rest, whatever the weights,

    expected = sum_{pairs inside communities, not linked} k_i k_j / sum_{pairs, not linked} k_i k_j     in each region,

regions weighted by what is left out there; pairs of one side do not count where links join two sides. Strengths in the
place of k would be biased: they hold the very weights that the communities were found by. Links of nodes that have none
among the rest say nothing and do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.asking.telling import Telling, counting, untold
from assay.linalg.noise.fold_error import fold_error, fold_interval
from assay.questions.communities.agreement import Agreement, agreement
from assay.questions.communities.linked import LinkedPairs

FOLDS = 5
COUNTED = 3  # nodes from which on a community counts: a pair is a link


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutLinks:
    """What was measured with one fifth of the links left out.

    Attributes:
        inside, expected: share of the links left out that is inside communities, and what degrees alone give.
        own_inside, own_expected: (k,) of the ends of links left out in a community, the share whose link stays inside,
            and what degrees alone give; of the community found among the rest that has most in common with each.
        agreed: how far communities are those of all links.
        count: communities of three nodes or more.
    """

    inside: float
    expected: float
    own_inside: Array
    own_expected: Array
    agreed: Agreement
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class UnseenLinks:
    """All of it together.

    Attributes:
        inside, expected: means over the folds.
        excess: their difference; NaN where too few links left out say anything.
        interval: 95%, of the excess.
        own_inside, own_expected: (k,) of each community; NaN where no link left out says anything.
        own_low: (k,) lower ends of 95% intervals of their difference.
        alike: adjusted Rand index of the communities with those of all links, mean over folds.
        jaccard: (k,) of each community with the nearest one, mean over folds.
        sure: (n,) share of folds in which a node is in the community nearest to its own.
        fewest, most: communities of three nodes or more, in all but the lowest and the highest tenth of the folds.
        folds: how many there were.
    """

    inside: float
    expected: float
    excess: float
    interval: tuple[float, float]
    own_inside: Array
    own_expected: Array
    own_low: Array
    alike: float
    jaccard: Array
    sure: Array
    fewest: int
    most: int
    folds: int


def unseen(
    links: LinkedPairs,
    labels: Whole,
    find: Callable[..., Whole],
    repeats: int,
    seed: int,
    tell: Telling = untold,
) -> UnseenLinks:
    """Leave out every link once, `repeats` times.

    Args:
        links: of the network.
        labels: (n,) communities found among all of them.
        find: from ends, weights and a seed to communities.
        repeats: how often.
        seed: of the folds.
        tell: told how far it is.
    """
    rng = np.random.default_rng([seed, 2])
    found: list[LeftOutLinks] = []
    done = counting(tell, "links left out", repeats * FOLDS)
    for _ in range(repeats):
        fold = rng.permutation(links.m) % FOLDS
        for f in range(FOLDS):
            found.append(left_out(links, fold == f, labels, find, int(rng.integers(2**31))))
            done()
    return _together(found)


def left_out(
    links: LinkedPairs, out: NDArray[np.bool_], labels: Whole, find: Callable[..., Whole], seed: int
) -> LeftOutLinks:
    """Find communities without some of the links, and count these.

    Args:
        links: of the network.
        out: (m,) the links left out.
        labels: (n,) communities found among all.
        find: from ends, weights and a seed to communities.
        seed: of the search.
    """
    a, b, w = links.ends.sources, links.ends.targets, links.weights
    kept = ~out
    found = find(a[kept], b[kept], w[kept], seed)
    k = (np.bincount(a[kept], minlength=links.n) + np.bincount(b[kept], minlength=links.n)).astype(np.float64)
    known = out & (k[a] > 0) & (k[b] > 0)
    there = k > 0
    agreed = agreement(labels, found, there)
    share = _Expected(k, found, links.regions, links.sides, a[kept], b[kept])
    x, y, v = a[known], b[known], w[known]
    same = found[x] == found[y]
    part = np.bincount(links.regions[x], v, minlength=len(share.by_region))
    total = float(part.sum())
    inside = float(v[same].sum()) / total if total else np.nan
    expected = float(part @ share.by_region) / total if total else np.nan
    count = int((np.bincount(found[there]) >= COUNTED).sum())
    size = int(found.max()) + 1
    ends = np.bincount(found[x], v, minlength=size) + np.bincount(found[y], v, minlength=size)
    stay = 2.0 * np.bincount(found[x[same]], v[same], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = stay / ends
    near = agreed.nearest
    return LeftOutLinks(inside, expected, own[near], share.of_community[near], agreed, count)


class _Expected:
    """What degrees alone give of links inside communities, among pairs that are not linked.

    Attributes:
        by_region: (p,) share of links inside communities, in each region.
        of_community: (k,) share of the ends in a community whose link stays inside.
    """

    def __init__(
        self, k: Array, labels: Whole, parts: Whole, sides: NDArray[np.bool_] | None, a: Whole, b: Whole
    ) -> None:
        p, size = int(parts.max()) + 1, int(labels.max()) + 1
        product = k[a] * k[b]
        same = labels[a] == labels[b]
        pairs = _pairs(k, sides, parts, p) - np.bincount(parts[a], product, minlength=p)
        # communities that reach over several parts count in each of them
        cell = parts * size + labels
        cells, at = np.unique(cell, return_inverse=True)
        inside = _pairs(k, sides, at, len(cells)) - np.bincount(at[a[same]], product[same], minlength=len(cells))
        of_part = np.bincount(cells // size, inside, minlength=p)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.by_region = np.where(pairs > 1e-12, np.clip(of_part / pairs, 0.0, 1.0), 0.0)
        # ends of a community: every pair with one end there, those with both counted twice
        ends = np.bincount(labels, k * _others(k, sides, parts, p), minlength=size)
        ends -= np.bincount(labels[a], product, minlength=size) + np.bincount(labels[b], product, minlength=size)
        own = 2.0 * np.bincount(cells % size, inside, minlength=size)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.of_community = np.where(ends > 1e-12, np.clip(own / ends, 0.0, 1.0), 0.0)


def _pairs(k: Array, sides: NDArray[np.bool_] | None, groups: Whole, count: int) -> Array:
    """(count,) sum of k_i k_j over pairs inside each group; of the two sides, where there are two."""
    return np.asarray(np.bincount(groups, k * _others(k, sides, groups, count), minlength=count) / 2)


def _others(k: Array, sides: NDArray[np.bool_] | None, groups: Whole, count: int) -> Array:
    """(n,) sum of k over the nodes of a node's group that it could be linked with."""
    if sides is None:
        return np.asarray(np.bincount(groups, k, minlength=count)[groups] - k)
    one, two = (np.bincount(groups, k * side, minlength=count)[groups] for side in (sides, ~sides))
    return np.where(sides, two, one)


def _together(found: Sequence[LeftOutLinks]) -> UnseenLinks:
    overlap = 1.0 / (FOLDS - 1)
    inside, expected = (np.array([getattr(one, name) for one in found]) for name in ("inside", "expected"))
    excess = inside - expected
    known = excess[np.isfinite(excess)]
    mean, low, high = np.nan, np.nan, np.nan
    if len(known) >= max(FOLDS, len(found) // 2):
        mean = float(known.mean())
        low, high = map(float, fold_interval(mean, fold_error(known, overlap), len(known), within=(-1.0, 1.0)))
    own_inside, own_expected = (
        np.array([getattr(one, name) for one in found]) for name in ("own_inside", "own_expected")
    )
    counts = np.array([one.count for one in found])
    fewest, most = np.quantile(counts, [0.1, 0.9], method="inverted_cdf")
    return UnseenLinks(
        float(_known_mean(inside)), float(_known_mean(expected)), mean, (low, high), _known_mean(own_inside),
        _known_mean(own_expected), _known_low(own_inside - own_expected, overlap),
        float(np.mean([one.agreed.rand for one in found])), np.mean([one.agreed.jaccard for one in found], axis=0),
        _known_mean(np.array([one.agreed.kept for one in found])), int(fewest), int(most), len(found),
    )  # fmt: skip


def _known_mean(values: Array) -> Array:
    """Means over folds of what is known; NaN where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    return np.where(count > 0, np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _known_low(values: Array, overlap: float) -> Array:
    """Lower ends of the intervals of means over folds, -1 where too few folds are known."""
    low = np.full(values.shape[1], -1.0)
    for j, column in enumerate(values.T):
        known = column[np.isfinite(column)]
        if len(known) >= max(FOLDS, len(column) // 2):
            low[j] = fold_interval(known.mean(), fold_error(known, overlap), len(known), within=(-1.0, 1.0))[0]
    return low
