"""A warning of ours that solvers stopped early is scikit-learn's too, and nothing is loaded for that."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from assay import KMeans, pagerank
from assay.errors import Caution, NotConverged

ROWS = np.random.default_rng(0).normal(size=(300, 3))


def test_filters_for_convergence_warnings_hold_for_ours():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert not KMeans(9, max_iter=1).fit(ROWS).converged_
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        KMeans(9, max_iter=1).fit(ROWS)
    assert [w.category for w in caught] == [NotConverged]
    with warnings.catch_warnings(), pytest.raises(ConvergenceWarning):
        warnings.simplefilter("error", ConvergenceWarning)
        KMeans(9, max_iter=1).fit(ROWS)


def test_also_where_no_estimator_warns():
    links = np.array([[0, 1], [1, 2], [2, 0], [0, 3], [3, 1]])
    with pytest.warns(ConvergenceWarning, match="PageRank is known to within"):
        pagerank(links, max_iter=1)
    assert issubclass(NotConverged, Caution) and issubclass(NotConverged, ConvergenceWarning)


def test_a_filter_set_before_ours_is_loaded_holds_and_scikit_learn_is_not_loaded_for_it():
    code = """
import sys, warnings
from assay.errors import Caution, NotConverged
warnings.simplefilter("error")
try:
    warnings.warn("early", NotConverged)
except Caution:
    pass
assert "sklearn" not in sys.modules
from sklearn.exceptions import ConvergenceWarning
warnings.simplefilter("ignore", ConvergenceWarning)
warnings.warn("early", NotConverged)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
