"""Nothing that is shown holds a secret, acts on a terminal or hides."""

import json
import pickle
import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.errors import AssayError, Caution, DataError, EngineError, NotConverged, ParameterError
from assay.shown import a_few, safe, secrets_in, visible, visible_json, without_secrets
from assay.summary.moments.moments import Moments

SECRET = "geheim"
ADDRESSES = [
    "POSTGRESQL://u:geheim@h/db",
    "postgresql+psycopg2://u:geheim@h/db",
    "mysql://u:geheim@h/db",
    "mongodb+srv://u:geheim@cluster.example.net/db",
    "ftp://u:geheim@h/x.csv",
    "redis://:geheim@h:6379/0",
    "spark://u:geheim@h:7077",
    "tcp://u:geheim@h:8786",
    "hdfs://u:geheim@h:8020/x",
    "snowflake://u:geheim@account/db?warehouse=w",
    "postgresql://u:geheim@[::1]:5432/db",
    "postgresql://u:geheim%40geheim@h/db",
    "postgresql://u:a@geheim@h/db",
    "postgresql://u:a/geheim?geheim#geheim@h/db",
    "postgresql://u:a:geheim@h/db",
    "postgresql://u:my geheim@h/db",
    "postgresql://h/db?user=u&password=geheim",
    "postgresql://h/db?sslpassword=geheim&connect_timeout=3",
    "jdbc:postgresql://h/db?user=u&password=geheim",
    "jdbc:sqlserver://h;user=u;password=geheim;encrypt=true",
    "jdbc:oracle:thin:scott/geheim@h:1521",
    "mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BUID%3Du%3BPWD%3Dgeheim%3B",
    "https://u:geheim@h/x.csv?token=geheim",
    "https://geheim@h/x.csv",
    "https://h/x.csv?api_key=geheim&page=2",
    "https://account.blob.core.windows.net/c/x.csv?sv=2022&sig=geheim%3D",
    "https://h/k?X-Amz-Credential=geheim&X-Amz-Signature=geheim",
    "s3://KEY:geh/eim+geheim@bucket/x.csv",
    "s3://bucket/x.csv?secret_key=geheim&region=eu",
    "gs://bucket/x.csv?access_token=geheim",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=geheim==;EndpointSuffix=x",
    "host=h user=u password=geheim port=1",
    "host=h user=u password = 'my geheim' port=1",
    "host=h password='it\\'s geheim geheim' port=1",
    "u:geheim@h:5432/db",
    "aws_secret_access_key=geheim",
    '{"password": "my geheim"}',
    "Authorization: Bearer geheim",
]
SENTENCES = ["{}", "cannot read {}: there is no such file", "got {!r}; there are none", "({})", '"{}", and x@y: no']


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_spelling_of_an_address_tells_its_secret(address):
    for sentence in SENTENCES:
        told = safe(sentence.format(address))
        assert "eim" not in told and "***" in told
        assert safe(told) == told
    assert secrets_in(address) and all("***" not in secret for secret in secrets_in(address))


@pytest.mark.parametrize(
    "text",
    ["a@b.csv", "s3://bucket/a:b@c.csv", "tcp://h:8786", "postgresql://u@h:5432/db", "postgresql://[::1]:5432/db",
     "tokens=5", "key=value", "the column token is gone", "see https://example.org/a: mail me@example.org"],
)  # fmt: skip
def test_what_holds_no_secret_is_left_alone(text):
    assert without_secrets(text) == text


def test_a_secret_is_hidden_also_apart_from_its_address_and_decoded():
    address = "postgresql://me:my%40own@h/db?sslpassword=other"
    told = without_secrets('no host "my@own", and "other" is no my%40own', address)
    assert told == 'no host "***", and "***" is no ***'


@given(st.text(st.sampled_from("ab:/@?&='\" \\;.%3Dpasswordtoken"), max_size=60))
def test_hiding_twice_hides_nothing_more(text):
    once = without_secrets(text)
    assert without_secrets(once) == once


