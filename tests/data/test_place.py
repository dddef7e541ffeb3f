"""Where bytes are: addresses keep their secrets in the process that was given them."""

import pickle

import pytest

from assay.data.place import Place
from assay.data.read import read
from assay.engine.fingerprint import fingerprint
from assay.errors import DataError

fs = pytest.importorskip("pyarrow.fs")
S3 = pytest.mark.skipif(not hasattr(fs, "S3FileSystem"), reason="this pyarrow knows no S3")


@S3
def test_a_pickled_place_holds_no_key_and_names_the_same_file(monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    filesystem, path = fs.FileSystem.from_uri("s3://KEY:geheim@bucket/x.csv?region=eu-west-1")
    place = Place(path, filesystem, "s3://KEY:***@bucket/x.csv")
    assert b"geheim" in pickle.dumps(filesystem)
    sent = pickle.dumps(place)
    assert b"geheim" not in sent and b"KEY:***@bucket" in sent
    arrived = pickle.loads(sent)
    assert (arrived.path, str(arrived), arrived.filesystem.region) == (path, str(place), "eu-west-1")


def test_a_place_on_this_machine_is_pickled_as_it_is(tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    place = Place.of(tmp_path / "x.csv")
    assert pickle.loads(pickle.dumps(place)) == place
    assert fingerprint(place) == fingerprint(pickle.loads(pickle.dumps(place)))


@pytest.mark.parametrize(
    "address",
    [
        "mysql://u:geheim@h/db",
        "POSTGRESQL+psycopg2://u:geheim@h/db",
        "HTTPS://u:geheim@h/x.csv?token=geheim",
        "s3://KEY:geh/eim geheim@bucket/x.csv",
        "s3://bucket/x.csv?secret_key=geheim",
        "s3://bucket/*.csv?secret_key=geheim",
        "host=h password='geheim geheim'",
        "u:geheim@h/db",
        "\0",
        "a" * 5000,
        "?" * 5000,
    ],
)
def test_what_cannot_be_read_is_refused_without_its_secret_and_without_what_repeats_it(address):
    with pytest.raises(DataError, match="cannot read") as refused:
        read(address)
    error = refused.value
    assert "eim" not in str(error) and "\0" not in str(error)
    assert error.__cause__ is None
