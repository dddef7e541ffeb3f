"""scikit-learn's checks of one model in one test, not in fifty: those that fail are told by name."""

from __future__ import annotations

import importlib
import os
import unittest
from collections.abc import Collection, Iterator
from typing import Any
from unittest import mock

import pytest
import scipy._lib._array_api  # noqa: F401  which reads the variable below, and is to read what the user has set
import sklearn
from sklearn.utils import get_tags

with mock.patch.dict(os.environ, SCIPY_ARRAY_API="1"):  # scikit-learn 1.6 asks for it, and here only
    checks = importlib.import_module("sklearn.utils.estimator_checks")


def checks_of(estimator: Any, without: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Each check by its name, but for those that a model need not pass."""
    for _, check in checks.estimator_checks_generator(estimator):
        name = check.func.__name__
        # in 1.6 it takes a mean from whole numbers, as levels are, in their place: it fails by itself
        broken = name == "check_positive_only_tag_during_fit" and sklearn.__version__.startswith("1.6.")
        if name not in without and not (broken and get_tags(estimator).input_tags.categorical):
            yield name, check


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
