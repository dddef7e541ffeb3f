"""One thing that a watch has to say."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "anomaly", "more anomalies", "drift of the mean", "drift of the covariance", "drift of the subspace",
    "problem of input",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that a watch has to say.

    Attributes:
        kind: "anomaly" (a row), "more anomalies" (those of a window that were too many to tell one by one), "drift of
            the mean", "drift of the covariance", "drift of the subspace", or "problem of input".
        row: number of the row, from 1 and over restarts; of a window, its last row.
        message: in words.
        verdict: "supported", or "suggestive" where the chance is extrapolated or rows depend on each other; none for
            problems.
        p: chance of something as unusual.
        level: what p was compared with, all looks paid for.
        basis: where p comes from, in words.
        size: how large it is: squared distance of a row, standard deviations of a shift, change of a covariance in
            units of the columns, degrees of an angle.
        columns: those that drive it, the first the most.
        count: how many, of what is counted.
    """

    kind: Kind
    row: int
    message: str
    verdict: str | None = None
    p: float | None = None
    level: float | None = None
    basis: str | None = None
    size: float | None = None
    columns: tuple[str, ...] = ()
    count: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """What is known of it, ready for JSON."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        finite = {k: v for k, v in known.items() if not (isinstance(v, float) and not math.isfinite(v))}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in finite.items() if v is not None and v != ()}

    def line(self) -> str:
        """One line of strict JSON.

        >>> Alert("problem of input", 7, "lines are not JSON: 1.", count=1).line()
        '{"kind": "problem of input", "row": 7, "message": "lines are not JSON: 1.", "count": 1}'
        """
        return json.dumps(self.as_dict(), allow_nan=False)
