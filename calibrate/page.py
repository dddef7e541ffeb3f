"""Counts to docs/theory/calibration.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from calibrate.families import FAMILIES
from calibrate.family import Sort
from calibrate.rates import ALLOWED, chance_of_notice, exact_interval, most_allowed, noticed_rate, tables_needed
from calibrate.spread import TABLES
from calibrate.summary import Summary

BEFORE = Path(__file__).parent / "before.json"
PAGE = Path(__file__).parent.parent / "docs" / "theory" / "calibration.md"
Cells = Sequence[str]

_SORTS: dict[Sort, str] = {
    "independent": "Independent columns",
    "rare": "Independent columns with rare levels",
    "dependent": "Rows that depend on each other, columns that do not",
}
_SOMETHING = """## Where there is something

Tables in which it is found and supported. The reference test of the field is given the planted structure alone, at
level .05; a study looks everywhere and pays for it.

"""
_PRINTED = """## Intervals

Of 95% intervals, those that hold the truth: what the thing found (its pair, direction, line) is in 200,000 rows of the
same law. *Printed with a claim* counts the supported findings only; width is theirs;
*outside* counts ends beyond -1 or 1.

"""
_AGAIN = """## The same answer again

The same table under other seeds and other orders of its rows: verdicts that differ from the commonest one of their
finding, and sizes on unseen rows outside the interval that another turn prints.

"""
_NOTHING: Summary = {"families": {}, "intervals": {}, "spread": {}}


def write(found: Summary, path: Path = PAGE) -> None:
    """Write the page, beside what was measured before."""
    before = json.loads(BEFORE.read_text()) if BEFORE.exists() else _NOTHING
    path.write_text(page(found, before))


def page(found: Summary, before: dict[str, Any]) -> str:
    """The page as Markdown."""
    parts = [
        _opening(found, before),
        _structureless(found, before),
        _planted(found, before),
        _intervals(found, before),
        _spread(found, before),
        _errors(found),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(found: Summary, before: dict[str, Any]) -> str:
    studied = sum(own["tables"] for own in found["families"].values())
    whole = sum(family.tables for family in FAMILIES.values() if family.sort != "interval")
    version = f"\n*Before* is version {before['version']}." if "version" in before else ""
    needed = tables_needed()
    return f"""# Calibration

How often a study claims what is not there, finds what is, and prints an interval that holds the truth. `make calibrate`
draws the tables, studies each with every question, and writes this page; it can be stopped and taken up again.
This run has {studied:,} of the {whole:,} tables of the first two sections.{version}

## What these numbers can show

