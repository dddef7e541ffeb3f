"""Findings on columns in plain words: which go together, and what predicts another."""

from __future__ import annotations

import numpy as np

from assay.evidence.canonical import Canonical
from assay.evidence.correlations import Correlations
from assay.evidence.predictor import COVERED, Prediction
from assay.study.sentences import listed, percent, probability

_NAMED = 3


def correlations_subject(found: Correlations) -> str:
    """The pairs that go together most strongly, those that fall together behind "against"."""
    if not found.n_pairs:
        return "the columns"
    return "; ".join(_pair(found, k) for k in range(min(found.n_pairs, _NAMED)))


def correlations_sentence(found: Correlations) -> str:
    """How many pairs go together, the strongest with its interval, and what chance does."""
    evidence, d = found.evidence, found.found
    best = f"{_pair(found, 0)} ({_strongest(found)})"
    chance = ""
    if evidence.null is not None:
        chance = (
            f"the strongest of {d.tested:,} pairs that know nothing of each other reaches "
            f"{_short(evidence.null.upper)} one time in twenty ({probability(evidence.p)})"
        )
    tested = f"{d.tested:,} {'pair' if d.tested == 1 else 'pairs'} of columns"
    if evidence.verdict == "supported":
        more = [f"{_pair(found, k)} ({_short(d.pairs.rank[k])})" for k in range(1, min(found.n_pairs, _NAMED + 1))]
        then = f" Next come {listed(more)}." if len(more) > 1 else f" Next comes {more[0]}." if more else ""
        verb = "goes" if found.n_pairs == 1 else "go"
        return f"{found.n_pairs:,} of {tested} {verb} together, most strongly {best}; {chance}.{then}"
    if evidence.verdict == "suggestive":
        return f"Some columns may go together, most strongly {best}; {chance}."
    return f"No pair of columns stands out: the strongest of {d.tested:,} is {best}; {chance}."


def _pair(found: Correlations, k: int) -> str:
    pairs, names = found.found.pairs, found.found.columns
    against = " against " if pairs.rank[k] < 0 else " and "
    return f"{names[pairs.first[k]]}{against}{names[pairs.second[k]]}"


def _strongest(found: Correlations) -> str:
    """The strength of the strongest pair, called by its name."""
    pairs, kinds = found.found.pairs, found.found.kinds
    categories = (kinds[pairs.first[0]], kinds[pairs.second[0]]).count("category")
    name = ("rank correlation", "correlation ratio of ranks", "Cramér's V")[categories]
    interval = ""
    if found.strongest_interval is not None:
        low, high = found.strongest_interval
        interval = f", 95% interval {_short(low)} to {_short(high)}"
    return f"{name} {_short(pairs.rank[0])}{interval}"


def _short(value: float) -> str:
    """A strength with two digits, as statisticians write it.

    >>> _short(.8049), _short(-.5), _short(.999)
    ('.80', '−.50', '1.00')
    """
    text = f"{abs(value):.2f}"
    return ("−" if value < 0 else "") + (text[1:] if text.startswith("0") else text)


def prediction_subject(found: Prediction) -> str:
    """What is predicted, and from which columns above all."""
    return f"{found.target} from {listed([found.columns[j] for j in _telling(found)])}"


def prediction_sentence(found: Prediction) -> str:
    """How much of the target is known on unseen rows, how sure a single prediction is, and what chance does."""
    evidence = found.evidence
    ours = max(evidence.statistic, 0.0)
    low, high = evidence.interval or (0.0, 0.0)
    size = f"{percent(ours)} of its variance (95% interval {percent(max(low, 0.0))} to {percent(max(high, 0.0))})"
    chance = ""
    if evidence.null is not None:
        reach = percent(max(evidence.null.upper, 0.0))
        chance = f"permuted targets reach {reach} one time in twenty ({probability(evidence.p)})"
    if found.classes:
        sure = f"The class is right for {percent(found.right)} of them; the largest class is {percent(found.largest)}."
    else:
        sure = f"Of new rows {percent(COVERED)} lie within {found.half_width:.3g} of their prediction."
    if evidence.verdict in ("supported", "suggestive"):
        can = "can" if evidence.verdict == "supported" else "can perhaps"
        return (
            f"{found.target} {can} be predicted from the other columns: on unseen rows they explain {size}; {chance}. "
            f"{sure} Most of it comes from {listed([found.columns[j] for j in _telling(found)])}."
        )
    return (
        f"{found.target} cannot be predicted from the other columns by a line: on unseen rows they explain "
        f"{percent(ours)} of its variance; {chance}."
    )


def _telling(found: Prediction) -> list[int]:
    """The columns with the largest standardised coefficients, at least half as large as the largest."""
    size = np.sqrt((found.coefficients**2).sum(axis=1))
    order = np.argsort(-size, kind="stable")
    return [int(j) for j in order if size[j] >= 0.5 * size[order[0]]]


def canonical_subject(found: Canonical) -> str:
    """The columns of both sides that make the first pair."""
    return f"{_side(found, 0, 0)} with {_side(found, 1, 0)}"


def canonical_sentence(found: Canonical) -> str:
    """How many pairs there are, what makes each, how they do on unseen rows, and what chance does."""
    evidence = found.evidence
    first = f"{canonical_subject(found)} (correlation {_short(evidence.statistic)}{_unseen(found, 0)})"
    chance = ""
    if evidence.null is not None:
        reach = _short(evidence.null.upper)
        chance = f"shuffled rows reach {reach} on unseen rows one time in twenty ({probability(evidence.p)})"
    sides = f"{found.sides[0]} and {found.sides[1]}"
    if evidence.verdict == "supported":
        ways = "one way" if found.n_pairs <= 1 else f"{found.n_pairs} ways"
        more = [f"{_side(found, 0, k)} with {_side(found, 1, k)}{_unseen(found, k)}" for k in range(1, found.n_pairs)]
        then = f" Then: {'; '.join(more)}." if more else ""
        return f"{sides} go together in {ways}: {first}; {chance}.{then}"
    if evidence.verdict == "suggestive":
        return f"{sides} may go together: {first}; {chance}."
    return f"{sides} do not go together by more than chance: the best pair is {first}; {chance}."


def _side(found: Canonical, side: int, k: int) -> str:
    """The columns of one side that carry a pair, the opposite ones behind "against"."""
    loading, names = found.loadings[side][:, k], found.columns[side]
    strong = np.flatnonzero(np.abs(loading) >= 0.6 * np.abs(loading).max())
    order = strong[np.argsort(-np.abs(loading[strong]), kind="stable")]
    rising = [names[j] for j in order if loading[j] > 0]
    falling = [names[j] for j in order if loading[j] <= 0]
    if not rising:
        return f"less {listed(falling)}"
    return listed(rising) + (f" against {listed(falling)}" if falling else "")


def _unseen(found: Canonical, k: int) -> str:
    return f", {_short(float(found.held_out[k]))} on unseen rows"
