"""Models that take a metric: by its name, by the matrix of its distances and by the peer's model the same answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster as clusters
import sklearn.manifold as manifold
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import assay
from assay import MDS, SNE, TSNE, Agglomerative, ClassicalMDS, DiffusionMap, Isomap, Nearest, SpectralClustering, Within
from assay.errors import DataError, ParameterError
from assay.models.embedding.stringing import Stringing, reorder

NAMES = ["manhattan", "chebyshev", "cosine", "correlation", "hamming"]


def rows(metric, n=70, seed=0):
    rng = np.random.default_rng(seed)
    if metric == "hamming":
        return rng.integers(0, 5, (n, 8)).astype(float)
    return rng.normal(size=(n, 5)) + np.repeat([0.0, 2.5], -(-n // 2))[:n, None] * np.array([1, 0, 1, 0, 0.5]) + 2.0


def turned(Y, like):
    """Axes have no sign."""
    return Y * np.sign((Y * like).sum(axis=0))


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_groups_are_those_of_scikit_learn(metric, linkage):
    if metric == "hamming" and linkage != "single":
        pytest.skip("many are equally far apart: which of them are merged first is a choice")
    X = rows(metric)
    ours = Agglomerative(4, linkage=linkage, metric=metric).fit(X)
    theirs = clusters.AgglomerativeClustering(4, linkage=linkage, metric=metric, compute_distances=True).fit(X)
    np.testing.assert_allclose(ours.distances_, theirs.distances_, rtol=1e-9, atol=1e-13)
    if metric != "hamming":
        assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


@pytest.mark.parametrize("metric", NAMES[:4])
def test_isomap_is_that_of_scikit_learn(metric):
    X = rows(metric)
    ours = Isomap(2, graph=Nearest(12, metric)).fit(X)
    theirs = manifold.Isomap(n_neighbors=12, n_components=2, metric=metric).fit(X)
    np.testing.assert_allclose(turned(theirs.embedding_, ours.embedding_), ours.embedding_, atol=1e-8)
    given = Isomap(2, graph=Nearest(12, "precomputed")).fit(pairwise_distances(X, metric=metric))
    np.testing.assert_allclose(given.embedding_, ours.embedding_, atol=1e-8)
    new = rows(metric, 8, 1)
    placed = given.transform(pairwise_distances(new, X, metric=metric))
    np.testing.assert_allclose(ours.transform(new), placed, atol=1e-8)
    np.testing.assert_allclose(ours.transform(X), ours.embedding_, atol=1e-8)


@pytest.mark.parametrize("metric", NAMES)
def test_maps_by_a_metric_are_those_of_its_distances(metric):
    X, new = rows(metric), rows(metric, 6, 1)
    D, E = pairwise_distances(X, metric=metric), pairwise_distances(new, X, metric=metric)
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    for kind, options in ((ClassicalMDS, {}), (ClassicalMDS, {"landmarks": 20}), (MDS, {"n_init": 1, "tol": 1e-7})):
        by_name = kind(2, metric=metric, random_state=0, **options).fit(X)
        by_matrix = kind(2, metric="precomputed", random_state=0, **options).fit(D)
        # a descent to a tolerance of 1e-7 may end so far from where another does
        np.testing.assert_allclose(by_name.embedding_, by_matrix.embedding_, atol=1e-4 if kind is MDS else 1e-8)
        np.testing.assert_allclose(by_name.transform(new), by_matrix.transform(E), atol=1e-3 if kind is MDS else 1e-8)


@pytest.mark.parametrize("metric", ["manhattan", "correlation"])
def test_walks_and_cuts_by_a_metric_are_those_of_its_distances(metric):
    X = rows(metric)
    D = pairwise_distances(X, metric=metric)
    by_name = SpectralClustering(2, graph=Nearest(10, metric), random_state=0).fit(X)
    by_matrix = SpectralClustering(2, graph=Nearest(10, "precomputed"), random_state=0).fit(D)
    np.testing.assert_array_equal(by_name.labels_, by_matrix.labels_)
    sigma = float(np.median(D))
    every = float(D.max()) * 1.01
    found = DiffusionMap(2, graph=Within(every, metric), sigma=sigma).fit(X)
    W = np.exp(-(D**2) / (2 * sigma**2))
    q = W.sum(axis=1)
    W /= np.multiply.outer(q, q)
    values = np.sort(np.linalg.eigvals(W / W.sum(axis=1, keepdims=True)).real)[::-1]
    np.testing.assert_allclose(found.eigenvalues_, values[1:3], rtol=1e-8)
    np.testing.assert_allclose(found.transform(X), found.embedding_, atol=1e-8)


def test_a_function_of_two_rows_is_a_metric():
    X = rows("manhattan", 40)

    def taxi(x, y):
        return np.abs(x - y).sum()

    for make in (
        lambda metric: Agglomerative(3, linkage="average", metric=metric).fit(X).distances_,
        lambda metric: Isomap(2, graph=Nearest(8, metric)).fit(X).embedding_,
        lambda metric: TSNE(metric=metric, random_state=0, init=X[:, :2] * 1e-4).fit(X).embedding_,
    ):
        np.testing.assert_allclose(make(taxi), make("manhattan"), rtol=1e-5, atol=1e-5)


def test_a_string_follows_the_metric_and_chance_follows_it_too():
    t = np.random.default_rng(0).permutation(60) / 60
    curve = np.column_stack([np.cos(3 * t), np.sin(3 * t), t])
    for metric in ("manhattan", "chebyshev", "correlation"):
        found = reorder(curve if metric != "correlation" else np.hstack([curve, -curve[:, ::-1]]), metric=metric)
        along = np.diff(t[found.order])
        assert (along > 0).all() or (along < 0).all(), metric
        assert found.p == 0.05
    model = Stringing(metric="manhattan").fit(curve)
    assert model.roughness_[0] == reorder(curve, metric="manhattan").roughness
    with pytest.raises(ParameterError, match="shuffles columns of numbers, which 'gower' does not have"):
        reorder(curve, metric="gower")


def people(n=80, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "income": np.where(kind == 0, 10.0, 50.0) + rng.normal(size=n),
            "age": rng.uniform(20, 60, n).round(1),
            "job": np.where(kind == 0, "nurse", np.where(rng.random(n) < 0.8, "pilot", "cook")),
            "town": rng.choice(["Oslo", "Rome", "Bern"], n),
        }
    )
    frame.loc[3, "income"] = np.nan
    frame.loc[5, "job"] = None
    return frame, kind


def gower_by_definition(a, b, spans):
    total, count = 0.0, 0
    for name, span in spans.items():
        x, y = a[name], b[name]
        if pd.isna(x) or pd.isna(y):
            continue
        count += 1
        total += float(x != y) if span is None else abs(x - y) / span
    return total / count


@pytest.mark.parametrize("given", ["frame", "source"])
def test_mixed_columns_with_gaps_are_compared_by_gower_in_every_model(given):
    frame, kind = people()
    table = frame if given == "frame" else assay.read(frame)
    spans = {name: np.ptp(frame[name].dropna()) if frame[name].dtype.kind == "f" else None for name in frame}
    people_as_records = frame.to_dict("records")
    D = np.array([[gower_by_definition(a, b, spans) for b in people_as_records] for a in people_as_records])
    np.testing.assert_allclose(MDS(2, metric="gower", n_init=1).fit(table).dissimilarity_matrix_, D, atol=1e-12)
    tree = Agglomerative(2, linkage="average", metric="gower").fit(table)
    by_matrix = Agglomerative(2, linkage="average", metric="precomputed").fit(D)
    np.testing.assert_allclose(tree.distances_, by_matrix.distances_, atol=1e-12)
    assert adjusted_rand_score(tree.labels_, kind) == 1.0
    assert adjusted_rand_score(SpectralClustering(2, graph=Nearest(12, "gower")).fit(table).labels_, kind) > 0.9
    new, truth = people(20, 1)
    new = new.drop(index=[3, 5]).reset_index(drop=True)
    truth = np.delete(truth, [3, 5])
    new.loc[0, "town"] = "Lima"  # a level not met before, like none of those
    opened = new if given == "frame" else assay.read(new)
    group = np.array([tree.labels_[np.argmax(kind == which)] for which in (0, 1)])
    np.testing.assert_array_equal(tree.predict(opened), group[truth])
    for model in (TSNE(metric="gower"), SNE(metric="gower"), Isomap(graph=Nearest(30, "gower"))):
        model.fit(table)
        np.testing.assert_allclose(model.transform(table), model.embedding_, atol=1e-6)
        assert model.transform(opened).shape == (18, 2)


def test_a_new_row_is_compared_by_the_ranges_and_levels_that_were_fitted():
    frame, _ = people()
    model = ClassicalMDS(2, metric="gower").fit(frame)
    assert model.metric_.categorical == (2, 3)
    assert model.metric_.ranges[0] == pytest.approx(np.ptp(frame["income"].dropna()))
    again = model.transform(frame)
    np.testing.assert_allclose(again, model.embedding_, atol=1e-9)


def test_columns_spread_by_the_user_are_refused_and_single_ones_taken():
    frame, _ = people()
    source = assay.read(frame)
    tree = Agglomerative(2, linkage="average", metric="gower")
    with pytest.raises(ParameterError, match=r"compares whole columns.*assay.encode\(source, single=True\)"):
        tree.fit(assay.encode(source))
    heights = tree.fit(source).distances_
    for given in (assay.encode(source, single=True, log="never"), frame.to_numpy(dtype=object)):
        np.testing.assert_allclose(tree.fit(given).distances_, heights, rtol=1e-12)


def test_models_with_metrics_are_saved_and_answer_alike(tmp_path):
    frame, _ = people()
    X = rows("manhattan")
    for number, (model, data) in enumerate(
        [
            (Agglomerative(2, linkage="average", metric="gower"), frame),
            (TSNE(metric="gower"), frame),
            (Isomap(graph=Nearest(20, "gower")), frame),
            (MDS(2, metric="manhattan", n_init=1), X),
        ]
    ):
        path = tmp_path / str(number)
        model.fit(data).save(path)
        loaded = assay.load(path)
        answer = "predict" if isinstance(model, Agglomerative) else "transform"
        assert np.array_equal(getattr(loaded, answer)(data), getattr(model, answer)(data))
    with pytest.raises(DataError, match="cannot save params.metric"):
        Agglomerative(2, linkage="single", metric=lambda x, y: abs(x - y).sum()).fit(X).save(tmp_path / "function")


@pytest.mark.parametrize(
    "make",
    [
        lambda metric: Agglomerative(2, linkage="average", metric=metric),
        lambda metric: TSNE(metric=metric),
        lambda metric: Isomap(graph=Nearest(3, metric)),
        lambda metric: ClassicalMDS(metric=metric),
        lambda metric: SpectralClustering(2, graph=Nearest(3, metric)),
    ],
)
def test_rows_that_a_metric_cannot_compare_are_refused(make):
    X = rows("cosine", 12)
    X[4] = 0.0
    with pytest.raises(DataError, match="the cosine of a row of zeros is not defined: row 4"):
        make("cosine").fit(X)
    with pytest.raises(DataError, match="the correlation of a constant row is not defined: row 4"):
        make("correlation").fit(X)
    X[4, 1] = np.nan
    with pytest.raises(DataError, match="NaN"):
        make("manhattan").fit(X)
