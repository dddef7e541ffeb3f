"""A study of what sites share says what a study of their rows together says, as far as moments tell."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge

import assay
from assay.data.read import read
from assay.errors import ParameterError
from assay.linalg.canonical.canonical import wilks_p
from assay.study.run import study
from assay.summary.sharing.private import private_summary
from assay.summary.sharing.shared import merged

NAMES = ("sepal length", "sepal width", "petal length", "petal width")


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    columns = {name: data.data[:, j] for j, name in enumerate(NAMES)}
    return pa.table({**columns, "species": np.array(data.target_names)[data.target]})


@pytest.fixture(scope="module")
def sites(iris):
    own = [iris.take(np.arange(i, 150, 2)) for i in range(2)]
    first = assay.summarize(own[0], by="species")
    return [first, assay.summarize(own[1], by="species", like=first)]


@pytest.fixture(scope="module")
def shared(sites):
    return study(merged(sites), target="petal width", side=("sepal length", "sepal width"))


@pytest.fixture(scope="module")
def pooled(iris):
    return study(iris.select(NAMES), target="petal width", side=("sepal length", "sepal width"))


def test_components_are_those_of_the_rows(shared, pooled):
    np.testing.assert_allclose(shared.answers["components"].values, pooled.answers["components"].values, rtol=1e-10)
    one, other = (found.answers["components"].loadings[:, 0] for found in (shared, pooled))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_correlations_are_those_of_the_rows(shared, iris):
    X = np.column_stack([np.asarray(iris[name]) for name in NAMES])
    R = np.corrcoef(X.T)
    for pair in shared.answers["correlations"].numbers()["pairs"]:
        i, j = (NAMES.index(name) for name in pair["columns"])
        assert pair["correlation"] == pytest.approx(R[i, j], rel=1e-10)
    assert len(shared.answers["correlations"].numbers()["pairs"]) == 6


def test_canonical_correlations_are_those_of_the_rows(shared, pooled, iris):
    X = np.column_stack([np.asarray(iris[name]) for name in NAMES])
    left, right = (np.linalg.qr(side - side.mean(axis=0))[0] for side in (X[:, :2], X[:, 2:]))
    found = shared.answers["canonical"].numbers()["correlations"]
    np.testing.assert_allclose(found, np.linalg.svd(left.T @ right)[1], rtol=1e-9)  # cosines of the angles
    # with rows at hand a ridge is chosen on unseen ones, here a small one
    assert pooled.answers["canonical"].evidence.statistic == pytest.approx(found[0], abs=1e-3)


def test_ridge_is_that_of_the_rows_at_the_price_found(shared, iris):
    X = np.column_stack([np.asarray(iris[name]) for name in NAMES])
    spread = X[:, :3].std(axis=0, ddof=1)
    ridge = shared.answers["prediction"].numbers()["ridge"]
    oracle = Ridge(alpha=ridge["alpha"]).fit(X[:, :3] / spread, X[:, 3])
    np.testing.assert_allclose(list(ridge["coefficients"].values()), oracle.coef_ / spread, rtol=1e-8)
    line = shared.answers["prediction"].numbers()["coefficients"]
    exact = np.linalg.lstsq(np.column_stack([X[:, :3], np.ones(150)]), X[:, 3], rcond=None)[0]
    np.testing.assert_allclose(list(line.values()), exact[:3], rtol=1e-9)
    assert 0.9 < ridge["held_out_r2"] < 0.95


def test_directions_of_groups_are_fishers(shared, iris):
    """The eigenvalues are those that R's lda and others publish for the irises: 32.19 and 0.285."""
    X = np.column_stack([np.asarray(iris[name]) for name in NAMES])
    found = shared.answers["known_groups"].numbers()
    np.testing.assert_allclose(
        [d["between_over_within"] for d in found["directions"]], [32.19192920, 0.28539104], rtol=1e-7
    )
    oracle = LinearDiscriminantAnalysis(solver="eigen").fit(X, np.asarray(iris["species"]))
    for k, direction in enumerate(found["directions"]):
        one, other = np.array(list(direction["coefficients"].values())), oracle.scalings_[:, k]
        np.testing.assert_allclose(
            one / np.linalg.norm(one), np.sign(one @ other) * other / np.linalg.norm(other), rtol=1e-6
        )
    assert found["groups"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    evidence = shared.answers["known_groups"].evidence
    # Wilks' lambda of the irises is .0234, F 199 with 8 and 288 degrees of freedom
    r2 = np.array([d["share_between"] for d in found["directions"]])
    assert np.prod(1.0 - r2) == pytest.approx(0.023438631, rel=1e-6)
    assert evidence.p < 1e-100 and evidence.verdict == "suggestive"
    assert evidence.held_out == pytest.approx(0.97, abs=0.01) and evidence.interval[0] > 0.5


def test_two_groups_are_hotellings_test():
    """One column and two groups are Student's t."""
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(30), rng.standard_normal(25) + 0.5
    r = np.corrcoef(np.r_[x, y], np.r_[np.zeros(30), np.ones(25)])[0, 1]
    assert wilks_p(np.array([abs(r)]), 55, 1, 1) == pytest.approx(ttest_ind(x, y).pvalue, rel=1e-9)


def test_the_study_of_merged_sites_is_that_of_all_rows_summarised(iris, sites):
    one = study(merged(sites), target="petal width")
    other = study(assay.summarize(iris, by="species", like=sites[0]).fewer_folds(2), target="petal width")
    for a, b in zip(one.findings, other.findings, strict=True):
        assert (a.kind, a.subject, a.evidence.verdict) == (b.kind, b.subject, b.evidence.verdict)
        assert a.evidence.statistic == pytest.approx(b.evidence.statistic, rel=1e-9)
        assert a.evidence.p == pytest.approx(b.evidence.p, rel=1e-6, abs=1e-300)


def test_questions_that_need_rows_are_listed_and_groups_are_asked_about_only_where_they_are(shared, sites):
    silent = {line.question for line in shared.ledger.not_asked}
    assert {"Do the rows fall into groups?", "Which rows do not belong?"} <= silent
    assert not any("tells the groups" in question for question in silent)
    plain = study(assay.summarize(np.random.default_rng(0).standard_normal((100, 3))))
    asked = {look.question for look in plain.ledger.questions} | {line.question for line in plain.ledger.not_asked}
    assert not any("tells the groups" in question for question in asked)


def test_levels_of_one_column_are_no_pair_and_no_component():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.standard_normal(400), "y": rng.standard_normal(400), "c": rng.choice(list("pqr"), 400)})
    found = study(assay.summarize(table))
    pairs = found.answers["correlations"].numbers()["pairs"]
    assert len(pairs) == 1 + 2 * 3  # x with y, and each with every level
    assert found.answers["components"].evidence.p > 0.01
    assert [(c.name, c.kind) for c in found.data.columns] == [("x", "number"), ("y", "number"), ("c", "category")]
    why = {line.question: line.why for line in study(assay.summarize(table), target="c").ledger.not_asked}
    assert "summarise by it (--by)" in why["Can a column be predicted from the others?"]


