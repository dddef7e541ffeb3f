"""MCA: prince's and FactoMineR's numbers, the laws of correspondence analysis, chance, edges."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

import assay
from assay import MCA, Moments
from assay.errors import DataError, ParameterError

POISON = json.loads(
    (
        next(p for p in Path(__file__).parents if p.name == "tests") / "oracles" / "data" / "factominer" / "poison.json"
    ).read_text(encoding="utf-8")
)
PEER = POISON["mca"]


def poison():
    """Age and time, sick and sex, then eleven answers of 55 children who were poisoned or not."""
    return pd.DataFrame(POISON["rows"], columns=POISON["columns"])


def answers(n=200, sizes=(4, 3, 2), strength=0.0, seed=0):
    """Independent columns with levels of unequal shares; with strength, two hidden classes decide so many answers."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n) < 0.5
    columns = []
    for size in sizes:
        own = rng.choice(size, n, p=rng.dirichlet(np.full(size, 3.0)))
        columns.append(np.where(rng.random(n) < strength, np.where(hidden, 0, size - 1), own))
    return np.array(columns).T


def indicators(X):
    return np.hstack([(column[:, None] == np.unique(column)).astype(float) for column in X.T])


class TestPoison:
    """A table of FactoMineR; stored numbers are prince's, four eigenvalues as FactoMineR prints them."""

    def test_inertia_and_its_corrections(self):
        mca = MCA().fit(poison().iloc[:, 4:])
        np.testing.assert_allclose(mca.eigenvalues_, PEER["eigenvalues"], atol=1e-10)
        printed = [0.33523140, 0.12913979, 0.10734849, 0.09587950]
        np.testing.assert_allclose(mca.eigenvalues_[:4], printed, atol=5e-9)
        assert mca.total_variance_ == pytest.approx(1.0)  # 22 levels of 11 columns: 22 / 11 - 1
        np.testing.assert_allclose(mca.benzecri_variance_, PEER["benzecri"]["eigenvalues"], atol=1e-10)
        np.testing.assert_allclose(100 * mca.benzecri_ratio_, PEER["benzecri"]["percent"], atol=1e-9)
        np.testing.assert_allclose(100 * mca.greenacre_ratio_, PEER["greenacre"]["percent"], atol=1e-9)
        np.testing.assert_allclose(mca.burt_variance_, np.array(PEER["eigenvalues"]) ** 2, atol=1e-10)

    def test_places_quality_and_contributions(self):
        table = poison().iloc[:, 4:]
        mca = MCA(3).fit(table)
        assert mca.column_names_[:2].tolist() == ["Nausea = n", "Nausea = y"]
        signs = np.sign(np.sum(mca.column_coordinates_ * PEER["column_coordinates"], axis=0))
        np.testing.assert_allclose(mca.column_coordinates_ * signs, PEER["column_coordinates"], atol=1e-9)
        np.testing.assert_allclose(mca.transform(table)[:6] * signs, PEER["row_coordinates"], atol=1e-9)
        for ours, name in (
            (mca.column_cos2_, "column_cos2"),
            (mca.column_contributions_, "column_contributions"),
            (mca.row_cos2(table)[:6], "row_cos2"),
            (mca.row_contributions(table)[:6], "row_contributions"),
        ):
            np.testing.assert_allclose(ours, PEER[name], atol=1e-9, err_msg=name)

    def test_a_source_gives_the_same(self):
        table = poison().iloc[:, 4:]
        here, read = MCA(3).fit(table), MCA(3).fit(assay.read(table))
        np.testing.assert_allclose(read.eigenvalues_, here.eigenvalues_, atol=1e-12)
        np.testing.assert_allclose(read.transform(assay.read(table)), here.transform(table), atol=1e-9)
        assert read.column_names_.tolist() == here.column_names_.tolist()

    def test_one_axis_is_real_and_goes_with_who_was_sick(self):
        table = poison()
        mca = MCA("real").fit(table.iloc[:, 4:])
        assert mca.n_components_ == 1
        seen = mca.supplementary(table.iloc[:, 4:], table[["Sick", "Time", "Sex"]])
        z = dict(zip(seen.names, seen.z[:, 0], strict=True))
        assert abs(z["Sick = y"]) > 6 and abs(z["Time"]) > 6 and abs(z["Sex = M"]) < 2


