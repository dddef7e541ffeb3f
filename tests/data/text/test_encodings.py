"""Bytes to text: what packed them, and how they are encoded."""

import bz2
import contextlib
import gzip
import io
import lzma
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.problems import Problems
from assay.data.text.encodings import Utf8, encoding_of, repaired, unpacked
from assay.data.text.format import CsvFormat
from assay.errors import DataError, ParameterError

TEXT = "naïve,größe\n1,ä\n2,ß\n"


@pytest.mark.parametrize(
    "pack", [lambda b: b, gzip.compress, bz2.compress, lzma.compress, lambda b: pa.compress(b, "zstd", asbytes=True)]
)
@pytest.mark.parametrize("seekable", [True, False])
def test_packed_bytes_are_unpacked(pack, seekable):
    class Pipe(io.BytesIO):
        def seekable(self):
            return seekable

    handle = unpacked(Pipe(pack(TEXT.encode() * 1000)))
    assert b"".join(iter(lambda: handle.read(1000), b"")) == TEXT.encode() * 1000


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_bytes_that_end_too_early_are_told(pack):
    handle = unpacked(io.BytesIO(pack(TEXT.encode() * 1000)[:-9]))
    with pytest.raises(DataError, match="data are damaged or end too early"):
        list(iter(lambda: handle.read(1000), b""))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_nothing_is_handed_out_behind_damage_however_often_it_is_asked_for(pack):
    """Arrow's reader of gzip, asked again after it failed, hands out old bytes without end."""
    whole = random.Random(0).randbytes(300_000)
    packed = bytearray(pack(whole))
    packed[-6] ^= 1
    handle = unpacked(io.BytesIO(packed))
    read = b""
    for _ in range(200):
        with contextlib.suppress(DataError):
            read += handle.read(1 << 16)
    assert whole.startswith(read)
    with pytest.raises(DataError, match="data are damaged or end too early"):
        handle.read(1)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", ""),
        ("utf-8", "\ufeff"),
        ("utf-16-le", ""),
        ("utf-16-le", "\ufeff"),
        ("utf-16-be", ""),
        ("utf-16-be", "\ufeff"),
        ("utf-32-le", "\ufeff"),
        ("cp1252", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_every_encoding_gives_the_same_table(encoding, mark, size):
    raw = (mark + TEXT).encode(encoding)
    found = CsvFormat.sniffed(raw, True)
    assert found.encoding == encoding
    chunks = found.records(io.BytesIO(raw), size=size)
    rows = [row for chunk, line in chunks for row in found.parse(chunk, line, Problems()).to_pylist()]
    assert rows == [{"naïve": 1, "größe": "ä"}, {"naïve": 2, "größe": "ß"}]
    assert bool(found.notes) == (encoding != "utf-8")


@given(st.binary(max_size=40))
def test_repaired_bytes_are_text_and_good_bytes_stay(raw):
    text, bad = repaired(raw)
    text.decode()
    assert bad == sorted(bad)
    if not bad:
        assert text == raw
    assert len(text.decode()) == len(raw.decode("utf-8", "surrogateescape"))


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.integers(1, 9))
def test_utf16_read_in_pieces_is_the_text(text, size):
    handle = Utf8(io.BytesIO(text.encode("utf-16")), "utf-16")
    assert b"".join(iter(lambda: handle.read(size), b"")).decode() == text.removeprefix("\ufeff")


def test_one_bad_byte_among_many_good_ones_does_not_change_the_encoding():
    assert encoding_of("é".encode() * 5 + b"\xff", complete=True) == ("utf-8", None)
    assert encoding_of("é".encode()[:1], complete=False) == ("utf-8", None)
    assert encoding_of(b"caf\xe9", complete=True)[0] == "cp1252"


def test_the_five_bytes_that_windows_leaves_open_are_read_too():
    raw = b"x\n\x81\x8d\x8f\x90\x9d\xe9\n"
    assert Utf8(io.BytesIO(raw), "cp1252").read(100).decode() == "x\n\x81\x8d\x8f\x90\x9dé\n"


def test_bytes_that_do_not_fit_a_given_encoding_are_counted():
    for raw, encoding in ((b"x,y\n1,\x81\xff\n", "shift_jis"), ("x,y\n1,a\n".encode("utf-16-le") + b"1", "utf-16-le")):
        found = CsvFormat.sniffed(raw, True, encoding=encoding, header=True)
        problems = Problems()
        for chunk, line in found.records(io.BytesIO(raw)):
            found.parse(chunk, line, problems)
        assert "bytes do not fit the encoding" in next(iter(problems)).what


def test_binary_files_and_unknown_encodings_are_refused():
    with pytest.raises(DataError, match="binary file"):
        encoding_of(b"\x00\x01\x02\x00\x00\x00\x03\x04", complete=True)
    with pytest.raises(ParameterError, match="no text encoding 'klingon'"):
        CsvFormat.sniffed(b"x\n1\n", True, encoding="klingon")
    with pytest.raises(ParameterError, match="no text encoding 'zlib'"):
        CsvFormat.sniffed(b"x\n1\n", True, encoding="zlib")