def test_columns_are_left_out_by_the_names_they_have_in_the_data():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"weight (kg)": rng.standard_normal(200), "y": rng.lognormal(9.0, 2.0, 200), "z": rng.standard_normal(200)}
    )
    made = assay.summarize(table)
    found = study(made, target="weight (kg)", drop=["z"])
    assert found.answers["prediction"].numbers()["coefficients"].keys() == {"y"}
    with pytest.raises(ParameterError, match="there is no column 'species'; there are weight"):
        study(made, drop=["species"])


def noisy(table, bounds, seed, **options):
    """A release whose noise has a seed."""
    rng = np.random.default_rng(seed)

    def noise(values, scale):
        return values + np.rint(rng.normal(0.0, scale, len(values))).astype(np.int64)

    how = {"by": None, "groups": (), "epsilon": 1.0, "cv": 2} | options
    return private_summary(
        read(table), how["by"], how["cv"], (), None, how["groups"], bounds, how["epsilon"], 1e-6, fewest_rows=10,
        tell=lambda *a: None, noise=noise,
    )  # fmt: skip


def unrelated(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    X[:, 1] = 0.9 * X[:, 0] + 0.4 * X[:, 1]  # columns that go together and tell nothing of y
    return pa.table(
        {**{c: X[:, j] for j, c in enumerate("abcd")}, "y": rng.standard_normal(n), "g": rng.choice(["u", "v"], n)}
    )


UNIT = dict.fromkeys("abcdy", (-4.0, 4.0))


def test_noise_is_told_and_is_part_of_chance():
    pytest.importorskip("opendp")
    found = study(noisy(unrelated(20_000, 0), UNIT, 0, by="g", groups=("u", "v")), target="y", side=("c", "d"))
    assert any("Noise was added for differential privacy" in note for note in found.data.notes)
    for finding in found.findings:
        assert finding.evidence.limit.startswith("noise was added for differential privacy (epsilon 1, delta 1e-06)")
        assert finding.evidence.verdict != "supported"
        assert "noise that was added" in finding.evidence.method
    kinds = {finding.kind: finding.evidence for finding in found.findings}
    assert kinds["correlations"].q < 0.001 and kinds["component"].q <= 0.05  # a and b
    assert kinds["prediction"].p > 0.01 and kinds["known_groups"].p > 0.01


def test_what_noise_drowns_is_set_aside():
    pytest.importorskip("opendp")
    wide = UNIT | {"d": (-400.0, 400.0)}
    found = study(noisy(unrelated(20_000, 0), wide, 0))
    notes = {column.name: column.note for column in found.data.columns if not column.used}
    assert notes == {"d": "drowned by the noise that was added for privacy"}


@pytest.mark.calibrate
def test_noise_alone_is_rarely_taken_for_structure():
    """Laws that know nothing of noise would call it structure every time at this epsilon."""
    pytest.importorskip("opendp")
    found, blind = [], []
    for seed in range(20):
        made = noisy(unrelated(12_000, seed), UNIT, seed, by="g", groups=("u", "v"))
        p = {f.kind: f.evidence.p for f in study(made, target="y", side=("y",)).findings}
        found.append([p[kind] for kind in ("prediction", "known_groups", "canonical")])
        blind.append({f.kind: f.evidence.p for f in study(made.total, target="y").findings}["prediction"])
    # of 20 more than 5: a chance of .0003 at a true rate of 5%; fewer than 3 below .5: of .0002 at 50%
    assert ((np.array(found) <= 0.05).sum(axis=0) <= 5).all()
    assert (np.array(found) <= 0.5).sum(axis=0).min() >= 3
    assert (np.array(blind) <= 0.05).sum() >= 15
