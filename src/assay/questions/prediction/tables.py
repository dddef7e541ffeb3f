"""A prediction as tables: every row as others predict it, coefficients, what is lost without columns, curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.prediction.answer import Prediction


def tables(found: Prediction) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    heads = found.classes or (found.target,)
    made = {
        "rows": _rows(found),
        "coefficients": table_of(
            {
                "column": found.columns,
                **{f"coefficient_{_called(heads, j)}": found.coefficients[:, j] for j in range(len(heads))},
            }
        )
        if found.classes
        else table_of({"column": found.columns, "coefficient": found.coefficients[:, 0]}),
        "machines": table_of(
            {
                "machine": [*found.reached, *(["boosted trees"] if found.peer is not None else [])],
                "reached": [*found.reached.values(), *_peer(found)],
                "named": [*(kind == found.machine for kind in found.reached), *([False] * len(_peer(found)))],
            }
        ),
        "chance": table_of({"draw": np.arange(1, len(found.by_chance) + 1), "reached": found.by_chance}),
    }
    if (lost := found.matters) is not None:
        made["lost_without"] = table_of(
            {
                "columns": [", ".join(names) for names in lost.names], "lost": lost.loss,
                "low": lost.interval[:, 0], "high": lost.interval[:, 1],
            }
        )  # fmt: skip
    if (growth := found.growth) is not None:
        made["learning_curve"] = table_of(
            {"rows": growth.rows, "explained": growth.share, "standard_error": growth.error}
        )
    return made | _of_classes(found)


def _rows(found: Prediction) -> pa.Table:
    """Each row as rows that it had no part in predict it."""
    row: dict[str, Any] = {"row": found.rows + 1} if len(found.rows) == len(found.truth) else {}
    if not found.classes:
        ends = {"low": found.predicted - found.half_width, "high": found.predicted + found.half_width}
        return table_of({**row, "truth": found.truth, "predicted": found.predicted, **ends})
    names = np.array(found.classes, dtype=object)
    said = {
        f"probability_{_called(found.classes, j)}": found.probability[:, j] for j in range(found.probability.shape[1])
    }
    truth, called = (names[codes.astype(np.intp)].tolist() for codes in (found.truth, found.predicted))
    return table_of({**row, "truth": truth, "predicted": called, **said})


def _of_classes(found: Prediction) -> dict[str, pa.Table]:
    made = {}
    if found.confusion is not None:
        k = len(found.classes)
        true, called = np.divmod(np.arange(k * k), k)
        made["confusion"] = table_of(
            {
                "truth": [found.classes[i] for i in true], "predicted": [found.classes[i] for i in called],
                "rows": found.confusion.matrix.ravel(),
            }
        )  # fmt: skip
    if (curve := found.roc) is not None:
        made["roc"] = table_of(
            {
                "false_positive": curve.false_positive, "true_positive": curve.true_positive,
                "threshold": curve.thresholds,
            }
        )  # fmt: skip
        made["roc_band"] = table_of({"false_positive": curve.band_at, "low": curve.lower, "high": curve.upper})
    if (said := found.calibration) is not None:
        made["calibration"] = table_of(
            {
                "from": said.edges[:-1], "to": said.edges[1:], "rows": said.counts, "predicted": said.predicted,
                "observed": said.observed, "low": said.lower, "high": said.upper,
            }
        )  # fmt: skip
    return made


def _peer(found: Prediction) -> list[float]:
    if found.peer is None:
        return []
    return [float(found.peer.right if found.classes else found.peer.share)]


def _called(names: tuple[str, ...], j: int) -> str:
    """A class as part of the name of a column; by its number too where two have one name."""
    return names[j] if names.count(names[j]) == 1 else f"{names[j]}_{j + 1}"
