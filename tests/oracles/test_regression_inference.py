"""Inference of regressions beside statsmodels and published tables.

Longley's data and certified values are NIST's (data/nist_strd). Where NIST certifies nothing (adjusted R squared,
likelihood, sandwich errors, precision weights), numbers are statsmodels 0.15's on the same data: OLS and WLS with
cov_type and use_t=True. The columns with their constant have a condition number of 5e9, of which statsmodels' pinv
leaves about seven digits.
Spector and Mazzeo (1980), as in Greene, Econometric Analysis, table 21.1, with estimates and errors of the logit.
"""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from tests.oracles.test_nist_regression import columns

from assay import LeastSquares, Logistic

W = np.arange(1, 17) / 5
CLOSE = 2e-7
# statsmodels' bse by cov_type, without weights and with W as weights of WLS
OLS = {
    "classical": [890420.383607, 84.9149257748, 0.0334910077722, 0.488399681652, 0.214274163162, 0.226073200069],
    "HC0": [832211.580602, 51.2203474438, 0.0245759975828, 0.38323911093, 0.146245001142, 0.158208496218],
    "HC1": [1109615.4408, 68.2937965918, 0.0327679967771, 0.51098548124, 0.194993334856, 0.210944661623],
    "HC2": [1202369.51248, 67.4920820793, 0.0365340502293, 0.553336714335, 0.205220873769, 0.223236717865],
    "HC3": [1799477.22954, 91.1193864559, 0.0556239882975, 0.822133500829, 0.298789257568, 0.32490582087],
}
WLS = {
    "classical": [910691.591409, 88.3908059247, 0.034061145305, 0.5004482386, 0.237871539379, 0.227448675233],
    "HC0": [895907.090011, 39.4177735984, 0.0238849380315, 0.361774909849, 0.13939396036, 0.128866342128],
    "HC1": [1194542.78668, 52.5570314645, 0.031846584042, 0.482366546465, 0.185858613813, 0.171821789504],
    "HC2": [1232552.71694, 54.3411414489, 0.0337683482876, 0.497831774104, 0.187930266085, 0.183870260972],
    "HC3": [1734192.49541, 79.3098368775, 0.0482963639455, 0.69282930143, 0.260145290703, 0.269254262352],
}
F = {"classical": 330.2853392, "HC0": 791.3078239, "HC1": 445.1106502, "HC2": 415.7476594, "HC3": 227.5718441}

# GPA, TUCE, PSI, GRADE
SPECTOR = np.array(
    [
        [2.66, 20, 0, 0], [2.89, 22, 0, 0], [3.28, 24, 0, 0], [2.92, 12, 0, 0], [4.00, 21, 0, 1], [2.86, 17, 0, 0],
        [2.76, 17, 0, 0], [2.87, 21, 0, 0], [3.03, 25, 0, 0], [3.92, 29, 0, 1], [2.63, 20, 0, 0], [3.32, 23, 0, 0],
        [3.57, 23, 0, 0], [3.26, 25, 0, 1], [3.53, 26, 0, 0], [2.74, 19, 0, 0], [2.75, 25, 0, 0], [2.83, 19, 0, 0],
        [3.12, 23, 1, 0], [3.16, 25, 1, 1], [2.06, 22, 1, 0], [3.62, 28, 1, 1], [2.89, 14, 1, 0], [3.51, 26, 1, 0],
        [3.54, 24, 1, 1], [2.83, 27, 1, 1], [3.39, 17, 1, 1], [2.67, 24, 1, 0], [3.65, 21, 1, 1], [4.00, 23, 1, 1],
        [3.10, 21, 1, 0], [2.39, 19, 1, 1],
    ]
)  # fmt: skip


@pytest.mark.parametrize("kind", OLS)
def test_longleys_standard_errors_are_statsmodels_whatever_is_assumed_of_variances(kind):
    X, y = columns("Longley")
    plain = LeastSquares(covariance=kind).fit(X, y)
    np.testing.assert_allclose(plain.table().se[:6], OLS[kind], rtol=CLOSE)
    assert plain.f_statistic_ == pytest.approx(F[kind], rel=CLOSE)
    assert plain.table().errors == kind
    weighted = LeastSquares(covariance=kind, weights="precision").fit(X, y, W)
    np.testing.assert_allclose(weighted.table().se[:6], WLS[kind], rtol=CLOSE)


