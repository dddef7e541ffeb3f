"""Exported models give what the model gives, run by a program that knows nothing of assay."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import assay
from assay.errors import ParameterError

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

IRIS, KIND = load_iris(return_X_y=True)
NAMES = load_iris().target_names[KIND]
DIABETES, LEVEL = load_diabetes(return_X_y=True)


def ran(model, rows):
    """What the exported graph hands out, by name."""
    session = onnxruntime.InferenceSession(assay.to_onnx(model), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"rows": np.asarray(rows, dtype=np.float64)}), strict=True))


def close(found, expected, scale=1.0):
    # sums of at most a hundred products in double precision, in another order: far within 1e-9 of their size
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("model", [assay.PCA(2), assay.PCA(3, scale=True, whiten=True)], ids=str)
def test_scores_of_components_are_the_same(model):
    close(ran(model.fit(IRIS), IRIS)["transformed"], model.transform(IRIS))


@pytest.mark.parametrize(
    "model",
    [
        assay.LeastSquares(),
        assay.Ridge(0.5),
        assay.ElasticNet(0.5),
        assay.SVR(kernel="linear"),
        assay.SVR(100.0),
        assay.SVR(kernel="polynomial"),
    ],
    ids=str,
)
def test_predictions_of_a_number_are_the_same(model):
    found = ran(model.fit(DIABETES, LEVEL), DIABETES)["prediction"]
    expected = model.predict(DIABETES)
    assert found.shape == expected.shape
    close(found, expected, np.abs(expected).max())


def test_several_targets_stay_several():
    both = np.stack([LEVEL, -LEVEL], axis=1)
    model = assay.Ridge().fit(DIABETES, both)
    close(ran(model, DIABETES)["prediction"], model.predict(DIABETES))


CLASSIFIERS = [
    assay.Logistic(),
    assay.Fisher(),
    assay.DifferenceOfMeans(),
    assay.GaussianRule(),
    assay.GaussianRule("equal"),
    assay.NaiveBayes(),
    assay.NearestCentroid(),
    assay.SVM(),
    assay.SVM(kernel="linear"),
    assay.SVM(kernel="polynomial"),
]


@pytest.mark.parametrize("classes", ["three names", "two numbers"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_classes_and_their_probabilities_are_the_same(model, classes):
    rows, y = (IRIS, NAMES) if classes == "three names" else (IRIS[50:], KIND[50:])
    found = ran(model.fit(rows, y), rows)
    assert found["label"].tolist() == model.predict(rows).tolist()
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        close(found["probabilities"], model.predict_proba(rows))


def test_cells_of_every_kind_and_missing_ones_count_in_naive_bayes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    rows = np.column_stack(
        [rng.normal(y), rng.poisson(1 + y), rng.random(120) < 0.2 + 0.2 * y, rng.integers(0, 3, 120)]
    )
    rows[rng.random(rows.shape) < 0.1] = np.nan
    model = assay.NaiveBayes(["gaussian", "multinomial", "bernoulli", "categorical"]).fit(rows, y)
    unseen = np.vstack([rows, [0.0, 1.0, 1.0, 7.0]])  # a level that no class has shown
    close(ran(model, unseen)["probabilities"], model.predict_proba(unseen))


def test_groups_and_distances_are_the_same():
    model = assay.KMeans(3, random_state=0).fit(IRIS)
    found = ran(model, IRIS)
    assert found["label"].tolist() == model.predict(IRIS).tolist()
    close(found["transformed"], model.transform(IRIS))


@pytest.mark.parametrize("model", [assay.ZScore(), assay.Mahalanobis(), assay.Mahalanobis(shrinkage=0.3)], ids=str)
def test_unusual_rows_are_flagged_the_same(model):
    rows = np.vstack([IRIS, [[5.0, 3.0, 40.0, 1.0]]])
    found = ran(model.fit(IRIS), rows)
    assert found["label"].tolist() == model.predict(rows).tolist() and found["label"][-1] == -1
    close(found["score"], model.score_samples(rows), 1e3)


def test_fewer_rows_than_columns_keep_the_ridge_of_distances():
    rows = load_digits().data[:40]
    rows = rows[:, rows.std(axis=0) > 0.0]
    model = assay.Mahalanobis().fit(rows)
    assert model.axes_.shape[1] < rows.shape[1]
    close(ran(model, rows)["score"], model.score_samples(rows), 1e3)


def test_a_pipeline_is_one_graph(tmp_path):
    wine, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), assay.PCA(5), assay.Logistic()).fit(wine, y)
    found = ran(model, wine)
    assert found["label"].tolist() == model.predict(wine).tolist()
    close(found["probabilities"], model.predict_proba(wine))
    assay.to_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    assert session.run(["label"], {"rows": wine})[0].tolist() == found["label"].tolist()


def test_what_cannot_be_exported_is_said_and_nothing_is_written(tmp_path):
    path = tmp_path / "model.onnx"
    with pytest.raises(
        ParameterError, match="TSNE cannot be exported to ONNX; what can is DifferenceOfMeans, ElasticNet"
    ):
        assay.to_onnx(assay.TSNE(), path)
    with pytest.raises(ParameterError, match="the kernel .* is no formula of the rows"):
        assay.to_onnx(assay.SVM(kernel=lambda a, b: np.tanh(a @ b.T) + 2.0 * (a @ b.T)).fit(IRIS, KIND), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        constant = assay.ZScore().fit(np.column_stack([IRIS, np.ones(150)]))
    with pytest.raises(ParameterError, match="column 4 is constant in the rows fitted"):
        assay.to_onnx(constant, path)
    with pytest.raises(ParameterError, match="step 0 of the pipeline, Logistic, hands no rows to the next"):
        steps = [("a", assay.Logistic().fit(IRIS, KIND)), ("b", assay.Logistic().fit(IRIS, KIND))]
        assay.to_onnx(type(make_pipeline(None))(steps), path)
    assert not path.exists()


def test_columns_that_were_encoded_are_refused():
    table = assay.read({"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": ["x", "y"] * 10, "t": [1.0, 2.0, 3.0, 5.0] * 5})
    with pytest.raises(ParameterError, match="columns were encoded, which ONNX does not know"):
        assay.to_onnx(assay.LeastSquares().fit(table, "t"))
