"""Results that have a picture are drawn by the same word, and show their own numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import assay
from assay.errors import ParameterError
from assay.linalg.eigen.spectral import eigen_symmetric
from assay.views.figures import Figure, Figures
from assay.views.plot import RESULTS

IRIS = load_iris()
X, Y = IRIS.data, IRIS.target
FLAT = X[:, 2:]
PROGRESS = load_diabetes()
N, T = PROGRESS.data[:150], PROGRESS.target[:150]

PROBABILITY = np.clip(0.5 + 0.2 * (X[Y > 0, 3] - 1.7), 0.01, 0.99)
LATE = Y[Y > 0] == 2
TABLE = np.column_stack([N, T])
MACHINE = [("new", "run", "worn", 1, 5), ("worn", "mend", "new", 1, -1), ("worn", "run", "worn", 1, 1)]
RATED = [(f"u{u}", f"i{i}", float((u * 7 + i * 3) % 5)) for u in range(20) for i in range(20) if (u + i) % 4]
TRIALS = [(t, i, "ab"[(t + i) % 2], "xy"[t * i % 2], float(i)) for t in range(20) for i in range(4)]


# for each class of result: how it is made, and the ways it is drawn
CASES = {
    "ChoiceOfK": (lambda: assay.choose_k(X, range(1, 5), random_state=0), [()]),
    "MixtureChoice": (lambda: assay.choose_components(FLAT, range(1, 3), random_state=0), [()]),
    "ScaleChoice": (lambda: assay.isomap_scales(X, n_neighbors=[5, 10]), [()]),
    "ComplexityCurve": (
        lambda: assay.complexity_curve(assay.Ridge(), "alpha", [0.1, 1.0, 10.0], N, T, cv=3, simplest="last"),
        [()],
    ),
    "LearningCurve": (lambda: assay.learning_curve(assay.Ridge(), N, T, shares=[0.5, 1.0], cv=3), [()]),
    "RefusalCurve": (lambda: assay.NearestCentroid().fit(X[::2], Y[::2]).refusal_curve(X[1::2], Y[1::2]), [()]),
    "RidgePath": (lambda: assay.Ridge("held-out", random_state=0).fit(N, T).path(), [()]),
    "ElasticNetPath": (lambda: assay.ElasticNet(l1_ratio=1).fit(N, T).path(), [()]),
    "MachinePath": (lambda: assay.SVM().path(X[Y > 0][::2], Y[Y > 0][::2], [0.1, 1.0, 10.0]), [()]),
    "ForwardSelection": (
        lambda: assay.forward_selection(assay.GroupedMoments.folds(TABLE, 3), target=10),
        [()],
    ),
    "Roc": (lambda: assay.roc(LATE, PROBABILITY), [()]),
    "Calibration": (lambda: assay.calibration(LATE, PROBABILITY), [()]),
    "Confusion": (lambda: assay.confusion(Y, np.roll(Y, 3)), [()]),
    "Dependence": (lambda: assay.dependence(X, columns=IRIS.feature_names), [()]),
    "Moments": (lambda: assay.Moments.of(X), [()]),
    "Fidelity": (lambda: assay.fidelity(X, FLAT), [(), (FLAT,)]),
    "Ordering": (lambda: assay.reorder(X), [(X,)]),
    "CoefficientTable": (lambda: assay.Logistic().fit(X, Y).table(), [()]),
    "Explained": (lambda: assay.Mahalanobis(level=0.9).fit(X).explain(X, [0, 9, 60]), [()]),
    "EuclideanDimension": (lambda: assay.euclidean_dimension(np.abs(FLAT[:9, :1] - FLAT[:9, 0]) ** 1.5), [()]),
    "Spectrum": (lambda: eigen_symmetric(np.cov(X.T)), [()]),
    "Ranking": (lambda: assay.pagerank(np.eye(9, k=1) + np.eye(9, k=-3) + np.eye(9, k=2), graphs=19), [()]),
    "Solution": (lambda: assay.MDP.read(MACHINE, 0.9).policy_iteration(), [()]),
    "Learned": (lambda: assay.learn_mdp(TRIALS, 0.9, draws=20), [()]),
    "PolicyCurve": (lambda: assay.explore("CliffWalking-v1", 3, 0.9, draws=20).curve, [()]),
    "Exploration": (lambda: assay.explore("CliffWalking-v1", 3, 0.9, draws=20), [()]),
    "Graph": (lambda: assay.Graph.of_edges([0, 1, 2], [1, 2, 0]), [()]),
    "Communities": (lambda: assay.communities([(a, b) for a in range(12) for b in range(a) if a // 4 == b // 4]), [()]),
    "RatingsEvidence": (lambda: assay.ratings_evidence(RATED, draws=19, random_state=0), [()]),
}


def data_of(figure):
    return [glyph.data_source.data for glyph in figure.renderers]


def test_every_result_with_a_picture_is_drawn_here():
    assert list(CASES) == list(RESULTS)


@pytest.mark.parametrize("name", CASES)
def test_a_result_gives_figures(name):
    make, ways = CASES[name]
    found = make()
    assert type(found).__name__ == name
    for way in ways:
        drawn = assay.plot(found, *way)
        assert isinstance(drawn, (Figure, Figures))
        assert drawn.heading and "iframe" in drawn._repr_html_()


def test_the_curve_over_the_number_of_groups_is_that_of_the_result():
    found = assay.choose_k(X, range(1, 6), random_state=0)
    within = next(iter(assay.plot(found).figures.values()))
    assert np.array_equal(data_of(within)[0]["value"], found.inertia)


def test_values_that_are_no_numbers_are_counted_and_named():
    curve = assay.complexity_curve(assay.SVM(), "kernel", [assay.Linear(), assay.Gaussian()], X[Y > 0], Y[Y > 0], cv=3)
    drawn = assay.plot(curve)
    assert data_of(drawn)[0]["value"].tolist() == [1.0, 2.0]
    assert "Linear()" in drawn._caption


def test_a_path_without_held_out_rows_shows_coefficients_alone():
    path = assay.Ridge(1.0).fit(N, T).path([0.1, 1.0])
    assert isinstance(assay.plot(path, names=PROGRESS.feature_names), Figure)
    path = assay.SVM().path(X[Y > 0][::2], Y[Y > 0][::2], [0.1, 1.0], held_out=(X[Y > 0][1::2], Y[Y > 0][1::2]))
    assert list(assay.plot(path).figures) == ["Choosing C", "Rows that the machine rests on"]
    assert isinstance(assay.plot(assay.SVR().path(N[:40], T[:40], [0.1, 1.0])), Figure)


def test_the_intercept_is_no_column():
    found = assay.LeastSquares().fit(N, T).table()
    names = np.concatenate([part["name"] for part in data_of(assay.plot(found)) if "name" in part])
    assert "intercept" not in set(names) and len(set(names)) == 10


def test_pairs_that_chance_explains_are_told_from_the_others():
    rng = np.random.default_rng(0)
    one = rng.standard_normal(200)
    found = assay.dependence(np.column_stack([one, one + rng.standard_normal(200), rng.standard_normal((200, 2))]))
    cells = data_of(assay.plot(found))[0]
    sure = {
        (a, b) for a, b, s in zip(cells["one"], cells["other"], cells["sure"], strict=True) if s == "yes" and a != b
    }
    listed = found.pairs.q <= 0.05
    pairs = {
        (found.columns[i], found.columns[j])
        for i, j in zip(found.pairs.first[listed], found.pairs.second[listed], strict=True)
    }
    assert sure == pairs | {(b, a) for a, b in pairs}


def test_a_result_that_needs_rows_asks_for_them_and_checks_them():
    reordered = assay.reorder(X)
    with pytest.raises(ParameterError, match=r"drawn with its values: plot\(reordered, X\)"):
        assay.plot(reordered)
    with pytest.raises(ParameterError, match=r"150 rows or columns.*got shape \(3, 4\)"):
        assay.plot(reordered, X[:3])
    with pytest.raises(ParameterError, match="a picture of Roc takes no rows"):
        assay.plot(assay.roc([0, 1], [0.1, 0.9]), X)


def test_rows_of_a_map_are_faint_where_their_neighbours_are_not_to_be_trusted():
    found = assay.fidelity(X, FLAT)
    source = data_of(assay.plot(found, FLAT))[0]
    least, most = np.argsort(found.point_trustworthiness)[[0, -1]]
    at = {int(row) - 1: k for k, row in enumerate(source["row"])}
    assert source["m_faint"][at[least]] > source["m_faint"][at[most]]
