"""VAE: the bound and its parts against integrals and the linear model, training, what is kept, edges."""

import os
import sys
import warnings

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad, trapezoid
from scipy.linalg import subspace_angles
from scipy.optimize import approx_fprime
from scipy.special import expit
from scipy.stats import bernoulli, multivariate_normal, norm
from sklearn.decomposition import PCA as Peer
from sklearn.decomposition import FactorAnalysis

import assay
from assay import VAE
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.normal.linear_gaussian import probabilistic_pca
from assay.models.embedding.vae.elbo import divergence, elbo, elbo_of_rows, matched_draws, noise_variance, posterior
from assay.models.embedding.vae.network import Form, initial_layers
from assay.models.embedding.vae.reference import BaseRates, ordered
from assay.models.embedding.vae.training import _PRODUCTS, _rounds

if os.environ.get("ASSAY_VAE") != "1":
    pytest.importorskip("jax")  # an extra


def flat(n=1500, d=6, spread=(3.0, 2.0), seed=0):
    """Rows about a plane, with noise of variance 0.25."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((d, len(spread))))[0]
    return (rng.standard_normal((n, len(spread))) * spread) @ axes.T + 0.5 * rng.standard_normal((n, d)) + 7.0


def arc(n=600, seed=0):
    """Rows about three quarters of a circle."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 4.5, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((n, 2))


def two_patterns(n=500, d=12, seed=0):
    """Zeros and ones: each row is one of two opposite patterns, with a tenth of its entries flipped."""
    rng = np.random.default_rng(seed)
    pattern = np.arange(d) % 2
    X = np.where(rng.random((n, 1)) < 0.5, pattern, 1 - pattern)
    return np.where(rng.random((n, d)) < 0.1, 1 - X, X).astype(float)


def weights_of(d, k, form, seed=0):
    rng = np.random.default_rng(seed)
    layers = [initial_layers(widths, rng) for widths in ([d, *form.hidden, 2 * k], [k, *reversed(form.hidden), d])]
    weights = [[(w.astype(float), 0.1 * rng.standard_normal(len(b))) for w, b in part] for part in layers]
    return {"encoder": weights[0], "decoder": weights[1], "log_noise": np.array([-0.7])}


@pytest.fixture(scope="module")
def curved():
    return VAE(1, hidden=(32,)).fit(arc())


@pytest.fixture(scope="module")
def linear():
    return VAE(2, hidden=(), scale=False, max_iter=1000).fit(flat())


@pytest.mark.parametrize(("mean", "log_variance"), [(0.0, 0.0), (1.5, -3.0), (-2.0, 1.0), (0.1, -8.0)])
def test_the_divergence_is_the_integral_that_defines_it(mean, log_variance):
    q = norm(mean, np.exp(0.5 * log_variance))
    integral = quad(lambda z: q.pdf(z) * (q.logpdf(z) - norm.logpdf(z)), *q.ppf([1e-13, 1 - 1e-13]))[0]
    assert divergence(np.float64(mean), np.float64(log_variance)) == pytest.approx(integral, abs=1e-9)


@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli"])
def test_the_bound_misses_the_log_likelihood_by_the_divergence_from_the_posterior(likelihood):
    form = Form("tanh", likelihood, hidden=(4,))
    weights = weights_of(3, 1, form)
    X = np.random.default_rng(1).random((4, 3)).round()
    (first, bent), (second, lift) = weights["decoder"]
    z = np.linspace(-9.0, 9.0, 20_001)[:, None]
    f = np.tanh(z @ first + bent) @ second + lift
    mean, log_variance = posterior(weights, X, form)
    for i, x in enumerate(X):
        told = (
            bernoulli.logpmf(x.astype(int), expit(f))
            if likelihood == "bernoulli"
            else norm.logpdf(x, f, np.sqrt(noise_variance(weights)[0]))
        )
        joint = told.sum(axis=1) + norm.logpdf(z[:, 0])
        exact = np.log(trapezoid(np.exp(joint), z[:, 0]))
        q = norm.logpdf(z[:, 0], mean[i, 0], np.exp(0.5 * log_variance[i, 0]))
        gap = trapezoid(np.exp(q) * (q - joint + exact), z[:, 0])
        even = norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None, None]
        assert gap > 0.01
        assert elbo(weights, X[i : i + 1], even, form)[0] == pytest.approx(exact - gap, abs=1e-3)


