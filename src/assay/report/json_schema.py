"""What is in the JSON of a study and of a comparison, as JSON Schema (draft 2020-12).

A format has a name and a number, such as assay.study/1. Under one number nothing goes and nothing changes its meaning;
what is new may be added, so that readers ignore what they do not know.
"""

from __future__ import annotations

from typing import Any

from assay.asking.effort import EFFORTS
from assay.asking.words import BADGES
from assay.comparison.comparison import FORMAT as COMPARISON
from assay.data.field import KINDS
from assay.study.findings import FORMAT as STUDY

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Schema = {"type": "string"}
_TRUTH: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_VERDICT: Schema = {"enum": list(BADGES)}


def schema_of(what: str) -> Schema:
    """The schema of a document.

    Args:
        what: "study" or "comparison".

    >>> schema_of("study")["properties"]["format"]
    {'const': 'assay.study/1'}
    """
    return SCHEMAS[what]() | {"$defs": _definitions()}


def _study() -> Schema:
    return {
        "$schema": DRAFT,
        "title": "A study, as `assay report --json` and Study.report('x.json') write it",
        **_object(
            {
                "format": {"const": STUDY},
                **_common(),
                "data": {"$ref": "#/$defs/data"},
                "rows": _or_null({"$ref": "#/$defs/answer"}, "How rows depend on each other, which was asked first."),
            }
        ),
    }


def _comparison() -> Schema:
    both = {"minItems": 2, "maxItems": 2}
    return {
        "$schema": DRAFT,
        "title": "A comparison, as `assay compare --json` and Comparison.report('x.json') write it",
        **_object(
            {
                "format": {"const": COMPARISON},
                **_common(),
                "differs": _said(_TRUTH, "Whether any difference is supported."),
                "data": {"type": "array", "items": {"$ref": "#/$defs/data"}, **both},
                "schema": _said({"type": "object"}, "Columns and levels that only one of the tables has."),
                "rows": _or_null({"type": "array", "items": {"$ref": "#/$defs/answer"}, **both}, "Of each table."),
                "notes": _listed(_TEXT, "What to know of both tables before relying on the rest."),
            }
        ),
    }


SCHEMAS = {"study": _study, "comparison": _comparison}


def _common() -> Schema:
    return {
        "assay": _said(_TEXT, "Version of assay that made it."),
        "headline": _said(
            _object({"verdict": _VERDICT, "line": _TEXT, "why": _TEXT}), "The best verdict, and the answer in one line."
        ),
        "ledger": {"$ref": "#/$defs/ledger"},
        "findings": _listed({"$ref": "#/$defs/finding"}, "Everything looked for, supported or not."),
        "answers": {
            "type": "object",
            "description": "The numbers behind the findings, by the name of the question.",
            "additionalProperties": {"$ref": "#/$defs/answer"},
        },
    }


def _definitions() -> Schema:
    return {
        "data": _data(),
        "ledger": _ledger(),
        "evidence": _evidence(),
        "finding": _finding(),
        "answer": _answer(),
        "table": _table(),
    }


def _data() -> Schema:
    column = _object(
        {
            "name": _TEXT,
            "kind": {"enum": [*KINDS]},
            "unit": _or_null(_TEXT),
            "role": _or_null(_TEXT),
            "used": _TRUTH,
            "missing": _said(_COUNT, "Values that are missing."),
            "encoded": _said(_TEXT, "What it became, such as log(1 + x); empty for as it is."),
            "typical": _TEXT,
            "suspicious": _TEXT,
            "note": _TEXT,
            "why": _said(_TEXT, "The rule that decided the kind."),
            "profile": _or_null(_profile(), "Null where there are no rows to tell."),
        }
    )
    beside = _object({"column": _TEXT, "rows": _COUNT, "share": _said(_SHARE, "Of the gaps of the column.")})
    lacking = _object({"missing": _listed(_TEXT), "rows": _COUNT})
    gaps = _object(
        {
            "rows_looked_at": _COUNT,
            "patterns": _listed(lacking, "Columns that rows lack, and no others."),
            "columns": {"type": "object", "additionalProperties": _listed(beside)},
        }
    )
    duplicates = _object(
        {"copies": _COUNT, "but_for_names": _or_null(_COUNT), "names": _listed(_TEXT), "exact": _TRUTH}
    )
    return _said(
        _object(
            {
                "name": _said(_TEXT, "Name of the file, without its folder."),
                "form": _said(_TEXT, "table, network, ratings or trials."),
                "facts": _listed(_TEXT, "How much there is, where the data are no table."),
                "rows": _said(_COUNT, "Rows read."),
                "rows_used": _said(_COUNT, "Rows that entered the analysis."),
                "columns": _listed(column, "In their order; beyond 20,000 those with a remark and the first."),
                "columns_in_data": _said(_COUNT, "Columns there are; --tables writes all of them."),
                "notes": _listed(_TEXT, "What to know before relying on the rest."),
                "problems": _listed(_TEXT, "What was wrong while reading, with places."),
                "duplicates": _or_null(duplicates, "Rows that are the same as others."),
            },
            {"gaps": _or_null(gaps, "Columns that are missing in the same rows; of a study.")},
        ),
        "What was read, what of it was used, and why the rest was not.",
    )


