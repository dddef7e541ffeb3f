"""Pre-images under the Gaussian kernel."""

import numpy as np
import pytest

from assay.errors import NotConverged
from assay.models.components.kernel_pca import preimage
from assay.models.components.kernel_pca.preimage import gaussian_preimages
from assay.summary.gram.kernels import Gaussian


def test_a_pre_image_is_a_stationary_point_no_worse_than_its_start():
    rng = np.random.default_rng(0)
    points, weights, start = rng.standard_normal((30, 2)), rng.uniform(0, 1, (6, 30)), rng.standard_normal((6, 2))
    kernel = Gaussian(0.8)
    found = gaussian_preimages(points, weights, kernel, start)

    def height(x):
        return np.einsum("ij,ij->i", weights, kernel(x, points))

    assert (height(found) >= height(start)).all()
    for step in 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert (height(found) >= height(found + step)).all()


def test_the_image_of_a_single_row_goes_back_to_it_far_from_zero_too():
    points = np.array([[0.0, 0.0], [1.0, 2.0], [5.0, 5.0]]) + 1e6
    found = gaussian_preimages(points, np.eye(3), Gaussian(1.0), points + 0.3)
    np.testing.assert_allclose(found, points, atol=1e-5)


def test_a_start_without_likeness_stays():
    start = np.array([[0.3]])
    found = gaussian_preimages(np.array([[0.0], [1.0]]), np.array([[-1.0, -1.0]]), Gaussian(1.0), start)
    np.testing.assert_array_equal(found, start)


def test_rows_that_still_move_are_counted(monkeypatch):
    monkeypatch.setattr(preimage, "_MAX_ITER", 1)
    with pytest.warns(NotConverged, match="1 of 1 pre-images still moved after 1 steps"):
        gaussian_preimages(np.array([[0.0], [1.0]]), np.array([[1.0, 1.0]]), Gaussian(1.0), np.array([[0.0]]))
