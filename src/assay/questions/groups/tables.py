"""Groups as tables: the group of every row, what each group is like, which columns tell them apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.groups.answer import Groups


def tables(found: Groups) -> dict[str, pa.Table]:
    """The numbers behind the finding; groups are counted from 1.

    Args:
        found: the answer.
    """
    columns = table_of(
        {
            "column": found.columns, "between": found.between, "between_by_chance": found.between_by_chance,
            "q": found.column_q,
        }
    )  # fmt: skip
    if not found.way:
        return {"columns": columns}
    labelled = np.arange(len(found.labels)) if len(found.labels) != len(found.rows) else found.rows
    group, column = np.divmod(np.arange(found.k * len(found.columns)), max(len(found.columns), 1))
    made = {
        "labels": table_of({"row": labelled + 1, "group": found.labels + 1}),
        "sizes": table_of(
            {
                "group": np.arange(1, found.k + 1), "name": found.names, "rows": found.sizes,
                "comes_back": found.stability,
            }
        ),
        "means": table_of(
            {
                "group": group + 1, "column": [found.columns[j] for j in column],
                "mean_in_deviations": found.means.ravel(),
            }
        ),
        "columns": columns,
    }  # fmt: skip
    if found.plane is not None:
        made["plane"] = table_of(
            {"row": found.rows + 1, "x": found.plane[:, 0], "y": found.plane[:, 1], "group": found.drawn + 1}
        )
    far = [(row + 1, g + 1) for g, rows in enumerate(found.anomalies) for row in rows.tolist()]
    if far:
        made["far_from_middle"] = table_of({"row": [row for row, _ in far], "group": [g for _, g in far]})
    return made
