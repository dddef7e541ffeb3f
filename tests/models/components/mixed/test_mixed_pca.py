"""MixedPCA: prince's numbers, PCA and MCA at its ends, the law it maximises, chance."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from assay import MCA, PCA, MixedPCA, Moments
from assay.errors import DataError
from assay.questions.components.test import components
from assay.summary.moments.grouped import GroupedMoments

POISON = json.loads(
    (
        next(p for p in Path(__file__).parents if p.name == "tests") / "oracles" / "data" / "factominer" / "poison.json"
    ).read_text(encoding="utf-8")
)
PEER = POISON["famd"]


def poison():
    return pd.DataFrame(POISON["rows"], columns=POISON["columns"])


def mixed(n=200, strength=0.0, seed=0):
    """A category of four levels, one of two, and three numbers; with strength, the first moves two numbers."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, n), rng.integers(0, 2, n)
    x = rng.standard_normal((n, 3))
    x[:, :2] += strength * (a == 0)[:, None]
    return pd.DataFrame(
        {"a": np.array(list("pqrs"))[a], "b": np.array(["no", "yes"])[b], "x": x[:, 0], "y": x[:, 1], "z": x[:, 2]}
    )


def test_poison_is_princes():
    table = poison()
    found = MixedPCA(8).fit(table)
    np.testing.assert_allclose(found.explained_variance_, PEER["eigenvalues"], atol=1e-9)
    assert found.variables_.tolist() == PEER["variables"]
    np.testing.assert_allclose(found.variable_cos2_[:, :3], PEER["variable_cos2"], atol=1e-9)
    F = found.transform(table)[:6, :3]
    np.testing.assert_allclose(
        F * np.sign(np.sum(F * PEER["row_coordinates"], axis=0)), PEER["row_coordinates"], atol=1e-9
    )
    shares = np.array([PEER["column_contributions"][name] for name in ("Age", "Time")])
    np.testing.assert_allclose(found.column_contributions_[:2, :3], shares, atol=1e-9)


def test_numbers_alone_are_the_pca_of_their_correlations():
    X = mixed().iloc[:, 2:].to_numpy() * [1.0, 100.0, 0.01] + [0.0, 1e6, 3.0]
    found, pca = MixedPCA().fit(X), PCA(scale=True).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, pca.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(found.column_coordinates_, pca.loadings_, atol=1e-9)
    # spreads by n and not n - 1
    np.testing.assert_allclose(found.transform(X), pca.transform(X) * np.sqrt(200 / 199), atol=1e-9)


def test_categories_alone_are_mca_times_the_number_of_columns():
    X = mixed().iloc[:, :2]
    found, mca = MixedPCA().fit(X), MCA().fit(X)
    np.testing.assert_allclose(found.eigenvalues_, 2 * mca.eigenvalues_, atol=1e-12)
    # of the four axes the middle two have the same inertia, and may turn into each other
    ends = [0, 3]
    np.testing.assert_allclose(found.transform(X)[:, ends], mca.transform(X)[:, ends] * np.sqrt(2), atol=1e-9)
    np.testing.assert_allclose(found.variable_cos2_[:, ends], mca.variable_cos2_[:, ends], atol=1e-9)


def test_a_category_of_two_levels_is_a_number():
    table = mixed(strength=1.0)
    as_number = table.assign(b=(table["b"] == "yes").astype(float))
    one, other = MixedPCA().fit(table), MixedPCA().fit(as_number)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-12)
    np.testing.assert_allclose(np.abs(one.transform(table)), np.abs(other.transform(as_number)), atol=1e-8)


def test_an_axis_has_the_sum_of_squared_correlations_and_no_direction_has_more():
    table = mixed(strength=1.0)
    found = MixedPCA().fit(table)
    np.testing.assert_allclose(found.variable_cos2_.sum(axis=0), found.eigenvalues_, rtol=1e-9)
    assert found.total_variance_ == pytest.approx(3 + 3 + 1)
    rng = np.random.default_rng(0)

    def reached(f):
        numbers = sum(np.corrcoef(f, table[name])[0, 1] ** 2 for name in "xyz")
        means = (pd.Series(f).groupby(table[name]).transform("mean") for name in "ab")
        return numbers + sum(np.var(mean, ddof=0) / np.var(f) for mean in means)

    first = found.transform(table)[:, 0]
    assert reached(first) == pytest.approx(found.eigenvalues_[0], rel=1e-9)
    assert all(reached(first + 0.3 * rng.standard_normal(200)) < found.eigenvalues_[0] for _ in range(20))