def _profile() -> Schema:
    value = _said({"type": ["number", "string", "null"]}, "A number, or a time as text.")
    drift = _object({"of": _TEXT, "tenths": _listed(_or_null(_NUMBER))})
    return _object(
        {
            "count": _said(_COUNT, "Values there are."),
            "distinct": _or_null(_COUNT),
            "zeros": _or_null(_COUNT),
            **dict.fromkeys(("min", "quartile_1", "median", "quartile_3", "max"), value),
            "mean": _or_null(_NUMBER),
            "sd": _or_null(_NUMBER),
            "top": _listed(_object({"value": _TEXT, "count": _COUNT}), "The most frequent values."),
            "drift": _said(drift, "In each tenth of the rows, in their order."),
            "sampled_rows": _said(_COUNT, "Rows behind what is not exact; 0 where all rows are."),
        }
    )


def _ledger() -> Schema:
    asked = _object({"question": _TEXT, "looks": _COUNT, "tests": _COUNT, "correction": _TEXT})
    return _said(
        _object(
            {
                "looks": _COUNT,
                "level": _said(_SHARE, "Chance of any supported finding in data without structure."),
                "seed": _COUNT,
                "effort": {"enum": [*EFFORTS]},
                "questions": _listed(asked),
                "not_asked": _listed(_object({"question": _TEXT, "why": _TEXT})),
                "together": _said(_TEXT, "What the questions cost each other."),
            }
        ),
        "How many looks were taken, and how they are corrected for.",
    )


def _evidence() -> Schema:
    interval = {"type": "array", "items": _or_null(_NUMBER), "minItems": 2, "maxItems": 2}
    return _object(
        {
            "statistic": _or_null(_NUMBER),
            "p": _or_null(_SHARE, "Chance of as much without structure."),
            "q": _or_null(_SHARE, "The same, corrected for all looks."),
            "held_out": _or_null(_NUMBER, "The effect on rows that were not used to find it."),
            "interval": _or_null(interval, "95% interval of that."),
            "stability": _or_null(_NUMBER),
            "n": _said(_COUNT, "Rows, or what else was counted."),
            "looks": _said(_COUNT, "Structures that the question examined."),
            "method": _TEXT,
            "verdict": _VERDICT,
            "limit": _said(_TEXT, "Why it cannot be supported; empty where it can."),
        }
    )


def _finding() -> Schema:
    return _object(
        {
            "id": _said(_TEXT, "Stable name inside the document."),
            "question": _or_null(_TEXT, "Its answer, by name; null for facts about columns."),
            "kind": _TEXT,
            "subject": _said(_TEXT, "What it is about, in the columns of the data."),
            "line": _said(_TEXT, "The verdict in one line of at most a hundred letters."),
            "sentence": _said(_TEXT, "The finding in full."),
            "evidence": {"$ref": "#/$defs/evidence"},
            "beyond_chance": _or_null(
                _NUMBER,
                "Times as far as chance reaches one time in twenty, from its middle; null where untested.",
            ),
            "shown": _said(
                {"type": "object", "additionalProperties": _TEXT}, "The evidence as page and terminal write it."
            ),
        }
    )


def _answer() -> Schema:
    return _object(
        {
            "findings": _listed(_TEXT, "Ids of its findings."),
            "evidence": {"$ref": "#/$defs/evidence"},
            "looks": _COUNT,
            "tests": _COUNT,
            "correction": _said(_TEXT, "How its tests are corrected for."),
            "numbers": _said({"type": "object"}, "Single numbers and short lists; which, depends on the question."),
            "tables": {
                "type": "object",
                "description": "The numbers behind findings and figures, by name; which, depends on the question.",
                "additionalProperties": {"$ref": "#/$defs/table"},
            },
        }
    )


def _table() -> Schema:
    cell = {"type": ["number", "string", "boolean", "null"]}
    return _said(
        _object(
            {
                "rows": _said(_COUNT, "Rows that are here."),
                "of": _said(_COUNT, "Rows there are: more than are here where a table is long; --tables writes all."),
                "columns": {"type": "object", "additionalProperties": {"type": "array", "items": cell}},
            },
            {"sample_of": _said(_COUNT, "Where it holds a fair sample of the rows, how many these are.")},
        ),
        "A table, column by column. `row` counts rows of the data from 1 among those used, `row_in_data` from 1 among "
        "all that were read; columns that identify rows follow.",
    )


def _object(properties: Schema, optional: Schema | None = None) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties | (optional or {})}


def _listed(items: Schema, words: str = "") -> Schema:
    return _said({"type": "array", "items": items}, words)


def _or_null(schema: Schema, words: str = "") -> Schema:
    return _said({"anyOf": [schema, {"type": "null"}]}, words)


def _said(schema: Schema, words: str) -> Schema:
    return {**schema, "description": words} if words else schema