def linear_weights(model):
    """The linear model as networks: the decoder's map, and the encoder that gives its exact posterior."""
    scale = np.sqrt(model.variances - model.noise)
    back = model.axes * scale / model.variances
    k = len(scale)
    encoder = (
        np.hstack([back, np.zeros_like(back)]),
        np.hstack([-model.mean @ back, np.log(model.noise / model.variances)]),
    )
    assert encoder[0].shape[1] == 2 * k
    return {
        "encoder": [encoder],
        "decoder": [(scale[:, None] * model.axes.T, model.mean)],
        "log_noise": np.log([model.noise]),
    }


@pytest.mark.parametrize(("d", "k"), [(4, 1), (6, 2), (9, 5)])
def test_the_bound_of_a_linear_model_is_tight_at_its_posterior_and_below_elsewhere(d, k):
    X = flat(80, d, spread=np.linspace(4, 2, k))
    model, form = probabilistic_pca(X, k), Form()
    weights = linear_weights(model)
    tight = elbo_of_rows(weights, X, form, pairs=1)
    np.testing.assert_allclose(tight, model.log_density(X), rtol=1e-5)  # but for the least noise, which is added
    rng = np.random.default_rng(0)
    for size in (0.01, 0.1, 1.0):
        ((weight, offset),) = weights["encoder"]
        moved = weights | {
            "encoder": [(weight + size * rng.standard_normal(weight.shape) / d, offset + size * rng.random(2 * k))]
        }
        assert (elbo_of_rows(moved, X, form, pairs=1) < tight).all()


@pytest.mark.parametrize("k", [1, 3, 40])
def test_draws_have_the_moments_of_the_normal_law(k):
    draws = matched_draws(k, max(32, k))
    np.testing.assert_allclose(draws.T @ draws / len(draws), np.eye(k), atol=1e-12)
    np.testing.assert_allclose((draws**3).mean(axis=0), 0.0, atol=1e-12)
    assert abs((draws**4).mean() - 3.0) < 1.0


@pytest.mark.parametrize(
    ("activation", "likelihood", "noise"),
    [("tanh", "gaussian", "shared"), ("relu", "bernoulli", "shared"), ("linear", "gaussian", "columns")],
)
def test_jax_differentiates_the_bound_that_numpy_evaluates(activation, likelihood, noise):
    import jax

    form = Form(activation, likelihood, noise, hidden=(3,))
    weights = weights_of(4, 2, form)
    if noise == "columns":
        weights["log_noise"] = np.linspace(-1.0, 0.5, 4)
    rng = np.random.default_rng(3)
    X, draws = rng.random((7, 4)).round(), rng.standard_normal((1, 7, 2))
    slope = jax.jit(jax.grad(lambda w: elbo(w, X, draws, form, jax.numpy).mean()))(weights)
    leaves, tree = jax.tree.flatten(weights)
    directions = [rng.standard_normal(leaf.shape) for leaf in leaves]

    def along(t):
        moved = [leaf + t[0] * step for leaf, step in zip(leaves, directions, strict=True)]
        return elbo(jax.tree.unflatten(tree, moved), X, draws, form).mean()

    told = sum(np.vdot(g, step) for g, step in zip(jax.tree.leaves(slope), directions, strict=True))
    assert told == pytest.approx(approx_fprime(np.zeros(1), along, 1e-7)[0], rel=1e-3)


def test_linear_maps_find_the_principal_axes_and_the_noise(linear):
    X = flat()
    peer = Peer(2).fit(X)
    ((weight, _),) = linear.weights_["decoder"]
    assert np.degrees(subspace_angles(weight.T, peer.components_.T)).max() < 1.0
    np.testing.assert_allclose(linear.noise_variance_, peer.noise_variance_, rtol=0.05)
    # the diagonal posterior singles out the axes themselves, though the bound is nearly flat as they turn in the plane
    both = np.corrcoef(linear.transform(X), peer.transform(X), rowvar=False)[:2, 2:]
    assert (np.abs(np.diag(both)) > 0.95).all()
    assert linear.converged_
    assert linear.held_out_elbo_ == pytest.approx(linear.linear_elbo_, abs=0.05)


