"""What the study looked at and how often: ledger, data, and how to read both."""

from __future__ import annotations

from assay.report.elements import NAME, definitions, details, name_cell, table
from assay.report.escape import escaped
from assay.report.numbers import count
from assay.study.findings import Column, Study

_LISTED = 40
_ASIDE = 500
_USED = 2000


def ledger_section(study: Study) -> str:
    """Every look that was taken, so that nothing was found by looking often.

    Args:
        study: the study.
    """
    ledger = study.ledger
    total = definitions([
        ("Looks in all", count(ledger.looks)), ("Level", f"{ledger.alpha:g}".removeprefix("0")),
        ("Seed", str(ledger.seed)),
    ])  # fmt: skip
    rows = [[escaped(q.question), count(q.looks), count(q.tests), escaped(q.correction)] for q in ledger.questions]
    if not rows:
        return f"{total}<p>No question was asked.</p>"
    heads = ["Question", "Looks", "Tests", "Correction"]
    return total + table("Looks by question", heads, rows, numeric=(1, 2))


def data_section(study: Study) -> str:
    """What was read, what was used, and why the rest was not.

    Args:
        study: the study.
    """
    data = study.data
    used = [c for c in data.columns if c.used]
    missing = sum(c.missing for c in data.columns)
    card = definitions([
        ("Rows read", count(data.rows)), ("Rows used", count(data.rows_used)),
        ("Columns used", f"{count(len(used))} of {count(len(data.columns))}"),
        ("Missing values", count(missing)),
    ])  # fmt: skip
    if len(data.columns) <= _LISTED:
        return card + _columns("Every column, in the order of the data", data.columns)
    aside = [c for c in data.columns if not c.used]
    gaps = sorted((c for c in used if c.missing), key=lambda c: -c.missing)
    content = _part("Columns set aside", aside, _ASIDE) + _part("Used columns with missing values", gaps, _ASIDE)
    names = ", ".join(name_cell(c.name) for c in used[:_USED])
    beyond = f" and {count(len(used) - _USED)} more, listed in the JSON" if len(used) > _USED else ""
    return card + content + details(f"The {count(len(used))} columns used", f'<p class="names">{names}{beyond}.</p>')


def _part(caption: str, columns: list[Column], limit: int) -> str:
    if not columns:
        return ""
    if len(columns) > limit:
        caption = f"{caption}: the first {count(limit)} of {count(len(columns))}, the rest are in the JSON"
    content = _columns(caption, columns[:limit])
    return details(f"{caption} ({count(len(columns))})", content) if len(columns) > _LISTED else content


def _columns(caption: str, columns: tuple[Column, ...] | list[Column]) -> str:
    rows = [
        [
            name_cell(c.name),
            escaped(c.kind),
            "used" if c.used else "set aside",
            count(c.missing),
            escaped(c.note, 4 * NAME),
        ]
        for c in columns
    ]
    heads = ["Column", "Kind", "Use", "Missing", "Note"]
    if not any(c.note for c in columns):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return table(caption, heads, rows, numeric=(3,))


def reading_section() -> str:
    """Explain the words of the report in a few lines, folded away."""
    terms = definitions([
        ("Supported", "Chance alone rarely does as well, after correction for every look, and the effect is there on "
         "rows that were not used to find it. Both are needed."),
        ("Suggestive", "One of the two is missing or weak. Worth new rows, not yet worth a decision."),
        ("Not distinguishable from chance", "Data without this structure often look the same. It may still exist, "
         "smaller than these rows can show."),
        ("Not testable here", "Too few rows, or rows that depend on each other in a way that no test here allows for."),
        ("p", "How often chance alone does at least as well. ≤ marks the least that a simulation of its size can say."),
        ("q", "p corrected for every look in the ledger. The verdict is taken from q."),
        ("On unseen rows", "The effect measured on rows that were kept out while the structure was sought, with its "
         "95% interval."),
        ("Alignment of direction", "Expected agreement of the direction found with the true one, as a squared cosine: "
         "1 is the same direction, 0 is unrelated."),
        ("Looks", "How many structures were looked at to find this one. Many looks find something in pure noise."),
    ])  # fmt: skip
    return details("What the words mean", f'<div class="words">{terms}</div>')
