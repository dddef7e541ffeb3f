"""Matrix factorisation: exact half-steps, an objective that never rises, and what it says of those it does not know."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

import assay
from assay import MatrixFactorization, Ratings
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.prediction.recommender import als
from assay.models.prediction.recommender.choose import POWER
from assay.models.prediction.recommender.ranking import first, ranked


def planted(n=40, d=25, k=2, share=0.6, noise=0.3, seed=0):
    """Ratings with biases and k factors; a share of the cells is known, at least two in each row."""
    rng = np.random.default_rng(seed)
    M = 3.0 + 0.5 * rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=d)
    M = M + rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) + noise * rng.normal(size=(n, d))
    M[rng.random((n, d)) > share] = np.nan
    M[:, :2] = np.where(np.isnan(M[:, :2]), 3.0, M[:, :2])
    return M


def standard(model):
    """What the solver sees: z, and both sides in its units."""
    s, root = model.scale_, np.sqrt(model.scale_)
    z = (model.ratings_.value - model.mean_) / s
    return z, model.user_factors_ / root, model.item_factors_ / root, model.user_bias_ / s, model.item_bias_ / s


def explicit_objective(model):
    z, P, Q, b, c = standard(model)
    seen = model.ratings_
    fit = b[seen.user] + c[seen.item] + (P[seen.user] * Q[seen.item]).sum(axis=1)
    price = sum(
        (np.maximum(sizes, 1) ** POWER * (F**2).sum(axis=1)).sum()
        for sizes, F in ((seen.per_user, P), (seen.per_item, Q))
    )
    return ((z - fit) ** 2).sum() + model.alpha_ * price + model.bias_alpha_ * ((b**2).sum() + (c**2).sum())


class TestLaws:
    def test_each_user_is_the_ridge_regression_on_the_items_rated(self):
        model = MatrixFactorization(3, alpha=0.7, bias_alpha=2.0).fit(planted())
        z, P, Q, b, c = standard(model)
        seen = model.ratings_
        for u in range(seen.n_users):
            part = slice(seen.starts[u], seen.starts[u + 1])
            F = np.column_stack([Q[seen.item[part]], np.ones(seen.per_user[u])])
            cost = np.append(np.full(3, model.alpha_ * seen.per_user[u] ** POWER), model.bias_alpha_)
            A = np.vstack([F, np.diag(np.sqrt(cost))])
            y = np.append(z[part] - c[seen.item[part]], np.zeros(4))
            wanted = np.linalg.lstsq(A, y, rcond=None)[0]
            # normal equations square the condition, here below 100; the rotation adds a product of length 3
            np.testing.assert_allclose(np.append(P[u], b[u]), wanted, rtol=0, atol=1e-9)

    def test_each_user_of_counts_is_the_weighted_ridge_regression_on_all_items(self):
        rng = np.random.default_rng(3)
        counts = rng.poisson(0.6, size=(30, 20)).astype(float)
        model = MatrixFactorization(3, alpha=0.5, feedback="implicit", confidence=2.0).fit(sparse.csr_array(counts))
        seen = (counts > 0).sum(axis=1)
        for u in range(30):
            oracle = Ridge(alpha=0.5 * np.sqrt(max(seen[u], 1)), fit_intercept=False, solver="svd")
            oracle.fit(model.item_factors_, counts[u] > 0, sample_weight=1.0 + 2.0 * counts[u])
            np.testing.assert_allclose(model.user_factors_[u], oracle.coef_, rtol=0, atol=1e-9)

    def test_the_objective_is_what_it_says_and_never_rises(self):
        model = MatrixFactorization(3, alpha=0.5, tol=1e-6).fit(planted())
        np.testing.assert_allclose(model.objective_[-1], explicit_objective(model), rtol=1e-11)
        assert len(model.objective_) > 3
        assert (np.diff(model.objective_) <= 1e-12 * model.objective_[0]).all()

    def test_the_objective_of_counts_is_the_weighted_sum_over_all_cells(self):
        rng = np.random.default_rng(4)
        counts = rng.poisson(0.5, size=(25, 15)).astype(float)
        model = MatrixFactorization(2, alpha=0.8, feedback="implicit", confidence=3.0, tol=1e-6)
        model.fit(sparse.csr_array(counts))
        fit = model.user_factors_ @ model.item_factors_.T
        price = sum(
            (np.sqrt(np.maximum(sizes, 1)) * (F**2).sum(axis=1)).sum()
            for sizes, F in (
                ((counts > 0).sum(axis=1), model.user_factors_),
                ((counts > 0).sum(axis=0), model.item_factors_),
            )
        )
        wanted = ((1 + 3 * counts) * ((counts > 0) - fit) ** 2).sum() + 0.8 * price
        np.testing.assert_allclose(model.objective_[-1], wanted, rtol=1e-11)
        assert (np.diff(model.objective_) <= 1e-12 * model.objective_[0]).all()

    def test_the_certificate_is_the_gradient_of_the_objective(self):
        model = MatrixFactorization(2, alpha=0.5, tol=1e-2).fit(planted())
        z, P, Q, b, c = standard(model)
        seen = model.ratings_
        miss = b[seen.user] + c[seen.item] + (P[seen.user] * Q[seen.item]).sum(axis=1) - z
        gradient, right = np.zeros((seen.n_items, 3)), np.zeros((seen.n_items, 3))
        F = np.column_stack([P, np.ones(len(P))])[seen.user]
        np.add.at(gradient, seen.item, F * miss[:, None])
        np.add.at(right, seen.item, F * (z - b[seen.user])[:, None])
        gradient += np.column_stack([model.alpha_ * np.sqrt(seen.per_item)[:, None] * Q, model.bias_alpha_ * c])
        wanted = np.sqrt((gradient**2).sum() / (right**2).sum())
        np.testing.assert_allclose(model.kkt_residual_, wanted, rtol=1e-6)
        assert model.converged_ and model.kkt_residual_ <= 1e-2

    def test_all_cells_known_and_no_penalty_give_the_leading_singular_vectors(self):
        M = planted(share=2.0)
        model = MatrixFactorization(2, alpha=0, bias_alpha=0, tol=1e-9, clip=False).fit(M)
        rows, columns = M.mean(axis=1, keepdims=True), M.mean(axis=0)
        U, s, Vt = np.linalg.svd(M - rows - columns + M.mean())
        wanted = rows + columns - M.mean() + (U[:, :2] * s[:2]) @ Vt[:2]
        got = model.mean_ + model.user_bias_[:, None] + model.item_bias_ + model.user_factors_ @ model.components_
        # errors of the subspace are of the size of the gradient over the gap of the singular values
        np.testing.assert_allclose(got, wanted, atol=1e-6)

    def test_biases_alone_are_the_ridge_regression_on_who_and_what(self):
        model = MatrixFactorization(0, bias_alpha=2.0, tol=1e-12).fit(planted())
        seen = model.ratings_
        who = sparse.csr_array(np.eye(seen.n_users)[seen.user])
        what = sparse.csr_array(np.eye(seen.n_items)[seen.item])
        oracle = Ridge(alpha=2.0, fit_intercept=False, solver="sparse_cg", tol=1e-13)
        oracle.fit(sparse.hstack([who, what]).tocsr(), seen.value - seen.value.mean())
        got = np.concatenate([model.user_bias_, model.item_bias_])
        np.testing.assert_allclose(got, oracle.coef_, atol=1e-8)

    def test_factors_are_ordered_and_lie_along_the_axes(self):
        model = MatrixFactorization(4, alpha=0.5).fit(planted(k=3))
        W = (model.item_factors_ * np.sqrt(model.ratings_.per_item)[:, None]).T @ model.item_factors_
        size = np.diag(W)
        np.testing.assert_allclose(W, np.diag(size), atol=1e-10 * size[0])
        assert (np.diff(size) <= 0).all()


class TestInvariance:
    def rows(self, seed=5):
        M = planted(seed=seed)
        return [(f"u{u}", f"i{i}", float(M[u, i])) for u, i in np.argwhere(~np.isnan(M))]

    def test_the_order_of_the_rows_changes_no_bit(self):
        rows = self.rows()
        mixed = [rows[j] for j in np.random.default_rng(0).permutation(len(rows))]
        a, b = (MatrixFactorization(2).fit_ratings(each) for each in (rows, mixed))
        np.testing.assert_array_equal(a.item_factors_, b.item_factors_)
        np.testing.assert_array_equal(a.user_bias_, b.user_bias_)

    def test_other_names_of_users_and_items_change_no_prediction(self):
        rng = np.random.default_rng(1)
        M = planted(seed=5)
        users, items = rng.permutation(40), rng.permutation(25)
        how = {"alpha": 0.5, "tol": 1e-9, "max_iter": 5000}
        a = MatrixFactorization(2, **how).fit(M)
        b = MatrixFactorization(2, **how).fit(M[users][:, items])
        whole = a.predict(M)
        # both stop at a gradient of 1e-9; curvature is at least the penalty
        np.testing.assert_allclose(b.predict(M[users][:, items]), whole[users][:, items], atol=1e-6)

    @pytest.mark.parametrize(("times", "plus"), [(2.0, 0.0), (1e-3, 7.0), (40.0, -1e4), (1e150, 0.0)])
    def test_ratings_on_another_scale_give_predictions_on_that_scale(self, times, plus):
        M = planted()
        a = MatrixFactorization(2, tol=1e-8).fit(M).predict(M)
        b = MatrixFactorization(2, tol=1e-8).fit(times * M + plus).predict(times * M + plus)
        # an offset costs the digits that it is larger than the spread, and they are amplified until both stop
        slack = 1e-5 * times + 1e-12 * abs(plus)
        np.testing.assert_allclose(b, times * a + plus, rtol=0, atol=slack)

    def test_any_number_of_threads_gives_the_same_bits(self):
        seen = Ratings.of_matrix(planted(n=300, d=200))
        z = seen.with_values(seen.value - seen.mean)
        base = als.biases(z, 3.0)
        start = als.spectral_start(z, z.value - base.at(z.user, z.item), 3, base)
        penalty = als.Penalty(1.0, 3.0, POWER)
        one, four = (als.explicit(z, start, penalty, max_iter=5, tol=0.0, threads=t) for t in (1, 4))
        np.testing.assert_array_equal(one.users, four.users)
        np.testing.assert_array_equal(one.objective, four.objective)

    def test_a_matrix_and_its_triples_give_the_same_model(self, tmp_path):
        M = planted()
        cells = np.argwhere(~np.isnan(M))
        table = {"user": cells[:, 0], "item": cells[:, 1], "rating": M[tuple(cells.T)]}
        path = tmp_path / "ratings.csv"
        pd.DataFrame(table).to_csv(path, index=False)
        stored = sparse.csr_array((table["rating"], (table["user"], table["item"])), shape=M.shape)
        wanted = MatrixFactorization(2).fit(M).item_factors_
        listed = [(int(u), int(i), float(r)) for u, i, r in zip(*table.values(), strict=True)]
        held = (stored, sparse.coo_matrix(stored), path, str(path), pd.DataFrame(table), pl.DataFrame(table))
        for data in (*held, pa.table(table), assay.read(path), listed, Ratings.of(listed), pd.DataFrame(M)):
            np.testing.assert_array_equal(MatrixFactorization(2).fit(data).item_factors_, wanted)


class TestMissing:
    def test_what_is_missing_is_not_zero_and_a_stored_zero_is_a_rating(self):
        M = np.array([[5.0, np.nan, 0.0], [4.0, 1.0, np.nan], [np.nan, 2.0, 0.0]])
        rows, columns = np.nonzero(~np.isnan(M))
        stored = sparse.csr_array((M[rows, columns], (rows, columns)), shape=(3, 3))
        assert stored.nnz == 6
        a, b = MatrixFactorization(1).fit(M), MatrixFactorization(1).fit(stored)
        assert a.mean_ == b.mean_ == 2.0
        np.testing.assert_array_equal(a.item_factors_, b.item_factors_)
        zeros = MatrixFactorization(1).fit(np.nan_to_num(M))
        assert zeros.mean_ == pytest.approx(12 / 9)

    def test_a_count_of_zero_is_no_count(self):
        counts = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 4.0]])
        with_zeros = MatrixFactorization(1, feedback="implicit").fit(counts)
        without = MatrixFactorization(1, feedback="implicit").fit(sparse.csr_array(counts))
        np.testing.assert_array_equal(with_zeros.item_factors_, without.item_factors_)


class TestUsing:
    @pytest.fixture
    def model(self):
        M = planted()
        cells = np.argwhere(~np.isnan(M))
        return MatrixFactorization(2, clip=False).fit_ratings([(f"u{u}", f"i{i}", M[u, i]) for u, i in cells])

    def test_a_known_pair_is_the_sum_of_its_parts(self, model):
        u, i = model.ratings_.user_number("u7"), model.ratings_.item_number("i3")
        parts = model.user_bias_[u] + model.item_bias_[i] + model.user_factors_[u] @ model.item_factors_[i]
        assert model.predict("u7", "i3") == pytest.approx(model.mean_ + parts, rel=1e-12)

    def test_who_is_not_known_is_predicted_by_what_is(self, model):
        u, i = model.ratings_.user_number("u7"), model.ratings_.item_number("i3")
        assert model.predict("nobody", "i3") == pytest.approx(model.mean_ + model.item_bias_[i])
        assert model.predict("u7", "nothing") == pytest.approx(model.mean_ + model.user_bias_[u])
        assert model.predict("nobody", "nothing") == model.mean_

    def test_one_user_and_many_items_or_many_pairs(self, model):
        alone = [model.predict("u7", item) for item in ("i1", "i2", "x")]
        np.testing.assert_array_equal(model.predict("u7", ["i1", "i2", "x"]), alone)
        np.testing.assert_array_equal(model.predict(["u7"] * 3, np.array(["i1", "i2", "x"])), alone)
        np.testing.assert_array_equal(model.predict(["u7", "u8"], "i1"), [model.predict(u, "i1") for u in ("u7", "u8")])
        with pytest.raises(ParameterError, match="there are 2 users and 3 items; give as many of both, or one"):
            model.predict(["u7", "u8"], ["i1", "i2", "i3"])

    def test_recommendations_are_the_best_of_what_was_not_rated(self, model):
        seen = model.ratings_
        u = seen.user_number("u7")
        rated = {seen.items[i] for i in seen.item[seen.starts[u] : seen.starts[u + 1]]}
        best = model.recommend("u7", 100)
        assert {one.item for one in best} == set(seen.items) - rated
        scores = [one.score for one in best]
        assert scores == sorted(scores, reverse=True)
        np.testing.assert_allclose(scores, model.predict("u7", [one.item for one in best]), rtol=1e-12)
        assert len(model.recommend("u7", 100, exclude_seen=False)) == seen.n_items
        assert [one.item for one in model.recommend("u7", 3)] == [one.item for one in best[:3]]

    def test_somebody_unknown_is_recommended_what_all_like(self, model):
        order = np.argsort(-model.item_bias_, kind="stable")[:4]
        assert [one.item for one in model.recommend(None, 4)] == [model.ratings_.items[i] for i in order]
        with pytest.raises(ParameterError, match="there is no user 'u77' among 40 users; there are 'u7'"):
            model.recommend("u77")

    def test_similar_items_have_the_largest_cosines(self, model):
        Q = model.item_factors_ / np.linalg.norm(model.item_factors_, axis=1, keepdims=True)
        i = model.ratings_.item_number("i3")
        near = model.similar_items("i3", 30)
        assert "i3" not in [one.item for one in near] and len(near) == 24
        wanted = np.sort(np.delete(Q @ Q[i], i))[::-1]
        np.testing.assert_allclose([one.score for one in near], wanted, atol=1e-12)

    def test_a_user_folded_in_is_the_user_fitted(self, model):
        seen = model.ratings_
        u = seen.user_number("u7")
        part = slice(seen.starts[u], seen.starts[u + 1])
        again = model.fold_in({seen.items[i]: r for i, r in zip(seen.item[part], seen.value[part], strict=True)})
        np.testing.assert_allclose(again.factors, model.user_factors_[u], atol=1e-9)
        assert again.bias == pytest.approx(model.user_bias_[u], abs=1e-9)
        assert model.predict(again, "i1") == pytest.approx(model.predict("u7", "i1"), abs=1e-9)
        assert [one.item for one in model.recommend(again, 5)] == [one.item for one in model.recommend("u7", 5)]

    def test_rows_are_transformed_to_their_factors(self):
        M = planted()
        model = MatrixFactorization(2).fit(M)
        np.testing.assert_allclose(model.transform(M), model.user_factors_, atol=1e-9)
        np.testing.assert_allclose(model.predict(M)[3, 4], model.predict(3, 4), atol=1e-9)
        assert list(model.get_feature_names_out()) == ["matrixfactorization0", "matrixfactorization1"]

    def test_nobody_folded_in_is_somebody_of_whom_nothing_is_known(self, model):
        nobody = model.fold_in({})
        assert model.predict(nobody, "i3") == model.predict("nobody", "i3")
        with pytest.raises(ParameterError, match="there is no item 'i333' among 25 items"):
            model.fold_in({"i333": 3.0})

    def test_predictions_stay_within_the_ratings_unless_told_otherwise(self):
        M = planted(share=0.3)
        inside, free = (MatrixFactorization(2, alpha=0.1, clip=clip).fit(M).predict(M) for clip in (True, False))
        assert free.max() > np.nanmax(M)
        np.testing.assert_array_equal(inside, np.clip(free, np.nanmin(M), np.nanmax(M)))

    def test_a_saved_model_answers_as_before(self, model, tmp_path):
        model.save(tmp_path / "model.assay")
        again = assay.load(tmp_path / "model.assay")
        assert again.recommend("u7", 5) == model.recommend("u7", 5)
        assert again.predict("u7", "nothing") == model.predict("u7", "nothing")
        np.testing.assert_array_equal(again.ratings_.value, model.ratings_.value)

    def test_counts_recommend_what_like_users_did(self):
        listens = [(u, i, 5) for u in range(6) for i in range(4)] + [
            (u, i, 5) for u in range(6, 12) for i in range(4, 8)
        ]
        left_out = [row for row in listens if row[:2] not in ((0, 3), (6, 7))]
        model = MatrixFactorization(2, feedback="implicit").fit_ratings(left_out)
        assert model.recommend(0, 1)[0].item == "3" and model.recommend(6, 1)[0].item == "7"
        assert model.predict("nobody", "3") == 0.0


class TestChoice:
    def test_no_factors_are_taken_where_there_are_none(self):
        # of 16 at least 10: a true rate of 82% passes with probability .98, one of 40% is noticed with probability .94
        none = 0
        for seed in range(16):
            rng = np.random.default_rng(seed)
            M = rng.normal(size=(60, 1)) + rng.normal(size=25) + rng.normal(size=(60, 25))
            M[rng.random(M.shape) > 0.5] = np.nan
            model = MatrixFactorization("held-out", alpha="held-out", bias_alpha="held-out").fit(M)
            none += model.n_components_ == 0
        assert none >= 10

    def test_two_planted_factors_are_used(self):
        model = MatrixFactorization("held-out", alpha="held-out", bias_alpha="held-out").fit(planted(n=120, d=60))
        assert model.n_components_ >= 2
        r, a = np.unravel_index(model.held_out_errors_.argmin(), model.held_out_errors_.shape)
        assert (model.ranks_[r], model.alphas_[a]) == (model.n_components_, model.alpha_)
        assert model.held_out_errors_[r, a] < 0.7 * model.held_out_errors_[0, 0]
        assert model.held_out_errors_.shape == model.held_out_std_errors_.shape == (5, 7)

    def test_counts_are_chosen_by_the_order_of_the_items(self):
        rng = np.random.default_rng(2)
        taste = rng.integers(3, size=90)
        likes = (np.arange(30) % 3 == taste[:, None]) * 1.5 + 0.1
        counts = rng.poisson(likes)
        model = MatrixFactorization("held-out", alpha="held-out", feedback="implicit").fit(sparse.csr_array(counts))
        assert model.n_components_ >= 2 and (model.held_out_errors_ <= 1.0).all()

    def test_folds_leave_every_user_some_ratings(self):
        rng = np.random.default_rng(0)
        M = np.where(rng.random((50, 20)) < 0.15, 1.0, np.nan)
        seen = Ratings.of_matrix(M)
        folds = seen.folds(3, 0)
        for fold in range(3):
            left = seen.subset(folds != fold)
            assert (left.per_user[seen.per_user > 0] > 0).all()
        assert (folds[np.repeat(seen.per_user == 1, seen.per_user)] == -1).all()
        sizes = np.bincount(folds[folds >= 0])
        assert sizes.min() > 0.6 * sizes.mean()


class TestRanking:
    def test_measures_of_an_order_worked_by_hand(self):
        train = Ratings.of_matrix(np.array([[1.0, np.nan, np.nan, np.nan]]))
        test = Ratings.of_matrix(np.array([[np.nan, 1.0, np.nan, 1.0]]))
        scores = np.array([[9.0, 3.0, 2.0, 1.0]])  # the first was known: the order is 1, 2, 3
        found = ranked(lambda users: scores[users], train, test, 2)
        assert found.recall[0] == 0.5
        assert found.ndcg[0] == pytest.approx(1.0 / (1.0 + 1.0 / np.log2(3)))

    def test_equal_scores_come_by_number(self):
        np.testing.assert_array_equal(first(np.array([[1.0, 2.0, 2.0, 2.0, 0.0]]), 2), [[1, 2]])
        np.testing.assert_array_equal(first(np.array([[1.0, 2.0, 2.0]]), 3), [[1, 2, 0]])


class TestEdges:
    @pytest.mark.parametrize(
        "rows", [[("a", "x", 3.0)], [("a", "x", 3.0), ("a", "y", 5.0)], [("a", "x", 3), ("b", "x", 5)]]
    )
    def test_one_user_or_one_item(self, rows):
        model = MatrixFactorization(5).fit_ratings(rows)
        assert model.converged_ and np.isfinite(model.predict("a", "x"))

    def test_constant_ratings_are_predicted(self):
        model = MatrixFactorization(2).fit(np.where(np.isnan(planted()), np.nan, 0.1))
        np.testing.assert_allclose(model.predict(planted() * 0 + 0.1), 0.1, rtol=1e-12)

    @pytest.mark.parametrize("size", [1e300, 1e-300])
    def test_ratings_of_any_size(self, size):
        M = planted()
        model = MatrixFactorization(2).fit(M / np.nanmax(np.abs(M)) * size)
        wanted = MatrixFactorization(2).fit(M / np.nanmax(np.abs(M)))
        np.testing.assert_allclose(model.predict(0, [1, 2]) / size, wanted.predict(0, [1, 2]), rtol=1e-6)

    def test_users_and_items_without_ratings_are_as_unknown_ones(self):
        M = planted()
        M[3], M[:, 7] = np.nan, np.nan
        model = MatrixFactorization(2).fit(M)
        assert model.predict(3, 5) == pytest.approx(model.predict("nobody", 5))
        assert model.predict(5, 7) == pytest.approx(model.predict(5, "nothing"))
        assert not model.item_factors_[7].any()

    def test_more_factors_than_ratings_without_a_penalty_fit_what_is_known(self):
        M = planted(n=8, d=6, share=0.4)
        model = MatrixFactorization(6, alpha=0, bias_alpha=0, tol=1e-7, max_iter=5000, clip=False).fit(M)
        known = ~np.isnan(M)
        np.testing.assert_allclose(model.predict(M)[known], M[known], atol=1e-3)

    def test_stopping_early_is_said(self):
        with pytest.warns(NotConverged, match="after 1 sweeps the gradient is .* of that at zero, not 1e-12"):
            model = MatrixFactorization(2, max_iter=1, tol=1e-12).fit(planted())
        assert not model.converged_ and model.n_iter_ == 1

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"n_components": -1}, "n_components is a whole number of at least 0; got -1"),
            ({"n_components": 0, "feedback": "implicit"}, "n_components is a whole number of at least 1; got 0"),
            ({"n_components": 2.5}, "n_components is a whole number of at least 0; got 2.5"),
            ({"alpha": -1.0}, "alpha is a number of at least 0, or 'held-out'; got -1.0"),
            ({"bias_alpha": "much"}, "bias_alpha is a number of at least 0, or 'held-out'; got 'much'"),
            ({"feedback": "both"}, "feedback is 'explicit' or 'implicit'; got 'both'"),
            ({"confidence": np.inf}, "confidence is a number of at least 0; got inf"),
            ({"cv": 1}, "cv is a whole number of at least 2; got 1"),
            ({"max_iter": 0}, "max_iter is a whole number of at least 1; got 0"),
        ],
    )
    def test_wrong_options_are_refused(self, options, told):
        with pytest.raises(ParameterError, match=told):
            MatrixFactorization(**options).fit(planted())

    def test_wrong_data_are_refused(self):
        with pytest.raises(DataError, match="there are no ratings: all cells are missing"):
            MatrixFactorization().fit(np.full((3, 3), np.nan))
        with pytest.raises(DataError, match="the rating in row 1, column 2 is inf"):
            MatrixFactorization().fit(np.array([[1.0, 2, 3], [1, 2, np.inf]]))
        with pytest.raises(DataError, match="the count of user 'a', item 'x' is -1, but counts are not negative"):
            MatrixFactorization(feedback="implicit").fit_ratings([("a", "x", -1), ("a", "y", 2)])
        with pytest.raises(
            DataError, match="'held-out' needs ratings in each of 5 folds; users with at least two have 2"
        ):
            MatrixFactorization("held-out").fit_ratings([("a", "x", 1), ("a", "y", 2), ("b", "y", 2)])
        model = MatrixFactorization(1).fit(planted())
        with pytest.raises(ParameterError, match="of a sparse matrix are not sparse: name users and items"):
            model.predict(sparse.csr_array(np.eye(25)))
        with pytest.raises(ParameterError, match="n is a whole number of at least 1; got 0"):
            model.recommend(0, 0)
        alone = MatrixFactorization(1).fit_ratings([("a", "x", 3.0)])
        with pytest.raises(
            DataError, match="the item 'x' has no factors: there is nothing by which others are like it"
        ):
            alone.similar_items("x")
