"""Missing values as tables: shares, sets of columns missing together, runs of rows, and what gaps go with."""

from __future__ import annotations

import pyarrow as pa

from assay.data.as_frames import records_of, table_of
from assay.questions.missing.answer import MissingValues


def tables(found: MissingValues) -> dict[str, pa.Table]:
    """The numbers behind the findings.

    Args:
        found: the answer.
    """
    numbers = found.numbers()
    patterns = [{"missing": ", ".join(one["missing"]), "rows": one["rows"]} for one in numbers["patterns"]]
    made = {
        "columns": table_of({"column": found.columns, "share": found.share}),
        "patterns": records_of(patterns, {"missing": str, "rows": int}),
        "runs": records_of(numbers["runs"], {"column": str, "first": int, "last": int}),
        "pairs": records_of(
            numbers["pairs"],
            {
                "missing": str, "with": str, "way": str, "level": str, "share_upper": float, "share_lower": float,
                "p": float, "q": float,
            },
        ),
    }  # fmt: skip
    if len(found.compared) > 1:
        a = len(found.compared)
        pairs = [(i, j) for i in range(a) for j in range(i + 1, a)]
        made["together"] = table_of(
            {
                "first": [found.compared[i] for i, _ in pairs],
                "second": [found.compared[j] for _, j in pairs],
                "correlation": [float(found.crossed[i, j]) for i, j in pairs],
            }
        )
    return made
