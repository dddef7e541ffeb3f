"""Ask every question of a data set and keep the ledger."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa

from assay.asking.answer import Answer
from assay.asking.effort import LEFT_OUT, Effort, checked_effort
from assay.asking.finding import Findings
from assay.asking.found import Found, found
from assay.asking.question import Context, Question, QuestionOf, Tell
from assay.asking.subject import Subject
from assay.asking.table import Table
from assay.data.columns.target import KnownTarget
from assay.data.source import Source
from assay.engine.current import caching, engine_of, using
from assay.errors import AssayError, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import RandomState, seed_of
from assay.study.chosen import ON_REQUEST, Choice, left_out
from assay.study.complete_blocks import Missing
from assay.study.findings import Ledger, NotAsked, Study
from assay.study.forms.opened import TABLE, opened
from assay.study.gather import Gathered, gathered
from assay.study.row_dependence.answer import WORDING
from assay.study.row_dependence.rows import Told
from assay.study.strictness import strictness
from assay.study.summarised import NEEDS_ROWS, summarised, summary_columns, summary_of
from assay.study.table import Log, prepare
from assay.version import __version__

Answers: TypeAlias = dict[QuestionOf[Any], Answer]

_SPARSE = "every column lacks more than half of its values"
_FEW_CELLS = 2**15  # of a table whose products are too small for threads of BLAS


def study(
    data: Any,
    *,
    random_state: RandomState = 0,
    level: float = 0.05,
    effort: Effort = "standard",
    only: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    columns: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    log: Log = "auto",
    missing: Missing = "fill",
    time: str | None = None,
    by: str | None = None,
    place: Sequence[str] = (),
    form: str | None = None,
    progress: Tell | None = None,
    engine: Any = None,
    resume: str | os.PathLike[str] | None = None,
    cache: bool | str | os.PathLike[str] = True,
    **options: Any,
) -> Study:
    """Find the structure in data and say which of it would survive a second look.

    Args:
        data: anything `assay.read` takes; or a summary, `Moments` or `GroupedMoments`, or a file of one, of which laws
            tell what they can: see docs/guide/summaries.md. A network (a list of links, a graph), ratings and trials
            are told from tables by their columns and get questions of their own: see docs/guide/forms.md.
        random_state: of everything random, a whole number from 0 on, None for 0, or a generator of NumPy's; the same
            number, `study.ledger.seed`, gives the same study.
        level: chance of any supported finding in data without structure.
        effort: "quick" leaves out maps and orders of the rows and draws chance less often: less is found, never more by
            chance. "thorough" draws more often, for smaller p-values.
        only: names of the questions to ask, such as "groups"; empty for all. `assay methods` lists them. The fewer are
            asked, the less strict each has to be.
        skip: names of questions not to ask.
        columns: the only columns to use, beside those that are named for something else, such as the target.
        drop: columns to leave out. Of `columns` and `drop`, several may stand in one text, separated by commas.
        log: which columns to take log(1 + x) of: "auto" by the rule of the encoding, "never", or their names.
        missing: "fill" lets a value of another row, drawn at random, stand in for a missing one, "drop" leaves rows
            with gaps out. Which values are missing, and what that goes with, is asked in either case.
        time: the column that orders rows which depend on those before; forward splits, chance by circular shifts.
        by: the column that names what several rows were taken from, such as a subject, a site or a batch; whole ones
            are split and exchanged.
        place: two columns that say where rows lie. Whatever is not told is looked for: see `Study.rows`.
        form: "table" where the data are to be studied as rows whatever they look like, "network", "ratings" or
            "trials"; None to find out. What is told of columns of a table, such as a target, means a table.
        progress: told what is being done, and where that is known how many rows are done and which share of all.
        engine: where passes over rows run: "local", "dask", "spark", the address of a cluster, a live Client of
            dask.distributed or a SparkSession; None for the one in use. The answers are the same: see
            docs/guide/engines.md.
        resume: a folder of your own where results of parts of files are kept while the study runs: if it ends early,
            the next one of the same data goes on from there. See docs/guide/engines.md.
        cache: keep results of long passes over files of 64 MB or more in the user's cache folder, so that the same
            study, repeated or interrupted, does not read them again; False for not, or another folder. Files with a
            sensitive column are not kept. See docs/guide/engines.md.
        **options: what questions can be told. `target`: a column to predict from the others; rows that lack it are
            left out, and questions on components and rows are asked of the other columns. `side`: columns that are
            asked whether, together, they go with all the others. Questions of other packages may bring more.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((200, 1)) + 0.5 * rng.standard_normal((200, 4))
    >>> [finding.kind for finding in study(x).findings if finding.evidence.verdict == "supported"]
    ['component', 'correlations', 'map', 'order']
    """
    told = Told(time, by, _several(place))
    chosen, effort = Choice.of([question.name for question in found().questions], only, skip), checked_effort(effort)
    with using(engine_of(data) if engine is None else engine, resume=resume), caching(cache):
        how = Context(seed_of(random_state), level, tell=progress or _silent, effort=effort)
        return _studied(data, how, chosen, _several(columns), _several(drop), log, missing, told, form, options)


def _silent(what: str, done: int | None, fraction: float | None) -> None:
    pass


def _studied(
    data: Any,
    context: Context,
    chosen: Choice,
    columns: Sequence[str],
    drop: Sequence[str],
    log: Log,
    missing: Missing,
    depends: Told,
    form: str | None,
    options: dict[str, Any],
) -> Study:
    """The study, on the engine in use."""
    known = found()
    known.checked(options)
    seed, tell = context.seed, context.tell
    moments = summary_of(data)
    asked = form
    if form is None and (moments is not None or _of_columns(known, options, (*drop, *columns), log, depends)):
        asked = TABLE
    given = data if moments is not None and asked == TABLE else opened(data, asked)
    if isinstance(given, Subject):
        if _of_columns(known, options, (*drop, *columns), log, depends):
            raise ParameterError(
                f"{given.card.name} is studied as {given.form}, which has no columns to say anything of; leave it out, "
                "or say form='table'"
            )
        return _study_of(given, known, chosen, _checked_options(known, given.form, options), context)
    told = _checked_options(known, TABLE, options)
    outcomes = frozenset(str(told[o.name]) for o in known.options if o.outcome and told[o.name] is not None)
    chosen.check(known.of(TABLE), TABLE, _waiting(known.of(TABLE), told, context))
    named = _named_columns(known, told, depends)
    if moments is not None:
        drop = left_out(summary_columns(moments), columns, drop, named)
        whole, others, rows = summarised(moments, drop=drop, told=depends, outcomes=outcomes)
        tables = Gathered(whole, lambda: whole, lambda: others)
    else:
        source: Source = given
        drop = left_out(source.arrow_schema.names, columns, drop, named)
        for outcome in sorted(outcomes):
            source = KnownTarget(source, outcome)
        table, rows = prepare(
            source, drop=drop, log=log, missing=missing, told=depends, outcomes=outcomes, seed=seed, progress=tell
        )
        pa.default_memory_pool().release_unused()  # the rows as they came, in whose place numbers are held now
        tell("Summarising", table.card.rows_used, 1.0 if table.rows is not None else 0.0)
        tables = gathered(table, outcomes, seed, tell)
    every = tables.every
    answers, silent = _asked_of_tables(known, chosen, tables, told, context)
    answers, ledger = _together(answers, silent, context)
    if every.summarised:
        ledger = replace(ledger, not_asked=(NotAsked(WORDING, NEEDS_ROWS), *ledger.not_asked))
    else:
        ledger = replace(ledger, questions=(rows.ledger_line(WORDING, 1.0), *ledger.questions))
    return Study(
        replace(every.card, notes=(*every.card.notes, *known.broken)),
        _findings(answers),
        ledger,
        __version__,
        {question.name: answer for question, answer in answers.items()},
        None if every.summarised else every.look,
        rows,
        every.names,
    )


def _several(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _named_columns(known: Found, told: Mapping[str, Any], depends: Told) -> list[tuple[str, str]]:
    """Columns that were named for something, and what for."""
    options = [
        (option.name, str(name))
        for option in known.of(TABLE).options
        if (option.outcome or option.many) and told[option.name] is not None
        for name in (told[option.name] if option.many else (told[option.name],))
    ]
    rows = [(role, name) for role, name in (("time", depends.time), ("by", depends.by)) if name is not None]
    return [*options, *rows, *(("place", name) for name in depends.place)]


def _waiting(asked: Found, told: Mapping[str, Any], how: Context) -> list[QuestionOf[Any]]:
    """Questions that wait to be told something."""
    return [question for question in asked.questions if not question.asked_for(_context(question, told, how))]


def _study_of(subject: Subject[Any], known: Found, chosen: Choice, told: Mapping[str, Any], how: Context) -> Study:
    """Ask the questions of another form than a table."""
    answers: Answers = {}
    silent: list[NotAsked] = []
    own = known.of(subject.form)
    chosen.check(own, subject.form, _waiting(own, told, how))
    headed = _headed([question for question in own.questions if chosen.takes(question.name)], subject, told, how)
    for question in own.questions:
        if not chosen.takes(question.name):
            silent.append(NotAsked(question.wording, ON_REQUEST))
            continue
        _ask(question, subject, told, headed.get(question, how), answers, silent)
    answers, ledger = _together(answers, silent, how)
    named = {question.name: answer for question, answer in answers.items()}
    card = replace(subject.card, notes=(*subject.card.notes, *known.broken))
    return Study(card, _findings(answers), ledger, __version__, named)


def _of_columns(known: Found, options: Mapping[str, Any], drop: Sequence[str], log: Log, depends: Told) -> bool:
    """Whether something was said that only a table of rows can heed."""
    own = {option.name: option for option in known.of(TABLE).options}
    said = any(options[name] != own[name].empty for name in options if name in own)
    return bool(said or drop or log != "auto" or depends.columns)


def _checked_options(known: Found, form: str, options: dict[str, Any]) -> dict[str, Any]:
    """What was told, complete; refused where no question of this form takes it."""
    own = {option.name for option in known.of(form).options}
    told = known.checked(options)
    empty = {option.name: option.empty for option in known.options}
    strange = [name for name, value in told.items() if name not in own and value != empty[name]]
    if strange:
        raise ParameterError(f"no question that is asked of {form} data takes {strange[0]!r}")
    return told


def _together(answers: Answers, silent: list[NotAsked], how: Context) -> tuple[Answers, Ledger]:
    """Answers as strict as all questions together ask for, and the ledger of their looks."""
    strict = strictness([answer.evidence.p for answer in answers.values()], how.level)
    answers = {question: answer.stricter(strict.factor, how.level) for question, answer in answers.items()}
    looks = tuple(answer.ledger_line(question.wording, strict.factor) for question, answer in answers.items())
    return answers, Ledger(looks, how.level, how.seed, tuple(silent), strict.words, how.effort)


def _findings(answers: Answers) -> Findings:
    return Findings(
        replace(finding, question=question.name)
        for question, answer in answers.items()
        for finding in answer.findings()
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


def _asked_of_tables(
    known: Found, chosen: Choice, tables: Gathered, told: Mapping[str, Any], how: Context
) -> tuple[Answers, list[NotAsked]]:
    """Every answer there is, and why the other questions have none."""
    answers: Answers = {}
    silent: list[NotAsked] = []
    own = [question for question in known.of(TABLE).questions if isinstance(question, Question)]
    headed = _headed([question for question in own if chosen.takes(question.name)], tables.every, told, how)
    for question in own:
        if not chosen.takes(question.name):
            if question.asked_for(_context(question, told, how)) and question.concerns(tables.every):
                silent.append(NotAsked(question.wording, ON_REQUEST))
            continue
        table = tables.of(question)
        if not question.concerns(tables.every):
            continue
        if table is None or (table.summarised and not question.of_summaries):
            if question.asked_for(_context(question, told, how)):
                silent.append(NotAsked(question.wording, _SPARSE if table is None else NEEDS_ROWS))
        else:
            _ask(question, table, told, headed.get(question, how), answers, silent)
    return answers, silent


def _headed(
    questions: Sequence[QuestionOf[Any]], data: Table | Subject[Any], told: Mapping[str, Any], how: Context
) -> dict[QuestionOf[Any], Context]:
    """How each question is asked that the data have something to say to: under a heading that counts them."""
    asked = [q for q in questions if q.asked_for(_context(q, told, how)) and q.concerns(data)]
    return {
        question: how.under(f"{number} of {len(asked)}: {question.wording}" if len(asked) > 1 else question.wording)
        for number, question in enumerate(asked, start=1)
    }


def _context(question: QuestionOf[Any], told: Mapping[str, Any], how: Context) -> Context:
    return replace(how, options={option.name: told[option.name] for option in question.options})


def _ask(
    question: QuestionOf[Any],
    subject: Table | Subject[Any],
    told: Mapping[str, Any],
    how: Context,
    answers: Answers,
    silent: list[NotAsked],
) -> None:
    """Put the answer with the others, or why there is none."""
    context = _context(question, told, how)
    if not question.asked_for(context) or not question.concerns(subject):
        return
    context.tell("", None, None)
    answer, why = _answered(question, subject, context)
    if answer is None:
        silent.append(NotAsked(question.wording, why))
    else:
        answers[question] = answer


def _blas_threads(subject: Table | Subject[Any]) -> AbstractContextManager[None]:
    """One for a small table: on a busy machine, several wait for each other at each of thousands of products."""
    rows = subject.rows if isinstance(subject, Table) else None
    return one_blas_thread() if rows is not None and rows.size <= _FEW_CELLS else nullcontext()


def _answered(question: QuestionOf[Any], subject: Table | Subject[Any], context: Context) -> tuple[Answer | None, str]:
    """The answer, or why there is none. A fault in a question of another package is said and stops nothing."""
    try:
        left_out = question.costly and context.effort == "quick"
        why = LEFT_OUT if left_out else question.why_not(subject, context)
        with _blas_threads(subject):
            answer = None if why else question.ask(subject, context)
    except AssayError:
        raise
    except Exception as error:
        if type(question).__module__.startswith("assay."):
            raise
        return None, f"it failed ({type(error).__name__}: {error})"
    nothing = "the rows and columns there are leave nothing to compare"
    if isinstance(subject, Subject):
        nothing = "there is too little to compare"
    return answer, why or nothing
