"""Records to counts: what the page shows, and what is kept to compare with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from calibrate.families import FAMILIES
from calibrate.run import Job
from calibrate.spread import changed, moved

Summary = dict[str, dict[str, Any]]


def summary(records: Mapping[Job, dict[str, Any]]) -> Summary:
    """Counts by family, by interval and by table of the spread, JSON-ready."""
    tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
    turns: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for job in sorted(records):
        (tables if job.part == "table" else turns)[job.name].append(records[job])
    plain = {name: rows for name, rows in tables.items() if FAMILIES[name].sort != "interval"}
    return {
        "families": {name: _family(rows) for name, rows in plain.items()},
        "intervals": {name: _intervals(rows) for name, rows in tables.items() if name not in plain},
        "spread": {name: _spread(rows) for name, rows in turns.items()},
    }


def _family(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found = [row["found"] for row in rows if "found" in row]
    reference = [row["reference"] for row in rows if "reference" in row]
    return {
        "tables": len(rows),
        "claims": sum(bool(row["false"]) for row in rows),
        "kinds": dict(sorted(Counter(kind for row in rows for kind in row["false"]).items())),
        "rows": dict(sorted(Counter(row.get("rows", "not asked") for row in rows).items())),
        "found": [sum(found), len(found)],
        "reference": [sum(reference), len(reference)],
        "errors": dict(Counter(row["error"] for row in rows if "error" in row)),
        "untold": sorted({name for row in rows for name in row.get("untold", ())}),
        "seconds": round(sum(row.get("seconds", 0.0) for row in rows) / len(rows), 2),
    }


def _intervals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By what the interval is of: held, how many, width; all of them, and those of supported findings."""
    by: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        for one in row.get("intervals", ()):
            if None not in (one["low"], one["high"], one["truth"]):
                by[one["what"]].append(one)
    return {
        what: {"all": _held(own), "supported": _held([o for o in own if o["supported"]])} for what, own in by.items()
    }


def _held(own: list[dict[str, Any]]) -> dict[str, Any]:
    width = [one["high"] - one["low"] for one in own]
    return {
        "held": sum(one["low"] <= one["truth"] <= one["high"] for one in own),
        "count": len(own),
        "width": round(sum(width) / len(width), 3) if width else None,
        "outside": sum(one["high"] > 1.0 + 1e-9 or one["low"] < -1.0 - 1e-9 for one in own),
    }


def _spread(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"turns": len(rows), "changed": changed(rows), "moved": moved(rows)}