def test_levels_lie_in_the_middle_of_their_rows_and_numbers_at_their_correlation():
    table = mixed(strength=1.0)
    found = MixedPCA(3).fit(table)
    F = found.transform(table)
    np.testing.assert_allclose(found.column_coordinates_[0], F[(table["a"] == "p").to_numpy()].mean(axis=0), atol=1e-9)
    by_hand = [np.corrcoef(table["x"], f)[0, 1] for f in F.T]
    np.testing.assert_allclose(found.column_coordinates_[6], by_hand, atol=1e-9)
    again = found.supplementary(table, table[["a", "x"]])
    np.testing.assert_allclose(again.coordinates[0], found.column_coordinates_[0], atol=1e-9)
    np.testing.assert_allclose(again.coordinates[4], found.column_coordinates_[6], atol=1e-9)


def test_a_source_and_moments_give_the_same_and_a_row_does_not_depend_on_those_beside_it():
    table = mixed(strength=1.0)
    here, read = MixedPCA(3).fit(table), MixedPCA(3).fit(assay.read(table))
    np.testing.assert_allclose(read.explained_variance_, here.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(read.transform(assay.read(table))), np.abs(here.transform(table)), atol=1e-8)
    np.testing.assert_allclose(here.transform(table[5:6]), here.transform(table)[5:6], atol=1e-12)
    Z = np.hstack([pd.get_dummies(table["a"]), pd.get_dummies(table["b"]), table[["x", "y", "z"]]]).astype(float)
    summed = MixedPCA(3).fit_moments(Moments.of(Z[:90]) + Moments.of(Z[90:]), ["a"] * 4 + ["b"] * 2 + ["x", "y", "z"])
    np.testing.assert_allclose(summed.explained_variance_, here.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(summed.chance().p_values, here.chance().p_values)


def test_the_question_of_components_has_these_eigenvalues():
    table = mixed(strength=1.0)
    Z = np.hstack([pd.get_dummies(table["a"]), pd.get_dummies(table["b"]), table[["x", "y", "z"]]]).astype(float)
    groups = np.array([0] * 4 + [1] * 2 + [2, 3, 4])
    asked = components(tuple("pqrsnyXYZ"), rows=Z, folds=GroupedMoments.folds(Z, 10, random_state=0), groups=groups)
    np.testing.assert_allclose(asked.values, MixedPCA().fit(table).eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("rows", [True, False])
def test_independent_columns_have_no_axis_and_a_level_that_moves_two_numbers_one(rows):
    false = found = 0
    for seed in range(40):
        table = mixed(150, seed=seed)
        false += MixedPCA(random_state=seed).fit(table).chance(table if rows else None).n_real > 0
    for seed in range(15):
        table = mixed(150, strength=1.5, seed=seed)
        found += MixedPCA(random_state=seed).fit(table).chance(table if rows else None).n_real == 1
    # of 40 more than 6: a chance of .003 at a true rate of 5%, .10 at 10%, .90 at 25%; of 15 fewer than 11 with one
    # axis: a chance of .0006 at a true rate of 95%, .65 at 65%, .94 at 50%
    assert false <= 6 and found >= 11


def test_what_numbers_made_from_one_date_share_is_no_finding():
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=900, freq="D")
    table = pd.DataFrame({"day": days, "kind": rng.choice(list("abc"), 900), "x": rng.standard_normal(900)})
    found = MixedPCA(2, random_state=0).fit(assay.read(table))
    assert (found.variables_ == "day").sum() == 1 and (found.groups_ == 0).sum() > 1
    assert found.eigenvalues_[0] > 1.1  # day and month go together
    assert found.chance().n_real == 0 and found.chance(assay.read(table)).n_real == 0


def test_numbers_where_levels_were_are_refused():
    found = MixedPCA().fit([["a", 1.0], ["b", 2.0], ["b", 4.0]])
    with pytest.raises(DataError, match="column 'x1' was a number on fit; these are levels"):
        found.transform([["a", "c"]])
    with pytest.raises(DataError, match="column 1 has no value in row 1.*infinity"):
        MixedPCA().fit([["a", 1.0], ["b", np.inf]])