class TestLaws:
    def test_two_columns_have_the_correlations_of_their_table(self):
        X = answers(sizes=(5, 3), strength=0.4)
        chi2 = chi2_contingency(pd.crosstab(X[:, 0], X[:, 1]).to_numpy(), correction=False).statistic
        mca = MCA().fit(X)
        rho = 2.0 * mca.eigenvalues_ - 1.0  # lambda = (1 +- rho) / 2, and 1 / 2 for what is left of the longer column
        assert 200 * np.sum(rho[rho > 1e-9] ** 2) == pytest.approx(chi2, rel=1e-9)
        np.testing.assert_allclose(rho, -rho[::-1], atol=1e-12)

    def test_rows_lie_in_the_middle_of_their_levels_and_levels_of_their_rows(self):
        X = answers(strength=0.3)
        mca, Z = MCA().fit(X), indicators(X)
        F, G, root = mca.transform(X), mca.column_coordinates_, np.sqrt(mca.explained_variance_)
        np.testing.assert_allclose(F, Z @ G / 3 / root, atol=1e-9)
        np.testing.assert_allclose(G, (Z.T @ F) / Z.sum(axis=0)[:, None] / root, atol=1e-9)

    def test_coordinates_have_the_inertia_of_their_axes(self):
        X = answers(strength=0.3)
        mca = MCA().fit(X)
        F, G = mca.transform(X), mca.column_coordinates_
        np.testing.assert_allclose(F.T @ F / 200, np.diag(mca.eigenvalues_), atol=1e-12)
        mass = mca.mean_ / 3
        np.testing.assert_allclose((G.T * mass) @ G, np.diag(mca.eigenvalues_), atol=1e-12)
        assert mca.eigenvalues_.sum() == pytest.approx(mca.total_variance_) == pytest.approx(9 / 3 - 1)
        # correlation ratios, by their definition
        between = np.array([[np.var(pd.Series(f).groupby(x).transform("mean"), ddof=0) for f in F.T] for x in X.T])
        np.testing.assert_allclose(mca.variable_cos2_, between / F.var(axis=0), atol=1e-9)

    def test_all_axes_together_show_levels_and_rows_whole(self):
        X = answers()
        mca = MCA().fit(X)
        np.testing.assert_allclose(mca.row_cos2(X).sum(axis=1), 1.0, rtol=1e-9)
        np.testing.assert_allclose(mca.column_cos2_.sum(axis=1), 1.0, rtol=1e-9)
        np.testing.assert_allclose(mca.row_contributions(X).sum(axis=0), 1.0, rtol=1e-9)
        np.testing.assert_allclose(mca.variable_contributions_.sum(axis=0), 1.0, rtol=1e-9)

    def test_names_of_levels_and_their_types_change_nothing(self):
        X = answers(strength=0.3)
        words = np.array(["e", "b", "a", "d"])[X]
        frame = pd.DataFrame(X).astype("category")
        for other in (words, words.astype(object), X.astype(float), frame, X.tolist()):
            np.testing.assert_allclose(MCA().fit(other).eigenvalues_, MCA().fit(X).eigenvalues_, atol=1e-12)

    def test_moments_of_three_places_fit_as_all_rows(self):
        X = answers(strength=0.3)
        Z = indicators(X)
        parts = sum((Moments.of(part) for part in np.array_split(Z, 3)[1:]), start=Moments.of(np.array_split(Z, 3)[0]))
        together = MCA().fit_moments(parts, ["a"] * 4 + ["b"] * 3 + ["c"] * 2)
        np.testing.assert_allclose(together.eigenvalues_, MCA().fit(X).eigenvalues_, atol=1e-12)
        np.testing.assert_allclose(np.abs(together.transform(Z)), np.abs(MCA().fit(X).transform(X)), atol=1e-8)
        assert together.variables_.tolist() == ["a", "b", "c"]

    def test_a_column_that_took_no_part_lies_where_it_would_beside_the_others(self):
        # the same column again: its levels lie in the same places
        X = answers(strength=0.4)
        mca = MCA(2).fit(X)
        seen = mca.supplementary(X, X[:, [0]].astype(str))
        np.testing.assert_allclose(seen.coordinates, mca.column_coordinates_[:4], atol=1e-9)
        np.testing.assert_allclose(seen.cos2, mca.column_cos2_[:4], atol=1e-9)


