"""Every model, saved and loaded again, is the model it was: on the same machine it answers the same to the last bit."""

import importlib.util
import os
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from sklearn.utils import get_tags

import assay
from assay.errors import NotConverged
from assay.models.registry import MODELS, model_class


def layout(a):
    """How an array lies in memory, as far as BLAS and NumPy choose their path by it.

    NumPy's own arrays begin on a multiple of 16 bytes; of one row or column both orders are the same.
    """
    return a.flags.c_contiguous, a.flags.f_contiguous, a.ctypes.data % 16


def same(a, b):
    """Whether two fitted values hold the same numbers, laid out alike, the same text and options."""
    if type(a) is not type(b):
        return np.isscalar(a) and np.isscalar(b) and same(np.asarray(a), np.asarray(b))
    if isinstance(a, np.ndarray):
        alike = a.shape == b.shape and a.dtype == b.dtype and layout(a) == layout(b)
        return alike and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return a == b or (a != a and b != b)


def target_of(model, X):
    """What a model needs beside the rows: classes by name, or a number that the rows know something of."""
    tags = get_tags(model)
    if not tags.target_tags.required:
        return ()
    number = X[:, 0] + 0.1 * X[:, 1]
    return (np.where(number > 0.5, "large", "small") if tags.estimator_type == "classifier" else number,)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_saved_and_loaded_gives_the_same_answers(name, tmp_path):
    needs = MODELS[name].needs
    if needs and importlib.util.find_spec(needs) is None and "ASSAY_VAE" not in os.environ:
        pytest.skip(f"{name} is fitted with {needs}")
    X = np.random.default_rng(0).random((60, 5))
    model = model_class(name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model.fit(X, *target_of(model, X))
    model.save(tmp_path / "model")
    back = assay.load(tmp_path / "model")
    assert type(back) is type(model)
    assert vars(back).keys() == vars(model).keys()
    for key, value in vars(model).items():
        assert same(getattr(back, key), value), key
    for answer in {"transform", "predict", "inverse_transform"} & set(dir(model)):
        rows = model.transform(X[:9]) if answer == "inverse_transform" else X[:9] + 0.01
        np.testing.assert_array_equal(getattr(back, answer)(rows), getattr(model, answer)(rows))
