"""Files that were damaged, cut short or made to do harm are refused in one sentence; nothing else ever happens."""

import hashlib
import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pytest

import assay
from assay.data.archive import DIGEST, TAIL
from assay.data.files import archive_kind, read_archive, write_archive
from assay.errors import DataError, FileFormatError
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments


def signed(content):
    """The same bytes with a checksum that fits, as somebody who means harm would write them."""
    body = content[:-TAIL]
    return body + DIGEST + hashlib.sha256(body).hexdigest().encode()


def archive_of(entries, *, comment=True, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
        archive.comment = bytes(TAIL) if comment else b""
    return signed(buffer.getvalue()) if comment else buffer.getvalue()


def header(kind="Thing", about=None, version=2):
    return json.dumps({"format": version, "kind": kind, "header": about or {}}).encode()


def npy(shape, descr="<f8", data=b"", order="False"):
    said = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    said += b" " * (-(len(said) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(said)) + said + data


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Real files of every kind of moments."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": rng.choice(["x", "y"], 120), "g": rng.choice(["u", "v"], 120)})
    Moments.of(X, columns=("a", "b", "c")).save(folder / "one")
    GroupedMoments.of(X, ["u", "v"] * 60).save(folder / "grouped")
    assay.summarize(table, by="g").save(folder / "shared")
    return sorted(folder.iterdir())


def loads(path, content):
    """What loading does: "refused", or the numbers found."""
    path.write_bytes(content)
    try:
        found = assay.load(path)
    except DataError:
        return "refused"
    parts = found.parts if hasattr(found, "parts") else (found,)
    return [(m.count, m.mean.tobytes(), m.scatter.tobytes(), m.columns) for m in parts]


def test_any_byte_that_is_changed_is_noticed(files, tmp_path):
    rng = np.random.default_rng(1)
    for file in files:
        content = file.read_bytes()
        for place in {*range(0, len(content), 13), *range(len(content) - 2 * TAIL, len(content))}:
            damaged = bytearray(content)
            damaged[place] ^= int(rng.integers(1, 256))
            assert loads(tmp_path / "x", bytes(damaged)) == "refused", (file.name, place)


def test_a_file_cut_short_or_with_more_behind_it_is_noticed(files, tmp_path):
    for file in files:
        content = file.read_bytes()
        for length in {0, 1, 30, 40, *range(0, len(content), 97), *range(len(content) - 90, len(content))}:
            assert loads(tmp_path / "x", content[:length]) == "refused", (file.name, length)
        assert loads(tmp_path / "x", content + b"\0") == "refused"
        assert loads(tmp_path / "x", b"\0" + content) == "refused"


def test_a_changed_file_with_a_checksum_that_fits_never_breaks_the_reader(files, tmp_path):
    """Who writes a checksum can write any numbers; what comes out is still moments that rows can have, or a refusal."""
    rng = np.random.default_rng(2)
    refused = 0
    for file in files:
        content = file.read_bytes()
        for _ in range(400):
            changed = bytearray(content)
            for place in rng.integers(0, len(content) - TAIL, rng.integers(1, 4)):
                changed[place] = int(rng.integers(0, 256))
            refused += loads(tmp_path / "x", signed(bytes(changed))) == "refused"
    assert refused > 600  # most bytes are those of numbers and lengths