class TestChance:
    @pytest.mark.parametrize("rows", [True, False])
    def test_independent_columns_have_no_axis(self, rows):
        false = 0
        for seed in range(60):
            X = answers(100, seed=seed)
            false += MCA(random_state=seed).fit(X).chance(X if rows else None).n_real > 0
        # of 60 more than 8: a chance of .003 at a true rate of 5%, of .14 at 10%, .87 at 20%, .98 at 25%
        assert false <= 8

    @pytest.mark.parametrize("rows", [True, False])
    def test_two_hidden_classes_are_one_axis(self, rows):
        found = []
        for seed in range(15):
            X = answers(300, (4, 3, 2, 5), strength=0.4, seed=seed)
            found.append(MCA(random_state=seed).fit(X).chance(X if rows else None).n_real)
        # a second axis more than 3 times in 15: a chance of .006 at a true rate of 5%, of .54 at 25%, .91 at 40%
        assert min(found) >= 1 and sum(n > 1 for n in found) <= 3

    def test_p_of_two_columns_is_near_that_of_their_chi_square(self):
        # two levels each: one axis, and both tests ask the same question
        for seed, strength in ((1, 0.2), (2, 0.1), (5, 0.25)):
            X = answers(400, (2, 2), strength=strength, seed=seed)
            exact = chi2_contingency(pd.crosstab(X[:, 0], X[:, 1]).to_numpy(), correction=False).pvalue
            mca = MCA(random_state=0).fit(X)
            for found in (mca.chance(X, level=0.5), mca.chance(level=0.5)):
                # 199 draws at most: a standard error of .035 where p is a half; ranks cannot fall below .005
                assert abs(found.p_values[0] - exact) < 0.15

    def test_one_column_alone_has_nothing_to_share(self):
        found = MCA().fit(answers()[:, :1]).chance()
        assert found.n_real == 0 and found.method == "there is only one column"

    def test_it_asks_for_the_rows_fitted_and_a_level_that_can_be_reached(self):
        X = answers()
        mca = MCA().fit(X)
        with pytest.raises(ParameterError, match="drawn from the 200 rows that were fitted; got 50"):
            mca.chance(X[:50])
        with pytest.raises(ParameterError, match=r"level is from 0.005.*got 0.0001"):
            mca.chance(X, level=1e-4)


class TestLevels:
    def test_a_level_not_met_before_says_nothing(self):
        X = answers(strength=0.4).astype(object)
        X = np.array([[f"l{value}" for value in row] for row in X], dtype=object)
        mca = MCA(2).fit(X)
        row = X[:1].copy()
        row[0, 0] = "new"
        G, root = mca.column_coordinates_, np.sqrt(mca.explained_variance_)
        known = [list(mca.column_names_).index(f"x{j} = {row[0, j]}") for j in (1, 2)]
        np.testing.assert_allclose(mca.transform(row)[0], G[known].sum(axis=0) / 3 / root, atol=1e-9)
        read = MCA(2).fit(assay.read(pd.DataFrame(X, columns=list("abc"))))
        np.testing.assert_allclose(
            np.abs(read.transform(assay.read(pd.DataFrame(row, columns=list("abc"))))),
            np.abs(mca.transform(row)),
            atol=1e-9,
        )

    def test_rare_levels_are_pooled_and_take_new_ones_in(self):
        X = np.array([["a"]] * 60 + [["b"]] * 37 + [["c"], ["d"], ["e"]], dtype=object)
        X = np.hstack([X, np.array([["x"], ["y"]] * 50, dtype=object)])
        mca = MCA(min_share=0.02).fit(X)
        assert mca.column_names_.tolist() == ["x0 = a", "x0 = b", "x0 = other (3 levels)", "x1 = x", "x1 = y"]
        known, new = mca.transform([["c", "x"], ["new", "x"]])
        np.testing.assert_array_equal(known, new)

    def test_too_many_levels_are_refused(self):
        with pytest.raises(DataError, match="5,000 levels together, more than 4,096: pool rare ones with min_share"):
            MCA().fit(np.arange(5000)[:, None])


