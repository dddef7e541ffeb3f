"""Normal scores by folded, triangular products: what the plain formula gives."""

import numpy as np
import pytest

from assay.models.prediction.gaussian_rule.normal_scores import NormalScores
from assay.summary.classes.group_frame import GroupFrame


@pytest.mark.parametrize(("g", "r"), [(2, 1), (3, 31), (4, 70), (12, 130), (2, 1100)])
def test_folded_products_give_squared_whitened_distances(g, r):
    rng = np.random.default_rng(r)
    A = np.tril(rng.standard_normal((g, r, r))) / np.sqrt(r)
    centres, base = rng.standard_normal((g, r)), rng.standard_normal(g)
    rows = 3 * rng.standard_normal((300 if r < 1000 else 70, r)) + 1
    frame = GroupFrame(np.ones(r), np.full(r, 2.0), None, centres, centres, ())
    found = NormalScores(frame, A, np.zeros(g)).scorer(base, whole=True)(rows, 0)
    t = (rows - 1.0) / 2.0
    expected = [b - np.sum(((t - c) @ a.T) ** 2, axis=1) / 2 for a, b, c in zip(A, base, centres, strict=True)]
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-9)


def test_one_matrix_for_all_classes_and_what_they_have_in_common():
    rng = np.random.default_rng(0)
    A, centres = np.tril(rng.standard_normal((1, 5, 5))), rng.standard_normal((3, 5))
    rows, base = rng.standard_normal((40, 5)), rng.standard_normal(3)
    frame = GroupFrame(np.zeros(5), np.ones(5), None, centres, centres, ())
    whole = NormalScores(frame, A, np.zeros(1)).scorer(base, whole=True)(rows, 0)
    apart = NormalScores(frame, A.repeat(3, axis=0), np.zeros(3)).scorer(base, whole=True)(rows, 0)
    np.testing.assert_allclose(whole, apart, rtol=1e-9)
    linear = NormalScores(frame, A, np.zeros(1)).scorer(base, whole=False)(rows, 0)
    np.testing.assert_allclose(np.diff(linear, axis=1), np.diff(whole, axis=1), atol=1e-10)
    # linear in the rows: the score of a mean is the mean of the scores
    mean = NormalScores(frame, A, np.zeros(1)).scorer(base, whole=False)(rows.mean(axis=0, keepdims=True), 0)
    np.testing.assert_allclose(mean[0], linear.mean(axis=0), atol=1e-12)
