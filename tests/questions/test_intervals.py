"""`Evidence.interval` is that of `held_out`, whatever the question; other intervals have names of their own."""

import numpy as np
import pytest

from assay.questions.anomalies.test import anomalies
from assay.questions.canonical.test import canonical
from assay.questions.components.test import components
from assay.questions.correlations.test import correlations
from assay.questions.groups.test import groups
from assay.questions.map.test import row_map
from assay.questions.prediction.test import prediction

N, NAMES = 80, tuple("abcdef")


@pytest.fixture(scope="module")
def rows():
    """Two groups of rows, so that every question finds something."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, 6)) + 4.0 * (np.arange(N) % 2)[:, None]


QUESTIONS = {
    "components": lambda X: components(NAMES, rows=X).evidence,
    "row map": lambda X: row_map(X, np.arange(N), groups=np.arange(6)).evidence,
    "canonical": lambda X: canonical(X[:, :3], X[:, 3:], (NAMES[:3], NAMES[3:])).evidence,
    "prediction": lambda X: prediction(X[:, 1:], X[:, 0], NAMES[1:], "a").evidence,
    "groups": lambda X: groups(X, np.arange(N), NAMES).evidence,
    "correlations": lambda X: correlations(X, np.arange(6), NAMES).evidence,
    "anomalies": lambda X: anomalies([(0, X)], X, np.arange(N), NAMES).evidence,
}
WITHOUT = {"groups", "anomalies"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_interval_holds_the_value_on_unseen_rows_and_is_none_where_none_is_known(question, rows):
    found = QUESTIONS[question](rows)
    if question in WITHOUT:
        assert found.interval is None
        return
    low, high = found.interval
    assert low < found.held_out < high


def test_the_strongest_pair_and_the_halvings_have_names_of_their_own(rows):
    pairs = correlations(rows, np.arange(6), NAMES)
    low, _ = pairs.strongest_interval
    assert low < pairs.evidence.held_out <= pairs.found.pairs.rank[0]
    found = groups(rows, np.arange(N), NAMES)
    assert found.strength_range[0] <= found.evidence.held_out <= found.strength_range[1]


def test_a_strongest_pair_with_a_category_has_no_interval():
    rng = np.random.default_rng(1)
    levels = np.eye(3)[rng.integers(3, size=N)]
    X = np.column_stack([levels[:, :2], levels[:, 0] + 0.1 * rng.standard_normal(N), rng.standard_normal(N)])
    found = correlations(X, np.array([0, 0, 1, 2]), ("kind", "size", "noise"))
    assert found.found.pairs.first[0] == 0 and found.strongest_interval is None
