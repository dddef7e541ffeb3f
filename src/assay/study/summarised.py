"""A study of a summary: moments of rows that are not at hand, in one part or several.

What laws know of means and covariances can be said; what needs rows cannot, and the ledger says so. Since nobody can
see whether the rows depend on each other, or how far the columns are from a normal law, nothing is called supported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from assay.asking.card import Column, DataCard
from assay.asking.table import FirstLook, Table
from assay.data.files import archive_kind
from assay.data.parted import Held
from assay.errors import DataError, ParameterError
from assay.evidence.design import Independent
from assay.evidence.evidence import Evidence
from assay.study.depends.answer import Rows
from assay.study.depends.rows import Told
from assay.summary.grouped import GroupedMoments
from assay.summary.moments import Moments
from assay.views.numbers import count

LIMIT = (
    "only a summary is at hand, which does not show whether rows depend on each other or columns are far from normal"
)
NEEDS_ROWS = "not testable here: it needs rows, and only their summary is at hand"
FEWEST_ROWS = 3
_MOST_PARTS = 10
_PROMISE = (
    "What laws of chance say of these is said, and is suggestive at best: how rows depend on each other, groups, rows "
    "that do not belong, and shapes other than a line need the rows."
)
_ROUNDING = 1e-12  # of the mean: a spread of less is that of a constant


def summary_of(data: Any) -> tuple[GroupedMoments, str] | None:
    """Moments, or a file of them, as parts and the name of the data; None for anything else.

    Args:
        data: what the user gave.
    """
    name = "summary"
    if isinstance(data, (str, os.PathLike)):
        kind = archive_kind(data)
        if kind is None:
            return None
        if kind not in ("Moments", "GroupedMoments"):
            raise DataError(f"{data} holds a {kind}; of what assay saves, only moments can be studied")
        name, data = Path(data).name, (Moments if kind == "Moments" else GroupedMoments).load(data)
    if isinstance(data, Moments):
        return GroupedMoments(("all",), (data,)), name
    return (data, name) if isinstance(data, GroupedMoments) else None


def summarised(
    parts: GroupedMoments, name: str, *, drop: Sequence[str], told: Told, outcomes: frozenset[str]
) -> tuple[Table, Table, Rows]:
    """The table of a summary; the same without outcomes; and what is known of how rows depend: nothing.

    Args:
        parts: the moments.
        name: of the data.
        drop: columns to leave out.
        told: what the user says of rows.
        outcomes: columns that questions on the others leave out.
    """
    if told.columns:
        raise ParameterError("how rows depend cannot be heeded in a summary: give the rows")
    total = _checked(parts)
    names = total.columns or tuple(f"column {j + 1}" for j in range(total.d))
    for column in (*drop, *sorted(outcomes)):
        if column not in names:
            raise ParameterError(f"there is no column {column!r}; there are {', '.join(names)}")
    spread = np.sqrt(total.variance)
    constant = spread <= _ROUNDING * np.abs(total.mean)
    why = [
        "left out on request" if n in drop else "constant" if c else "" for n, c in zip(names, constant, strict=True)
    ]
    used = np.array([not w for w in why])
    if not used.any():
        raise DataError(f"{name} has no column that varies: there is nothing to analyse")
    card = DataCard(
        name, total.count, total.count,
        tuple(Column(n, "number", used=not w, note=w) for n, w in zip(names, why, strict=True)),
        notes=(f"Only a summary of {count(total.count)} rows is at hand: their means and covariances. {_PROMISE}",),
    )  # fmt: skip
    whole = _table(card, names, _few(parts), used)
    kept = np.array([name not in outcomes for name in whole.columns])
    if not kept.any():
        raise DataError(f"{sorted(outcomes)[0]!r} is the only column in use: there is nothing to predict it from")
    others = replace(whole.among(kept), folds=_of_columns(whole.folds, kept))
    design = whole.depends
    unknown = Rows(
        "unknown", (), False, "", float(total.count), total.count, design, Evidence(1.0, n=total.count, method=LIMIT)
    )
    return whole, whole if kept.all() else others, unknown


def _checked(parts: GroupedMoments) -> Moments:
    total = parts.total
    if total.count < FEWEST_ROWS:
        raise DataError(f"a summary of {total.count} rows says nothing; at least {FEWEST_ROWS} are needed")
    if abs(total.weight - total.count) > 1e-9 * total.count:
        raise DataError(
            f"laws of chance need rows of weight 1; these {total.count} rows have a weight of {total.weight:g}"
        )
    if not (np.isfinite(total.mean).all() and np.isfinite(total.scatter).all()):
        raise DataError("the moments are not finite: summarise rows without gaps")
    return total


def _few(parts: GroupedMoments) -> GroupedMoments:
    """At most ten parts of about as many rows, none of them of a row or none; one where there are not two."""
    several = [part for part in parts.parts if part.count]
    dealt: list[list[Moments]] = [[] for _ in range(min(_MOST_PARTS, len(several)))]
    for part in sorted(several, key=lambda m: -m.count):
        min(dealt, key=lambda own: sum(m.count for m in own)).append(part)
    merged = [reduce(Moments.__add__, own) for own in dealt]
    if min(part.count for part in merged) < FEWEST_ROWS:
        merged = [parts.total]
    return GroupedMoments(tuple(range(len(merged))), tuple(merged))


def _of_columns(parts: GroupedMoments | None, kept: Any) -> GroupedMoments | None:
    return None if parts is None else parts.map(lambda m: m[np.flatnonzero(kept)])


def _table(card: DataCard, names: tuple[str, ...], parts: GroupedMoments, used: Any) -> Table:
    columns = tuple(names[j] for j in np.flatnonzero(used))
    d, nothing = len(columns), np.empty(0)
    look = FirstLook((), (), (), np.empty(0, dtype=np.intp), np.empty((0, 0)), nothing, nothing)
    return Table(
        card=card,
        look=look,
        columns=columns,
        groups=np.arange(d),
        measured=np.ones(d, dtype=bool),
        origins={j: (column, "number") for j, column in enumerate(columns)},
        rows=None,
        blocks=Held([]),
        folds=_of_columns(parts, used),
        depends=Independent(card.rows_used, limit=LIMIT),
        summarised=True,
    )
