"""Moments and triangles of columns and targets together: rows refitted one by one as oracle, blocks, folds."""

import numpy as np
import pytest

import assay
from assay import GroupedMoments
from assay.errors import DataError
from assay.summary.regression.regression import Equations, FoldErrors, RegressionTable, joint_moments, rows_errors
from assay.summary.regression.triangles import training, triangles


def table(n=9000, d=4, p=2, weighted=True, shift=100.0):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, d)) + shift, rng.standard_normal((n, p)) - shift
    return RegressionTable(X, Y, rng.random(n) if weighted else None, d)


@pytest.mark.parametrize("weighted", [True, False])
def test_columns_and_targets_are_summarised_as_if_they_were_one_table(weighted):
    rows = table(weighted=weighted)
    both = np.column_stack([rows.data, rows.targets])
    folds = np.arange(rows.n) % 3
    ours, plain = joint_moments(rows, folds), GroupedMoments.of(both, folds, weights=rows.weights)
    for a, b in zip(ours.parts, plain.parts, strict=True):
        assert a.count == b.count and a.weight == pytest.approx(b.weight)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-13)
        np.testing.assert_allclose(a.scatter, b.scatter, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(joint_moments(rows).total.scatter, ours.total.scatter, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_triangles_say_what_moments_say(intercept, weighted):
    rows = table(3000, weighted=weighted, shift=3.0)
    folds = np.arange(rows.n) % 4
    moments = joint_moments(rows, folds)
    near = moments.total.mean.round() if intercept else np.zeros(6)
    pairs = training(triangles(rows, near, intercept=intercept, folds=folds))
    coef = np.random.default_rng(1).standard_normal((3, 2, 4))
    for (train, test), (a, b) in zip(pairs, moments.training(), strict=True):
        known, unseen = Equations(a, 4, intercept), Equations(b, 4, intercept)
        assert train.count == a.count and train.weight == pytest.approx(a.weight)
        np.testing.assert_allclose(train.centre, known.centre, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(train.fit().coef, known.fit().coef, rtol=1e-8, atol=1e-10)
        alphas = np.array([0.0, 10.0])
        np.testing.assert_allclose(train.spectrum().coef(alphas), known.spectrum().coef(alphas), rtol=1e-8, atol=1e-10)
        told = test.squared_errors(coef, train.centre)
        np.testing.assert_allclose(told, unseen.squared_errors(coef, known.centre), rtol=1e-9)
        inside = folds == folds[0] if test is pairs[0][1] else None
        if inside is not None:  # against the definition, row by row
            x0, y0 = train.centre[:4], train.centre[4:]
            off = rows.targets[inside] - y0 - (rows.data[inside] - x0) @ coef[1].T
            w = np.ones(rows.n) if rows.weights is None else rows.weights
            np.testing.assert_allclose(told[1], w[inside] @ off**2, rtol=1e-9)
        for name in ("total", "explained", "error"):
            ours, plain = getattr(train.squares(coef[0]), name), getattr(known.squares(coef[0]), name)
            np.testing.assert_allclose(ours, plain, rtol=1e-8, err_msg=name)


def test_errors_from_the_rows_are_the_definition():
    rows = table(shift=1e7)
    coef, centre = np.ones((2, 4)), np.concatenate([np.full(4, 1e7), np.full(2, -1e7)])
    off = rows.targets + 1e7 - (rows.data - 1e7) @ coef.T
    np.testing.assert_allclose(rows_errors(rows, coef, centre), rows.weights @ off**2, rtol=1e-11)


def test_a_source_gives_the_same_summary_as_its_rows():
    rows = table(weighted=False)
    source = assay.encode(assay.read(rows.data))
    again = RegressionTable(source, rows.targets, None, 4)
    np.testing.assert_allclose(
        joint_moments(again).total.scatter, joint_moments(rows).total.scatter, rtol=1e-11, atol=1e-9
    )
    np.testing.assert_array_equal(again.stacked(), rows.data)


def test_a_target_out_of_range_is_named():
    rows = table(50, p=1)
    rows.targets[3] = 1e200
    with pytest.raises(DataError, match="column 'target' runs from .* rescale the column"):
        joint_moments(rows)


def test_fold_errors_are_pooled_over_rows():
    found = FoldErrors.of(np.array([[2.0, 1e200], [6.0, 3e200]]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(found.error, [2.0, 1e200])
    np.testing.assert_allclose(found.std_error, [0.0, 0.0], atol=1e185)
