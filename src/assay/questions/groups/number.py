"""How many groups, and what describes them: the most that unseen rows bear out, by the simplest description.

A description of k groups stands where
  strength  one half of the rows predicts the groups of the other, .8 or more on average over halvings
  valley    a valley lies between all neighbours, on rows that had no part in finding them (median of some divisions)
            which is deep, and thin half-way; where the rows make a thin band it is a gap, else they lie along a curve,
            which can be cut anywhere. A curve that is cut across its bends shows no band, a sine in two by its
            height; so where a finer description shows the band, a gap is asked of all
  size      every group has one row in fifty, and five; fewer are anomalies
Of those that stand the one with the most groups is named, and of equal numbers the simplest that no other beats in
strength. Where another number comes near the bar of strength, the number is said to be open.

Divisions are the same for every seed of a study: what is said of a table should not hang on it.

Reference: Tibshirani and Walther, JCGS 14 (2005), prediction strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array
from assay.questions.groups.coming_back import prediction_strength
from assay.questions.groups.dense import Dense, faced
from assay.questions.groups.rules import DenseShapes, GroupRule, Way
from assay.questions.groups.valley import seen_chance, valley

PREDICTED = 0.8  # prediction strength from which on Tibshirani and Walther count a group
_BEATEN = 0.05  # of strength, by which a description is better than a simpler one
_NEARLY = 0.05  # below and above it, where another sample may say otherwise
_HALVINGS, _FIRST = 20, 4
_HOPELESS = 0.65  # mean strength of the first halvings, below which no more are made
_DIVISIONS = 3
_BENT = 0.13  # how far rows make a thin band: lumps stay below .1, rings and arcs are at .4 and more
_CURVED = 0.4  # so far that they lie along a curve, which other cuts of it may not show
_DEEP, _GAP = 0.55, 0.1  # height of the valley in lumps (4 sd apart .35, 5 sd .2) and where a band is cut
_THIN, _THINNER = -0.25, -0.8  # log density half-way, for the same two
_RISE = 0.4  # of a shape beside its rows; half of the square's tables stay below .2
_FACED, _FACED_ROWS = 0.1, 25  # of a shape: a chance gap in a curve is faced by some ten rows of each side
CLEAR = 0.05
_SMALLEST, _FEWEST = 0.02, 5


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """Groups as one description has them.

    Attributes:
        way: the description.
        k: how many.
        strengths: prediction strength of each halving.
        valley: chance of the valley between the two neighbours where it is least clear; 1 where it is shallow.
        gap: whether it would be one between pieces of a curve, too.
        curved: whether it shows that the rows lie along a curve.
    """

    way: Way
    k: int
    strengths: Array
    valley: float
    gap: bool = False
    curved: bool = False

    @property
    def strength(self) -> float:
        """Mean over halvings."""
        return float(self.strengths.mean())

    @property
    def stands(self) -> bool:
        """Whether unseen rows bear it out."""
        return self.strength >= PREDICTED and self.valley <= CLEAR


@dataclass(frozen=True, slots=True, eq=False)
class ChosenNumber:
    """What describes the groups best.

    Attributes:
        named: the description; None where none has a valley on its own rows.
        fewest, most: numbers of groups that come near the bar or pass it; equal where the number is settled.
        torn: whether some description shows a valley on its own rows, and halves agree on none of these.
    """

    named: Described | None
    fewest: int
    most: int
    torn: bool = False


def chosen(Z: Array, ways: Sequence[Way], seed: int) -> ChosenNumber:
    """Try every way, the most groups first; once one stands, simpler numbers only where it is near the bar.

    Args:
        Z: (n, d) comparable rows.
        ways: the simplest first.
        seed: of starts.
    """
    tried: list[Described] = []
    named: Described | None = None
    for k in sorted({k for way in ways for k in way.numbers}, reverse=True):
        standing: list[Described] = []
        for way in (way for way in ways if k in way.numbers):
            found = described(Z, way, k, seed)
            tried += [] if found is None else [found]
            standing += [found] if found is not None and found.stands else []
            if standing and standing[-1].strength > 1.0 - _BEATEN:
                break
        if any(one.curved for one in tried):
            tried = [one if one.gap else replace(one, valley=1.0) for one in tried]
            standing = [one for one in standing if one.gap]
        if named is None and standing:
            best = max(one.strength for one in standing)
            named = next(one for one in standing if one.strength >= best - _BEATEN)
        if named is not None and named.strength >= PREDICTED + _NEARLY:
            break
    if named is None:
        least = min(tried, key=lambda one: (one.strength < PREDICTED, one.valley, -one.strength), default=None)
        torn = bool(tried) and all(one.strength < PREDICTED for one in tried)
        return ChosenNumber(least, 0, 0, torn)
    near = {one.k for one in tried if one.valley <= CLEAR and one.strength >= PREDICTED - _NEARLY} | {named.k}
    return ChosenNumber(named, min(near), max(near))


def described(Z: Array, way: Way, k: int, seed: int) -> Described | None:
    """What unseen rows say of one description; None where it is hopeless."""
    whole = way.learnt(Z, k, seed)
    if whole is None or np.bincount(whole.labels(Z), minlength=k).min() < max(_FEWEST, _SMALLEST * len(Z)):
        return None
    apart = _shaped(way, whole, Z) if isinstance(way, DenseShapes) else seen_chance(Z, whole) <= CLEAR
    if not apart:
        return None
    rng = np.random.default_rng(k)
    halves = [rng.permutation(len(Z)) < len(Z) // 2 for _ in range(_HALVINGS)]
    strengths = [prediction_strength(Z, half, way, k, seed) for half in halves[:_FIRST]]
    if np.mean(strengths) < _HOPELESS:
        return Described(way, k, np.array(strengths), 1.0)
    strengths += [prediction_strength(Z, half, way, k, seed) for half in halves[_FIRST:]]
    if np.mean(strengths) < PREDICTED - _NEARLY:
        return Described(way, k, np.array(strengths), 1.0)
    if whole.centres is None:
        return Described(way, k, np.array(strengths), 0.0, gap=True)
    return Described(way, k, np.array(strengths), *_chance(Z, way, k, seed, rng))


def _chance(Z: Array, way: Way, k: int, seed: int, rng: np.random.Generator) -> tuple[float, bool, bool]:
    """Chance of the valley on unseen rows, median of some divisions; 1 where it is shallow or bridged.

    Then whether it is a gap, and whether it lies between pieces of a curve.
    """
    seen = [valley(Z, way, k, seed, rng) for _ in range(_DIVISIONS)]
    height, bridge, bent = (
        float(np.median(some)) for some in zip(*((v.height, v.bridge, v.bent) for v in seen), strict=True)
    )
    chance = float(np.median([one.chance for one in seen]))
    gap = height <= _GAP and bridge <= _THINNER
    deep = gap or (bent < _BENT and height <= _DEEP and bridge <= _THIN)
    return chance if deep else 1.0, gap, bent >= _CURVED and not gap and chance <= CLEAR


def _shaped(way: DenseShapes, rule: GroupRule, Z: Array) -> bool:
    """Whether the parts lie beside each other, clearly farther apart than their rows."""
    S = way.lies(Z)
    high = np.sort(Dense.of(S).rises)[::-1][rule.k - 2] >= _RISE
    return bool(high and faced(S, rule.assign(S), rule.k) >= max(_FACED, _FACED_ROWS / len(S)))