def test_no_linear_maps_reach_more_than_the_most_likely_linear_model():
    X = flat(300)
    vae = VAE(2, hidden=(), scale=False, validation_fraction=0.0).fit(X)
    most = probabilistic_pca(X, 2).log_density(X).mean()
    assert most - 0.5 < vae.score(X) < most


def test_the_linear_figure_is_that_of_scikit_learn_on_the_rows_held_out(linear):
    X = flat()
    order = np.random.default_rng(0).permutation(len(X))
    held, rest = X[order[:150]], X[order[150:]]
    assert linear.n_held_out_ == 150
    assert linear.linear_elbo_ == pytest.approx(Peer(2).fit(rest).score(held), abs=0.01)
    assert linear.held_out_elbo_ == pytest.approx(linear.score(held), rel=1e-9)


def test_a_curve_is_described_better_than_any_line_does_it(curved):
    gain = curved.held_out_elbo_ - curved.linear_elbo_
    assert gain > 5 * curved.gain_error_ > 0.0
    fresh = arc(300, seed=1)
    assert curved.score(fresh) == pytest.approx(curved.held_out_elbo_, abs=0.3)
    rebuilt = curved.inverse_transform(curved.transform(fresh))
    line = Peer(1).fit(arc())
    straight = line.inverse_transform(line.transform(fresh))
    assert np.mean((rebuilt - fresh) ** 2) < 0.25 * np.mean((straight - fresh) ** 2)


def test_noise_is_described_no_better_than_by_the_linear_model():
    vae = VAE(1, hidden=(32,)).fit(np.random.default_rng(5).standard_normal((400, 2)))
    assert vae.held_out_elbo_ - vae.linear_elbo_ < 2 * vae.gain_error_ + 0.01


def test_the_same_seed_gives_the_same_bits_and_settings_of_jax_neither_matter_nor_change():
    import jax
    import jax.experimental

    X = arc(200)
    options = {"n_components": 1, "hidden": (32,), "max_iter": 3, "validation_fraction": 0.0}
    before = dict(jax.config.values)
    first = VAE(**options, random_state=4).fit(X)
    assert dict(jax.config.values) == before
    np.testing.assert_array_equal(VAE(**options, random_state=4).fit(X).transform(X), first.transform(X))
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(True):
        np.testing.assert_array_equal(VAE(**options, random_state=4).fit(X).transform(X), first.transform(X))
    assert np.abs(VAE(**options, random_state=5).fit(X).transform(X) - first.transform(X)).max() > 1e-3


def test_units_change_the_bound_by_their_volume_and_the_codes_not_at_all(curved):
    X, units = arc(), np.array([4.0, 0.125])
    other = VAE(1, hidden=(32,)).fit(X * units)
    np.testing.assert_array_equal(other.transform(X * units), curved.transform(X))
    assert other.score(X * units) == pytest.approx(curved.score(X) - np.log(units).sum(), rel=1e-12)
    assert other.linear_elbo_ == pytest.approx(curved.linear_elbo_ - np.log(units).sum(), rel=1e-9)
    np.testing.assert_allclose(other.elbo_, curved.elbo_ - np.log(units).sum(), rtol=1e-6)
    codes = curved.transform(X)
    np.testing.assert_allclose(other.inverse_transform(codes), curved.inverse_transform(codes) * units, rtol=1e-12)


def test_a_shift_of_1e8_moves_only_the_mean(curved):
    X = np.round(arc() * 2**20) / 2**20
    far = VAE(1, hidden=(32,)).fit(X + 1e8)
    assert far.held_out_elbo_ == pytest.approx(curved.held_out_elbo_, abs=0.05)
    assert np.corrcoef(far.transform(X + 1e8)[:, 0], curved.transform(X)[:, 0])[0, 1] > 0.99


def test_samples_have_the_moments_of_the_model(linear):
    rows = linear.sample(200_000, random_state=1)
    ((weight, offset),) = linear.weights_["decoder"]
    spread = weight * linear.scale_
    covariance = spread.T @ spread + np.diag(linear.noise_variance_)
    np.testing.assert_allclose(rows.mean(axis=0), linear.mean_ + offset * linear.scale_, atol=0.05)
    np.testing.assert_allclose(np.cov(rows, rowvar=False), covariance, atol=0.1)
    np.testing.assert_array_equal(linear.sample(3, random_state=1), linear.sample(3, random_state=1))
    density = multivariate_normal(linear.mean_ + offset * linear.scale_, covariance).logpdf(rows[:2000])
    assert linear.score(rows[:2000]) == pytest.approx(density.mean(), abs=0.05)


