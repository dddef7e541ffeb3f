"""Where assay differs from scikit-learn on purpose: a pattern of the test, what it says when it fails, and why."""

from __future__ import annotations

import re

# (pattern of the test's id, pattern of what is raised, reason)
DELIBERATE: list[tuple[str, str, str]] = [
    (r"", r"Regex pattern did not match", "refused as well, in other words"),
]


def reason(test: str, told: str) -> str | None:
    """Why this test is meant to fail; None if it is not."""
    return next((why for which, what, why in DELIBERATE if re.search(which, test) and re.search(what, told)), None)
