"""Every model that reads rows in blocks, fitted on every engine: the workers read, and the model is the local one."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from assay.data.formats import arrow_files
from assay.data.read import read
from assay.engine.current import using
from assay.engine.local import LocalEngine
from assay.errors import ParameterError
from assay.summary.moments.grouped import GroupedMoments

N = 24_000
GROUP = 5_000  # rows
ROUNDING = (
    1e-9  # sums of N terms, in another order: N eps, times the condition numbers of the fits, which are below 1e3
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three groups of rows far from zero with a number and a class to predict; and the same rows with gaps."""
    place = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, N)
    mix = rng.standard_normal((4, 4))
    X = rng.standard_normal((N, 4)) @ mix + 8.0 * np.eye(4)[group] + 100.0
    price = X @ [1.0, -2.0, 0.5, 0.0] + rng.standard_normal(N)
    noise = rng.logistic(size=N)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    table = pa.table(
        columns
        | {
            "price": price,
            "group": np.array(["a", "b", "c"])[group],
            "yes": np.where(0.7 * (X[:, 0] - X[:, 1] - X[:, 0].mean() + X[:, 1].mean()) + noise > 0, "y", "n"),
        }
    )
    pq.write_table(table, place / "rows.parquet", row_group_size=GROUP)
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.1] = np.nan
    few = np.flatnonzero(rng.random(N) < 1e-4)
    gaps[few[:, None], [0, 1]] = np.nan
    pq.write_table(
        pa.table({f"x{j}": pa.array(gaps[:, j], from_pandas=True) for j in range(4)}),
        place / "gaps.parquet",
        row_group_size=GROUP,
    )
    return place


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    """Every row group a block and a partition of its own, so that small files have several."""
    monkeypatch.setattr(arrow_files, "_SMALLEST", 1)
    monkeypatch.setattr(arrow_files, "block_rows", lambda columns: GROUP)


@pytest.fixture
def read_here(monkeypatch):
    """How many blocks each pass of this process has read; what workers read is not among them."""
    passes = []
    inner = arrow_files.ParquetSource.numbered_blocks

    def counted(self):
        passes.append(0)
        number = len(passes) - 1
        for block in inner(self):
            passes[number] += 1
            yield block

    monkeypatch.setattr(arrow_files.ParquetSource, "numbered_blocks", counted)
    return passes


_HERE = {}


def fit_both(make, source, target, engine, read_here):
    """The same model fitted here and on an engine, where this process looks at no block but the first."""
    if make not in _HERE:
        _HERE[make] = make().fit(source(), *target)
        assert max(read_here) > 1
    here = _HERE[make]
    read_here.clear()
    there = make().fit(source(), *target, engine=engine)
    if not isinstance(engine, LocalEngine):
        assert max(read_here, default=0) <= 1
    return here, there


def plain(folder):
    return read(str(folder / "rows.parquet"), sensitive=["price", "group", "yes"])


def with_target(folder, target):
    others = {"price", "group", "yes"} - {target}
    return read(str(folder / "rows.parquet"), sensitive=sorted(others))


def fitted(model):
    """What a fit left, but for how the data were encoded; one entry for each part of a tuple."""
    left = {}
    for name, value in vars(model).items():
        if name.endswith("_") and not name.endswith("encoding_"):
            left |= {f"{name} {i}": part for i, part in enumerate(value)} if isinstance(value, tuple) else {name: value}
    return left


def assert_same(found, expected, rtol):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, (np.ndarray, float)) and np.asarray(value).dtype.kind == "f":
            scale = np.abs(value[np.isfinite(value)]).max(initial=0.0) if isinstance(value, np.ndarray) else abs(value)
            np.testing.assert_allclose(found[name], value, rtol=rtol, atol=rtol * scale, err_msg=name)
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        elif isinstance(value, (str, int, bool, type(None))):
            assert found[name] == value, name


OF_MOMENTS = {
    "PCA": lambda: assay.PCA("real", scale=True),
    "ZScore": lambda: assay.ZScore(),
    "Mahalanobis": lambda: assay.Mahalanobis(shrinkage="ledoit-wolf"),
}
OF_TARGETS = {
    "LeastSquares": ("price", lambda: assay.LeastSquares()),
    "Ridge": ("price", lambda: assay.Ridge("held-out", random_state=0)),
    "ElasticNet": ("price", lambda: assay.ElasticNet("held-out", random_state=0)),
    "Fisher": ("group", lambda: assay.Fisher(shrinkage="auto")),
    "GaussianRule": ("group", lambda: assay.GaussianRule()),
    "DifferenceOfMeans": ("group", lambda: assay.DifferenceOfMeans()),
    "NearestCentroid": ("group", lambda: assay.NearestCentroid()),
    "SubspaceClassifier": ("group", lambda: assay.SubspaceClassifier()),
    "NaiveBayes": ("group", lambda: assay.NaiveBayes()),
    "CCA": (["x2", "x3", "price"], lambda: assay.CCA(ridge="held-out")),
    "CCA by svd": (["x2", "x3", "price"], lambda: assay.CCA(solver="svd")),
    "NonlinearCCA": (["x2", "x3"], lambda: assay.NonlinearCCA(2)),
    "TemporalCCA": (["x2", "x3"], lambda: assay.TemporalCCA(2, lags=range(3))),
}


@pytest.mark.parametrize("name", OF_MOMENTS)
def test_models_of_one_summary_are_the_same_to_the_last_bit(engine, folder, read_here, name):
    here, there = fit_both(OF_MOMENTS[name], lambda: plain(folder), (), engine, read_here)
    assert_same(fitted(there), fitted(here), rtol=0.0)


