"""An order as tables: rows and columns in their new order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.asking.row_names import READ
from assay.data.as_frames import table_of
from assay.questions.stringing.answer import ReorderedTable


def tables(found: ReorderedTable) -> dict[str, pa.Table]:
    """The numbers behind the findings.

    Args:
        found: the answer.
    """
    return {
        "rows": table_of({"place": np.arange(1, len(found.rows) + 1), READ: found.look.rows[found.rows]}),
        "columns": table_of(
            {
                "place": np.arange(1, len(found.columns) + 1),
                "column": [found.look.columns[j] for j in found.columns],
                "correlation_with_previous": found.with_previous,
                "correlation_with_rows": found.with_rows,
            }
        ),
    }
