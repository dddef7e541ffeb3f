"""Arrays of the array API standard are taken as NumPy's, whether scikit-learn's dispatch is on or off."""

import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import assay
from assay.data.arrow_validation import sound
from assay.errors import DataError

# SciPy reads this setting when it is imported, so that the models run in a process of their own
STRICT = """
import warnings
import numpy as np, sklearn, array_api_strict as xp
from sklearn.datasets import load_iris
import assay
warnings.simplefilter("error")
X, y = load_iris(return_X_y=True)
models = [assay.PCA(2), assay.Ridge(), assay.LeastSquares(), assay.Fisher(), assay.GaussianMixture(2), assay.KMeans(2),
          assay.Logistic(), assay.NaiveBayes(), assay.CCA(1), assay.Mahalanobis()]
for dispatch in (False, True):
    with sklearn.config_context(array_api_dispatch=dispatch):
        for model in models:
            ask = lambda rows: getattr(model, "transform" if hasattr(model, "transform") else "predict")(rows)
            other = ask(xp.asarray(X)) if model.fit(xp.asarray(X), xp.asarray(y)) else None
            own = model.fit(X, y) and ask(X)
            assert type(other) is np.ndarray and np.array_equal(own, other), model
print("equal")
"""


def test_models_take_arrays_of_the_standard_and_give_the_same_numbers():
    env = {**os.environ, "SCIPY_ARRAY_API": "1"}
    ended = subprocess.run([sys.executable, "-c", STRICT], env=env, capture_output=True, text=True, check=False)
    assert ended.stdout == "equal\n", ended.stderr


def test_an_array_of_jax_is_one_of_numpy():
    rows = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    found = sound(jnp.asarray(rows))
    assert type(found) is np.ndarray and np.array_equal(found, rows)
    assert np.array_equal(assay.PCA(1).fit(jnp.asarray(rows)).mean_, rows.mean(axis=0))


class Elsewhere:
    """An array in the memory of another device."""

    def __array_namespace__(self):
        return np

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


def test_an_array_that_is_elsewhere_is_refused_with_a_remedy():
    with pytest.raises(
        DataError, match="cannot see .can't convert cuda.* move it to the memory of the processor first"
    ):
        assay.PCA(1).fit(Elsewhere())
