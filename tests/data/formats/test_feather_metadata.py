"""Feather files of version 1: whatever their end says is compared with the file before Arrow believes it."""

import datetime as dt
import random
import subprocess
import sys
import warnings

import pyarrow as pa
import pyarrow.feather as pa_feather
import pytest

from assay.data.flatbuffer import FlatTable
from assay.data.formats.feather_metadata import check_feather
from assay.data.place import Place
from assay.data.read import read
from assay.errors import DataError, FileFormatError, UnreadableError

TABLE = pa.table(
    {
        "x": [1.5, None, 3.0],
        "s": ["a", None, "ccc"],
        "b": [True, None, False],
        "k": pa.array(["u", "v", "u"]).dictionary_encode(),
        "w": pa.array([1, 2, None], pa.timestamp("us", "UTC")),
        "d": pa.array([dt.date(2020, 1, 1)] * 3),
        "bytes": [b"a", b"bb", None],
        "large": pa.array(["a", "b", "c"], pa.large_string()),
    }
)


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "t.feather"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pa_feather.write_feather(TABLE, path, version=1)
    return path


def test_every_type_of_a_whole_file_passes(whole):
    assert read(whole).to_arrow().to_pylist() == TABLE.to_pylist()


def test_a_length_beyond_the_file_is_refused_before_it_is_read(whole):
    """Arrow's reader ends with a segmentation fault."""
    content = whole.read_bytes()
    told = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - told : -8]
    values = FlatTable.root(footer).tables(2)[1].table(1)
    at = values._at(5)
    for new in (2**62, -1, 5, 2**31):
        changed = footer[:at] + new.to_bytes(8, "little", signed=True) + footer[at + 8 :]
        whole.write_bytes(content[: -8 - told] + changed + content[-8:])
        with pytest.raises(UnreadableError, match="it is a damaged Feather file .*; write it again as Parquet"):
            check_feather(Place.of(whole))


def test_an_end_that_is_damaged_in_any_way_never_ends_the_process(whole, tmp_path):
    """In a child, as each of these may be the one that crashes."""
    content = whole.read_bytes()
    told, rng = int.from_bytes(content[-8:-4], "little"), random.Random(0)
    for i in range(300):
        changed = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            at, width = len(content) - 8 - rng.randrange(8, told), rng.choice((1, 2, 4))
            changed[at : at + width] = rng.choice((bytes(width), b"\xff" * width, rng.randbytes(width)))
        (tmp_path / f"{i}.feather").write_bytes(changed[: len(content)])
    code = (
        "import sys, glob, assay\n"
        "for path in sorted(glob.glob(sys.argv[1] + '/[0-9]*.feather')):\n"
        "    try: assay.read(path)\n"
        "    except assay.errors.DataError: pass\n"
        "print('whole')"
    )
    run = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert run.returncode == 0 and "whole" in run.stdout, run


@pytest.mark.parametrize("size", [0, 3, 7, 8, 11, 12, 40])
def test_a_file_that_is_cut_is_refused(whole, size):
    whole.write_bytes(whole.read_bytes()[:size])
    with pytest.raises(DataError, match="cannot read "):
        read(whole)


def test_places_outside_a_flatbuffer_are_refused():
    for content in (b"", b"\0\0", b"\xff\xff\xff\xff", b"\4\0\0\0\0\0\0\x80"):
        with pytest.raises(FileFormatError, match="is asked for"):
            FlatTable.root(content).tables(0)
