"""Files are whole or not there, and hold data only."""

import errno
import os
import pickle
import stat
import zipfile

import numpy as np
import pytest

from assay.data.files import atomic_write, check_writable, read_archive, write_archive
from assay.errors import DataError, FileFormatError


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as handle:
        handle.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_told_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(DataError, match=r"cannot write .*a\.txt: No space left on device"),
        atomic_write(path) as handle,
    ):
        handle.write(b"half")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_replaced_file_keeps_its_permissions_and_a_new_one_gets_the_usual(tmp_path):
    old, new, plain = tmp_path / "old", tmp_path / "new", tmp_path / "plain"
    old.write_text("x")
    old.chmod(0o640)
    plain.write_text("x")
    for path in (old, new):
        with atomic_write(path) as handle:
            handle.write(b"y")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == plain.stat().st_mode


def test_places_that_cannot_be_written_are_refused_before_work(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x")
    with pytest.raises(DataError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(DataError, match="does not exist; create it first"):
        check_writable(tmp_path / "no" / "file")
    with pytest.raises(DataError, match="the data file itself"):
        check_writable(tmp_path / "." / "data.csv", unlike=data)


def test_an_archive_comes_back_and_is_the_same_byte_for_byte(tmp_path):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3), "c": np.array(["x", "yz"])}
    for name in ("one", "two"):
        write_archive(tmp_path / name, "Thing", {"k": [1, None, "ü"]}, arrays)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    kind, header, back = read_archive(tmp_path / "one")
    assert (kind, header) == ("Thing", {"k": [1, None, "ü"]})
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].dtype == array.dtype


def test_arrays_come_back_in_the_order_of_memory_they_had(tmp_path):
    """BLAS takes another path for a transposed matrix, and may round otherwise there."""
    C = np.arange(12.0).reshape(3, 4)
    F, wide = np.asfortranarray(C), np.arange(24.0).reshape(3, 8)
    views = {
        "rows first": wide[:, ::2],
        "columns first": wide.T[::2],
        "backwards": C[::-1],
        "odd start": wide.ravel()[1:],
    }
    arrays = {"C": C, "F": F, "transposed": C.T, "row": C[:1], **views}
    write_archive(tmp_path / "a", "Thing", {}, arrays)
    _, _, back = read_archive(tmp_path / "a")
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
        whole = array.copy(order="K")  # what a view with gaps is when the gaps are closed
        assert back[name].strides == whole.strides, name
        assert back[name].ctypes.data % 16 == 0, name  # where all arrays of NumPy begin


def test_python_objects_are_neither_written_nor_read(tmp_path):
    with pytest.raises(DataError, match="Python objects"):
        write_archive(tmp_path / "a", "Thing", {}, {"x": np.array([object()])})
    assert list(tmp_path.iterdir()) == []

    class Bomb:
        def __reduce__(self):
            return (print, ("boom",))

    write_archive(tmp_path / "a", "Thing", {}, {})
    with zipfile.ZipFile(tmp_path / "a", "a") as archive, archive.open("x.npy", "w") as handle:
        np.lib.format.write_array(handle, np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError, match="not a whole file"):
        read_archive(tmp_path / "a")


@pytest.mark.parametrize("content", [b"", b"junk", pickle.dumps({"kind": "PCA"})])
def test_anything_else_is_refused(tmp_path, content):
    path = tmp_path / "x.assay"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a whole file saved by assay"):
        read_archive(path)
