"""Symmetric matrices by tiles."""

import numpy as np
import pytest

from assay.models.components.kernel_pca import tiles
from assay.models.components.kernel_pca.tiles import SymmetricTiles
from assay.summary.gram.kernels import Gaussian


@pytest.mark.parametrize("n", [1, 7, 8, 30])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_products_are_those_of_the_whole_matrix(monkeypatch, n, columns):
    monkeypatch.setattr(tiles, "SIDE", 8)
    rng = np.random.default_rng(0)
    X, V = rng.standard_normal((n, 3)), rng.standard_normal((n, *columns))
    kernel = Gaussian(1.0)
    found = SymmetricTiles.of(n, lambda i, j: kernel(X[i], X[j]))
    np.testing.assert_allclose(found @ V, kernel(X) @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found @ np.eye(n), kernel(X), rtol=1e-12)


def test_only_one_half_is_computed_and_kept(monkeypatch):
    monkeypatch.setattr(tiles, "SIDE", 5)
    found = SymmetricTiles.of(18, lambda rows, cols: np.zeros((rows.stop - rows.start, cols.stop - cols.start)))
    assert all(rows.start <= cols.start for rows, cols in found.places)
    assert sum(tile.size for tile in found.tiles) == 3 * 25 + 9 + 3 * 25 + 3 * 15


def test_an_error_in_a_tile_comes_out():
    def tile(rows, cols):
        raise ValueError("no value here")

    with pytest.raises(ValueError, match="no value here"):
        SymmetricTiles.of(3, tile)
