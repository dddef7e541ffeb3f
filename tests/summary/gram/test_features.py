import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.preprocessing import PolynomialFeatures

from assay.errors import ParameterError
from assay.summary.gram.features import Powers, Products, RandomFourier, as_features

ROWS = np.random.default_rng(0).standard_normal((20, 3))


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_products_are_scikit_learns_polynomial_features(degree):
    peer = PolynomialFeatures(degree, include_bias=False).fit(ROWS)
    np.testing.assert_allclose(Products(degree)(ROWS), peer.transform(ROWS), rtol=1e-12)
    assert list(Products(degree).names(["a", "b", "c"])) == peer.get_feature_names_out(["a", "b", "c"]).tolist()


def test_powers_are_the_products_of_one_column_at_a_time():
    found = Powers(3)(ROWS)
    for j in range(3):
        np.testing.assert_allclose(found[:, 3 * j : 3 * j + 3], Products(3)(ROWS[:, j : j + 1]), rtol=1e-12)
    assert Powers(2).names(["a", "b"]) == ("a", "a^2", "b", "b^2")


def test_random_waves_approach_the_gaussian_kernel():
    features = RandomFourier(20_000, sigma=1.5, random_state=1)(ROWS)
    np.testing.assert_allclose(features @ features.T, RBF(1.5)(ROWS), atol=0.05)
    np.testing.assert_array_equal(features[3:5], RandomFourier(20_000, sigma=1.5, random_state=1)(ROWS[3:5]))
    assert len(RandomFourier(4).names(["a"])) == 4


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Powers(0), "degree must be a whole number of at least 1, is 0"),
        (lambda: Products(1.5), "degree must be a whole number"),
        (lambda: RandomFourier(0), "n_components must be a whole number"),
        (lambda: RandomFourier(5, sigma=-1.0), "sigma must be a positive number"),
        (lambda: Products(5)(np.zeros((1, 40))), "of 40 columns makes 1221758 features, more than 20000: lower the"),
        (lambda: as_features("powers"), "features is an expansion such as Powers.3. or Products.2., is 'powers'"),
    ],
)
def test_what_cannot_be_is_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make()
