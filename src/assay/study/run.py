"""Ask every question of a data set and keep the ledger."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.asking.answer import Answer
from assay.asking.found import Found, found
from assay.asking.question import Context, Question, Tell
from assay.asking.table import Table
from assay.data.columns.target import KnownTarget
from assay.data.read import read
from assay.errors import AssayError
from assay.study.depends.answer import WORDING
from assay.study.depends.rows import Told
from assay.study.findings import Ledger, NotAsked, Study
from assay.study.gather import Gathered, gathered
from assay.study.numbers import Missing
from assay.study.strictness import strictness
from assay.study.summarised import NEEDS_ROWS, summarised, summary_of
from assay.study.table import Log, prepare
from assay.version import __version__

_SPARSE = "every column lacks more than half of its values"


def study(
    data: Any,
    *,
    seed: int = 0,
    alpha: float = 0.05,
    drop: Sequence[str] = (),
    log: Log = "auto",
    missing: Missing = "fill",
    time: str | None = None,
    by: str | None = None,
    place: Sequence[str] = (),
    progress: Tell | None = None,
    **options: Any,
) -> Study:
    """Find the structure in data and say which of it would survive a second look.

    Args:
        data: anything `assay.read` takes; or a summary, `Moments` or `GroupedMoments`, or a file of one, of which laws
            tell what they can: see docs/guide/summaries.md.
        seed: of everything random; the same seed gives the same study.
        alpha: chance of any supported finding in data without structure.
        drop: columns to leave out.
        log: which columns to take log(1 + x) of: "auto" by the rule of the encoding, "never", or their names.
        missing: "fill" lets a value of another row, drawn at random, stand in for a missing one, "drop" leaves rows
            with gaps out. Which values are missing, and what that goes with, is asked in either case.
        time: the column that orders rows which depend on those before; forward splits, chance by circular shifts.
        by: the column that names what several rows were taken from, such as a subject, a site or a batch; whole ones
            are split and exchanged.
        place: two columns that say where rows lie. Whatever is not told is looked for: see `Study.rows`.
        progress: told what is being done, and where that is known how many rows are done and which share of all.
        **options: what questions can be told. `target`: a column to predict from the others; rows that lack it are
            left out, and questions on components and rows are asked of the other columns. `side`: columns that are
            asked whether, together, they go with all the others. Questions of other packages may bring more.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((200, 1)) + 0.5 * rng.standard_normal((200, 4))
    >>> [finding.kind for finding in study(x).findings if finding.evidence.verdict == "supported"]
    ['component', 'correlations', 'map', 'order']
    """
    known = found()
    told = known.checked(options)
    tell: Tell = progress or (lambda what, done, fraction: None)
    outcomes = frozenset(str(told[o.name]) for o in known.options if o.outcome and told[o.name] is not None)
    depends = Told(time, by, (place,) if isinstance(place, str) else tuple(place))
    moments = summary_of(data)
    if moments is not None:
        whole, others, rows = summarised(*moments, drop=drop, told=depends, outcomes=outcomes)
        tables = Gathered(whole, whole, others)
    else:
        source = read(data)
        for outcome in sorted(outcomes):
            source = KnownTarget(source, outcome)
        table, rows = prepare(
            source, drop=drop, log=log, missing=missing, told=depends, outcomes=outcomes, seed=seed, progress=tell
        )
        tell("Summarising", None, None)
        tables = gathered(table, outcomes, seed)
    every = tables.every
    answers, silent = _asked(known, tables, told, Context(seed, alpha, tell=tell))
    strict = strictness([answer.evidence.p for answer in answers.values()], alpha)
    answers = {question: answer.stricter(strict.factor, alpha) for question, answer in answers.items()}
    asked_first = () if every.summarised else (rows.ledger_line(WORDING, 1.0),)
    silent = [NotAsked(WORDING, NEEDS_ROWS), *silent] if every.summarised else silent
    others_asked = (answer.ledger_line(question.wording, strict.factor) for question, answer in answers.items())
    looks = (*asked_first, *others_asked)
    findings = tuple(finding for answer in answers.values() for finding in answer.findings())
    return Study(
        replace(every.card, notes=(*every.card.notes, *known.broken)),
        findings,
        Ledger(looks, alpha, seed, tuple(silent), strict.words),
        __version__,
        {question.name: answer for question, answer in answers.items()},
        None if every.summarised else every.look,
        rows,
    )


def _signed(function: Callable[..., Study]) -> None:
    """Let help() and editors show the options of the questions as keywords, in the place of `**options`."""
    own = inspect.signature(function)
    every = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    keywords = [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.empty)
        for option in found().options
    ]
    function.__dict__["__signature__"] = own.replace(parameters=[every[0], *keywords, *every[1:]])


_signed(study)


def _asked(
    known: Found, tables: Gathered, told: Mapping[str, Any], how: Context
) -> tuple[dict[Question, Answer], list[NotAsked]]:
    """Every answer there is, and why the other questions have none."""
    answers: dict[Question, Answer] = {}
    silent: list[NotAsked] = []
    for question in known.questions:
        table = tables.of(question)
        context = replace(how, options={option.name: told[option.name] for option in question.options})
        if not question.asked_for(context):
            continue
        if table is None or (table.summarised and not question.of_summaries):
            silent.append(NotAsked(question.wording, _SPARSE if table is None else NEEDS_ROWS))
            continue
        answer, why = _answered(question, table, context)
        if answer is None:
            silent.append(NotAsked(question.wording, why))
        else:
            answers[question] = answer
    return answers, silent


def _answered(question: Question, table: Table, context: Context) -> tuple[Answer | None, str]:
    """The answer, or why there is none. A fault in a question of another package is said and stops nothing."""
    try:
        why = question.why_not(table, context)
        answer = None if why else question.ask(table, context)
    except AssayError:
        raise
    except Exception as error:
        if type(question).__module__.startswith("assay."):
            raise
        return None, f"it failed ({type(error).__name__}: {error})"
    return answer, why or "the rows and columns there are leave nothing to compare"
