"""Ask every question of a data set and keep the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay import __version__
from assay.data.read import read
from assay.evidence.components import ComponentsResult, components
from assay.evidence.held_out import fold_count
from assay.study.findings import Finding, Ledger, Look, Study
from assay.study.numbers import Missing
from assay.study.sentences import component_sentence, component_subject
from assay.study.table import Log, Table, Tell, prepare
from assay.summary.grouped import GroupedMoments

# Beyond this many columns the (d, d) summary is larger than the rows it stands for are likely to be.
_WIDEST = 4000


def study(
    data: Any,
    *,
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
        seed: of everything random; the same seed gives the same study.
        alpha: chance of any supported finding in data without structure.
        drop: columns to leave out.
        log: which columns to take log(1 + x) of: "auto" by the rule of the encoding, "never", or their names.
        missing: "mean" fills gaps with the mean of their column, "drop" leaves rows with gaps out.
        progress: told what is being done, and where that is known how many rows are done and which share of all.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((200, 1)) + 0.5 * rng.standard_normal((200, 4))
    >>> [finding.evidence.verdict for finding in study(x).findings]
    ['supported', 'not distinguishable from chance']
    """
    tell = progress or (lambda what, done, fraction: None)
    table = prepare(
        read(data),
        drop=drop,
        log=log,
        missing=missing,
        seed=seed,
        progress=tell,
    )
    tell("Summarising", None, None)
    found = _components(table, seed, alpha, tell)
    look = Look(
        question="Which components are real?",
        looks=len(found.values),
        tests=len(found.evidence),
        correction=_correction(found),
    )
    return Study(
        data=table.card,
        findings=tuple(_findings(found)),
        ledger=Ledger((look,), alpha, seed),
        version=__version__,
        results={"components": found, "first_look": table.look},
    )


def _components(table: Table, seed: int, alpha: float, tell: Tell) -> ComponentsResult:
    n, d = table.card.rows_used, len(table.columns)
    narrow = d <= n and d <= _WIDEST
    folds = (
        GroupedMoments.folds(table.blocks() if table.rows is None else table.rows, fold_count(n), seed=seed)
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


def _correction(found: ComponentsResult) -> str:
    until = f"after {found.n_real}" if found.n_real == len(found.evidence) else "at the first failure"
    return f"tested in order, stopped {until}; so the chance of any false claim is that of one test"


def _findings(found: ComponentsResult) -> list[Finding]:
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