@pytest.mark.parametrize("evil", ["a://b:" * 50_000 + "@", "password=" * 50_000, "@" + "a." * 100_000, "@a:" * 50_000])
def test_texts_made_to_take_long_do_not(evil):
    before = time.process_time()
    assert safe(evil)
    assert time.process_time() - before < 10  # minutes, if time grew with the square of the length


HIDING = (
    "\x1b\x07\x9b\u200b\u200c\u200d\u2060\u00ad\u061c\u202e\u2066\ufeff\ufe0f\u3164\u034f\U000e0041\U000e0100\ud800"
)


@pytest.mark.parametrize("character", HIDING)
def test_what_acts_or_hides_is_written_out_everywhere(character):
    shown = f"a{character.encode('unicode_escape').decode()}b"
    assert visible(f"a{character}b") == shown
    for kind in (DataError, ParameterError, EngineError, Caution, NotConverged):
        assert str(kind(f"a{character}b")) == shown
    held = visible_json(json.dumps({"a": character}, ensure_ascii=False))
    assert character not in held and json.loads(held) == {"a": character}


@pytest.mark.parametrize(
    "text", ["❤️", "👨\u200d👩\u200d👧", "🏳️\u200d🌈", "1️⃣", "می\u200cخواهم", "क्\u200dष", "naïve", "日本"]
)
def test_joiners_stay_where_they_show(text):
    assert visible(text) == text
    assert visible(f"a{text}b") == f"a{text}b"


@given(st.text(max_size=30))
def test_what_is_visible_stays_as_it_is_and_json_says_the_same(text):
    assert visible(visible(text)) == visible(text)
    assert not {unicodedata.category(c) for c in visible(text)} & {"Cc", "Cs", "Zl", "Zp"}
    for ascii in (False, True):
        held = visible_json(json.dumps([text], ensure_ascii=False, indent=1), ascii=ascii)
        assert json.loads(held) == [text] and (not ascii or held.isascii())


def test_an_error_travels_clean_between_processes():
    error = DataError("cannot read mysql://u:geheim@h: \x1b[31m", 3)
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is DataError and sent.args == error.args == ("cannot read mysql://u:***@h: \\x1b[31m", 3)
    assert isinstance(sent, (AssayError, ValueError)) and len(str(DataError("a" * 10**6))) <= 2_000


def test_a_message_however_long_keeps_what_was_wrong_and_the_remedy():
    told = str(DataError(f"the cell {'9' * 10**5!r} is no date; declare the column as text"))
    assert told.startswith("the cell '999") and told.endswith("declare the column as text") and "9…9" in told


def test_of_many_names_a_message_tells_a_few_and_how_many_more():
    assert a_few(["a", "b"]) == "a, b" and a_few([]) == ""
    told = a_few([f"column {i} " + "x" * 500 for i in range(2000)])
    assert told.startswith("column 0 xx") and told.endswith(" and 1,980 more") and len(told) < 1300


WIDE = {f"gene {i} " + "x" * 30: [1.0 * i, 2.0, 4.0] for i in range(2000)}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: assay.study(assay.read(WIDE), drop=["nowhere"]),
        lambda: assay.study(assay.read(WIDE), by="nowhere"),
        lambda: assay.study(assay.read(WIDE), target="nowhere"),
        lambda: assay.read(WIDE, kinds={"nowhere": "text"}),
        lambda: assay.encode(assay.read(WIDE), log=["nowhere"]),
        lambda: (
            assay.PCA()
            .fit(assay.read(WIDE))
            .transform(assay.read({f"other {i}": [1.0, 2.0, 4.0] for i in range(2000)}))
        ),
        lambda: Moments.of(assay.read(WIDE))["nowhere",],
    ],
    ids=["drop", "by", "target", "kinds", "log", "fitted on others", "moments"],
)
def test_a_refusal_does_not_repeat_the_names_of_a_wide_table(wrong):
    with pytest.raises(AssayError) as refused:
        wrong()
    assert len(str(refused.value)) < 2_000
    assert re.search(r"and 1,9\d\d more", str(refused.value))
