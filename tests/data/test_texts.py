"""Texts from lists, tables and folders."""

import polars as pl
import pytest

import assay
from assay.data.texts import texts_of
from assay.errors import DataError, ParameterError

LONG = [f"a text of several words, number {i} of them, written for a test" for i in range(30)]


def test_texts_come_from_lists_frames_sources_and_files_alike(tmp_path):
    frame = pl.DataFrame({"text": LONG, "size": range(30)})
    frame.write_csv(tmp_path / "texts.csv")
    for data in (LONG, frame, assay.read(frame), tmp_path / "texts.csv", str(tmp_path / "texts.csv")):
        assert list(texts_of(data)) == LONG
    assert list(texts_of(frame, "size")) == [str(i) for i in range(30)]


def test_a_folder_gives_one_text_a_file_and_what_cannot_be_read_is_left_out(tmp_path):
    (tmp_path / "b.txt").write_text("second", encoding="utf-8")
    (tmp_path / "a.txt").write_text("first", encoding="utf-16")
    (tmp_path / "c.txt").write_bytes(b"\x7fELF\x02\x01\x00\x00\x00\x00\x01")
    assert list(texts_of(tmp_path)) == ["first", "second"]


def test_missing_texts_are_empty_so_that_rows_keep_their_numbers():
    assert list(texts_of(pl.DataFrame({"text": [LONG[0], None, LONG[1]]}), "text")) == [LONG[0], "", LONG[1]]


def test_sensitive_columns_hold_no_texts():
    source = assay.read(pl.DataFrame({"text": LONG, "other": LONG[::-1]}), sensitive=["text"])
    assert list(texts_of(source)) == LONG[::-1]
    with pytest.raises(ParameterError, match="there is no column 'text'; there are other"):
        list(texts_of(source, "text"))


def test_what_holds_no_texts_or_too_many_is_refused_with_the_remedy():
    two = pl.DataFrame({"a": LONG, "b": LONG[::-1]})
    with pytest.raises(DataError, match=r"several columns of text, a, b; say which .* column="):
        list(texts_of(two))
    with pytest.raises(DataError, match="no column of text"):
        list(texts_of(pl.DataFrame({"x": [1.5, 2.5]})))
    with pytest.raises(DataError, match="text 1 is a int"):
        list(texts_of(["a", 1]))
    with pytest.raises(ParameterError, match="several texts, a table or a folder; got int"):
        list(texts_of(5))
