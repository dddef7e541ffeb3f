"""Parts of options by name: read, set, searched over, never changed in place."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import assay
from assay import SVDD, SVM, SVR, Gaussian, KernelPCA, Nearest, Polynomial, SpectralClustering, Within
from assay.errors import ParameterError


def test_parts_are_named_beside_their_option():
    deep = SVM(kernel=Polynomial(3, coef0=2.0)).get_params()
    assert {name: deep[name] for name in deep if name.startswith("kernel__")} == {
        "kernel__degree": 3,
        "kernel__coef0": 2.0,
        "kernel__gamma": 1.0,
    }
    assert "kernel__degree" not in SVM(kernel=Polynomial(3)).get_params(deep=False)
    assert SpectralClustering(graph=Nearest(7)).get_params()["graph__n_neighbors"] == 7
    assert assay.Isomap(graph=Within(0.5)).get_params()["graph__radius"] == 0.5


def test_another_object_takes_the_place_of_the_one_given():
    shared = Gaussian(1.0)
    first, second = SVM(kernel=shared), SVM(kernel=shared)
    first.set_params(kernel__sigma=2.0)
    assert first.kernel == Gaussian(2.0) and second.kernel is shared and shared == Gaussian(1.0)
    copy = clone(first)
    copy.set_params(kernel__sigma=3.0)
    assert first.kernel == Gaussian(2.0) and copy.kernel == Gaussian(3.0)


def test_an_option_and_its_parts_may_be_set_at_once():
    machine = SVM(kernel="linear").set_params(kernel__degree=4, kernel=Polynomial(2, coef0=0.5), C=3.0)
    assert machine.kernel == Polynomial(4, coef0=0.5) and machine.C == 3.0


def test_what_stands_for_a_kernel_has_its_parts():
    assert SVM().get_params()["kernel__sigma"] is None and SVM().kernel is None
    assert SVM().set_params(kernel__sigma=2.0).kernel == Gaussian(2.0)
    assert KernelPCA(kernel="polynomial").set_params(kernel__degree=3).kernel == Polynomial(3)
    assert "kernel__sigma" not in SVM(kernel="linear").get_params()


def test_kernel_cca_does_not_change_its_default_for_others():
    assay.KernelCCA().set_params(kernel__sigma=9.0)
    assert assay.KernelCCA().kernel == Gaussian()


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (SVM(kernel=Gaussian()), {"kernel__sigma": [0.3, 1.0], "C": [1.0, 10.0]}),
        (SVM(), {"kernel": [Polynomial(1), Polynomial(3)], "kernel__coef0": [0.0, 1.0]}),
    ],
)
def test_grids_search_over_parts(model, grid):
    X, y = make_moons(120, noise=0.2, random_state=0)
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    best = search.best_params_
    chosen = clone(model).set_params(**best).fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), chosen.decision_function(X), atol=1e-9)
    assert chosen.kernel != clone(model).kernel


def test_grids_search_over_parts_of_other_models():
    X, y = load_iris(return_X_y=True)
    X = X[::3]
    y = y[::3]
    inside = make_pipeline(StandardScaler(), KernelPCA(2, kernel=Gaussian(1.0)), SVM(kernel=Gaussian(1.0)))
    grid = {"kernelpca__kernel__sigma": [0.5, 4.0], "svm__kernel__sigma": [1.0]}
    search = GridSearchCV(inside, grid, cv=3).fit(X, y)
    sigma = search.best_estimator_.named_steps["kernelpca"].kernel_.sigma
    assert sigma == search.best_params_["kernelpca__kernel__sigma"]
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0.0
    ball = GridSearchCV(SVDD(kernel=Gaussian()), {"kernel__sigma": [0.1, 2.0]}, scoring=_inside, cv=2).fit(X)
    assert ball.best_params_ == {"kernel__sigma": 2.0}
    line = GridSearchCV(SVR(kernel=Gaussian()), {"kernel__sigma": [1e-3, 2.0]}, cv=3).fit(X[:, :3], X[:, 3])
    assert line.best_params_ == {"kernel__sigma": 2.0}


def _inside(model, X, y=None):
    return float(np.mean(model.predict(X) == 1))


@pytest.mark.parametrize(
    "model",
    [
        SpectralClustering(2, graph=Nearest(5)),
        assay.Isomap(2, graph=Nearest(5)),
        assay.DiffusionMap(2, graph=Nearest(5)),
    ],
)
def test_neighbours_are_a_part_of_a_graph(model):
    X, _ = make_moons(60, noise=0.05, random_state=0)
    changed = clone(model).set_params(graph__n_neighbors=12)
    assert changed.graph == Nearest(12) and model.graph == Nearest(5)
    changed.fit(X)


def test_parts_that_are_not_there_are_refused():
    with pytest.raises(ParameterError, match=r"Invalid parameter kernel__width: Gaussian has sigma"):
        SVM(kernel=Gaussian()).set_params(kernel__width=1.0)
    with pytest.raises(
        ParameterError, match="graph__n_neighbors is a part of graph, which is 'auto' and has none: give an obj"
    ):
        assay.Isomap().set_params(graph__n_neighbors=5)
    with pytest.raises(ParameterError, match="kernel__sigma is a part of kernel, which is 'sigmoid' and has none"):
        SVM(kernel="sigmoid").set_params(kernel__sigma=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        SVM().set_params(colour__sigma=1.0)
    with pytest.raises(ParameterError, match="sigma must be a positive number"):
        SVM(kernel=Gaussian()).set_params(kernel__sigma=-1.0)
    with pytest.raises(ParameterError, match="Linear has no parameters"):
        SVM(kernel=assay.Linear()).set_params(kernel__sigma=1.0)
