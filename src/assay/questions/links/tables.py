"""Links as tables: pairs that look like links, and links that surprise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import records_of, table_of
from assay.questions.links.answer import LinksTold

_LINK: dict[str, type] = {"source": str, "target": str}


def tables(found: LinksTold) -> dict[str, pa.Table]:
    """The numbers behind the findings.

    Args:
        found: the answer.
    """
    numbers = found.numbers()
    surprising = {**_LINK, "common": int, "expected": float, "q": float}
    return {
        "missing": records_of(numbers["missing"], {**_LINK, "score": float, "chance": float}),
        "surprising": records_of(numbers["surprising"], surprising),
        "chance": table_of({"draw": np.arange(1, len(found.chance) + 1), "statistic": found.chance}),
    }