class TestEdges:
    def test_numbers_of_a_source_are_refused(self):
        source = assay.read(pd.DataFrame({"size": np.linspace(0.5, 9.3, 40), "kind": ["a", "b"] * 20}))
        with pytest.raises(DataError, match="column 'size' was encoded as a number: use MixedPCA"):
            MCA().fit(source)

    @pytest.mark.parametrize("value", [None, np.nan])
    def test_a_missing_level_is_refused_with_its_place(self, value):
        X = np.array([["a", "x"], ["b", "y"], [value, "x"]], dtype=object)
        with pytest.raises(DataError, match="column 0 has no value in row 2: fill it"):
            MCA().fit(X)
        with pytest.raises(DataError, match="column 'k' has no value in row 0"):
            MCA().fit(pd.DataFrame({"k": [None, None], "l": ["a", "b"]}))

    def test_columns_without_two_levels_have_no_axes(self):
        with pytest.raises(DataError, match="every column is constant: there are no axes"):
            MCA().fit([["a", "x"], ["a", "x"], ["a", "x"]])
        # a constant column beside others adds nothing but its place among Q
        X = answers()
        both = MCA().fit(np.column_stack([X, np.zeros(200)]))
        np.testing.assert_allclose(both.eigenvalues_, MCA().fit(X).eigenvalues_ * 3 / 4, atol=1e-12)
        assert np.isfinite(both.column_coordinates_).all()

    def test_more_levels_than_rows_have_as_many_axes_as_rows_allow(self):
        X = answers(12, (9, 9, 9))
        mca = MCA().fit(X)
        assert len(mca.eigenvalues_) <= 11
        assert mca.eigenvalues_.sum() == pytest.approx(mca.total_variance_)

    @pytest.mark.parametrize("asked", [0, 7, -1, 1.5, "some", True])
    def test_impossible_counts_are_refused(self, asked):
        with pytest.raises(ParameterError, match="an integer from 1 to 6"):
            MCA(asked).fit(answers())

    def test_other_wrong_options_are_refused(self):
        with pytest.raises(ParameterError, match="min_share is a share from 0 to below 1; got 1.5"):
            MCA(min_share=1.5).fit(answers())
        Z = Moments.of(indicators(answers()))
        with pytest.raises(ParameterError, match="one label for each of the 9 columns; got 3"):
            MCA().fit_moments(Z, ["a", "b", "c"])
        with pytest.raises(DataError, match="indicators of 'b' sum to .* in the mean, not to 1"):
            MCA().fit_moments(Z[[0, 1, 2, 3, 4, 5]], ["a"] * 4 + ["b"] * 2)
        with pytest.raises(DataError, match="column 'x0' was fitted on levels of another type"):
            MCA().fit([["a", "x"], ["b", "y"]]).transform([[1.0, "x"]])

    def test_shares_keep_as_few_axes_as_explain_them_and_no_axis_may_be_kept(self, tmp_path):
        X = answers(strength=0.5)
        mca = MCA(0.5).fit(X)
        shares = np.cumsum(mca.eigenvalues_) / mca.total_variance_
        assert shares[mca.n_components_ - 1] >= 0.5 > shares[mca.n_components_ - 2]
        none = MCA("real", random_state=0).fit(answers(seed=3))
        assert none.n_components_ == 0 and none.transform(answers(seed=3)).shape == (200, 0)
        none.save(tmp_path / "mca")
        assert assay.load(tmp_path / "mca").transform(answers(seed=3)).shape == (200, 0)
