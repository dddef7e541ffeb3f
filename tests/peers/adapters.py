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
        build: from its arguments, and the rows and targets where defaults depend on them, to the model of assay.
        renamed: its fitted attributes under assay's names, or a function of the model.
    """

    build: Callable[[dict[str, Any], Any, Any], Any]
    renamed: Mapping[str, str | Callable[[Any], Any]] = field(default_factory=dict)


def adapter(peer: type, translation: Translation) -> type:
    """A class with the arguments and method names of `peer` that fits assay's model."""
    signature = inspect.signature(peer.__init__)

    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)
        USED.add(peer.__name__)

    initialise.__signature__ = signature  # type: ignore[attr-defined]
    body: dict[str, Any] = {"__init__": initialise, "_translation": translation, "__doc__": peer.__doc__}
    body["_arguments"] = {}
    for name in _public_methods(peer):
        body["_arguments"][name] = list(inspect.signature(getattr(peer, name)).parameters)[1:]
        conditional = type(inspect.getattr_static(peer, name)).__name__ == "_AvailableIfDescriptor"
        body[name] = _fits(name) if name in _FITTING else _asks_if_there(name) if conditional else _asks(name)
    made = type(peer.__name__, (_Adapter,), body)
    made.__module__ = __name__
    globals()[made.__name__] = made  # where pickle looks for it
    return made


_FITTING = ("fit", "fit_transform", "fit_predict", "partial_fit")


class _Adapter(BaseEstimator):
    _translation: Translation
    _arguments: Mapping[str, list[str]]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_model" not in vars(self) or not name.endswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name == "solver_":  # assay has routes of its own; what they come to is what is tested
            return self.solver
        renamed = self._translation.renamed.get(name, name)
        if callable(renamed):
            return renamed(self._model)
        if not hasattr(self._model, renamed):
            if name == "feature_names_in_":
                raise AttributeError(name)
            raise Missing(f"{type(self).__name__}.{name}")
        value = getattr(self._model, renamed)
        if value is None:  # where scikit-learn has no such attribute
            raise AttributeError(name)
        return value

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        try:
            return _asked(self).__sklearn_tags__()
        except Missing:
            return self._translation.build(_defaults(type(self)), None, None).__sklearn_tags__()


def _defaults(cls: type) -> dict[str, Any]:
    parameters = list(inspect.signature(cls).parameters.values())
    return {parameter.name: parameter.default for parameter in parameters}


def _public_methods(peer: type) -> list[str]:
    shared = set(dir(BaseEstimator))
    names = (name for name in dir(peer) if not name.startswith("_") and not name.endswith("_") and name not in shared)
    return [name for name in names if callable(getattr(peer, name, None))]


def _fits(name: str) -> Callable[..., Any]:
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        continues = name == "partial_fit" and "_model" in vars(self)
        given = {**dict(zip(self._arguments[name], args, strict=False)), **kwargs}
        model = (
            self._model
            if continues
            else self._translation.build(self.get_params(deep=False), given.get("X"), given.get("y"))
        )
        result = _call(self, model, name, args, kwargs)
        self._model = model
        return self if result is model else result

    fit.__name__ = name
    return fit


def _asks(name: str) -> Callable[..., Any]:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _call(self, _asked(self), name, args, kwargs)

    ask.__name__ = name
    return ask


def _asks_if_there(name: str) -> property:
    """A method that the peer has under a condition only: an AttributeError where assay's model has none."""

    def there(self: Any) -> Any:
        model = _asked(self)
        getattr(model, name)
        return lambda *args, **kwargs: _call(self, model, name, args, kwargs)

    return property(there)


def _asked(self: Any) -> Any:
    model = vars(self).get("_model")
    return self._translation.build(self.get_params(deep=False), None, None) if model is None else model


def _call(self: Any, model: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The model's method, with the peer's positional arguments by name; Missing where it lacks the method or a word."""
    if not hasattr(model, name):
        raise Missing(f"{type(self).__name__}.{name}")
    method = getattr(model, name)
    taken = inspect.signature(method).parameters
    any_word = any(p.kind is p.VAR_KEYWORD for p in taken.values())
    words = {**dict(zip(self._arguments[name][2:], args[2:], strict=False)), **kwargs}
    words = {{"Y": "y"}.get(word, word): value for word, value in words.items() if value is not None}
    for word in words:
        if word not in taken and not any_word:
            raise Missing(f"{type(self).__name__}.{name}({word}=)")
    second = args[1:2] if len(taken) > 1 or args[1:2] != (None,) else ()
    return method(*args[:1], *second, **words)