def test_zeros_and_ones_are_rebuilt_better_than_their_base_rates():
    vae = VAE(1, hidden=(8,), likelihood="bernoulli").fit(two_patterns())
    assert vae.held_out_elbo_ - vae.base_rate_elbo_ > 5 * vae.gain_error_
    assert np.isnan(vae.linear_elbo_) and not vae.noise_variance_.any()
    fresh = two_patterns(400, seed=1)
    told = vae.inverse_transform(vae.transform(fresh))
    assert (told >= 0.0).all() and (told <= 1.0).all()
    assert np.mean((told > 0.5) == fresh) > 0.85  # one entry in ten was flipped
    plain = bernoulli.logpmf(fresh.astype(int), two_patterns().mean(axis=0)).sum(axis=1).mean()
    assert vae.score(fresh) > plain + 1.0
    rows = vae.sample(4000, random_state=0)
    assert set(np.unique(rows)) == {0.0, 1.0}
    np.testing.assert_allclose(rows.mean(axis=0), two_patterns().mean(axis=0), atol=0.06)
    assert np.corrcoef(rows, rowvar=False)[0, 2] > 0.4


def test_base_rates_have_the_probabilities_of_independent_columns():
    X = two_patterns(50, 4)
    odds = BaseRates.of(X)
    np.testing.assert_allclose(
        odds.log_density(X), bernoulli.logpmf(X.astype(int), expit(odds.log_odds)).sum(axis=1), rtol=1e-10
    )
    assert np.isfinite(BaseRates.of(np.ones((3, 2))).log_density(np.zeros((1, 2)))).all()


def test_the_weights_kept_are_those_of_the_best_round(curved):
    best = curved.best_iter_
    assert curved.elbo_.shape == (curved.n_iter_, 2)
    assert best == 1 + np.argmax(curved.elbo_[:, 1]) <= curved.n_iter_ - 10
    assert curved.converged_
    with pytest.warns(NotConverged, match=f"{best} rounds ended before the held-out ELBO had stopped rising"):
        short = VAE(1, hidden=(32,), max_iter=best).fit(arc())
    np.testing.assert_array_equal(short.transform(arc()), curved.transform(arc()))
    assert not short.converged_ and short.best_iter_ == best


def test_coordinates_come_by_what_they_carry_with_signs_fixed(linear):
    X = flat()
    assert linear.latent_kl_[0] > linear.latent_kl_[1] > 0.5
    along = (X - X.mean(axis=0)).T @ linear.transform(X)
    assert (along[np.abs(along).argmax(axis=0), [0, 1]] > 0.0).all()


def test_putting_coordinates_in_order_changes_no_bound():
    form, U = Form(hidden=(5,)), flat(50) - 7.0
    weights = weights_of(6, 3, form)
    again, carried = ordered(weights, U, form)
    before, after = posterior(weights, U, form)[0], posterior(again, U, form)[0]
    order = np.argsort(-divergence(*posterior(weights, U, form)).mean(axis=0))
    assert list(order) != [0, 1, 2] and (np.diff(carried) < 0.0).all()
    signs = after[0] / before[0, order]
    np.testing.assert_allclose(np.abs(signs), 1.0, rtol=1e-6)
    draws = np.random.default_rng(0).standard_normal((2, 50, 3))
    np.testing.assert_allclose(
        elbo(again, U, draws[..., order] * signs, form), elbo(weights, U, draws, form), rtol=1e-10
    )


def test_a_coordinate_that_is_not_needed_carries_nothing():
    vae = VAE(2, hidden=(), scale=False, max_iter=1000).fit(flat(spread=(3.0,)))
    assert vae.latent_kl_[0] > 1.0 and vae.latent_kl_[1] < 0.05


