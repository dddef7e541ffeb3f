"""Texts: scikit-learn's tf-idf as the oracle, encodings, and words that collide with columns."""

import codecs

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from assay.data.media.documents import decoded
from assay.data.media.folders import open_folder
from assay.errors import DataError, ParameterError

TEXTS = [
    "The cat sat on the mat, and the cat was fat.",
    "A dog and a cat are friends; dogs are not cats.",
    "Stock prices fell. Prices rise and prices fall!",
    "",
    "Naïve café owners sell déjà vu at high prices 2024",
]


@pytest.fixture
def letters(tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def matrix(source):
    return np.concatenate(list(source.float_blocks()))


@pytest.mark.parametrize("stop_words", ["english", None, ["cat", "Prices"]])
def test_weights_are_scikit_learns_tf_idf(letters, stop_words):
    folded = [word.lower() for word in stop_words] if isinstance(stop_words, list) else stop_words
    oracle = TfidfVectorizer(stop_words=folded)
    values = oracle.fit_transform(TEXTS).toarray()
    source = open_folder(letters, stop_words=stop_words)
    assert list(source.numeric_columns) == oracle.get_feature_names_out().tolist()
    np.testing.assert_allclose(matrix(source), values, rtol=1e-12)


def test_counts_are_scikit_learns_and_stay_whole_numbers(letters):
    oracle = CountVectorizer(stop_words="english").fit_transform(TEXTS).toarray()
    source = open_folder(letters, weights="counts")
    np.testing.assert_array_equal(matrix(source), oracle)
    assert str(source.arrow_schema.field("cat").type) == "int64"


def test_blocks_do_not_change_the_weights(letters, monkeypatch):
    whole = matrix(open_folder(letters))
    monkeypatch.setattr("assay.data.media.folders._BLOCK_FILES", 2)
    np.testing.assert_array_equal(matrix(open_folder(letters)), whole)


def test_the_most_frequent_words_are_kept_and_ties_go_by_the_alphabet(letters):
    source = open_folder(letters, max_words=4)
    assert source.numeric_columns == ("2024", "café", "cat", "prices")
    found = len(CountVectorizer(stop_words="english").fit(TEXTS).vocabulary_)
    assert source.notes == (
        f"Texts are told by the tf-idf of the 4 most frequent of {found} words, stop words left out.",
    )


def test_a_text_without_words_is_a_row_of_zeros(letters):
    assert (matrix(open_folder(letters))[3] == 0).all()


def test_words_that_are_called_like_columns_get_another_name(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.txt").write_text("label file label file label paper")
    table = open_folder(tmp_path, weights="counts").to_arrow()
    assert table.to_pylist() == [
        {"file": "a/1.txt", "label": "a", "file (word)": 2, "label (word)": 3, "paper": 1},
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_texts_are_read_in_the_encoding_they_show(encoding):
    assert decoded("déjà vu – “naïve”".encode(encoding)) == "déjà vu – “naïve”"
    assert decoded(codecs.BOM_UTF16_BE + "déjà".encode("utf-16-be")) == "déjà"


def test_single_bad_bytes_in_a_text_are_read_as_windows_1252():
    assert decoded("déjà vu à la carte ".encode() + b"caf\xe9") == "déjà vu à la carte café"
    assert decoded(b"") == ""


def test_binary_files_are_left_out_with_the_reason(letters):
    (letters / "b.txt").write_bytes(b"\x7fELF\x02\x01\x00\x00\x00\x00\x01")
    source = open_folder(letters)
    assert source.to_arrow().num_rows == 5
    (problem,) = source.problems
    assert problem.examples == (("b.txt", "it is a binary file, not a text"),)


def test_wrong_options_and_empty_texts_are_refused(letters, tmp_path_factory):
    with pytest.raises(ParameterError, match=r'stop_words is one of "english", .*, or None; got \'klingon\''):
        open_folder(letters, stop_words="klingon")
    with pytest.raises(ParameterError, match=r"stop_words is a list of words, but not all of them are text"):
        open_folder(letters, stop_words=["a", 1])
    for wrong in (0, True, 2.5):
        with pytest.raises(ParameterError, match=r"max_words is a whole number from 1 on"):
            open_folder(letters, max_words=wrong)
    with pytest.raises(ParameterError, match=r'weights is "tf-idf" or "counts"; got \'binary\''):
        open_folder(letters, weights="binary")
    empty = tmp_path_factory.mktemp("empty")
    (empty / "a.txt").write_text("the and of")
    with pytest.raises(DataError, match=r"the 1 texts hold no words but stop words; give others with stop_words="):
        _ = open_folder(empty).arrow_schema


def test_a_text_that_does_not_go_on_as_it_begins_is_left_out():
    with pytest.raises(DataError, match="it begins as utf-32-le but does not go on so"):
        decoded(codecs.BOM_UTF32_LE + b"\xff\xff\xff\xff")