@pytest.mark.parametrize("name", OF_TARGETS)
def test_models_of_named_columns_are_the_same_to_the_last_bit(engine, folder, read_here, name):
    target, make = OF_TARGETS[name]
    kept = target if isinstance(target, str) else "price"
    here, there = fit_both(make, lambda: with_target(folder, kept), (target,), engine, read_here)
    assert_same(fitted(there), fitted(here), rtol=0.0)


SEVERAL_PASSES = {
    "KMeans": lambda: assay.KMeans(3, random_state=1),
    "KMeans parallel": lambda: assay.KMeans(3, init="k-means||", random_state=1),
    "GaussianMixture": lambda: assay.GaussianMixture(3, tol=1e-2, random_state=1),
}


@pytest.mark.parametrize("name", SEVERAL_PASSES)
def test_models_of_several_passes_take_the_same_passes_to_the_same_end(engine, folder, read_here, name):
    here, there = fit_both(SEVERAL_PASSES[name], lambda: plain(folder), (), engine, read_here)
    assert there.n_iter_ == here.n_iter_
    assert_same(fitted(there), fitted(here), rtol=ROUNDING)


def test_logistic_regression_takes_the_same_steps_to_the_same_end(engine, folder, read_here):
    here, there = fit_both(assay.Logistic, lambda: with_target(folder, "yes"), ("yes",), engine, read_here)
    assert (there.n_iter_, there.route_, there.separated_) == (here.n_iter_, here.route_, here.separated_)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=ROUNDING)
    np.testing.assert_allclose(there.coef_std_errors_, here.coef_std_errors_, rtol=ROUNDING)


MACHINES = {
    "SVM": ("yes", lambda: assay.SVM(kernel="linear", solver="primal", C=0.1, tol=0.02)),
    "SVR": ("price", lambda: assay.SVR(kernel="linear", solver="primal", C=0.1, tol=0.02)),
}


@pytest.mark.parametrize("name", MACHINES)
def test_linear_machines_take_the_same_steps_to_the_same_end(engine, folder, read_here, name):
    target, make = MACHINES[name]
    here, there = fit_both(make, lambda: with_target(folder, target), (target,), engine, read_here)
    assert there.converged_
    np.testing.assert_array_equal(there.n_iter_, here.n_iter_)
    assert_same(fitted(there), fitted(here), rtol=ROUNDING)


def test_missing_values_are_learned_by_the_same_steps(engine, folder, read_here):
    here, there = fit_both(assay.FillMissing, lambda: read(str(folder / "gaps.parquet")), (), engine, read_here)
    assert there.n_iter_ == here.n_iter_
    assert_same(fitted(there), fitted(here), rtol=ROUNDING)


def test_rows_are_judged_by_the_workers(engine, folder, read_here):
    source = plain(folder)
    far = assay.Mahalanobis().fit(source)
    means = assay.KMeans(3, random_state=1).fit(source)
    mixture = assay.GaussianMixture(3, random_state=1).fit(source)
    rule = assay.GaussianRule().fit(with_target(folder, "group"), "group")
    asked = [far.p_values, means.predict, mixture.predict_proba, rule.predict_proba]
    here = [ask(plain(folder)) for ask in asked]
    with using(engine):
        read_here.clear()
        there = [ask(plain(folder)) for ask in asked]
    if not isinstance(engine, LocalEngine):
        assert max(read_here, default=0) <= 1
    for mine, theirs in zip(here, there, strict=True):
        np.testing.assert_array_equal(theirs, mine)


def test_kernel_methods_are_linear_ones_on_features_that_workers_make(engine, folder, read_here):
    def waves():
        numbers = assay.encode(with_target(folder, "price"), drop=["price"])
        return assay.expand(numbers, assay.RandomFourier(20, sigma=2))

    def landmarks():
        return assay.expand(plain(folder), assay.Gaussian(sigma=2.0), n_components=10, random_state=1)

    here, kernel = assay.Ridge("held-out").fit(waves(), "price"), assay.PCA(3).fit(landmarks())
    read_here.clear()
    with using(engine):
        there, kernel_there = assay.Ridge("held-out").fit(waves(), "price"), assay.PCA(3).fit(landmarks())
        if not isinstance(engine, LocalEngine):
            assert max(read_here, default=0) <= 1
    assert_same(fitted(there), fitted(here), rtol=0.0)
    assert_same(fitted(kernel_there), fitted(kernel), rtol=0.0)


def test_arrays_are_sent_where_an_engine_is_named(engine, folder):
    X = np.random.default_rng(0).standard_normal((20_000, 3)) + 50.0
    y = X[:, 0] > 50.0
    here, there = assay.PCA().fit(X), assay.PCA().fit(X, engine=engine)
    assert_same(fitted(there), fitted(here), rtol=0.0)
    here, there = assay.Fisher().fit(X, y), assay.Fisher().fit(X, y, engine=engine)
    assert_same(fitted(there), fitted(here), rtol=0.0)


def test_an_unknown_engine_is_refused_by_name():
    with pytest.raises(ParameterError, match="there is no engine 'ray'; there are local, dask, spark"):
        assay.PCA().fit(np.eye(3), engine="ray")


def test_labels_of_other_rows_are_refused_wherever_they_are_counted(engine, folder):
    with pytest.raises(ParameterError, match="more rows than groups given: row 23999 has none"), using(engine):
        GroupedMoments.of(read(str(folder / "rows.parquet")), np.zeros(N - 1, dtype=int))
