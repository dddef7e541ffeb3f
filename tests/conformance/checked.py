"""scikit-learn's checks of one model in one test: by themselves, eight thousand of them take less time than pytest."""

from __future__ import annotations

import unittest
from collections.abc import Collection, Iterator
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def checks_of(estimator: Any, without: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Each check by its name, but for those that a model need not pass."""
    for _, check in estimator_checks_generator(estimator):
        if check.func.__name__ not in without:
            yield check.func.__name__, check


def assert_passes(estimator: Any, without: Collection[str] = ()) -> None:
    """Every check passes; all that do not are told, by name."""
    failed: list[Exception] = []
    for name, check in checks_of(estimator, without):
        try:
            check(estimator)
        except unittest.SkipTest:  # of a library that is not there
            continue
        except Exception as error:
            error.add_note(f"in {name} of {estimator!r}")
            failed.append(error)
    if failed:
        raise ExceptionGroup(f"{len(failed)} checks of scikit-learn fail", failed)


def called(estimator: Any) -> str:
    """A name for the test of a model: as it is written, without blanks."""
    return "".join(repr(estimator).split())


def of_models(models: Collection[Any]) -> pytest.MarkDecorator:
    """A test for each of the models."""
    return pytest.mark.parametrize("estimator", models, ids=called)
