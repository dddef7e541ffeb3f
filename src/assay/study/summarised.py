"""A study of a summary: moments of rows that are not at hand, in one part or several.

What laws know of means and covariances can be said; what needs rows cannot, and the ledger says so. Since nobody can
see whether the rows depend on each other, or how far the columns are from a normal law, nothing is called supported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.asking.card import Column, DataCard
from assay.asking.table import FirstLook, KnownGroups, Table
from assay.data.columns.encoding import Encoding
from assay.data.files import archive_kind
from assay.data.partitions import Here
from assay.errors import DataError, ParameterError
from assay.evidence.design import Independent
from assay.evidence.evidence import Evidence
from assay.shown import a_few
from assay.study.row_dependence.answer import RowDependence
from assay.study.row_dependence.rows import Told
from assay.study.table import label_of, measured
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.sharing.release import Noise
from assay.summary.sharing.release import told as released
from assay.summary.sharing.shared import SharedMoments
from assay.views.axes.numbers import count, counted

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
_DROWNED = 0.25  # of a sum of squares: noise of more leaves nothing to be said of a column
_KINDS: dict[str, Any] = {"Moments": Moments, "GroupedMoments": GroupedMoments, "SharedMoments": SharedMoments}


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A summary as it was given.

    Attributes:
        name: of the data.
        parts: moments of all rows, in one part or several.
        shared: the same with what sites told beside, where they did.
    """

    name: str
    parts: GroupedMoments
    shared: SharedMoments | None = None


def summary_of(data: Any) -> Summary | None:
    """Moments, or a file of them, and the name of the data; None for anything else.

    Args:
        data: what the user gave.
    """
    name = "summary"
    if isinstance(data, (str, os.PathLike)):
        kind = archive_kind(data)
        if kind is None:
            return None
        if kind not in _KINDS:
            raise DataError(f"{data} holds a {kind}; of what assay saves, only moments can be studied")
        name, data = Path(data).name, _KINDS[kind].load(data)
    if isinstance(data, Moments):
        return Summary(name, GroupedMoments(("all",), (data,)))
    if isinstance(data, SharedMoments):
        return Summary(name, data.by_fold, data)
    return Summary(name, data) if isinstance(data, GroupedMoments) else None


def summary_columns(given: Summary) -> list[str]:
    """The columns that a summary is of.

    Args:
        given: the summary.
    """
    return list(dict.fromkeys(column for column, _ in _layout(_checked(given.parts), given.shared).origins))


def summarised(
    given: Summary, *, drop: Sequence[str], told: Told, outcomes: frozenset[str]
) -> tuple[Table, Table, RowDependence]:
    """The table of a summary; the same without outcomes; and what is known of how rows depend: nothing.

    Args:
        given: the summary.
        drop: columns to leave out.
        told: what the user says of rows.
        outcomes: columns that questions on the others leave out.
    """
    if told.columns:
        raise ParameterError("how rows depend cannot be heeded in a summary: give the rows")
    total = _checked(given.parts)
    layout = _layout(total, given.shared)
    fields = list(dict.fromkeys(column for column, _ in layout.origins))
    for column in (*drop, *sorted(outcomes)):
        if column not in fields:
            raise ParameterError(f"there is no column {column!r}; there are {a_few(fields)}")
    noise = None if given.shared is None else given.shared.noise
    why = _why_not(total, layout, drop, noise)
    used = np.array([not w for w in why])
    if not used.any():
        raise DataError(f"{given.name} has no column that varies: there is nothing to analyse")
    card = DataCard(
        given.name, total.count, total.count, _columns(layout, why), notes=_notes(total.count, given.shared)
    )
    every = _table(card, layout, given, noise)
    whole = replace(every.among(used), folds=_of_columns(every.folds, used))
    kept = ~whole.of_columns(outcomes)
    if not kept.any():
        raise DataError(f"{sorted(outcomes)[0]!r} is the only column in use: there is nothing to predict it from")
    others = replace(whole.among(kept), folds=_of_columns(whole.folds, kept))
    unknown = RowDependence(
        "unknown", (), False, "", float(total.count), total.count, whole.depends,
        Evidence(1.0, n=total.count, method=LIMIT),
    )  # fmt: skip
    return whole, whole if kept.all() else others, unknown


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """The D numbers of a summary: their names, groups, measurements, and the (column, kind) behind each."""

    names: tuple[str, ...]
    groups: NDArray[np.intp]
    measured: NDArray[np.bool_]
    origins: tuple[tuple[str, str], ...]
    encoding: Encoding | None = None


