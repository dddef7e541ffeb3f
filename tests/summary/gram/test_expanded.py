"""Features of a source: linear methods on them are methods of the kernel."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.kernel_ridge import KernelRidge

import assay
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 2))
Y = np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.01 * RNG.standard_normal(400)


def table(rows=slice(None)):
    return ArrowSource(pa.table({"a": X[rows, 0], "b": X[rows, 1], "y": Y[rows]}))


def without_y(rows=slice(None)):
    return assay.encode(table(rows), drop=["y"])


def test_ridge_on_all_landmarks_is_kernel_ridge():
    # with every row a landmark the kernel is exact: an outside oracle, without an intercept
    wide = assay.expand(without_y(), assay.Gaussian(sigma=1.0), n_components=400, scale=False)
    model = assay.Ridge(0.1, fit_intercept=False).fit(wide, "y")
    oracle = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit(X, Y)
    # what landmarks leave out is rounding (1e-12 of the trace), over the penalty
    np.testing.assert_allclose(model.predict(wide.of(table())), oracle.predict(X), atol=1e-6)


def test_random_waves_come_near_the_kernel():
    waves = assay.expand(without_y(), assay.RandomFourier(4000, sigma=1.5), scale=False)
    F = np.concatenate(list(waves.float_blocks()))
    K = assay.Gaussian(sigma=1.5)(X)
    # an entry is a mean of 4000 terms within +-2 of variance at most 1/2 each, so to say; five deviations of 80,000
    assert np.abs(F @ F.T - K).max() < 6.0 / np.sqrt(4000)


def test_new_rows_take_the_units_and_features_of_the_fitted_ones():
    waves = assay.expand(without_y(slice(0, 300)), assay.RandomFourier(50))
    model = assay.Ridge(1.0).fit(waves, "y")
    whole = np.concatenate(list(waves.of(table(slice(0, 300))).float_blocks()))
    np.testing.assert_array_equal(whole, np.concatenate(list(waves.float_blocks())))
    assert model.predict(waves.of(table(slice(300, None)))).shape == (100,)
    with pytest.raises(DataError, match="fitted on columns wave0"):
        model.predict(table())


def test_columns_are_brought_to_one_scale_unless_told_otherwise():
    wide = np.column_stack([X[:, 0] * 1e6 + 1e9, X[:, 1]])
    source = ArrowSource(pa.table({"a": wide[:, 0], "b": wide[:, 1]}))
    z = (wide - wide.mean(axis=0)) / wide.std(axis=0, ddof=1)
    rows = np.concatenate(list(assay.expand(source, assay.Powers(2)).float_blocks()))
    # the mean of values near 1e9 with a spread of 1e6 is known to about 1e9 eps / 1e6
    np.testing.assert_allclose(rows[:, [0, 2]], z, atol=1e-11)


def test_what_is_no_expansion_is_refused_and_features_are_not_expanded_again():
    with pytest.raises(ParameterError, match="features is an expansion such as"):
        assay.expand(table(), "gaussian")
    once = assay.expand(table(), assay.Powers(2))
    with pytest.raises(ParameterError, match="features already"):
        assay.expand(once, assay.Powers(2))
