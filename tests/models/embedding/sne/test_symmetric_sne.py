"""Symmetric SNE beside its asymmetric form; what both do is tested in test_sne.py."""

import numpy as np

from assay import SNE, SymmetricSNE
from assay.summary.graph.perplexity import affinities


def test_a_row_that_nobody_names_pulls_on_one_side_only():
    """An outlier has a conditional distribution like any other row; in the joint one it weighs less than its share."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((60, 3)), [[30.0, 30.0, 30.0]]])
    found = affinities(X, 10)
    conditional, joint = np.asarray(found.conditional.sum(axis=1)), np.asarray(found.P.sum(axis=1))
    np.testing.assert_allclose(conditional, 1.0)
    assert joint[-1] < joint[:-1].mean()
    for Model in (SNE, SymmetricSNE):
        Y = Model(perplexity=10).fit_transform(X)
        middle = np.linalg.norm(Y - Y.mean(axis=0), axis=1)
        assert middle[-1] > np.median(middle)


def test_one_divergence_over_all_pairs_is_told_in_nats_and_not_summed_over_rows():
    X = np.random.default_rng(1).standard_normal((80, 5))
    joint, rows = SymmetricSNE(perplexity=15).fit(X), SNE(perplexity=15).fit(X)
    assert 0 < joint.kl_divergence_ < np.log(80 * 79)
    assert rows.kl_divergence_ / 80 < np.log(79)
