"""Compare two data sets and keep the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay import __version__
from assay.asking.answer import Answer
from assay.asking.question import Tell
from assay.comparison import columns, components, correlations, groups, overall
from assay.comparison.comparison import Comparison, Spread
from assay.comparison.differences import Differences
from assay.comparison.pair import Pair, paired, side_of
from assay.comparison.schema import schema_of
from assay.data.read import read
from assay.data.source import Source
from assay.errors import ParameterError
from assay.study.depends.answer import WORDING as ROWS_DEPEND
from assay.study.depends.rows import Told
from assay.study.findings import Ledger, NotAsked
from assay.study.strictness import strictness

Ask = Callable[[Pair, int, float], Differences | None]
_QUESTIONS: tuple[tuple[str, str, Ask], ...] = (
    ("columns", columns.WORDING, columns.ask),
    ("correlations", correlations.WORDING, correlations.ask),
    ("components", components.WORDING, components.ask),
    ("groups", groups.WORDING, groups.ask),
    ("overall", overall.WORDING, overall.ask),
)
_NOTHING = "there are too few rows or columns of numbers for it"


def compare(
    a: Any,
    b: Any,
    *,
    seed: int = 0,
    alpha: float = 0.05,
    drop: Sequence[str] = (),
    time: str | None = None,
    by: str | None = None,
    place: Sequence[str] = (),
    progress: Tell | None = None,
) -> Comparison:
    """Say in which columns, correlations, components and groups two data sets differ beyond chance.

    Args:
        a: anything `assay.read` takes.
        b: the other data set.
        seed: of everything random; the same seed gives the same comparison.
        alpha: chance of any supported difference between two tables drawn from the same source.
        drop: columns to leave out of both.
        time: the column that orders rows which depend on those before, in both.
        by: the column that names what several rows were taken from; whole ones are exchanged, and one that is in both
            tables is compared with itself.
        place: two columns that say where rows lie. Whatever is not told is looked for.
        progress: told what is being done.

    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.standard_normal((300, 3)), rng.standard_normal((300, 3))
    >>> compare(old, new).differs
    False
    >>> [finding.subject for finding in compare(old, new + [0.0, 0.5, 0.0]).differences][:1]
    ['column 2']
    """
    if not 0.0 < alpha < 1.0:
        raise ParameterError(f"alpha is a level between 0 and 1; got {alpha}")
    tell: Tell = progress or (lambda what, done, fraction: None)
    sources = read(a), read(b)
    names = _named(*sources)
    told = Told(time, by, (place,) if isinstance(place, str) else tuple(place))
    _check(drop, sources)
    first, second = (side_of(one, name, drop, told, seed, tell) for one, name in zip(sources, names, strict=True))
    schema = schema_of((first.source, second.source), names, (*drop, *told.columns), first.card.rows + second.card.rows)
    pair = paired((first, second), schema, drop)
    answers, silent = _asked(pair, seed, alpha, tell)
    strict = strictness([answer.evidence.p for _, answer in answers.values()], alpha)
    judged = {name: (wording, answer.stricter(strict.factor, alpha)) for name, (wording, answer) in answers.items()}
    lines = (
        *(replace(side.rows.ledger_line(ROWS_DEPEND, 1.0), question=f"{side.name}: {ROWS_DEPEND}") for side in (first, second)),
        schema.line,
        *(answer.ledger_line(wording, strict.factor) for wording, answer in judged.values()),
    )
    found = tuple(finding for _, answer in judged.values() for finding in answer.findings())
    return Comparison(
        (first.card, second.card),
        schema,
        (*schema.findings, *found),
        Ledger(lines, alpha, seed, tuple(silent), strict.words),
        __version__,
        {name: answer for name, (_, answer) in judged.items()},
        (first.rows, second.rows),
        _spreads(pair),
    )


def _asked(
    pair: Pair, seed: int, alpha: float, tell: Tell
) -> tuple[dict[str, tuple[str, Answer]], list[NotAsked]]:
    """Every answer there is, by the name of its question, and why the other questions have none."""
    answers: dict[str, tuple[str, Answer]] = {}
    silent: list[NotAsked] = []
    for name, wording, ask in _QUESTIONS:
        tell(wording, None, None)
        answer = ask(pair, seed, alpha)
        if answer is None:
            silent.append(NotAsked(wording, _NOTHING))
        else:
            answers[name] = wording, answer
    return answers, silent


def _named(first: Source, second: Source) -> tuple[str, str]:
    """How sentences call the two tables."""
    return (first.name, second.name) if first.name != second.name else ("A", "B")


def _check(drop: Sequence[str], sources: tuple[Source, Source]) -> None:
    known = {known.name for source in sources for known in source.schema}
    unknown = [name for name in drop if name not in known]
    if unknown:
        raise ParameterError(f"there is no column {unknown[0]!r} to drop; there are {', '.join(sorted(known)[:20])}")


def _spreads(pair: Pair) -> tuple[Spread, ...]:
    return tuple(
        Spread(name, kind, x[~pair.second], x[pair.second], pair.levels.get(name, ()))
        for name, kind, x in zip(pair.columns, pair.kinds, pair.values.T, strict=True)
    )
