"""One table, one record: what was supported, whether the planted was found, which intervals hold the truth."""

from __future__ import annotations

import inspect
import time
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import assay
from assay.asking.found import found
from assay.study import run as _run
from calibrate.family import Drawn, Family, pairs_of, supported
from calibrate.intervals import intervals, validated

LEVEL = 0.05  # of the reference tests


def measured(family: Family, seed: int) -> dict[str, Any]:
    """Draw a table, study it, and keep what counts as JSON-ready values."""
    drawn = family.table(seed)
    begun = time.perf_counter()
    record: dict[str, Any] = {"family": family.name, "seed": seed}
    if family.asked == ("validate",):
        return record | {"supported": [], "false": [], "intervals": validated(drawn, family.name)}
    try:
        study = studied(drawn, family.asked, seed)
    except Exception as error:  # a refusal or a fault claims nothing; the table of results counts both
        return record | {"error": f"{type(error).__name__}: {error}", "supported": [], "false": []}
    record |= {
        "seconds": round(time.perf_counter() - begun, 3),
        "supported": supported(study),
        "false": false_claims(study, family),
        "rows": getattr(getattr(study, "rows", None), "how", "not asked"),
        "untold": sorted(set(drawn.options) - known_options()),
    }
    if family.found is not None:
        record["found"] = bool(family.found(study, drawn))
    if drawn.reference is not None:
        record["reference"] = drawn.reference() <= LEVEL
    if family.sort == "interval":
        record["intervals"] = intervals(study, drawn.data, family.name)
    return record


def studied(drawn: Drawn, asked: tuple[str, ...], seed: int) -> Any:
    """The study of a table, told what this version of assay can be told.

    Args:
        drawn: the table.
        asked: names of the questions asked, where hundreds of tables need one alone; empty for all of them.
        seed: of the study.
    """
    every = found()
    few = replace(every, questions=tuple(q for q in every.questions if q.name in asked)) if asked else every
    left_out = {option.name for option in every.options} - {option.name for option in few.options}
    options = {name: value for name, value in drawn.options.items() if name in known_options() - left_out}
    with patch.object(_run, "found", lambda: few):
        return assay.study(drawn.data, random_state=seed, **options)


def known_options() -> set[str]:
    """What a study can be told."""
    return set(inspect.signature(_run.study).parameters)


def false_claims(study: Any, family: Family) -> list[str]:
    """Kinds of supported findings that are false in this family."""
    if family.false is not None:
        return [kind for kind in supported(study) if kind in family.false]
    if family.found is not None or family.sort == "interval":
        return []
    kinds = supported(study)
    if family.known and "correlations" in kinds and all(pair & family.known for pair in pairs_of(study)):
        kinds.remove("correlations")  # only pairs that are true by making
    return kinds
