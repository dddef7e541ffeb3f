"""An estimator with scikit-learn's arguments that is fitted by assay."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from sklearn.base import BaseEstimator

USED: set[str] = set()  # adapters made since the last test began


class Missing(pytest.skip.Exception):
    """assay has no such feature; ends the test, whatever it expects to be raised."""

    def __init__(self, what: str) -> None:
        super().__init__(f"missing: {what}")


@dataclass(frozen=True)
class Translation:
    """How one estimator of scikit-learn is said in assay.

    Attributes:
        build: from its arguments, and the rows where defaults depend on them, to the model of assay.
        renamed: its fitted attributes under assay's names, or a function of the model.
    """

    build: Callable[[dict[str, Any], Any], Any]
    renamed: Mapping[str, str | Callable[[Any], Any]] = field(default_factory=dict)


def adapter(peer: type, translation: Translation) -> type:
    """A class with the arguments and method names of `peer` that fits assay's model."""
    signature = inspect.signature(peer.__init__)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)
        USED.add(peer.__name__)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    body: dict[str, Any] = {"__init__": __init__, "_translation": translation, "__doc__": peer.__doc__}
    for name in _public_methods(peer):
        body[name] = _fits(name) if name in _FITTING else _asks(name)
    made = type(peer.__name__, (_Adapter,), body)
    made.__module__ = __name__
    globals()[made.__name__] = made  # where pickle looks for it
    return made


_FITTING = ("fit", "fit_transform", "fit_predict", "partial_fit")


class _Adapter(BaseEstimator):
    _translation: Translation

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_model" not in vars(self) or not name.endswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        renamed = self._translation.renamed.get(name, name)
        if callable(renamed):
            return renamed(self._model)
        if not hasattr(self._model, renamed):
            raise Missing(f"{type(self).__name__}.{name}")
        return getattr(self._model, renamed)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        return self._translation.build(_defaults(type(self)), None).__sklearn_tags__()


def _defaults(cls: type) -> dict[str, Any]:
    parameters = list(inspect.signature(cls).parameters.values())
    return {parameter.name: parameter.default for parameter in parameters}


def _public_methods(peer: type) -> list[str]:
    shared = set(dir(BaseEstimator))
    names = (name for name in dir(peer) if not name.startswith("_") and name not in shared)
    return [name for name in names if callable(inspect.getattr_static(peer, name, None)) or hasattr(peer, name)]


def _fits(name: str) -> Callable[..., Any]:
    def fit(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        continues = name == "partial_fit" and "_model" in vars(self)
        model = self._model if continues else self._translation.build(self.get_params(deep=False), X)
        kwargs = {word: value for word, value in kwargs.items() if value is not None}
        if not hasattr(model, name):
            raise Missing(f"{type(self).__name__}.{name}")
        taken = inspect.signature(getattr(model, name)).parameters
        for word in kwargs:
            if word not in taken and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
                raise Missing(f"{type(self).__name__}.{name}({word}=)")
        result = getattr(model, name)(X, *args, **kwargs)
        self._model = model
        return self if result is model else result

    fit.__name__ = name
    return fit


def _asks(name: str) -> Callable[..., Any]:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        model = vars(self).get("_model") or self._translation.build(self.get_params(deep=False), None)
        if not hasattr(model, name):
            raise Missing(f"{type(self).__name__}.{name}")
        kwargs = {word: value for word, value in kwargs.items() if value is not None}
        return getattr(model, name)(*args, **kwargs)

    ask.__name__ = name
    return ask
