"""Benjamini and Hochberg's q: SciPy's."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from assay.linalg.noise.discoveries import benjamini_hochberg


@pytest.mark.parametrize("m", [0, 1, 2, 50])
def test_q_is_that_of_scipy_ties_and_all(m):
    p = np.random.default_rng(m).random(m).round(1) ** 3
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p) if m else p, rtol=1e-15)
