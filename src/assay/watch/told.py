"""Alerts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.arrays import Array
from assay.data.problems import Problems
from assay.watch.alert import Alert, Kind
from assay.watch.anomalies import BY_RANK, JudgedRows
from assay.watch.drift import Aspect

if TYPE_CHECKING:
    from assay.watch.watch import Watch


_DRIFT: dict[Aspect, Kind] = {
    "mean": "drift of the mean",
    "covariance": "drift of the covariance",
    "subspace": "drift of the subspace",
}
DEPENDENT = "; rows depend on those before, which makes it suggestive at best"


def anomaly(watch: Watch, row: int, values: Array, score: float, judged: JudgedRows, i: int) -> Alert:
    """A row (from 0) that does not belong."""
    by_rank = judged.flags[i] == BY_RANK
    dependent = watch.aspects.dependent
    names = watch.names
    drivers = watch.law.drivers(values)
    shown = ", ".join(f"{names[j]} {deviation:+.1f} sd" for j, share, deviation in drivers if share >= 0.1)
    count = int(judged.among[i])
    p = float(judged.p[i])
    basis = f"rank among {count:,} rows" if by_rank else f"tail extrapolated beyond {count:,} rows"
    supported = by_rank and not dependent and watch.options["against"] == "reference"
    return Alert(
        "anomaly",
        row + 1,
        f"row {row + 1:,} does not belong, p {p:.1e} by its {basis}: {shown}{DEPENDENT if dependent else ''}.",
        "supported" if supported else "suggestive",
        p,
        float(judged.level[i]),
        basis,
        score,
        tuple(names[j] for j, _, _ in drivers),
    )


def more_anomalies(row: int, count: int, every: int) -> Alert:
    """Those of a window that were not told one by one."""
    return Alert("more anomalies", row, f"{count:,} more rows of the last {every:,} or so do not belong.", count=count)


def drift(watch: Watch, aspect: Aspect, raw: Array, window: Array, p: float, level: float) -> Alert:
    """A window that differs from the reference: (d, n) rows as they came, and (n, d) drawn in."""
    aspects, names = watch.aspects, watch.names
    if aspect == "mean":
        shift = aspects.shift(raw)
        order = np.argsort(-np.abs(shift), kind="stable")[:3].tolist()
        size = float(np.abs(shift).max())
        words = "the mean moved: " + ", ".join(f"{names[j]} {shift[j]:+.2f} sd" for j in order)
        columns = tuple(names[j] for j in order)
    else:
        change = aspects.change(window)
        a, b = (int(j) for j in np.unravel_index(np.argmax(np.abs(change)), change.shape))
        columns = (names[a],) if a == b else (names[a], names[b])
        if aspect == "covariance":
            size = float(np.abs(change).max())
            what = f"the variance of {names[a]}" if a == b else f"the covariance of {names[a]} and {names[b]}"
            words = f"the covariance changed, most in {what}: {change[a, b]:+.2f} in units of their standard deviations"
        else:
            size = aspects.angle(window)
            many = "direction" if aspects.leading == 1 else f"{aspects.leading} directions"
            words = f"the leading {many} turned by {size:.0f} degrees"
    tail = DEPENDENT if aspects.dependent else ""
    return Alert(
        _DRIFT[aspect],
        watch.rows,
        f"{words}; {len(window):,} rows up to row {watch.rows:,} against {aspects.rows:,} of the reference, "
        f"p {p:.1e}{tail}.",
        "suggestive" if aspects.dependent else "supported",
        p,
        level,
        f"look {watch.looks:,}, {len(window):,} rows against {aspects.rows:,}",
        size,
        columns,
    )


def problem_alerts(problems: Problems, known: dict[tuple[str, str | None], int], row: int) -> list[Alert]:
    """What was wrong, told when a count passes 1, 10, 100, ...; `known` holds counts and is brought up to date."""
    alerts = []
    for problem in problems:
        key = problem.what, problem.column
        before = known.get(key, 0)
        known[key] = now = before + problem.count
        if len(str(now)) > len(str(before)) or not before:
            columns = () if problem.column is None else (problem.column,)
            alerts.append(Alert("problem of input", row, problem.sentence(), count=now, columns=columns))
    return alerts
