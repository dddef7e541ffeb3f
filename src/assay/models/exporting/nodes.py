"""The nodes of an ONNX graph, written one after the other; every number is a double, as in the model."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Value: TypeAlias = "str | float | int | NDArray[Any]"  # the name of a value in the graph, or a constant

OPSET = 18  # known to every runtime since 2023


class OnnxNodes:
    """Nodes and constants of one graph.

    Attributes:
        nodes: in the order in which they are computed.
        constants: what the model has learnt.
        flattened: names of values of shape (n,).
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.flattened: set[str] = set()

    def do(self, kind: str, *values: Value, **attributes: Any) -> str:
        """Add a node; the name of its result."""
        from onnx import helper

        name = f"{kind.lower()}_{len(self.nodes)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in values]
        self.nodes.append(helper.make_node(kind, names, [name], **attributes))
        return name

    def name(self, value: str, name: str) -> str:
        """Hand a value out under a name of its own."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name]))
        return name

    def affine(self, rows: str, coef: NDArray[Any], offset: NDArray[Any] | float) -> str:
        """`rows @ coef + offset`."""
        return self.do("Add", self.do("MatMul", rows, np.ascontiguousarray(coef)), offset)

    def squares(self, rows: str) -> str:
        """(n, 1) squared lengths of rows."""
        return self.do("ReduceSumSquare", rows, np.array([1]), keepdims=1)

    def columns(self, rows: str, picked: NDArray[np.intp]) -> str:
        """Some columns of rows."""
        return self.do("Gather", rows, np.asarray(picked, dtype=np.int64), axis=1)

    def flat(self, column: str) -> str:
        """(n,) of an (n, 1) value."""
        name = self.do("Squeeze", column, np.array([1]))
        self.flattened.add(name)
        return name

    def labels(self, numbers: str, classes: NDArray[Any]) -> str:
        """The class of each number."""
        known = classes.astype(str) if classes.dtype.kind in "OU" else classes
        return self.do("Gather", known, numbers)

    def _constant(self, value: Any) -> str:
        from onnx import TensorProto, helper, numpy_helper

        array, name = np.asarray(value), f"learnt_{len(self.constants)}"
        if array.dtype.kind == "U":
            texts: Any = [str(text).encode() for text in array.ravel()]
            made = helper.make_tensor(name, TensorProto.STRING, array.shape, texts)
        else:
            whole = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}[array.dtype.kind]
            made = numpy_helper.from_array(np.ascontiguousarray(array, dtype=whole).reshape(array.shape), name)
        self.constants.append(made)
        return name
