"""Findings for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from assay.comparison.comparison import Comparison
from assay.report.headline import comparison_headline, headline
from assay.shown import visible_json
from assay.study.findings import Study
from assay.version import __version__

if TYPE_CHECKING:  # a report of a table has no use for decision processes
    from assay.models.decision.mdp.learning.learned import Learned
    from assay.models.decision.mdp.solution import Solution

_LONG = 50  # entries of a list; of a longer one each has a line to itself
_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, sort_keys=True)


def document(found: Study | Comparison) -> dict[str, Any]:
    """A study or a comparison as JSON-ready values, with the line at the top of its page.

    Args:
        found: the study or the comparison.
    """
    top = comparison_headline(found) if isinstance(found, Comparison) else headline(found)
    return found.as_dict() | {"headline": {"verdict": top.verdict, "line": top.line, "why": top.why}}


def dumps(study: Study | Comparison | Solution | Learned) -> str:
    """Write what was found as JSON, the same bytes each time: keys sorted, no NaN, UTF-8 text left readable.

    Characters that act on a terminal or hide, and lone surrogates, are escapes of JSON. What is nested is indented, but
    for entries of long lists, such as the records of thousands of columns: each of these is one line.

    Args:
        study: the study, the comparison, the solution of a decision process, or one learned.

    Returns:
        JSON with a newline at its end.

    >>> from assay.asking.card import DataCard
    >>> from assay.study.findings import Ledger
    >>> dumps(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0.1.0")).splitlines()[1]
    '  "answers": {},'
    """
    told = document(study) if isinstance(study, (Study, Comparison)) else {"assay": __version__, **study.as_dict()}
    return visible_json("".join(_laid_out(told, "\n"))) + "\n"


def _laid_out(value: Any, line: str) -> Iterator[str]:
    """JSON in pieces, indented from a line's beginning on."""
    inner = f"{line}  "
    if isinstance(value, dict) and value:
        before = "{"
        for key in sorted(value):
            yield f"{before}{inner}{_ENCODER.encode({key: 0})[1:-4]}: "
            yield from _laid_out(value[key], inner)
            before = ","
        yield f"{line}}}"
    elif isinstance(value, (list, tuple)) and len(value) > _LONG:
        # indenting goes entry by entry in Python, at ten times the time and twice the size
        yield f"[{inner}{f',{inner}'.join(map(_ENCODER.encode, value))}{line}]"
    elif isinstance(value, (list, tuple)) and value:
        before = "["
        for entry in value:
            yield f"{before}{inner}"
            yield from _laid_out(entry, inner)
            before = ","
        yield f"{line}]"
    else:
        yield _ENCODER.encode(value)
