"""Compare two data sets and keep the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.asking.effort import Effort, checked_effort
from assay.asking.finding import Findings, Look
from assay.asking.question import Tell
from assay.comparison import columns, components, correlations, groups, overall
from assay.comparison.comparison import Comparison, Spread
from assay.comparison.differences import Differences
from assay.comparison.notes import levels_apart, notes
from assay.comparison.pair import Pair, Side, paired, side_of
from assay.comparison.schema import schema_of
from assay.data.read import read
from assay.data.source import Source
from assay.errors import ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.study.chosen import ON_REQUEST, Choice, left_out
from assay.study.findings import Ledger, NotAsked
from assay.study.row_dependence.answer import WORDING as ROWS_DEPEND
from assay.study.row_dependence.rows import Told
from assay.study.strictness import strictness
from assay.version import __version__

Ask = Callable[[Pair, int, float], Differences | None]


@dataclass(frozen=True, slots=True)
class _Question:
    """A question put to two tables.

    Attributes:
        name: under which its answer is kept.
        wording: as the ledger prints it.
        ask: answers it.
        weight: how much of the level it gets, beside the others.
    """

    name: str
    wording: str
    ask: Ask
    weight: float = 1.0


# columns are what most often differs: they get half of the level where all five are asked
_QUESTIONS = (
    _Question("columns", columns.WORDING, columns.ask, weight=4.0),
    _Question("correlations", correlations.WORDING, correlations.ask),
    _Question("components", components.WORDING, components.ask),
    _Question("groups", groups.WORDING, groups.ask),
    _Question("overall", overall.WORDING, overall.ask),
)
_TIMES = {"quick": 0.4, "standard": 1.0, "thorough": 4.0}  # as many draws as usual
_NOTHING = "there are too few rows or columns of numbers for it"


def compare(
    a: Any,
    b: Any,
    *,
    random_state: RandomState = 0,
    level: float = 0.05,
    effort: Effort = "standard",
    only: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    columns: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    time: str | None = None,
    by: str | None = None,
    place: Sequence[str] = (),
    progress: Tell | None = None,
) -> Comparison:
    """Say in which columns, correlations, components and groups two data sets differ beyond chance.

    Args:
        a: anything `assay.read` takes.
        b: the other data set.
        random_state: of everything random, a whole number from 0 on, None for 0, or a generator of NumPy's; the same
            number, `comparison.ledger.seed`, gives the same comparison.
        level: chance of any supported difference between two tables drawn from the same source.
        effort: "quick" draws chance less often: less is found, never more by chance. "thorough" draws more often, for
            smaller p-values.
        only: names of the questions to ask, "columns", "correlations", "components", "groups" or "overall"; empty for
            all. The fewer are asked, the less strict each has to be.
        skip: names of questions not to ask.
        columns: the only columns to compare, beside those that say which row is which.
        drop: columns to leave out of both. Of `columns` and `drop`, several may stand in one text, separated by commas.
        time: the column that orders rows which depend on those before, in both.
        by: the column that names what several rows were taken from; whole ones are exchanged, and one that is in both
            tables is compared with itself.
        place: two columns that say where rows lie. Whatever is not told is looked for.
        progress: told what is being done.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.standard_normal((300, 3)), rng.standard_normal((300, 3))
    >>> compare(old, new).differs
    False
    >>> [finding.subject for finding in compare(old, new + [0.0, 0.5, 0.0]).differences][:1]
    ['column 2']
    """
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level is between 0 and 1; got {level}")
    chosen, effort = Choice.of([question.name for question in _QUESTIONS], only, skip), checked_effort(effort)
    tell: Tell = progress or (lambda what, done, fraction: None)
    sources = read(a), read(b)
    names = _named(*sources)
    told = Told(time, by, (place,) if isinstance(place, str) else tuple(place))
    drop = _left_out(columns, drop, told, sources)
    seed = seed_of(random_state)
    first, second = (side_of(one, name, drop, told, seed, tell) for one, name in zip(sources, names, strict=True))
    schema = schema_of((first.source, second.source), names, (*drop, *told.columns), first.card.rows + second.card.rows)
    pair = paired((first, second), schema, drop)
    pair = replace(pair, exchange=replace(pair.exchange, times=_TIMES[effort]))
    answers, silent = _asked(pair, chosen, seed, level, tell)
    judged, together = _weighed(answers, level)
    lines = (
        *(_rows_line(side) for side in (first, second)),
        schema.line,
        *(answer.ledger_line(question.wording, factor) for question, (answer, factor) in judged.items()),
    )
    found = tuple(finding for answer, _ in judged.values() for finding in answer.findings())
    return Comparison(
        (first.card, second.card),
        schema,
        Findings((*schema.findings, *found)),
        Ledger(lines, level, seed, tuple(silent), together, effort),
        __version__,
        {question.name: answer for question, (answer, _) in judged.items()},
        (first.rows, second.rows),
        _spreads(pair),
        tuple(notes((first, second), pair)),
        levels_apart((first, second)),
    )


def _asked(
    pair: Pair, chosen: Choice, seed: int, level: float, tell: Tell
) -> tuple[dict[_Question, Differences], list[NotAsked]]:
    """Every answer there is, and why the other questions have none."""
    answers: dict[_Question, Differences] = {}
    asked = [question for question in _QUESTIONS if chosen.takes(question.name)]
    silent = [NotAsked(question.wording, ON_REQUEST) for question in _QUESTIONS if question not in asked]
    for number, question in enumerate(asked, start=1):
        heading = f"{number} of {len(asked)}: " if len(asked) > 1 else ""
        tell(f"{heading}{question.wording}", None, None)
        answer = question.ask(pair, seed, level)
        if answer is None:
            silent.append(NotAsked(question.wording, _NOTHING))
        else:
            answers[question] = answer
    return answers, silent


def _weighed(
    answers: dict[_Question, Differences], level: float
) -> tuple[dict[_Question, tuple[Differences, float]], str]:
    """Every answer, read as strictly as the others ask for, with the factor of its p; and the rule in words.

    The rule of a study, on p over weights of mean 1 (Genovese, Roeder and Wasserman, Biometrika 93, 2006).
    """
    total = sum(question.weight for question in answers)
    weights = {question: question.weight * len(answers) / total for question in answers}
    best = [min((answer.evidence.p or 0.0) / weights[question], 1.0) for question, answer in answers.items()]
    strict = strictness(best, level)
    judged = {}
    for question, answer in answers.items():
        factor = max(strict.factor / weights[question], 1.0)
        judged[question] = answer.stricter(factor, level), factor
    if len(answers) < 2:
        return judged, ""
    some = f"{strict.chosen} of which found something" if strict.found else "none of which found anything"
    return judged, (
        f"{strict.asked} questions were asked, {some}. The rule: every p is multiplied by questions asked / questions "
        f"chosen, {strict.asked} / {strict.chosen} (Benjamini and Bogomolov 2014), and divided by the weight of its "
        "question, but never made smaller; columns have four times the weight of each other question (Genovese, Roeder "
        "and Wasserman 2006). So two tables from one source are said to differ no more often than the level says."
    )


def _rows_line(side: Side) -> Look:
    line = side.rows.ledger_line(ROWS_DEPEND, 1.0)
    return replace(line, question=f"{side.name}: {line.question}")


def _named(first: Source, second: Source) -> tuple[str, str]:
    """How sentences call the two tables."""
    return (first.name, second.name) if first.name != second.name else ("A", "B")


def _left_out(
    columns: str | Sequence[str], drop: str | Sequence[str], told: Told, sources: tuple[Source, Source]
) -> tuple[str, ...]:
    """Columns of either table that are not compared."""
    known = [*dict.fromkeys(known.name for source in sources for known in source.schema)]
    rows = [(role, name) for role, name in (("time", told.time), ("by", told.by)) if name is not None]
    dropped = left_out(known, columns, drop, [*rows, *(("place", name) for name in told.place)])
    unknown = [name for name in dropped if name not in known]
    if unknown:
        raise ParameterError(f"there is no column {unknown[0]!r} to drop; there are {', '.join(sorted(known)[:20])}")
    return dropped


def _spreads(pair: Pair) -> tuple[Spread, ...]:
    return tuple(
        Spread(name, kind, x[~pair.second], x[pair.second], pair.levels.get(name, ()))
        for name, kind, x in zip(pair.columns, pair.kinds, pair.values.T, strict=True)
    )
