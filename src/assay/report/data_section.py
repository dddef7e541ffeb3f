"""What the study looked at and how often: ledger, data, and how to read both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.asking.card import Column, DataCard
from assay.asking.finding import Finding
from assay.report.profile import elsewhere, profile_table
from assay.study.findings import Ledger, Study
from assay.study.gaps_together import GapsTogether
from assay.views.axes.numbers import count, counted, percent
from assay.views.html.elements import definitions, details, name_cell, table
from assay.views.html.escape import escaped
from assay.views.html.searchable import CELL, most_rows, searchable

_LISTED = 40
_FIRST = 8
_BESIDE = 3
_PROBLEMS = 200
_SENTENCE = 500
_HEADS = ("Column", "No.", "Kind", "Use", "Missing", "Values", "Remark", "Why this kind")
_SEVERAL = {
    "category": "categories", "ordered": "ordered categories", "empty": "empty", "text": "texts", "other": "others"
}  # fmt: skip


def ledger_section(ledger: Ledger) -> str:
    """Everything that was examined and tested, so that nothing was found by looking often.

    Args:
        ledger: of the study.
    """
    total = definitions([
        ("Structures examined", count(ledger.looks)), ("Tests", count(sum(q.tests for q in ledger.questions))),
        ("Level", f"{ledger.level:g}".removeprefix("0")),
        ("Seed", str(ledger.seed)), ("Effort", ledger.effort),
    ])  # fmt: skip
    rows = [[escaped(q.question), count(q.looks), count(q.tests), escaped(q.correction)] for q in ledger.questions]
    unasked = "".join(f"<li>{escaped(q.question)} {escaped(_sentence(q.why))}</li>" for q in ledger.not_asked)
    left = f"<h3>What was not asked</h3><ul>{unasked}</ul>" if unasked else ""
    if not rows:
        return f"{total}<p>No question was asked.</p>{left}"
    heads = ["Question", "Structures examined", "Tests", "How these are corrected for"]
    together = f"<p class=aside>{escaped(ledger.together)}</p>" if ledger.together else ""
    return total + table("What each question examined", heads, rows, numeric=(1, 2)) + together + left


def _sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}."


def data_section(study: Study) -> str:
    """What was read and what was wrong with it, what was used, and what was done with each column.

    Args:
        study: the study.
    """
    data = study.data
    if data.facts:
        listed = "".join(f"<li>{escaped(fact)}</li>" for fact in data.facts)
        return f"<ul>{listed}</ul>{problems_list(data.problems)}{_columns(data)}"
    missing, cells = sum(c.missing for c in data.columns), data.rows * len(data.columns)
    kinds = Counter(c.kind for c in data.columns)
    card = definitions([
        ("Rows read", count(data.rows)), ("Rows used", count(data.rows_used)),
        ("Columns used", f"{count(sum(c.used for c in data.columns))} of {count(len(data.columns))}"),
        ("Missing values", f"{count(missing)} ({percent(missing / cells)})" if missing else "none"),
        *([] if data.duplicates is None else [("Duplicate rows", data.duplicates.sentence().rstrip("."))]),
        ("Kinds", ", ".join(counted(n, kind, _SEVERAL.get(kind)) for kind, n in kinds.most_common())),
    ])  # fmt: skip
    return card + problems_list(data.problems) + _columns(data) + profile_table(data) + _missing_together(study.gaps)


def _missing_together(gaps: GapsTogether | None) -> str:
    """Which columns are missing in the same rows, for each that shares gaps with another; empty where none does."""
    if gaps is None:
        return ""
    shared = [(name, others) for name, others in gaps.beside.items() if others]
    if not shared:
        return ""
    rows = [
        [
            name_cell(name),
            ", ".join(f"{name_cell(one.column)} ({count(one.rows)}, {percent(one.share)})" for one in others[:_BESIDE]),
        ]
        for name, others in shared[:_LISTED]
    ]
    more = f"; the first {_LISTED} of {count(len(shared))}" if len(shared) > _LISTED else ""
    caption = f"Of {counted(gaps.rows, 'row')}: rows that lack both, and their share of the gaps of the first{more}"
    return f"<h3>Columns missing in the same rows</h3>{table(caption, ['Column', 'Missing together with'], rows)}"


def problems_list(problems: Sequence[str]) -> str:
    """What was wrong while reading; empty where nothing was.

    Args:
        problems: sentences.
    """
    if not problems:
        return ""
    items = [f"<li><bdi>{escaped(problem, _SENTENCE)}</bdi></li>" for problem in problems[:_PROBLEMS]]
    first, rest = "".join(items[:_FIRST]), "".join(items[_FIRST:])
    more = f"<p>{count(len(problems) - _PROBLEMS)} more are in the JSON.</p>" if len(problems) > _PROBLEMS else ""
    folded = details(f"{count(len(problems) - _FIRST)} more", f"<ul>{rest}</ul>{more}") if rest else ""
    return f'<div class="problems" id="problems"><h3>What was wrong while reading</h3><ul>{first}</ul>{folded}</div>'


def _columns(data: DataCard) -> str:
    """Every column: as a plain table, or, where they are many, as one to search, those with a remark first."""
    if not data.columns:
        return ""
    many = len(data.columns) > _LISTED
    numbered = list(enumerate(data.columns, 1))
    if many:
        numbered.sort(key=lambda pair: not pair[1].remark)
    every = [_cells(i, c, data.rows) for i, c in numbered[: most_rows(len(_HEADS))]]
    # a column of the table that says nothing is left out; so are numbers where the order is that of the data
    told = [j for j in range(len(_HEADS)) if any(row[j] for row in every) and (many or _HEADS[j] != "No.")]
    heads = [_HEADS[j] for j in told]
    rows = [[row[j] for j in told] for row in every]
    numeric = [heads.index(head) for head in ("No.", "Missing") if head in heads]
    if not many:
        plain = [[name_cell(row[0]), *(escaped(cell, CELL) for cell in row[1:])] for row in rows]
        return table("Every column, in the order of the data", heads, plain, numeric=numeric)
    return searchable(
        "columns", "Every column, those with a remark first", heads, rows, numeric=numeric,
        choices=[heads.index("Kind"), heads.index("Use")], only=[heads.index("Remark")] if "Remark" in heads else [],
        total=len(data.columns), elsewhere=elsewhere(data),
    )  # fmt: skip


def _cells(place: int, column: Column, rows: int) -> list[str]:
    missing = f"{count(column.missing)} ({percent(column.missing / rows)})" if column.missing and rows else "0"
    use = ["used" if column.used else "set aside", column.role or "", column.encoded]
    return [
        column.name, count(place), _listed([column.kind, column.unit or ""]), _listed(use), missing, column.typical,
        column.remark, column.why,
    ]  # fmt: skip


def _listed(words: list[str]) -> str:
    return ", ".join(filter(None, words))


def reading_section(findings: Sequence[Finding]) -> str:
    """Explain the words of the report in a few lines, folded away; findings add how to read them.

    Args:
        findings: what is reported.
    """
    own = {f.spoken.reading: f.spoken.noun for f in findings if f.spoken.reading}
    terms = definitions([
        ("Supported", "Chance alone rarely does as well, with every test counted, and the effect is there on "
         "rows that were not used to find it. Both are needed."),
        ("Suggestive", "One of the two is missing or weak. Worth new rows, not yet worth a decision."),
        ("Not distinguishable from chance", "Data without this structure often look the same. It may still exist, "
         "smaller than these rows can show."),
        ("Not testable here", "Too few rows, or rows that depend on each other in a way that no test here allows for."),
        ("p", "How often data without this structure look at least as much like it, by chance alone: .01 is one time "
         "in a hundred. ≤ marks the least that a simulation of its size can say."),
        ("q", "p made larger for every test of the report, since who tests often finds something by chance. The "
         "verdict is taken from q; the rule stands under everything that was tested."),
        ("On unseen rows", "The effect measured on rows that were kept out while the structure was sought, with its "
         "95% interval."),
        ("Structures examined", "How many pairs of columns, components, rows, groups and so on were examined to find "
         "this one. Of 100 tests of pure noise 5 have a p below .05: that is why they are counted."),
        ("Times as far as chance reaches", "How far a finding lies beyond chance, on one scale for all: its distance "
         "from the middle of what chance makes, where 1 is what chance reaches one time in twenty. It compares how "
         "clear findings are, not how large or how useful."),
        *((f"{noun[:1].upper()}{noun[1:]}", reading) for reading, noun in own.items()),
    ])  # fmt: skip
    return details("What the words mean", f'<div class="words">{terms}</div>')
