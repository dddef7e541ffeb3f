"""Every model in other units: rows times s, or moved, give the same answer, or a refusal in a sentence; never nothing.

    law    f(s X) = s^p f(X) + constant, p a multiple of 1/2: labels and maps stay, distances and predictions scale
    where  1e-30 <= s <= 1e30 every model answers; at 1e-150 and 1e150 squares may leave the range of floating point
           numbers, and then the model says so

Options that have units, such as a penalty, are given in those of the rows.
"""

import importlib.util
import os
import warnings

import numpy as np
import pytest
from sklearn.utils import get_tags

from assay import Gaussian, Nearest
from assay.errors import AssayError, Caution
from assay.models.registry import MODELS, model_class

RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(0.0, 1.0, (20, 4)), RNG.normal(4.0, 1.0, (20, 4))]) * [1.0, 1.0, 3.0, 1.0]
TARGET = ROWS[:, 0] + 0.3 * RNG.normal(size=40)
CLASS = np.repeat(["few", "many"], 20)

# what takes options of its own, as functions of the unit
OPTIONS = {
    "Ridge": [lambda s: {"alpha": s * s}],
    # the target has the unit of the rows, so that both prices are squares
    "ElasticNet": [
        lambda s: {"alpha": 0.1 * s * s},
        lambda s: {"alpha": "held-out", "l1_ratio": 1.0, "random_state": 0},
    ],
    "Logistic": [lambda s: {"penalty": s * s}, lambda s: {"penalty": s * s, "solver": "lbfgs"}],
    # the length of the weights is that of the target, and its price is a square
    "SVR": [
        lambda s: {"C": s, "epsilon": 0.1 * s, "tol": 1e-9},
        lambda s: {"C": 1 / s, "epsilon": 0.1 * s, "tol": 1e-9, "kernel": "linear"},
    ],
    "SVM": [lambda s: {"tol": 1e-9}, lambda s: {"tol": 1e-9, "kernel": "linear", "C": s**-2}],
    "SVDD": [lambda s: {"tol": 1e-12}, lambda s: {"tol": 1e-12, "kernel": "linear"}],
    "RobustSVDD": [lambda s: {}, lambda s: {"loss": "hinge"}],
    "KernelPCA": [lambda s: {}, lambda s: {"kernel": Gaussian()}, lambda s: {"kernel": Gaussian(), "landmarks": 10}],
    "PCA": [lambda s: {"solver": "svd"}, lambda s: {"solver": "gram"}, lambda s: {"n_components": 2, "whiten": True}],
    "Mahalanobis": [lambda s: {}, lambda s: {"robust": True}, lambda s: {"scale": False}],
    "ZScore": [lambda s: {}, lambda s: {"robust": True}],
    "GaussianMixture": [
        lambda s: {"n_components": 2},
        lambda s: {"n_components": 2, "covariance_type": "diag"},
        lambda s: {"n_components": 2, "covariance_type": "spherical"},
    ],
    "MDS": [lambda s: {"n_init": 1}, lambda s: {"n_init": 1, "metric_mds": False}],
    "ClassicalMDS": [lambda s: {}, lambda s: {"landmarks": 10}],
    "Isomap": [lambda s: {}, lambda s: {"landmarks": 10}],
    "DiffusionMap": [lambda s: {}, lambda s: {"sigma": "local"}, lambda s: {"graph": Nearest(8)}],
    "SNE": [lambda s: {"max_iter": 20}],
    "SymmetricSNE": [lambda s: {"max_iter": 20}],
    "TSNE": [lambda s: {"max_iter": 20}],
    "VAE": [lambda s: {"max_iter": 2, "hidden": (4,), "n_components": 1}],
    "KMeans": [lambda s: {"n_clusters": 3}, lambda s: {"n_clusters": 2, "init": "k-means||"}],
    "Agglomerative": [
        lambda s: {"n_clusters": 2},
        lambda s: {"n_clusters": 2, "linkage": "single"},
        lambda s: {"n_clusters": 2, "linkage": "average"},
    ],
    "Stringing": [lambda s: {"draws": 1}],
    "SpectralClustering": [
        lambda s: {"n_clusters": 2},
        lambda s: {"n_clusters": 2, "graph": None, "kernel": "gaussian"},
    ],
    "CCA": [lambda s: {}, lambda s: {"solver": "svd"}, lambda s: {"solver": "dual", "ridge": 0.1}],
    "MatrixFactorization": [lambda s: {"n_components": 2, "max_iter": 20}],
}
CASES = [
    pytest.param(name, options, id=f"{name}-{i}")
    for name in MODELS
    for i, options in enumerate(OPTIONS.get(name, [lambda s: {}]))
]

