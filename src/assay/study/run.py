"""Ask every question of a data set and keep the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay import __version__
from assay.data.columns.target import KnownTarget
from assay.data.read import read
from assay.evidence.components import ComponentsResult, components, rows_shown
from assay.evidence.held_out import fold_count
from assay.evidence.questions import strictness
from assay.study.asked import ask_columns, ask_rows, shared
from assay.study.findings import Finding, Ledger, Look, Study
from assay.study.numbers import Missing
from assay.study.picked import PickedRows
from assay.study.predicting import not_of
from assay.study.sentences import component_sentence, component_subject
from assay.study.table import Log, Table, Tell, prepare
from assay.summary.grouped import GroupedMoments

# Beyond this many columns the (d, d) summary is larger than the rows it stands for are likely to be.
_WIDEST = 4000


def study(
    data: Any,
    *,
    target: str | None = None,
    side: Sequence[str] = (),
    seed: int = 0,
    alpha: float = 0.05,
    drop: Sequence[str] = (),
    log: Log = "auto",
    missing: Missing = "mean",
    progress: Tell | None = None,
) -> Study:
    """Find the structure in data and say which of it would survive a second look.

    Args:
        data: anything `assay.read` takes.
        target: a column to predict from the others; rows that lack it are left out, and questions on components
            and rows are asked of the other columns.
        side: columns that are asked whether, together, they go with all the others.
        seed: of everything random; the same seed gives the same study.
        alpha: chance of any supported finding in data without structure.
        drop: columns to leave out.
        log: which columns to take log(1 + x) of: "auto" by the rule of the encoding, "never", or their names.
        missing: "mean" fills gaps with the mean of their column, "drop" leaves rows with gaps out.
        progress: told what is being done, and where that is known how many rows are done and which share of all.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((200, 1)) + 0.5 * rng.standard_normal((200, 4))
    >>> [finding.kind for finding in study(x).findings if finding.evidence.verdict == "supported"]
    ['component', 'correlations', 'map']
    """
    tell = progress or (lambda what, done, fraction: None)
    source = read(data)
    table = prepare(
        source if target is None else KnownTarget(source, target),
        drop=drop,
        log=log,
        missing=missing,
        seed=seed,
        progress=tell,
    )
    kept = not_of(table, target)
    others = table if kept.all() else table.among(kept)
    tell("Summarising", None, None)
    picked = PickedRows(rows_shown(table.card.rows_used, seed))
    passing = (block[:, kept] for block in picked.passing(table.blocks()))
    found = _components(others, passing, seed, alpha, tell)
    sample = picked.rows if table.rows is None else table.rows[picked.numbers]
    asked = ask_columns(table, sample, target, side, alpha=alpha, seed=seed, tell=tell)
    asked += ask_rows(others, sample[:, kept], picked.numbers, alpha=alpha, seed=seed, tell=tell)
    factor = strictness([found.evidence[0].p, *(one.answer.evidence.p for one in asked)], alpha)
    found = found.stricter(factor, alpha) if factor > 1.0 else found
    looks = [_look_at_components(found, factor)]
    findings = _components_found(found)
    results: dict[str, Any] = {"components": found, "first_look": table.look}
    for one in asked:
        answer = one.answer.stricter(factor, alpha)
        looks.append(one.look(factor))
        place = 0 if one.name in ("prediction", "canonical") else len(findings)  # what was asked for comes first
        findings.insert(place, one.finding(answer))
        results[one.name] = answer
    return Study(table.card, tuple(findings), Ledger(tuple(looks), alpha, seed), __version__, results)


def _components(table: Table, passing: Iterator[Any], seed: int, alpha: float, tell: Tell) -> ComponentsResult:
    n, d = table.card.rows_used, len(table.columns)
    narrow = d <= n and d <= _WIDEST
    folds = (
        GroupedMoments.folds(passing if table.rows is None else table.rows, fold_count(n), seed=seed)
        if narrow or table.rows is None
        else None
    )
    return components(
        table.columns,
        rows=table.rows,
        folds=folds,
        groups=table.groups,
        alpha=alpha,
        seed=seed,
        progress=lambda what: tell(f"Components: {what}", None, None),
    )


def _look_at_components(found: ComponentsResult, factor: float) -> Look:
    until = f"after {found.n_real}" if found.n_real == len(found.evidence) else "at the first failure"
    rule = f"tested in order, stopped {until}; so the chance of any false claim is that of one test"
    return Look("Which components are real?", len(found.values), len(found.evidence), shared(rule, factor))


def _components_found(found: ComponentsResult) -> list[Finding]:
    return [
        Finding(
            id=f"component-{j + 1}",
            kind="component",
            subject=component_subject(found, j),
            sentence=component_sentence(found, j),
            evidence=evidence,
        )
        for j, evidence in enumerate(found.evidence)
    ]
