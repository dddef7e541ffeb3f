"""Saved models hold data only; a file cannot make loading run anything."""

import hashlib
import json
import zipfile

import numpy as np
import pytest
from sklearn.decomposition import PCA as Foreign

import assay
from assay.data.archive import DIGEST, TAIL
from assay.errors import DataError, FileFormatError


def edited(path, change, spelt=("\n", "\n")):
    """Rewrite the header of a saved file, and then its text."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts["assay.json"])
    change(document)
    parts["assay.json"] = json.dumps(document).replace(*spelt).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.comment = bytes(TAIL)
    body = path.read_bytes()[:-TAIL]
    path.write_bytes(body + DIGEST + hashlib.sha256(body).hexdigest().encode())  # as who means harm would sign it
    return path


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "pca.assay"
    assay.PCA(1).fit(np.eye(3)).save(path)
    return path


def test_an_unfitted_model_keeps_its_options(tmp_path):
    assay.PCA(0.9, scale=True, random_state=3).save(tmp_path / "a")
    assert assay.load(tmp_path / "a").get_params() == assay.PCA(0.9, scale=True, random_state=3).get_params()


def test_a_range_among_the_options_comes_back_as_one(tmp_path):
    assay.TemporalCCA(lags=range(-2, 6, 2)).save(tmp_path / "a")
    assert assay.load(tmp_path / "a").lags == range(-2, 6, 2)


def test_fitted_arrays_are_whole_and_come_back_as_they_lie_in_memory(tmp_path):
    model = assay.PCA(1).fit(np.eye(3))
    wide = np.arange(24.0).reshape(4, 6)
    parts = {"gaps": wide[:, ::2], "columns first": wide.T, "inside": wide.ravel()[3:], "backwards": wide[::-1]}
    for part in parts.values():
        model.mean_ = part
        model.save(tmp_path / "a")
        back = assay.load(tmp_path / "a").mean_
        np.testing.assert_array_equal(back, part)
        assert model.mean_.flags.forc and back.strides == model.mean_.strides
        assert model.mean_.ctypes.data % 16 == back.ctypes.data % 16 == 0
    whole = np.arange(4.0)
    model.mean_ = whole
    assert model.mean_ is whole  # copied only where needed


def test_an_option_is_kept_as_it_was_given():
    given = np.arange(9.0)[1::2]
    model = assay.MDS(weights=given)
    assert model.weights is given  # scikit-learn's clone asks for this


def test_summaries_are_loaded_by_the_same_door(tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 2))
    assay.Moments.of(X).save(tmp_path / "m")
    np.testing.assert_array_equal(assay.load(tmp_path / "m").scatter, assay.Moments.of(X).scatter)
    grouped = assay.GroupedMoments.of(X, np.arange(30) % 3)
    grouped.save(tmp_path / "g")
    back = assay.load(tmp_path / "g")
    assert back.labels == (0, 1, 2)
    for a, b in zip(back.parts, grouped.parts, strict=True):
        np.testing.assert_array_equal(a.scatter, b.scatter)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(kind="os.system"), "which this assay does not know"),
        (lambda d: d.update(format=99), "update assay"),
        (lambda d: d["header"].pop("fitted"), "not hold a whole PCA"),
        (lambda d: d["header"]["params"]["dict"].update(evil=1), "not hold a whole PCA"),
        (lambda d: d["header"]["fitted"]["dict"].update(transform=1), "not an attribute"),
        (lambda d: d["header"]["fitted"]["dict"].update(__class__=1), "not an attribute"),
        (lambda d: d["header"]["fitted"]["dict"].update(mean_={"pickle": "x"}), "does not know"),
        (lambda d: d["header"]["fitted"]["dict"].update(mean_={"array": "gone"}), "not hold a whole PCA"),
    ],
)
def test_an_edited_file_is_refused(saved, change, message):
    with pytest.raises(FileFormatError, match=message):
        assay.load(edited(saved, change))


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"array": "fitted.mean_", "list": []},
        {"array": ["fitted.mean_"]},
        {"float": "1.5"},
        {"float": []},
        {"texts": [1]},
        {"texts": "abc"},
        {"list": "abc"},
        {"tuple": {"a": 1}},
        {"dict": [1]},
        {"range": [0, 1]},
        {"range": [0, 1e9, 1]},
        {"range": [0, 10, 0]},
        {"record": {"kind": "Gaussian", "fields": {"width": "x"}}},
        {"record": {"kind": "Gaussian", "fields": {}, "more": 1}},
        {"record": {"kind": ["Gaussian"], "fields": {}}},
        {"value": {"kind": "Moments", "header": {"count": 10**400, "columns": None}, "arrays": {}}},
        {"value": {"kind": "Moments", "header": {}, "arrays": {"mean_high": ["x"]}}},
        {"x" * 100_000: 1},
    ],
    ids=range(20),
)
@pytest.mark.parametrize("part", ["params", "fitted"])
def test_whatever_a_signed_header_holds_loading_ends_in_one_sentence(saved, value, part):
    """Each of these raised another error, or became a value that nobody saved."""

    def change(document):
        document["header"][part]["dict"]["mean_" if part == "fitted" else "n_components"] = value

    with pytest.raises(FileFormatError, match="cannot load ") as caught:
        assay.load(edited(saved, change))
    assert len(str(caught.value)) < 1000 and "\n" not in str(caught.value)


def test_a_value_within_values_without_end_is_refused_in_one_sentence(saved):
    whole = saved.read_bytes()
    for depth in (600, 5000):
        saved.write_bytes(whole)
        text = '{"list": [' * depth + "1" + "]}" * depth
        edited(saved, lambda document: document["header"]["fitted"]["dict"].update(mean_="here"), ('"here"', text))
        with pytest.raises(FileFormatError, match="cannot load .*recursion"):
            assay.load(saved)


@pytest.mark.parametrize("part", [[], 1, None, {"list": []}, {"float": "nan"}])
def test_options_and_results_are_values_by_name(saved, part):
    with pytest.raises(FileFormatError, match="cannot load .*pca.assay: "):
        assay.load(edited(saved, lambda document: document["header"].update(params=part)))


def test_a_summary_that_breaks_its_own_class_is_refused_in_one_sentence(tmp_path):
    grouped = assay.GroupedMoments.of(np.random.default_rng(0).random((40, 2)), ["u", "v"] * 20)
    for labels in ([["u"], {"v": 1}], {"u": 1}, "uv", 7, None, ["u"] * 2, [None, "v"]):
        grouped.save(tmp_path / "g")
        edited(tmp_path / "g", lambda document, labels=labels: document["header"].update(labels=labels))
        for load in (assay.load, assay.GroupedMoments.load):
            with pytest.raises(FileFormatError, match=f"^cannot load {tmp_path / 'g'}: "):
                load(tmp_path / "g")


def test_only_our_own_models_and_only_data_are_saved(tmp_path):
    from assay.models.files import save

    with pytest.raises(DataError, match="only assay's own models"):
        save(Foreign(), tmp_path / "a")
    model = assay.PCA(1).fit(np.eye(3))
    model.extra_ = lambda: None
    with pytest.raises(DataError, match="fitted.extra_: a function is not data"):
        model.save(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="no such file"):
        assay.load(tmp_path / "a")
