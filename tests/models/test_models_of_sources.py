"""Models fitted on sources: encoded by kind, saved with their encoding, applied to new rows in the same way."""

import numpy as np
import pyarrow as pa
import pytest

import assay
from assay.errors import DataError, ParameterError

RNG = np.random.default_rng(0)


def table(n=60):
    x = RNG.standard_normal(n)
    return pa.table(
        {
            "key": [f"k{i:04d}" for i in range(n)],
            "town": pa.array(["Oslo", "Rome", "Bern"]).take(pa.array(RNG.integers(0, 3, n))).cast(pa.string()),
            "member": RNG.random(n) < 0.5,
            "x": x,
            "y": x + RNG.standard_normal(n),
        }
    )


def test_a_source_is_encoded_by_the_kinds_of_its_columns():
    pca = assay.PCA(2).fit(assay.read(table()))
    assert list(pca.feature_names_in_) == ["town = Bern", "town = Oslo", "town = Rome", "member", "x", "y"]
    assert [column.name for column in pca.encoding_.columns if not column.used] == ["key"]


def test_a_loaded_model_encodes_new_rows_as_the_fitted_one(tmp_path):
    pca = assay.PCA(3).fit(assay.encode(assay.read(table()), log="auto"))
    pca.save(tmp_path / "pca.assay")
    loaded = assay.load(tmp_path / "pca.assay")
    new = table(20)
    np.testing.assert_array_equal(loaded.transform(assay.read(new)), pca.transform(assay.read(new)))
    moved = new.select(["y", "member", "key", "x", "town"])
    np.testing.assert_array_equal(loaded.transform(assay.read(moved)), pca.transform(assay.read(new)))


def test_what_the_model_rebuilds_is_told_in_the_columns_of_the_user():
    source = assay.read(table())
    pca = assay.PCA().fit(source)
    rebuilt = pca.encoding_.decode(pca.inverse_transform(pca.transform(source)))
    whole = source.to_arrow()
    assert rebuilt.column("town").to_pylist() == whole.column("town").to_pylist()
    assert rebuilt.column("member").to_pylist() == whole.column("member").to_pylist()
    np.testing.assert_allclose(rebuilt.column("x"), whole.column("x"), atol=1e-12)


def test_a_level_not_met_before_has_a_place_and_a_lost_column_is_refused():
    pca = assay.PCA(2).fit(assay.read(table()))
    new = table(10)
    strange = new.set_column(1, "town", pa.array(["Paris"] * 10))
    assert np.isfinite(pca.transform(assay.read(strange))).all()
    with pytest.raises(DataError, match="column 'town', which the encoding was fitted on, is missing"):
        pca.transform(assay.read(new.drop_columns(["town"])))


def test_gaps_in_a_source_are_refused_with_the_remedy_and_the_remedy_works():
    gaps = table().set_column(3, "x", pa.array([None, *RNG.standard_normal(59)]))
    with pytest.raises(DataError, match="row 0, column 'x' is missing.*assay.FillMissing"):
        assay.PCA(2).fit(assay.read(gaps))
    fill = assay.FillMissing().fit(assay.read(gaps))
    filled = fill.transform(assay.read(gaps))
    assert np.isfinite(filled).all()
    assert fill.n_missing_.tolist() == [0, 0, 0, 0, 1, 0]
    assert assay.PCA(2).fit(filled).n_samples_ == 60


def test_real_does_not_judge_the_levels_of_a_category():
    with pytest.raises(ParameterError, match="'real' cannot judge numbers made from one column, such as the levels of"):
        assay.PCA("real").fit(assay.read(table()))
    numbers = assay.encode(assay.read(table()), drop=["town"])
    assert assay.PCA("real", scale=True).fit(numbers).n_components_ == 1


def test_an_array_is_taken_as_it_is():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    assert assay.PCA().fit(X).n_features_in_ == 2
    assert not hasattr(assay.PCA().fit(X), "encoding_")
    assert not hasattr(assay.PCA().fit(assay.read(table())).fit(X), "encoding_")