Brackets are exact 95% intervals (Clopper and Pearson). A rate is called too high when more than $c$ of $n$ tables make
a false claim, with the least $c$ that a true rate of 5% exceeds with a chance of at most 5%. A true rate of 10% is then
noticed with probability .95 from {needed} tables on ($c$ = {most_allowed(needed)}). One family has fewer:
*would notice* is the true rate it would notice with that probability. All families of a sort, in a full run, have
enough."""


def _structureless(found: Summary, before: dict[str, Any]) -> str:
    lines = ["## Where there is nothing", "", "Tables with *any* supported finding, and the kinds of these findings."]
    for sort, title in _SORTS.items():
        names = [name for name in found["families"] if FAMILIES[name].sort == sort]
        if names:
            rows = [_claims(name, found["families"][name], before) for name in _ordered(names)]
            every = _pooled(found["families"][name] for name in names)
            old = _pooled(before["families"][name] for name in names if name in before["families"])
            head = ("family", "tables", "with a claim", "kinds", "rows seen as", "would notice", "before")
            lines += ["", f"### {title}", "", _table(head, [*rows, _whole(every, old)]), "", _verdict(every)]
    return "\n".join(lines)


def _claims(name: str, own: dict[str, Any], before: dict[str, Any]) -> Cells:
    old = before["families"].get(name)
    kinds = ", ".join(f"{kind} {count}" for kind, count in own["kinds"].items())
    told = f" (not told: {', '.join(own['untold'])})" if own["untold"] else ""
    seen = ", ".join(f"{how} {count}" for how, count in own["rows"].items())
    rate, then = _rate(own["claims"], own["tables"]), _of(old["claims"], old["tables"]) if old else ""
    return name + told, str(own["tables"]), rate, kinds, seen, _share(own["tables"]), then


def _pooled(parts: Iterable[dict[str, Any]]) -> tuple[int, int]:
    counts = [(own["claims"], own["tables"]) for own in parts]
    return sum(x for x, _ in counts), sum(n for _, n in counts)


def _whole(every: tuple[int, int], old: tuple[int, int]) -> Cells:
    x, n = every
    return "**all**", f"**{n}**", f"**{_rate(x, n)}**", "", "", _share(n), _of(*old) if old[1] else ""


def _verdict(every: tuple[int, int]) -> str:
    x, n = every
    c = most_allowed(n)
    said = "more than" if x > c else "within"
    return (
        f"{x} of {n} claim something, {said} the {c} that a rate of {ALLOWED:.0%} allows. A true rate of 10% would "
        f"have been noticed with probability {chance_of_notice(n, 0.10):.2f}."
    )


def _planted(found: Summary, before: dict[str, Any]) -> str:
    names = [name for name in found["families"] if FAMILIES[name].sort == "planted"]
    if not names:
        return ""
    rows = []
    for name in _ordered(names):
        own, old = found["families"][name], before["families"].get(name)
        test = FAMILIES[name].reference
        reference = f"{_of(*own['reference'])} ({test})" if own["reference"][1] else ""
        false = _of(own["claims"], own["tables"]) if FAMILIES[name].false else ""
        then = (_of(old["claims"], old["tables"]) if FAMILIES[name].false else _of(*old["found"])) if old else ""
        rows.append((name, _rate(*own["found"]), reference, false, then))
    return _SOMETHING + _table(("planted", "found", "reference test", "false", "before"), rows)


def _intervals(found: Summary, before: dict[str, Any]) -> str:
    rows = []
    for name in _ordered(found["intervals"]):
        for what, own in found["intervals"][name].items():
            old = before["intervals"].get(name, {}).get(what, {}).get("supported", {})
            then = f"{_of(old['held'], old['count'])}, {old['width']:.2f} wide" if old.get("count") else ""
            both = [_rate(own[part]["held"], own[part]["count"]) for part in ("all", "supported")]
            width = own["supported"]["width"]
            outside = str(own["all"]["outside"] or "")
            rows.append((what, name, *both, "" if width is None else f"{width:.2f}", outside, then))
    if not rows:
        return ""
    head = ("interval of", "tables", "hold", "hold, printed with a claim", "width", "outside", "before")
    return _PRINTED + _table(head, rows)


def _spread(found: Summary, before: dict[str, Any]) -> str:
    rows, total = [], [0, 0, 0, 0]
    for name in sorted(found["spread"], key=list(TABLES).index):
        own = found["spread"][name]
        old = before["spread"].get(name)
        rows.append(
            (name, str(own["turns"]), _of(*own["changed"]), _of(*own["moved"]), _of(*old["changed"]) if old else "")
        )
        total = [a + b for a, b in zip(total, (*own["changed"], *own["moved"]), strict=True)]
    if not rows:
        return ""
    rows.append(("**all**", "", f"**{_part(*total[:2])}**", f"**{_part(*total[2:])}**", _all_changed(before)))
    return _AGAIN + _table(("table", "turns", "verdicts that differ", "sizes outside", "before"), rows)


def _all_changed(before: dict[str, Any]) -> str:
    counts = [own["changed"] for own in before["spread"].values()]
    return _part(sum(x for x, _ in counts), sum(n for _, n in counts)) if counts else ""


def _errors(found: Summary) -> str:
    lines = [
        f"- {_escaped(name)}: {count} of {own['tables']}, {error}"
        for name, own in found["families"].items()
        for error, count in own["errors"].items()
    ]
    return "\n".join(["## Studies that ended in an error", "", *lines]) if lines else ""


def _ordered(names: Iterable[str]) -> list[str]:
    places = {name: i for i, name in enumerate(FAMILIES)}
    return sorted(names, key=places.__getitem__)


def _table(head: Cells, rows: Sequence[Cells]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_escaped(cell) for cell in line) + " |" for line in lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _of(x: int, n: int) -> str:
    return f"{x} of {n}"


def _part(x: int, n: int) -> str:
    return f"{_of(x, n)}, {x / n:.1%}" if n else ""


def _rate(x: int, n: int) -> str:
    if not n:
        return ""
    low, high = exact_interval(x, n)
    return f"{_of(x, n)} ({low:.0%} to {high:.0%})"


def _share(n: int) -> str:
    return f"{noticed_rate(n):.0%}"
