"""One body for every engine: links, triples, ratings, maps and trees come out as they do on one machine."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from assay.data.formats import arrow_files
from assay.data.read import read
from assay.data.text import csv
from assay.engine.current import gathered_blocks, map_reduce, regrouped, scattered, spread, using
from assay.engine.engine import Items
from assay.engine.local import LocalEngine
from assay.errors import DataError, ParameterError
from assay.models.cluster.agglomerative.agglomerative import Agglomerative
from assay.models.cluster.divisive.divisive import Divisive
from assay.models.embedding.diffusion_map.diffusion_map import DiffusionMap
from assay.models.embedding.isomap.isomap import Isomap
from assay.models.embedding.mds.mds import MDS
from assay.models.embedding.sne.sne import SNE
from assay.models.embedding.sne.tsne import TSNE
from assay.models.network.pagerank import spread_links
from assay.models.network.pagerank.pagerank import pagerank
from assay.models.prediction.recommender import spread_ratings
from assay.models.prediction.recommender.matrix_factorization import MatrixFactorization
from assay.summary.triples.triples import Triples

EPS = np.finfo(np.float64).eps


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Links, triples, ratings, counts and rows in files of several row groups."""
    place = tmp_path_factory.mktemp("links")
    rng = np.random.default_rng(0)
    m, n = 6000, 400
    first, second = rng.zipf(1.6, m) % n, rng.integers(0, n, m)  # repeated ones, loops, and nodes without out-links
    weights = rng.integers(0, 5, m) + rng.random(m) * (rng.random(m) < 0.5)  # some are zero
    names = np.array([f"page {i}" for i in range(n)])
    named = pa.table({"from": names[first], "to": names[second], "weight": weights})
    pq.write_table(named, place / "named.parquet", row_group_size=1500)
    pa_csv.write_csv(pa.table({"a": first, "b": second}), place / "numbered.csv")
    links = pa.table({"i": first, "j": second, "value": weights})
    pq.write_table(links, place / "links.parquet", row_group_size=1500)
    table = pa.table({"i": rng.integers(0, 900, m), "j": rng.zipf(1.5, m) % 70_000, "value": rng.standard_normal(m)})
    pq.write_table(table, place / "left.parquet", row_group_size=1500)
    for name, rows, columns in (("first", 900, 3000), ("second", 3000, 50)):
        i, j = rng.integers(0, rows, m), rng.integers(0, columns, m)
        table = pa.table({"i": i, "j": j, "value": rng.standard_normal(m)})
        pq.write_table(table, place / f"{name}.parquet", row_group_size=2500)
    i, j = rng.integers(0, 300, (2, 2000))
    value = rng.random(2000)
    both = {"i": np.r_[i, j], "j": np.r_[j, i], "value": np.r_[value, value]}
    pq.write_table(pa.table(both), place / "symmetric.parquet", row_group_size=900)
    user, item = rng.integers(0, 90, 3000), rng.integers(0, 40, 3000)
    taste = rng.standard_normal((90, 2)) @ rng.standard_normal((2, 40))
    rating = 3.0 + taste[user, item] + rng.normal(0.0, 0.3, 3000)
    table = pa.table({"user": np.array([f"u{k}" for k in range(90)])[user], "item": item, "rating": rating})
    pq.write_table(table, place / "ratings.parquet", row_group_size=900)
    plays = pa.table({"user": user, "item": item, "plays": rng.poisson(1.0 + np.exp(taste[user, item] / 2))})
    pq.write_table(plays, place / "plays.parquet", row_group_size=900)
    angle = rng.uniform(0.0, 4.5, 900)
    rows = np.column_stack([angle * np.cos(angle), angle * np.sin(angle), rng.random(900)])
    pq.write_table(pa.table(dict(zip("xyz", rows.T, strict=True))), place / "rows.parquet", row_group_size=250)
    return place


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts as small as their blocks allow, so that small files have several."""
    monkeypatch.setattr(arrow_files, "_SMALLEST", 1)
    monkeypatch.setattr(csv, "_PARTS", 1 << 30)
    monkeypatch.setattr(spread_links, "_BLOCK", 2000)
    monkeypatch.setattr(spread_ratings, "_BLOCK", 1500)


def test_blocks_are_regrouped_in_order(engine):
    """Pieces of a new block come in the order of the blocks; none is lost, none counted twice."""
    given = [list(range(10 * k, 10 * k + 7 + k)) for k in range(5)]
    with using(engine):
        new = regrouped(
            Items(given), lambda block: [[x for x in block if x % 3 == r] for r in range(3)], lambda parts: parts, 3
        )
        found = gathered_blocks(new)
        total = map_reduce(new, lambda parts: sum(map(sum, parts)), lambda a, b: a + b)
    assert found == [[[x for x in block if x % 3 == r] for block in given] for r in range(3)]
    assert total == sum(map(sum, given))


def test_what_cannot_be_kept_or_regrouped_says_why(engine):
    def refuse(block):
        raise DataError("block 3 is torn; mend it")

    with using(engine):
        with pytest.raises(DataError, match="block 3 is torn"):
            map_reduce(regrouped(Items([1, 2]), refuse, list, 2), len, lambda a, b: a + b)
        with pytest.raises(DataError, match="block 3 is torn"):
            map_reduce(regrouped(Items([1, 2]), lambda block: [block, block], refuse, 2), len, lambda a, b: a + b)
        kept = scattered(_Torn())
        with pytest.raises(DataError, match="block 3 is torn"):
            map_reduce(kept, len, lambda a, b: a + b)
        assert spread(abs, [-1]) == [1]  # the workers live on


class _Torn(Items):
    """Blocks that cannot be read."""

    def __init__(self):
        super().__init__([1])

    def parts(self):
        return [_TornPart()]

    def of_parts(self):
        return enumerate(_TornPart())


class _TornPart:
    def __iter__(self):
        raise DataError("block 3 is torn; mend it")

    def told(self):
        return None


@pytest.mark.parametrize(
    ("name", "directed"), [("named.parquet", None), ("named.parquet", False), ("numbered.csv", True)]
)
def test_pagerank_of_links_that_workers_keep_is_that_of_links_here(engine, folder, name, directed):
    path = folder / name
    data = read(path) if path.suffix == ".csv" else path  # a text of edges by its path is one part
    few = {"directed": directed, "damping": 0.5, "tol": 1e-6}  # steps
    expected = pagerank(data, **few)
    found = pagerank(data, **few, engine=engine)
    assert found.names == expected.names
    assert found.iterations == expected.iterations
    # a score is a sum of few hundred terms, each rounded a few times in each of few dozen steps that shrink errors
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-13)
    assert found.rank(found.top(1)[0][0]) == 1


def test_pagerank_of_triples_and_its_options(engine, folder, tmp_path):
    jumps = {3: 1.0, 17: 2.0}
    few = {"personalise": jumps, "damping": 0.4, "tol": 1e-6}
    expected = pagerank(Triples.of(folder / "links.parquet"), **few)
    with using(engine):
        found = pagerank(Triples.of(folder / "links.parquet"), **few, out=tmp_path / "scores.npy")
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-13)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), found.scores)


def test_bad_links_are_refused_with_their_place_on_every_engine(engine, tmp_path):
    table = pa.table({"from": ["a", "b", "c"], "to": ["b", "c", "a"], "weight": [1.0, -2.0, 1.0]})
    pq.write_table(table, tmp_path / "bad.parquet", row_group_size=1)
    with using(engine), pytest.raises(DataError, match=r"bad.parquet, row 2: the weight 'weight' is -2.0"):
        pagerank(tmp_path / "bad.parquet")
    pq.write_table(table.set_column(1, "to", pa.array(["b", None, "a"])), tmp_path / "gap.parquet", row_group_size=1)
    with using(engine), pytest.raises(DataError, match=r"gap.parquet, row 2: 'to' is empty"):
        pagerank(tmp_path / "gap.parquet")


def test_products_with_vectors_are_scipys(engine, folder):
    M = Triples.of(folder / "left.parquet").to_scipy()
    v = np.random.default_rng(1).standard_normal(M.shape[1])
    u = np.random.default_rng(2).standard_normal(M.shape[0])
    with using(engine):
        T = Triples.of(folder / "left.parquet")
        assert T.shape == M.shape
        found = [T.dot(v), T.dot(v, memory="1 MB"), T.T.dot(u), T.T.dot(u, memory="1 MB")]
    for y, expected, size in zip(
        found, [M @ v] * 2 + [M.T @ u] * 2, [abs(M) @ abs(v)] * 2 + [abs(M).T @ abs(u)] * 2, strict=True
    ):
        # rounding of a sum is at most as many units of the sum of sizes as there are terms
        assert (abs(y - expected) <= 200 * EPS * size).all()


def test_products_of_two_matrices_are_scipys(engine, folder):
    paths = folder / "first.parquet", folder / "second.parquet"
    M, N = (
        Triples.of(path, shape=shape).to_scipy() for path, shape in zip(paths, [(900, 3000), (3000, 50)], strict=True)
    )
    with using(engine):
        T, R = Triples.of(paths[0], shape=(900, 3000)), Triples.of(paths[1], shape=(3000, 50))
        found = [T.product(R), T.product(R, memory="3 MB"), T.product(sparse.coo_array(N))]  # at once, in four, N here
    for C in found:
        off = abs(C.to_scipy() - M @ N)
        assert (off.toarray() <= 50 * EPS * (abs(M) @ abs(N)).toarray()).all()
        assert C.to_scipy().nnz == (M @ N).nnz


def test_the_leading_pair_takes_the_same_products(engine, folder):
    expected = Triples.of(folder / "symmetric.parquet").power_iteration(tol=1e-3)
    with using(engine):
        found = Triples.of(folder / "symmetric.parquet").power_iteration(tol=1e-3)
    assert found.iterations == expected.iterations
    assert found.value == pytest.approx(expected.value, rel=1e-13)
    np.testing.assert_allclose(found.vector, expected.vector, atol=1e-12)


@pytest.mark.parametrize(("name", "feedback"), [("ratings.parquet", "explicit"), ("plays.parquet", "implicit")])
def test_ratings_that_workers_keep_give_the_same_factors_in_the_same_sweeps(engine, folder, name, feedback):
    def model():
        return MatrixFactorization(2, feedback=feedback, tol=1e-2)

    expected = model().fit(str(folder / name))
    with using(engine):
        found = model().fit(str(folder / name))
    assert list(found.users_) == list(expected.users_)
    assert list(found.items_) == list(expected.items_)
    assert found.n_iter_ == expected.n_iter_
    assert found.ratings_.notes == expected.ratings_.notes
    # ridge regressions of rows lose few digits, and sweeps bring two starts together; singular vectors of the start
    # are right to 1e-11
    for attribute in ("item_factors_", "user_factors_", "item_bias_", "user_bias_", "objective_"):
        np.testing.assert_allclose(getattr(found, attribute), getattr(expected, attribute), rtol=1e-9, atol=1e-9)
    user = expected.users_[5]
    assert [item for item, _ in found.recommend(user, 3, exclude_seen=False)] == [
        item for item, _ in expected.recommend(user, 3, exclude_seen=False)
    ]


def test_what_ratings_elsewhere_cannot_do_is_refused(engine, folder, tmp_path):
    if isinstance(engine, LocalEngine):
        pytest.skip("ratings are here")
    with using(engine):
        with pytest.raises(ParameterError, match="'held-out' fits many times on ratings in memory"):
            MatrixFactorization("held-out").fit(str(folder / "ratings.parquet"))
        found = MatrixFactorization(1, feedback="implicit", tol=1.0).fit(str(folder / "plays.parquet"))
        with pytest.raises(DataError, match="say exclude_seen=False"):
            found.recommend("3")
        with pytest.raises(DataError, match="what is popular is in them"):
            found.recommend(None)
        pq.write_table(pa.table({"user": [1, 2], "item": [1, 2], "plays": [1, -3]}), tmp_path / "minus.parquet")
        with pytest.raises(DataError, match=r"minus.parquet, row 2: the count is -3, but counts are not negative"):
            MatrixFactorization(1, feedback="implicit").fit(str(tmp_path / "minus.parquet"))


@pytest.mark.parametrize(
    "model",
    [
        TSNE(tol=1.0),
        SNE(tol=1.0),
        Isomap(2),
        DiffusionMap(2),
        MDS(2, n_init=1, tol=1e-2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_maps_of_large_sources_are_of_the_same_sample_and_place_all_rows(engine, folder, monkeypatch, model):
    monkeypatch.setattr(type(model), "_most_rows", 120)
    path = str(folder / "rows.parquet")
    X = read(path).to_arrow().to_pandas().to_numpy()
    with pytest.warns(UserWarning, match="a fair sample of 120 of 900 rows"):
        expected = model.__class__(**model.get_params()).fit(read(path))
    with using(engine), pytest.warns(UserWarning, match="a fair sample of 120 of 900 rows"):
        found = model.__class__(**model.get_params()).fit(read(path))
    with using(engine):
        places = found.transform(read(path))
    np.testing.assert_array_equal(found.sample_, expected.sample_)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    assert places.shape == (900, 2)
    # rows are placed one by one, in blocks here and there: the same but for how products over a block are rounded
    again = type(model)._placed(_without_names(expected), X)
    np.testing.assert_allclose(places, again, atol=1e-6 * np.ptp(again))


@pytest.mark.parametrize("linkage", ["ward", "single", "average", "complete"])
def test_trees_of_large_sources_are_of_the_same_sample_and_group_all_rows(engine, folder, monkeypatch, linkage):
    monkeypatch.setattr(Agglomerative, "_most_rows", 150)
    path = str(folder / "rows.parquet")
    X = read(path).to_arrow().to_pandas().to_numpy()
    with pytest.warns(UserWarning, match="a fair sample"):
        expected = Agglomerative(4, linkage=linkage).fit(read(path))
    with using(engine), pytest.warns(UserWarning, match="a fair sample"):
        labels = Agglomerative(4, linkage=linkage).fit_predict(read(path))
    np.testing.assert_array_equal(labels, _without_names(expected).predict(X))
    np.testing.assert_array_equal(labels[expected.sample_], expected.labels_)


def test_splits_of_large_sources_group_all_rows(engine, folder, monkeypatch):
    monkeypatch.setattr(Divisive, "_most_rows", 150)
    path = str(folder / "rows.parquet")
    with pytest.warns(UserWarning, match="a fair sample"):
        expected = Divisive(3).fit(read(path))
    with using(engine), pytest.warns(UserWarning, match="a fair sample"):
        labels = Divisive(3).fit_predict(read(path))
    np.testing.assert_array_equal(labels[expected.sample_], expected.labels_)


def _without_names(model):
    del model.feature_names_in_
    return model