# entries and how they are packed; the bytes are made by the test that writes them
HOSTILE = {
    "compressed": ([("assay.json", header()), ("x.npy", b"\0" * 10**7)], {"compression": zipfile.ZIP_DEFLATED}),
    "huge shape": ([("assay.json", header()), ("x.npy", npy((10**12,)))], {}),
    "overflowing shape": ([("assay.json", header()), ("x.npy", npy((2**62, 2**62, 4)))], {}),
    "negative shape": ([("assay.json", header()), ("x.npy", npy((-1, -8), data=b"\0" * 64))], {}),
    "shape of booleans": ([("assay.json", header()), ("x.npy", npy("(True,)", data=b"\0" * 8))], {}),
    "objects": ([("assay.json", header()), ("x.npy", npy((1,), "|O", b"\0" * 8))], {}),
    "records": ([("assay.json", header()), ("x.npy", npy((1,), [("a", "<f8")], b"\0" * 8))], {}),
    "texts of no length": ([("assay.json", header()), ("x.npy", npy((10**9,), "<U0"))], {}),
    "bytes of no length": ([("assay.json", header()), ("x.npy", npy((10**9,), "|S0"))], {}),
    "a header of lists": ([("assay.json", b"[" + b"[],{}," * 10**6 + b"0]")], {}),
    "a long name": ([("assay.json", header()), ("x" * 60_000, b"")], {}),
    "void": ([("assay.json", header()), ("x.npy", npy((1,), "|V8", b"\0" * 8))], {}),
    "code in a header": ([("assay.json", header()), ("x.npy", npy("__import__('os')"))], {}),
    "no array at all": ([("assay.json", header()), ("x.npy", b"junk")], {}),
    "another entry": ([("assay.json", header()), ("../../evil.sh", b"junk")], {}),
    "deep JSON": ([("assay.json", b"[" * 10**6)], {}),
    "no JSON": ([("assay.json", b"\xff\xfe")], {}),
    "no header": ([("assay.json", b"[]")], {}),
    "a list for a header": ([("assay.json", b'{"format": 2, "kind": "Moments", "header": []}')], {}),
    "a number for a kind": ([("assay.json", b'{"format": 2, "kind": 3, "header": {}}')], {}),
    "true for a format": ([("assay.json", b'{"format": true, "kind": "a", "header": {}}')], {}),
    "a later format": ([("assay.json", header(version=9))], {}),
    "format 2 without a checksum": ([("assay.json", header())], {"comment": False}),
    "too many entries": ([("assay.json", header()), *((f"{i}.npy", b"") for i in range(70_000))], {}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_means_harm_is_refused_before_anything_is_allocated(name, tmp_path):
    path = tmp_path / "x"
    entries, packing = HOSTILE[name]
    path.write_bytes(archive_of(entries, **packing))
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="cannot load .*: it is not a whole file saved by assay") as caught:
        read_archive(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(str(caught.value)) < 1000 and "\n" not in str(caught.value)
    assert peak < 2e8  # of 70,000 entries the names alone take some


def test_two_entries_of_one_name_are_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = archive_of([("assay.json", header()), ("x.npy", npy((0,))), ("x.npy", npy((0,)))])
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FileFormatError, match="two of its entries have one name"):
        read_archive(tmp_path / "x")


def test_files_of_format_1_are_still_read(tmp_path):
    """Those had no checksum, and kept groups apart."""
    X = np.random.default_rng(3).standard_normal((40, 2))
    grouped = GroupedMoments.of(X, ["u", "v"] * 20)
    about, entries = {"labels": ["u", "v"], "parts": []}, []
    for i, part in enumerate(grouped.parts):
        own, arrays = part.to_parts()
        about["parts"].append(own)
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array))
            entries.append((f"{i}.{name}.npy", buffer.getvalue()))
    path = tmp_path / "old"
    path.write_bytes(archive_of([("assay.json", header("GroupedMoments", about, 1)), *entries], comment=False))
    back = assay.load(path)
    assert back.labels == ("u", "v")
    for one, other in zip(back.parts, grouped.parts, strict=True):
        np.testing.assert_array_equal(one.scatter, other.scatter)


def changed(arrays, **new):
    return {**arrays, **{name: np.asarray(value) for name, value in new.items()}}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"scatter_high": np.array([[1.0, 2.0], [2.0, 1.0]])}, "not that of any rows"),
        ({"scatter_high": np.array([[1.0, 0.5], [0.1, 1.0]])}, "not that of any rows"),
        ({"scatter_high": np.array([[-1.0, 0.0], [0.0, 1.0]])}, "below zero"),
        ({"scatter_high": np.array([[np.nan, 0.0], [0.0, 1.0]])}, "scatter is not finite"),
        ({"mean_high": np.array([np.inf, 0.0])}, "mean is not finite"),
        ({"mean_low": np.array([1.0, 0.0])}, "no rounding of the first"),
        ({"weight_high": np.array(-3.0)}, "below zero"),
        ({"mean_high": np.zeros(3)}, "shapes"),
        ({"scatter_high": np.eye(2, dtype=np.float32)}, "double precision"),
        ({"scatter_high": np.eye(2, dtype=complex)}, "double precision"),
    ],
)
def test_moments_that_no_rows_can_have_are_refused(change, why, tmp_path):
    about, arrays = Moments.of(np.random.default_rng(4).standard_normal((30, 2))).to_parts()
    write_archive(tmp_path / "x", "Moments", about, changed(arrays, **change))
    with pytest.raises(FileFormatError, match=why):
        Moments.load(tmp_path / "x")


@pytest.mark.parametrize("count", [-1, 3.5, True, "many", None])
def test_counts_are_whole_numbers(count, tmp_path):
    about, arrays = Moments.of(np.random.default_rng(5).standard_normal((30, 2))).to_parts()
    write_archive(tmp_path / "x", "Moments", {**about, "count": count}, arrays)
    with pytest.raises(FileFormatError, match="a count of rows is a whole number"):
        Moments.load(tmp_path / "x")


def test_an_indefinite_scatter_of_three_columns_is_refused(tmp_path):
    """Every pair of columns could be so; the three together could not."""
    about, arrays = Moments.of(np.random.default_rng(6).standard_normal((30, 3))).to_parts()
    bad = np.array([[1.0, -0.9, -0.9], [-0.9, 1.0, -0.9], [-0.9, -0.9, 1.0]])
    write_archive(tmp_path / "x", "Moments", about, changed(arrays, scatter_high=bad, scatter_low=0.0 * bad))
    with pytest.raises(FileFormatError, match="a sum of columns has a variance below zero"):
        Moments.load(tmp_path / "x")


def test_a_file_of_another_make_is_not_taken_for_one_of_ours(tmp_path):
    assert archive_kind("no such file") is None and archive_kind("\0") is None and archive_kind(tmp_path) is None
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    assert archive_kind(tmp_path / "x.zip") is None
    write_archive(tmp_path / "y", "Thing", {}, {})
    assert archive_kind(tmp_path / "y") == "Thing"
    (tmp_path / "y").write_bytes((tmp_path / "y").read_bytes()[:-5])
    with pytest.raises(FileFormatError, match="not a whole file"):
        archive_kind(tmp_path / "y")