ABOUT_ZERO = {"LSI"}  # the direction of a row from zero is what counts: moved, rows are others
# float32, or layouts that amplify the last digits from step to step
COARSE = {"VAE": 1e-3, "SNE": 1e-3, "SymmetricSNE": 1e-3, "TSNE": 1e-3}


def answers(name, options, s, shift=0.0):
    """What a model says of rows in a unit."""
    model = model_class(name)(**options(s))
    tags = get_tags(model)
    X, beside = ROWS * s + shift, ()
    if name == "FillMissing":
        X[::7, 1] = np.nan
    if tags.target_tags.required:
        beside = (TARGET * s + shift if tags.estimator_type == "regressor" else CLASS,)
        if tags.target_tags.multi_output and tags.estimator_type is None:  # pairs of sides
            X, beside = X[:, :2], (X[:, 2:],)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        model.fit(X, *beside)
        found = {key: getattr(model, key) for key in ("labels_", "embedding_") if hasattr(model, key)}
        methods = "transform", "predict", "decision_function", "score_samples", "predict_proba"
        for method in (method for method in methods if hasattr(model, method)):
            told = getattr(model, method)(X)
            found[method] = told[0] if isinstance(told, tuple) else told
    return {key: np.asarray(value) for key, value in found.items()}


def answered_or_refused(name, options, s):
    """The answers, or the sentence of the refusal."""
    try:
        return answers(name, options, s)
    except AssayError as error:
        return str(error)


def compare(name, found, expected, s, tol):
    """The law, for each answer."""
    for key, value in found.items():
        before = expected[key]
        if value.dtype.kind not in "f":
            np.testing.assert_array_equal(value, before, err_msg=f"{name}.{key}")
            continue
        assert np.isfinite(value).all(), f"{name}.{key}"
        parts = [each - each.mean(axis=0) for each in (value, before)]
        sizes = [float(np.abs(part).max()) for part in parts]
        assert sizes[0] > 0.0 or sizes[1] == 0.0, f"{name}.{key} is gone"
        if sizes[1] > 0.0:
            np.testing.assert_allclose(parts[0] / sizes[0], parts[1] / sizes[1], atol=tol, err_msg=f"{name}.{key}")
        if s != 1.0 and sizes[1] > 0.0:
            power = np.log(sizes[0] / sizes[1]) / np.log(s)
            assert abs(2 * power - round(2 * power)) < tol and abs(power) < 2.5, f"{name}.{key} scales by s^{power}"


def skipped(name):
    needs = MODELS[name].needs
    return needs is not None and importlib.util.find_spec(needs) is None and "ASSAY_VAE" not in os.environ


@pytest.mark.parametrize(("name", "options"), CASES)
def test_other_units_give_the_same_answer_or_a_refusal(name, options):
    if skipped(name):
        pytest.skip(f"{name} is fitted with {MODELS[name].needs}")
    expected = answers(name, options, 1.0)
    # rounding of the rows to the unit, 1e-16, through iterations that end at 1e-9 or so
    tol = COARSE.get(name, 1e-5)
    for s in (1e-30, 1e30):
        compare(name, answers(name, options, s), expected, s, tol)
    for s in (1e-150, 1e150):
        found = answered_or_refused(name, options, s)
        if isinstance(found, str):
            assert "escale" in found or "range of floating" in found, found
        else:
            compare(name, found, expected, s, tol)
    if name not in ABOUT_ZERO:
        # at 1e8 rows of a spread of 1 have eight digits left
        compare(name, answers(name, options, 1.0, shift=1e8), expected, 1.0, max(1e-4, 10 * tol))