def _layout(total: Moments, shared: SharedMoments | None) -> _Layout:
    if shared is None:
        names = total.columns or tuple(f"column {j + 1}" for j in range(total.d))
        plain = tuple((name, "number") for name in names)
        return _Layout(names, np.arange(total.d), np.ones(total.d, dtype=bool), plain)
    encoding = shared.encoding
    kinds = {known.name: known.kind for known in encoding.fields}
    columns = [encoding.source_column(j) for j in range(total.d)]
    origins = tuple((column, kinds[column]) for column in columns)
    names = tuple(label_of(encoding, j) for j in range(total.d))
    return _Layout(names, encoding.groups.astype(np.intp), measured(encoding), origins, encoding)


def _why_not(total: Moments, layout: _Layout, drop: Sequence[str], noise: Noise | None) -> list[str]:
    """For each number why it cannot be used; empty where it can."""
    spread = np.sqrt(total.variance)
    constant = spread <= _ROUNDING * np.abs(total.mean)
    drowned = np.zeros(total.d, dtype=bool)
    if noise is not None:
        drowned = np.sqrt(np.diag(noise.variance(total.mean))) > _DROWNED * np.diag(total.scatter)
    return [
        "left out on request"
        if column in drop
        else "constant"
        if still
        else "drowned by the noise that was added for privacy"
        if noisy
        else ""
        for (column, _), still, noisy in zip(layout.origins, constant, drowned, strict=True)
    ]


def _columns(layout: _Layout, why: Sequence[str]) -> tuple[Column, ...]:
    """One for each column of the data; it is in use if any of its numbers is."""
    reasons: dict[str, list[str]] = {}
    for (name, _), reason in zip(layout.origins, why, strict=True):
        reasons.setdefault(name, []).append(reason)
    kinds, encoding = dict(layout.origins), layout.encoding
    units = {} if encoding is None else {known.name: known.unit for known in encoding.fields}
    encoded = {} if encoding is None else {c.name: c.encoded for c in encoding.columns if c.encoded != "as it is"}
    return tuple(
        Column(
            name, kinds[name], used=not all(own), note=own[0] if all(own) else "", unit=units.get(name),
            encoded=encoded.get(name, ""),
        )
        for name, own in reasons.items()
    )  # fmt: skip


def _notes(rows: int, shared: SharedMoments | None) -> tuple[str, ...]:
    first = f"Only a summary of {count(rows)} rows is at hand: their means and covariances. {_PROMISE}"
    if shared is None:
        return (first,)
    notes = [first]
    given = shared.contributions
    if len(given) > 1:
        notes.append(f"They come from {len(given)} summaries that were merged.")
    gaps, strange = (sum(getattr(one, name) or 0 for one in given) for name in ("gaps", "strange"))
    if gaps:
        notes.append(f"{counted(gaps, 'row was', 'rows were')} left out because a value was missing.")
    if strange:
        why = "a level that is not known to all, or that too few rows have"
        notes.append(f"{counted(strange, 'row was', 'rows were')} left out because of {why}.")
    if shared.noise is not None:
        rows_off = np.sqrt(sum(one.parts * one.sigma**2 for one in shared.noise.releases))
        notes.append(
            f"Noise was added for differential privacy, as much as {rows_off:.2g} rows more or less in every sum: what "
            "chance does, noise included, was reckoned with."
        )
    return tuple(notes)


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


def _table(card: DataCard, layout: _Layout, given: Summary, noise: Noise | None) -> Table:
    nothing, shared = np.empty(0), given.shared
    look = FirstLook((), (), (), np.empty(0, dtype=np.intp), np.empty((0, 0)), nothing, nothing)
    known = None
    if shared is not None and shared.by is not None and len(shared.groups) > 1:
        known = KnownGroups(shared.by, shared.group_folds)
    limit = LIMIT if shared is None or noise is None else f"{released(noise.releases)}; {LIMIT}"
    return Table(
        card=card,
        look=look,
        columns=layout.names,
        groups=layout.groups,
        measured=layout.measured,
        origins={int(label): origin for label, origin in zip(layout.groups, layout.origins, strict=True)},
        rows=None,
        blocks=Here([]),
        folds=_few(given.parts),
        depends=Independent(card.rows_used, limit=limit),
        summarised=True,
        known=known,
        noise=noise,
    )
