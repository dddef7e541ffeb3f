"""Findings for programs."""

from __future__ import annotations

import json
from typing import Any

from assay.comparison.comparison import Comparison
from assay.models.decision.mdp.learning.learned import Learned
from assay.models.decision.mdp.solution import Solution
from assay.report.headline import comparison_headline, headline
from assay.shown import visible_json
from assay.study.findings import Study
from assay.version import __version__


def document(found: Study | Comparison) -> dict[str, Any]:
    """A study or a comparison as JSON-ready values, with the line at the top of its page.

    Args:
        found: the study or the comparison.
    """
    top = comparison_headline(found) if isinstance(found, Comparison) else headline(found)
    return found.as_dict() | {"headline": {"verdict": top.verdict, "line": top.line, "why": top.why}}


def dumps(study: Study | Comparison | Solution | Learned) -> str:
    """Write what was found as JSON, the same bytes each time: keys sorted, no NaN, UTF-8 text left readable.

    Characters that act on a terminal or hide, and lone surrogates, are escapes of JSON.

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
    text = json.dumps(told, allow_nan=False, ensure_ascii=False, indent=2, sort_keys=True)
    return visible_json(text) + "\n"
