"""A fitted model, or a pipeline of some, as a file that other programs can run without assay or Python."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from assay.data.files import atomic_write
from assay.errors import ParameterError
from assay.models.exporting.nodes import OPSET, OnnxNodes
from assay.models.exporting.readings import READINGS, Outputs

_DOUBLE, _INT64, _STRING, _BOOL = 11, 7, 8, 9  # element types of ONNX
_KINDS = {"i": _INT64, "u": _INT64, "f": _DOUBLE, "b": _BOOL}


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> bytes:
    """Write a fitted model in the ONNX format, which runtimes of many languages read.

    The graph takes `rows`, (n, d) doubles, and hands out what the model does: `transformed`; `prediction`; `label` and
    where there are some `probabilities`; of a detector `label` (1, or -1 for a row too far out) and `score`. Its
    numbers are those of the model to rounding: everything is computed in double precision.

    Args:
        model: fitted on numbers: PCA, StandardScaler, LeastSquares, Ridge, ElasticNet, Logistic, Fisher,
            DifferenceOfMeans, GaussianRule, NaiveBayes, NearestCentroid, KMeans, ZScore, Mahalanobis, SVM or SVR, or a
            scikit-learn `Pipeline` of such.
        path: where to write it; None writes nothing.

    Returns:
        The file's bytes.

    >>> import assay
    >>> model = assay.LeastSquares().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> len(assay.to_onnx(model)) > 100
    True
    """
    if find_spec("onnx") is None:
        raise ParameterError("writing ONNX needs the package onnx: install assay[onnx]")
    steps = [step for _, step in model.steps if step not in (None, "passthrough")] if _is_chain(model) else [model]
    for step in steps:
        _refuse_unreadable(step)
    to, value, outputs = OnnxNodes(), "rows", Outputs()
    for i, step in enumerate(steps):
        outputs = READINGS[type(step).__name__](to, step, value)
        if i < len(steps) - 1:
            if "transformed" not in outputs:
                raise ParameterError(f"step {i} of the pipeline, {type(step).__name__}, hands no rows to the next")
            value = outputs["transformed"]
    made = _written(to, outputs, steps[-1], int(steps[0].n_features_in_))
    if path is not None:
        with atomic_write(path) as file:
            file.write(made)
    return made


def _is_chain(model: Any) -> bool:
    return isinstance(model, Pipeline)


def _refuse_unreadable(step: Any) -> None:
    name = type(step).__name__
    if name not in READINGS:
        raise ParameterError(f"{name} cannot be exported to ONNX; what can is {', '.join(sorted(READINGS))}")
    check_is_fitted(step)
    if getattr(step, "encoding_", None) is not None and any(
        column.kind not in ("number", "count") or column.outputs != 1 for column in step.encoding_.columns
    ):
        raise ParameterError(
            f"{name} was fitted on a source whose columns were encoded, which ONNX does not know: fit it on numbers"
        )


def _written(to: OnnxNodes, outputs: Outputs, last: Any, d: int) -> bytes:
    from onnx import checker, helper

    from assay.version import __version__

    made = []
    for name, value in outputs.items():
        to.name(value, name)
        kind = _label_kind(last) if name == "label" else _DOUBLE
        flat = name == "label" or value in to.flattened
        made.append(helper.make_tensor_value_info(name, kind, ["n"] if flat else ["n", None]))
    rows = helper.make_tensor_value_info("rows", _DOUBLE, ["n", d])
    graph = helper.make_graph(to.nodes, type(last).__name__, [rows], made, to.constants)
    opset = [helper.make_opsetid("", OPSET)]
    whole = helper.make_model(graph, producer_name="assay", producer_version=__version__, opset_imports=opset)
    whole.ir_version = 9  # of the same time as the operators
    checker.check_model(whole, full_check=True)
    return bytes(whole.SerializeToString())


def _label_kind(model: Any) -> int:
    classes = getattr(model, "classes_", None)
    return _INT64 if classes is None else _KINDS.get(classes.dtype.kind, _STRING)
