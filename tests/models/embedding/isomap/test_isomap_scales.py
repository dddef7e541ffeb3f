"""The choice of Isomap's scale: what it shows, what it chooses, what it refuses."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

from assay import Isomap, Nearest, Within, isomap_scales
from assay.errors import ParameterError
from assay.models.embedding.isomap import isomap_scales as module


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(700, random_state=0, noise=0.1)[0]


def test_a_scale_that_cuts_across_the_folds_is_not_chosen(roll):
    found = isomap_scales(roll, n_neighbors=[5, 40, 9])
    np.testing.assert_array_equal(found.scales, [5, 9, 40])
    assert found.chosen == 9 and found.graph == Nearest(9)
    assert found.residual_variance[2] > 10 * found.residual_variance[1]
    for place, k in enumerate([5, 9]):
        model = Isomap(2, graph=Nearest(k)).fit(roll)
        assert found.residual_variance[place] == pytest.approx(model.residual_variance_[-1], abs=1e-9)
        assert found.share_kept[place] == len(model.kept_) / 700


def test_a_scale_that_leaves_rows_out_is_not_chosen(roll):
    found = isomap_scales(roll, radii=[0.3, 1.5, 4.0])
    assert found.graph == Within(4.0)
    assert (np.diff(found.share_kept) >= 0).all() and found.share_kept[1] < 0.95 <= found.share_kept[2]
    assert "keep at least 95% of the rows" in found.rule
    few = isomap_scales(roll, radii=[1.5, 2.0])
    assert few.chosen == 2.0 and "none keeps 95%" in few.rule


def test_few_rows_try_fewer_scales():
    found = isomap_scales(np.random.default_rng(0).random((7, 3)))
    np.testing.assert_array_equal(found.scales, [4, 6])
    np.testing.assert_array_equal(isomap_scales([[0.0], [1.0], [2.0]], n_components=1).scales, [2])


def test_many_rows_are_judged_from_landmarks_and_it_says_so(roll, monkeypatch):
    exact = isomap_scales(roll, n_neighbors=[8, 40])
    np.testing.assert_array_equal(exact.sources, [700, 700])
    monkeypatch.setattr(module, "EXACT_UP_TO", 100)
    monkeypatch.setattr(module, "LANDMARKS", 80)
    found = isomap_scales(roll, n_neighbors=[8, 40], random_state=1)
    np.testing.assert_array_equal(found.sources, [80, 80])
    np.testing.assert_allclose(found.residual_variance, exact.residual_variance, rtol=0.5, atol=1e-3)
    again = isomap_scales(roll, n_neighbors=[8, 40], random_state=1)
    np.testing.assert_array_equal(again.residual_variance, found.residual_variance)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_neighbors": [3], "radii": [1.0]}, "give n_neighbors or radii, not both"),
        ({"n_neighbors": []}, "n_neighbors is empty"),
        ({"radii": []}, "radii is empty"),
        ({"share": 0.0}, "share must be above 0 and at most 1, is 0.0"),
        ({"radii": [1e-6]}, "no scale links more than 2 rows.*the largest tried is 1e-06. Try larger ones"),
    ],
)
def test_what_cannot_be_tried_is_refused_with_the_rule(roll, options, text):
    with pytest.raises(ParameterError, match=text):
        isomap_scales(roll[:50], **options)
