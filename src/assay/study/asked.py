"""The questions of a study beyond the components, each with its finding and its line in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import ParameterError
from assay.evidence.anomalies import Anomalies, anomalies
from assay.evidence.canonical import Canonical, canonical
from assay.evidence.clusters import Clusters, clusters
from assay.evidence.comparable import varied
from assay.evidence.correlations import Correlations, correlations
from assay.evidence.evidence import Evidence
from assay.evidence.predictor import Prediction
from assay.evidence.row_map import RowMap, row_map
from assay.study.column_sentences import (
    canonical_sentence,
    canonical_subject,
    correlations_sentence,
    correlations_subject,
    prediction_sentence,
    prediction_subject,
)
from assay.study.findings import Finding, Look
from assay.study.predicting import predicted
from assay.study.sentences import (
    anomalies_sentence,
    anomalies_subject,
    clusters_sentence,
    clusters_subject,
    map_sentence,
)
from assay.study.table import Table, Tell

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

_SAMPLE = 20_000  # rows by which all others are measured


class Answer(Protocol):
    """What a question found."""

    @property
    def evidence(self) -> Evidence:
        """How well it stands up."""

    def stricter(self, factor: float, alpha: float) -> Any:
        """The same where other questions were asked too."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question that was answered.

    Attributes:
        name: under which its numbers are kept.
        answer: what was found.
        finding: from the answer to its finding.
        question: in words.
        looks, tests: how often was looked, and tested.
        rule: how these are corrected for.
    """

    name: str
    answer: Answer
    finding: Callable[[Any], Finding]
    question: str
    looks: int
    tests: int
    rule: str

    def look(self, factor: float) -> Look:
        """Its line in the ledger."""
        return Look(self.question, self.looks, self.tests, shared(self.rule, factor))


def shared(rule: str, factor: float) -> str:
    """The rule of a question, and what it owes to the others."""
    return rule if factor == 1.0 else f"{rule}; p counted {factor:.3g} times, for the other questions asked"


def ask_columns(
    table: Table, sample: Array, target: str | None, side: Sequence[str], *, alpha: float, seed: int, tell: Tell
) -> list[Asked]:
    """Ask a table which columns go together and, where the user names one, what can be predicted.

    Args:
        table: the data.
        sample: (m, D) some of its rows.
        target: a column to predict from the others.
        side: columns that are asked whether, together, they go with the others.
        alpha: level of each question.
        seed: of everything random.
        tell: told what is being done.
    """
    options: dict[str, Any] = {"alpha": alpha, "seed": seed, "tell": tell}
    known = None if target is None else predicted(table, sample, target, **options)
    both = _two_sided(table, sample, tuple(side), **options) if side else None
    links = _linked(table, sample, **options)
    asked = [
        None if known is None else _predictor(known),
        None if both is None else _pairs(both),
        None if links is None else _links(links),
    ]
    return [one for one in asked if one is not None]


def ask_rows(table: Table, sample: Array, numbers: Numbers, *, alpha: float, seed: int, tell: Tell) -> list[Asked]:
    """Ask a table whether its rows fall into groups, which do not belong, and whether a map of them shows anything.

    Args:
        table: the data.
        sample: (m, D) rows that are grouped and drawn.
        numbers: (m,) their numbers.
        alpha: level of each question.
        seed: of everything random.
        tell: told what is being done.
    """
    measured = np.flatnonzero(table.measured)
    measured = measured[varied(sample[:, measured])]
    columns = tuple(table.columns[j] for j in measured)
    options: dict[str, Any] = {"alpha": alpha, "seed": seed}
    groups = clusters(sample[:, measured], numbers, columns, **options, progress=_told(tell, "Groups"))
    by, by_numbers = _measuring_rows(table, sample, numbers, seed)
    strangers = anomalies(
        lambda: _columns(table, measured),
        by[:, measured],
        by_numbers,
        columns,
        **options,
        progress=_told(tell, "Rows that do not belong"),
    )
    drawn = row_map(sample, numbers, groups=table.groups, **options, progress=_told(tell, "Map of the rows"))
    asked = [
        None if groups is None else _groups(groups),
        None if strangers is None else _strangers(strangers),
        None if drawn is None else _map(drawn),
    ]
    return [one for one in asked if one is not None]


def _told(tell: Tell, question: str) -> Callable[[str], object]:
    return lambda what: tell(f"{question}: {what}", None, None)


def _columns(table: Table, which: Numbers) -> Iterator[Array]:
    for block in table.blocks():
        yield block[:, which]


def _measuring_rows(table: Table, sample: Array, numbers: Numbers, seed: int) -> tuple[Array, Numbers]:
    """The rows by which all are measured: all, a fair choice of many, or those kept where rows are not."""
    if table.rows is None:
        return sample, numbers
    chosen = np.sort(np.random.default_rng(seed).permutation(len(table.rows))[:_SAMPLE])
    return table.rows[chosen], chosen


def _linked(table: Table, sample: Array, *, alpha: float, seed: int, tell: Tell) -> Correlations | None:
    """Pairs of columns of the data, but for texts and times, whose numbers are many."""
    rows = sample if table.rows is None else table.rows
    labels = [label for label in table.origins if table.origins[label][1] not in ("text", "time")]
    places = [np.flatnonzero(table.groups == label) for label in labels]
    if len(places) < 2:
        return None
    tell("Columns that go together", None, None)
    groups = np.repeat(np.arange(len(places)), [len(place) for place in places])
    names = tuple(table.origins[label][0] for label in labels)
    return correlations(rows[:, np.concatenate(places)], groups, names, alpha=alpha, seed=seed)


def _two_sided(
    table: Table, sample: Array, side: tuple[str, ...], *, alpha: float, seed: int, tell: Tell
) -> Canonical | None:
    """The columns named against all others."""
    used = {name for name, _ in table.origins.values()}
    missing = [name for name in side if name not in used]
    if missing:
        known = ", ".join(sorted(used)[:20])
        raise ParameterError(f"no column {missing[0]!r} in use to be on one side; there are {known}")
    rows = sample if table.rows is None else table.rows
    own = np.array([table.origins[int(label)][0] in side for label in table.groups])
    if own.all():
        raise ParameterError("all columns in use are on one side: leave some for the other")
    columns = [tuple(table.columns[j] for j in np.flatnonzero(which)) for which in (own, ~own)]
    names = ", ".join(side[:3]) + (" ..." if len(side) > 3 else "")
    tell_pair = _told(tell, "Two sets of columns")
    return canonical(
        rows[:, own], rows[:, ~own], (columns[0], columns[1]), (names, "the other columns"),
        alpha=alpha, seed=seed, progress=tell_pair,
    )  # fmt: skip


def _pairs(found: Canonical) -> Asked:
    def finding(answer: Canonical) -> Finding:
        return Finding("canonical", "canonical", canonical_subject(answer), canonical_sentence(answer), answer.evidence)

    rule = f"pairs tested in order, each with the rows of one side shuffled; stopped after {len(found.p)}"
    question = f"Do {found.sides[0]} go with the other columns?"
    return Asked("canonical", found, finding, question, found.evidence.looks, len(found.p), rule)


def _predictor(found: Prediction) -> Asked:
    def finding(answer: Prediction) -> Finding:
        return Finding(
            "prediction", "prediction", prediction_subject(answer), prediction_sentence(answer), answer.evidence
        )

    looks = found.evidence.looks
    rule = f"{looks} penalties tried, chosen anew on each of {len(found.by_chance)} permuted targets"
    return Asked("prediction", found, finding, f"Can {found.target} be predicted?", looks, 1, rule)


def _links(found: Correlations) -> Asked:
    def finding(answer: Correlations) -> Finding:
        words = correlations_subject(answer), correlations_sentence(answer)
        return Finding("correlations", "correlations", *words, answer.evidence)

    tested = found.found.tested
    rule = "Benjamini and Hochberg over all pairs"
    return Asked("correlations", found, finding, "Which columns go together?", tested, tested, rule)


def _groups(found: Clusters) -> Asked:
    def finding(answer: Clusters) -> Finding:
        return Finding("groups", "groups", clusters_subject(answer), clusters_sentence(answer), answer.evidence)

    looks = found.evidence.looks
    rule = f"the best of {looks} searches, made anew in each of {len(found.explained_by_chance)} tables without groups"
    return Asked("clusters", found, finding, "Do the rows fall into groups?", looks, 1, rule)


def _strangers(found: Anomalies) -> Asked:
    def finding(answer: Anomalies) -> Finding:
        return Finding("anomalies", "anomalies", anomalies_subject(answer), anomalies_sentence(answer), answer.evidence)

    n = len(found.scores)
    rule = "Benjamini and Hochberg over all rows"
    return Asked("anomalies", found, finding, "Which rows do not belong?", n, n, rule)


def _map(found: RowMap) -> Asked:
    def finding(answer: RowMap) -> Finding:
        return Finding("map", "map", "the rows", map_sentence(answer), answer.evidence)

    rule = f"one map, tested as a whole against {len(found.chance)} of shuffled columns"
    return Asked("map", found, finding, "Does a map of the rows show more than chance?", 1, 1, rule)
