"""Saving and loading models as data: numbers, text and nested lists of them. Loading never runs anything.

A loaded model answers to the bit as the one saved, on the same machine with the same libraries: arrays come back in the
order of memory they had, so that BLAS takes the same path.

A file names its kind; kinds are looked up in the registry, never imported by a name found in a file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from assay.data.files import load_archive, write_archive
from assay.errors import DataError, FileFormatError
from assay.models.registry import MODELS, RECORDS, VALUES, model_class

Arrays = dict[str, NDArray[Any]]


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a registered model, fitted or not, to one file.

    Args:
        model: an instance of a class in the registry.
        path: the file.
    """
    name = type(model).__name__
    if not _is_registered(model):
        raise DataError(f"cannot save a {name}: only assay's own models are saved as data")
    arrays: Arrays = {}
    write_archive(path, name, _taken_apart(model, "", arrays), arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model or a summary that assay saved. Nothing in the file can run.

    Args:
        path: the file.

    >>> import tempfile, pathlib
    >>> from assay.models.components.pca import PCA
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pca.assay"
    >>> PCA(2).fit(np.random.default_rng(0).standard_normal((9, 3))).save(file)
    >>> load(file).n_components_
    2
    """
    return load_archive(path, _built)


def _is_registered(model: Any) -> bool:
    name = type(model).__name__
    return name in MODELS and type(model) is model_class(name)


def _taken_apart(model: BaseEstimator, place: str, arrays: Arrays) -> dict[str, Any]:
    """The options of a model and what it learned; arrays go aside."""
    params = model.get_params(deep=False)
    fitted = {key: value for key, value in vars(model).items() if key not in params}
    return {
        "params": _encoded(params, f"{place}params", arrays),
        "fitted": _encoded(fitted, f"{place}fitted", arrays),
    }


def _built(kind: str, header: dict[str, Any], arrays: Arrays) -> Any:
    if kind in VALUES:
        return _known(kind, VALUES).from_parts(header, arrays)
    return _model(kind, header, arrays)


def _model(kind: str, header: dict[str, Any], arrays: Arrays) -> Any:
    if kind not in MODELS:
        raise FileFormatError(f"it holds a {kind!r}, which this assay does not know")
    cls = model_class(kind)
    params, fitted = (_keyed(_decoded(header[part], arrays), part) for part in ("params", "fitted"))
    model = cls(**params)
    for key, value in fitted.items():
        if not key.isidentifier() or key.startswith("__") or hasattr(cls, key):
            raise FileFormatError(f"{key!r} is not an attribute that a {kind} has")
        setattr(model, key, value)
    return model


def to_parts(value: Any) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a nested value of numbers, texts, arrays, summaries, models, lists and dictionaries.

    >>> header, arrays = to_parts({"mean": np.zeros(2), "rows": 3})
    >>> from_parts(header, arrays)["rows"]
    3
    """
    arrays: Arrays = {}
    return {"value": _encoded(value, "value", arrays)}, arrays


def from_parts(header: dict[str, Any], arrays: Arrays) -> Any:
    """What `to_parts` took apart."""
    try:
        return _decoded(header["value"], arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"the file does not hold a whole value ({error})") from error


def _encoded(value: Any, place: str, arrays: Arrays) -> Any:
    """JSON-ready form of a value; arrays go aside under the place they were found."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return _encoded(value.item(), place, arrays)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return {"texts": [_text(item, place) for item in value.tolist()]}
        arrays[place] = value
        return {"array": place}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, (list, tuple)):
        items = [_encoded(item, f"{place}.{i}", arrays) for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else {"list": items}
    if isinstance(value, Mapping):
        return {"dict": {_text(key, place): _encoded(item, f"{place}.{key}", arrays) for key, item in value.items()}}
    kind, home = type(value).__name__, type(value).__module__
    if VALUES.get(kind) == home:
        header, own = value.to_parts()
        arrays |= {f"{place}.{name}": array for name, array in own.items()}
        return {"value": {"kind": kind, "header": header, "arrays": {n: f"{place}.{n}" for n in own}}}
    if RECORDS.get(kind) == home:
        held = {f.name: _encoded(getattr(value, f.name), f"{place}.{f.name}", arrays) for f in fields(value)}
        return {"record": {"kind": kind, "fields": held}}
    if _is_registered(value):
        return {"model": {"kind": kind, **_taken_apart(value, f"{place}.", arrays)}}
    raise DataError(f"cannot save {place}: a {kind} is not data")


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise DataError(f"cannot save {place}: {value!r} is not text")
    return value


def _decoded(node: Any, arrays: Arrays) -> Any:
    """The value of a node; one that `_encoded` would not write is refused."""
    if isinstance(node, list):
        raise FileFormatError("it holds a list without its kind")
    if not isinstance(node, dict):
        return node
    if len(node) != 1:
        raise FileFormatError(f"it holds a value of {len(node)} kinds")
    ((tag, content),) = node.items()
    match tag, content:
        case "float", "nan" | "inf" | "-inf":
            return float(content)
        case "array", str():
            return arrays[content]
        case "texts", list() if all(isinstance(item, str) for item in content):
            return np.asarray(content, dtype=object)
        case "range", [int(), int(), int()]:
            return range(*content)
        case "list", list():
            return [_decoded(item, arrays) for item in content]
        case "tuple", list():
            return tuple(_decoded(item, arrays) for item in content)
        case "dict", dict():
            return {key: _decoded(item, arrays) for key, item in content.items()}
        case "value", {"kind": str(kind), "header": dict(header), "arrays": dict(own), **rest} if not rest:
            return _known(kind, VALUES).from_parts(header, {name: arrays[place] for name, place in own.items()})
        case "record", {"kind": str(kind), "fields": dict(held), **rest} if not rest:
            return _known(kind, RECORDS)(**{name: _decoded(item, arrays) for name, item in held.items()})
        case "model", {"kind": str(kind), "params": dict(), "fitted": dict(), **rest} if not rest:
            return _model(kind, content, arrays)
    raise FileFormatError(f"it holds {tag!r} in a form that this assay does not know")


def _keyed(value: Any, part: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FileFormatError(f"its {part} are no values by name")
    return value


def _known(kind: str, homes: Mapping[str, str]) -> Any:
    if kind not in homes:
        raise FileFormatError(f"it holds a {kind!r}, which this assay does not know")
    return getattr(import_module(homes[kind]), kind)
