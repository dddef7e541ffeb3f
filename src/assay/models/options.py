"""Options that are objects, reached by name: `kernel__sigma` of a model whose kernel is `Gaussian()`.

Kernels and graphs are frozen values that models may share. To set a part of one is to put another value in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from assay.errors import ParameterError


def is_option(value: Any) -> bool:
    """Whether a value is a frozen object with named parts: a kernel, a graph.

    >>> from assay.summary.gram.kernels import Gaussian
    >>> is_option(Gaussian()), is_option(Gaussian), is_option("gaussian")
    (True, False, False)
    """
    made_as = getattr(type(value), "__dataclass_params__", None)
    return is_dataclass(value) and made_as is not None and bool(made_as.frozen)


def stands_for(name: str, value: Any) -> Any:
    """The option that a value stands for: None and the names of kernels are kernels; any other value is itself.

    >>> stands_for("kernel", None), stands_for("kernel", "polynomial"), stands_for("C", None)
    (Gaussian(sigma=None), Polynomial(degree=2, coef0=1.0, gamma=1.0), None)
    """
    if name != "kernel" or not (value is None or isinstance(value, str)):
        return value
    from assay.summary.gram.kernels import Gaussian, as_kernel

    try:
        return Gaussian() if value is None else as_kernel(value)
    except ParameterError:  # no name of a kernel: fit says so
        return value


def parts_of(name: str, value: Any) -> dict[str, Any]:
    """Every part of an option under its full name, parts of parts as well; nothing for any other value.

    >>> from assay.summary.gram.kernels import Gaussian
    >>> parts_of("kernel", Gaussian(2.0))
    {'kernel__sigma': 2.0}
    """
    found: dict[str, Any] = {}
    value = stands_for(name, value)
    if is_option(value):
        for part in fields(value):
            if part.init:
                full, own = f"{name}__{part.name}", getattr(value, part.name)
                found |= {full: own, **parts_of(full, own)}
    return found


def with_parts(name: str, value: Any, parts: Mapping[str, Any]) -> Any:
    """Another option in place of this one, with some parts changed.

    Args:
        name: of the option, for messages.
        value: the option.
        parts: by name; `metric__p` is the part p of the part metric.

    >>> from assay.summary.gram.kernels import Gaussian
    >>> with_parts("kernel", Gaussian(), {"sigma": 2.0})
    Gaussian(sigma=2.0)
    """
    first, value = next(iter(parts)), stands_for(name, value)
    if not is_option(value):
        raise ParameterError(
            f"{name}__{first} is a part of {name}, which is {value!r} and has none: give an object such as "
            f"Gaussian() or Nearest() for {name}"
        )
    known = [part.name for part in fields(value) if part.init]
    whole = {key: new for key, new in parts.items() if "__" not in key}
    inner: dict[str, dict[str, Any]] = {}
    for key, new in parts.items():
        part, deeper, rest = key.partition("__")
        if part not in known:
            has = f"has {', '.join(known)}" if known else "has no parameters"
            # scikit-learn's own words, which its users look for
            raise ParameterError(f"Invalid parameter {name}__{part}: {type(value).__name__} {has}")
        if deeper:
            inner.setdefault(part, {})[rest] = new
    for part, changes in inner.items():
        whole[part] = with_parts(f"{name}__{part}", whole.get(part, getattr(value, part)), changes)
    return replace(value, **whole)