def test_a_callback_sees_every_round_and_can_end_the_fit():
    seen = []
    vae = VAE(1, hidden=(32,)).fit(arc(), callback=lambda *now: seen.append(now) or len(seen) == 3)
    assert [number for number, _, _ in seen] == [1, 2, 3]
    np.testing.assert_allclose([both for _, *both in seen], vae.elbo_)
    assert vae.n_iter_ == 3 and not vae.converged_

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        VAE(1, hidden=(32,)).fit(arc(), callback=interrupt)


@pytest.mark.parametrize("n", [1, 2, 3, 19, 20, 127, 300, 5000])
@pytest.mark.parametrize("width", [4, 1_000_000])
def test_every_round_has_every_row_in_calls_that_end_soon(n, width):
    weights = {"encoder": [(np.zeros((1, width)), np.zeros(width))], "decoder": [(np.zeros((2, 1)), np.zeros(1))]}
    calls = list(next(_rounds(np.arange(n, dtype=np.float32)[:, None], 64, weights, np.random.default_rng(0))))
    rows = np.concatenate([batch.ravel() for batch, _ in calls])
    assert set(rows) == set(range(n))
    assert np.bincount(rows.astype(int)).max() - np.bincount(rows.astype(int)).min() <= 1
    shapes = {(batch.shape, draws.shape) for batch, draws in calls}
    ((steps, batch, _), drawn) = shapes.pop()
    assert not shapes and drawn == (steps, batch, 2)
    assert steps == 1 or steps * batch * width < _PRODUCTS
    assert sum(len(batch) for batch, _ in calls) >= 20


def test_a_saved_model_answers_to_the_bit_without_jax(curved, tmp_path, monkeypatch):
    curved.save(tmp_path / "vae.assay")
    monkeypatch.setitem(sys.modules, "jax", None)
    back = assay.load(tmp_path / "vae.assay")
    X = arc(50, seed=2)
    np.testing.assert_array_equal(back.transform(X), curved.transform(X))
    np.testing.assert_array_equal(back.score_samples(X), curved.score_samples(X))
    np.testing.assert_array_equal(back.sample(5, random_state=0), curved.sample(5, random_state=0))
    np.testing.assert_array_equal(back.elbo_, curved.elbo_)
    assert back.get_params() == curved.get_params()
    with pytest.raises(
        ParameterError, match=r"fitting a VAE needs jax, which is not installed; run pip install 'assay\[vae\]'"
    ):
        back.fit(X)


def test_a_source_is_encoded_and_its_columns_are_compared():
    X = flat(120, 3)
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(kind=pl.Series(["x", "y", "z"] * 40))
    vae = VAE(2, hidden=(4,), max_iter=2, validation_fraction=0.0).fit(assay.read(frame))
    assert vae.encoding_ is not None and vae.n_features_in_ == len(vae.feature_names_in_) > 3
    assert vae.transform(assay.read(frame[:5])).shape == (5, 2)
    assert list(vae.get_feature_names_out()) == ["vae0", "vae1"]
    with pytest.raises(DataError, match="kind"):
        vae.transform(assay.read(frame.drop("kind")))
    with pytest.raises(DataError, match="a VAE needs two rows or more; got 1"):
        vae.fit(assay.read(frame[:1]))


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0, 3.0], [1.0, 4.0, 1.0]]),
        np.full((5, 3), 0.1),
        np.repeat(np.arange(4.0)[:, None], 3, axis=1),
        np.vstack([np.eye(3)] * 20),
        np.arange(120.0).reshape(3, 40) ** 2,
        np.column_stack([np.full(60, 1e8 + 0.3), *(np.random.default_rng(0).standard_normal((60, 2)) * 1e-100).T]),
        np.column_stack([np.arange(60.0) == 7, np.random.default_rng(0).standard_normal((60, 2))]),
    ],
    ids=["two rows", "constant", "rank one", "duplicates", "wide", "tiny and constant", "a single one"],
)
def test_degenerate_tables_have_a_defined_answer(X):
    n, d = X.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        vae = VAE(2, hidden=(), max_iter=20).fit(X)
    codes = vae.transform(X)
    assert codes.shape == (n, 2) and np.isfinite(codes).all()
    rebuilt = vae.inverse_transform(codes)
    assert rebuilt.shape == (n, d) and np.isfinite(rebuilt).all()
    constant = np.ptp(X, axis=0) == 0.0
    np.testing.assert_array_equal(vae.varying_, ~constant)
    np.testing.assert_array_equal(rebuilt[:, constant], X[:, constant])
    assert np.isfinite(vae.score(X)) and np.isfinite(vae.latent_kl_).all()
    assert vae.sample(4, random_state=0).shape == (4, d)