def test_longleys_likelihood_and_adjusted_r_squared():
    X, y = columns("Longley")
    model = LeastSquares().fit(X, y)
    found = [model.adjusted_r_squared_, model.log_likelihood_, model.aic_, model.bic_]
    np.testing.assert_allclose(found, [0.9924650076, -109.6174348, 233.2348696, 238.6429907], rtol=1e-9)
    assert model.f_p_ == pytest.approx(4.984030529e-10, rel=1e-8)
    # NIST certifies the mean squares of regression and residual, and F = 330.285339234588
    assert model.f_statistic_ == pytest.approx(330.285339234588, rel=1e-11)


def test_longleys_summary_prints_what_statsmodels_does():
    """The summary in statsmodels' documentation: R squared, adjusted, F, its p, likelihood, AIC, BIC, Durbin-Watson."""
    X, y = columns("Longley")
    text = str(LeastSquares().fit(X, y).summary())
    for shown in ("16 rows", "9 degrees", "0.9955", "0.9925", "F 330.3 on 6 and 9", "p 4.98e-10", "-109.617", "233.235",
                  "238.643", "Durbin-Watson 2.559"):  # fmt: skip
        assert shown in text


def test_precision_weights_are_those_of_wls():
    X, y = columns("Longley")
    model = LeastSquares(weights="precision").fit(X, y, W)
    assert model.freedom_ == 9.0 and model.residual_sd_**2 == pytest.approx(143924.460943, rel=1e-9)
    found = [model.r_squared_, model.adjusted_r_squared_, model.log_likelihood_, model.aic_, model.bic_]
    np.testing.assert_allclose(found, [0.9940217727, 0.9900362879, -110.6560275, 235.3120551, 240.7201761], rtol=1e-9)


def test_spectors_logit_is_as_printed():
    model = Logistic(penalty=0).fit(SPECTOR[:, :3], SPECTOR[:, 3])
    found = model.table()
    np.testing.assert_allclose(found.estimate, [-13.0213, 2.8261, 0.0952, 2.3787], atol=5e-5)
    np.testing.assert_allclose(found.se, [4.9313, 1.2629, 0.1416, 1.0646], atol=6e-5)
    np.testing.assert_allclose(found.p, [0.008, 0.025, 0.501, 0.025], atol=6e-4)
    np.testing.assert_allclose(found.low, [-22.687, 0.351, -0.182, 0.292], atol=6e-4)
    np.testing.assert_allclose(found.high, [-3.356, 5.301, 0.373, 4.465], atol=6e-4)
    # statsmodels' Logit: pseudo R squared, likelihood ratio, its p, AIC, BIC
    whole = [model.pseudo_r_squared_, model.likelihood_ratio_, model.likelihood_ratio_p_, model.aic_, model.bic_]
    np.testing.assert_allclose(whole, [0.3740382954, 15.40419095, 0.001501878682, 33.77926844, 39.64221206], rtol=1e-8)


def test_contrasts_with_a_base_class_have_the_errors_of_the_whole_information():
    """statsmodels 0.15's MNLogit of the diabetes data: thirds of progression (cut at 100 and 180) on bmi and bp."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    found = Logistic(penalty=0).fit(X[:, [2, 3]], np.digitize(y, [100.0, 180.0])).table()
    expected = [-6.06164398, 0.14754314, 0.02592147, -14.9051039, 0.33815573, 0.06404182]
    np.testing.assert_allclose(found.estimate, expected, rtol=1e-6)
    errors = [1.19331424, 0.0379507, 0.01073926, 1.50171602, 0.04233602, 0.01178997]
    np.testing.assert_allclose(found.se, errors, rtol=1e-6)
    p = [3.78088647e-07, 1.01174502e-04, 1.57909680e-02, 3.22866748e-23, 1.37787568e-15, 5.57607966e-08]
    np.testing.assert_allclose(found.p, p, rtol=1e-5)
