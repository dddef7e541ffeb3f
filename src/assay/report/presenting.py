"""How a study or a comparison shows itself in Python: `repr`, in a notebook, and as a file.

`assay.asking.result` loads this room by its name.
"""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path

from assay.asking.card import DataCard
from assay.asking.finding import Finding, strongest_first
from assay.asking.result import Result
from assay.asking.words import BADGES
from assay.comparison.comparison import Comparison
from assay.errors import ParameterError
from assay.report.headline import Headline, comparison_headline, headline
from assay.report.write import write_comparison, write_report
from assay.study.findings import Study
from assay.views.axes.numbers import count, counted
from assay.views.html.escape import escaped, visible

_HEIGHT = 760  # pixels of the frame in a notebook
_NAME = 120


def brief(found: Result) -> str:
    """A few lines: what was looked at, what stands, how many findings have which verdict, which answers there are.

    Args:
        found: a study or a comparison.
    """
    kind, data, answer = _about(found)
    lines = [f"{kind} of {data}", answer.line, _tally(found.findings)]
    if found.answers:
        lines.append(f"answers: {', '.join(found.answers)}")
    return "\n".join(map(visible, lines))


def notebook(found: Result) -> str:
    """The verdicts as a table, then the page in a frame that can reach neither the notebook nor the network.

    Args:
        found: a study or a comparison.

    Returns:
        HTML; what came from the data is shown as it is, never read as HTML.
    """
    kind, data, answer = _about(found)
    rows = "".join(_row(finding) for finding in strongest_first(found.findings))
    cell = 'style="text-align:left"'
    table = (
        f"<table><thead><tr><th {cell}>Verdict</th><th {cell}>Finding</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    return (
        f"<div><p>{kind} of {escaped(data, _NAME)}</p><p><strong>{escaped(answer.line)}</strong></p>"
        f"<p>{escaped(_tally(found.findings))}</p>{table if rows else ''}</div>"
        f'<iframe title="The page of {escaped(data, _NAME)}" sandbox="allow-scripts allow-downloads" '
        f'srcdoc="{html.escape(_page(found), quote=True)}" '
        f'style="width:100%;height:{_HEIGHT}px;border:1px solid #8888;resize:vertical"></iframe>'
    )


def write(
    found: Result, path: str | os.PathLike[str], *, include_rows: bool = False, order: Sequence[str] = ()
) -> None:
    """Write the page, or JSON where the name ends so.

    Args:
        found: a study or a comparison.
        path: ends in ".html", ".htm" or ".json".
        include_rows: whether the page of a study may hold rows as they came.
        order: columns to draw first on it.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".html", ".htm", ".json"):
        raise ParameterError(f"a report ends in .html, or in .json for programs; got {Path(path).name!r}")
    page, findings = (None, path) if ending == ".json" else (path, None)
    if isinstance(found, Comparison):
        write_comparison(found, page, findings)
    else:
        write_report(_study(found), page, findings, order=order, include_rows=include_rows)


def _page(found: Result) -> str:
    if isinstance(found, Comparison):
        from assay.report.comparison_page import render as rendered

        return rendered(found, framed=True)
    from assay.report.page import render

    return render(_study(found), framed=True)


def _study(found: Result) -> Study:
    if not isinstance(found, Study):
        raise ParameterError(f"a {type(found).__name__} has no page")
    return found


def _about(found: Result) -> tuple[str, str, Headline]:
    """What it is called, what it is about, and the answer in one line."""
    if isinstance(found, Comparison):
        return "Comparison", " and ".join(map(_sized, found.data)), comparison_headline(found)
    study = _study(found)
    return "Study", _sized(study.data), headline(study)


def _sized(data: DataCard) -> str:
    if data.facts:
        return f"{data.name}: {', '.join(data.facts)}"
    used = sum(column.used for column in data.columns)
    rows = "" if data.rows == data.rows_used else f"{count(data.rows_used)} of "
    return (
        f"{data.name}: {rows}{counted(data.rows, 'row')}, {count(used)} of {counted(len(data.columns), 'column')} used"
    )


def _tally(findings: Sequence[Finding]) -> str:
    """How many findings have which verdict."""
    by_verdict = {verdict: sum(f.evidence.verdict == verdict for f in findings) for verdict in BADGES}
    told = [f"{count(many)} {verdict}" for verdict, many in by_verdict.items() if many]
    return ": ".join(filter(None, (counted(len(findings), "finding"), ", ".join(told))))


def _row(finding: Finding) -> str:
    sign, words = BADGES[finding.evidence.verdict]
    cell = 'style="text-align:left;white-space:normal"'
    return f"<tr><td {cell}>{sign} {words}</td><td {cell}>{escaped(finding.line)}</td></tr>"