def test_few_rows_are_all_used_and_the_fit_says_so():
    vae = VAE(1, hidden=(4,), max_iter=5).fit(arc(44))
    assert vae.n_held_out_ == 0 and vae.n_iter_ == vae.best_iter_ == 5 and not vae.converged_
    assert np.isnan([vae.held_out_elbo_, vae.linear_elbo_, vae.gain_error_, *vae.elbo_[:, 1]]).all()
    assert np.isfinite(vae.elbo_[:, 0]).all()


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "row 1, column 2 is missing"), (np.inf, "row 1, column 2 is infinite"), (1e300, "column 2 runs from")],
)
def test_what_cannot_be_used_is_refused_with_its_place(value, message):
    X = flat(30)
    X[1, 2] = value
    with pytest.raises(DataError, match=message):
        VAE().fit(X)


def test_bernoulli_columns_lie_between_zero_and_one():
    X = two_patterns(60, 4)
    X[7, 3] = 1.5
    with pytest.raises(DataError, match="row 7, column 3 is 1.5: likelihood='bernoulli' needs values from 0 to 1"):
        VAE(likelihood="bernoulli").fit(X)
    vae = VAE(1, hidden=(4,), likelihood="bernoulli", max_iter=2, validation_fraction=0).fit(
        pl.DataFrame(two_patterns(60, 4), schema=list("abcd"))
    )
    with pytest.raises(DataError, match="row 0, column 'b' is -1"):
        vae.transform(pl.DataFrame([[0.0, -1.0, 0.0, 1.0]], schema=list("abcd"), orient="row"))


def test_one_row_is_not_enough():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        VAE().fit(np.ones((1, 3)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 7}, "n_components is a whole number from 1 to n_features = 6; got 7"),
        ({"n_components": True}, "n_components is a whole number"),
        ({"hidden": (8, 0)}, "each width in hidden is a whole number from 1; got 0"),
        ({"likelihood": "poisson"}, "likelihood is one of gaussian, bernoulli; got 'poisson'"),
        ({"activation": "gelu"}, "activation is one of tanh, relu, linear; got 'gelu'"),
        ({"noise": "none"}, "noise is one of shared, columns; got 'none'"),
        ({"batch_size": 0}, "batch_size is a whole number from 1; got 0"),
        ({"max_iter": 2.5}, "max_iter is a whole number from 1; got 2.5"),
        ({"patience": 0}, "patience is a whole number from 1; got 0"),
        ({"learning_rate": -1.0}, "learning_rate is a positive number; got -1.0"),
        ({"validation_fraction": 1.0}, "validation_fraction is from 0 to below 1; got 1.0"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        VAE(**options).fit(flat(60))


def test_a_climb_out_of_bounds_is_refused_with_the_remedy(curved):
    with pytest.raises(ParameterError, match=r"not finite after round 1 with learning_rate=1e\+30; lower it"):
        VAE(1, hidden=(32,), learning_rate=1e30).fit(arc())
    with pytest.raises(ParameterError, match=r"codes have shape \(n, 1\); got \(4, 3\)"):
        curved.inverse_transform(np.ones((4, 3)))


def test_each_column_can_have_its_own_noise_as_in_factor_analysis():
    def rows(rng):
        return np.outer(rng.standard_normal(1000), np.ones(4)) + rng.standard_normal((1000, 4)) * [0.3, 0.5, 0.7, 1.0]

    X, fresh = rows(np.random.default_rng(0)), rows(np.random.default_rng(1))
    vae = VAE(1, hidden=(), noise="columns", scale=False, max_iter=1000).fit(X)
    peer = FactorAnalysis(1, tol=1e-6, max_iter=10_000).fit(X)
    np.testing.assert_allclose(vae.noise_variance_, peer.noise_variance_, rtol=0.15)
    assert vae.score(fresh) == pytest.approx(peer.score(fresh), abs=0.02)
    assert vae.held_out_elbo_ > vae.linear_elbo_ + 5 * vae.gain_error_
