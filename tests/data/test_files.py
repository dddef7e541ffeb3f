"""Files are whole or not there, and hold data only."""

import contextlib
import errno
import os
import pickle
import socket
import stat
import zipfile
from pathlib import Path

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


def whole(path, content=b"new"):
    with atomic_write(path) as handle:
        handle.write(content)


def special(tmp_path):
    """Whatever is no file and can be made here."""
    made = {}
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        made["pipe"] = "a pipe"
        listening = socket.socket(socket.AF_UNIX)
        # the path of a socket must be short
        with contextlib.chdir(tmp_path):
            listening.bind("socket")
        listening.close()
        made["socket"] = "a socket"
        with contextlib.suppress(PermissionError):  # for the administrator only
            os.mknod(tmp_path / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            made["device"] = "a device"
    return made


def test_what_is_no_file_is_refused_and_stays_what_it_was(tmp_path):
    for name, called in special(tmp_path).items():
        place, link = tmp_path / name, tmp_path / f"to-{name}"
        link.symlink_to(place)
        before = place.lstat()
        for given in (place, link):
            for attempt in (check_writable, whole):
                with pytest.raises(DataError, match=f"it is {called}, not a file, and would be replaced"):
                    attempt(given)
        assert place.lstat() == before and link.is_symlink()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_appears_while_a_file_is_written_is_not_replaced(tmp_path):
    appear = {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda path: path.symlink_to(tmp_path / "other")}
    for name, make in appear.items():
        with pytest.raises(DataError, match="cannot write"), atomic_write(tmp_path / name) as handle:
            handle.write(b"new")
            make(tmp_path / name)
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "folder").is_dir() and (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe"]


def test_a_link_stays_one_and_leads_to_what_was_written(tmp_path):
    (tmp_path / "there").mkdir()
    target, link, second = tmp_path / "there" / "file", tmp_path / "link", tmp_path / "second"
    link.symlink_to("there/file")
    second.symlink_to("link")
    for given, content in ((link, b"by a link that led nowhere"), (second, b"by two links")):
        whole(given, content)
        assert link.is_symlink() and second.is_symlink() and target.read_bytes() == content
    assert list((tmp_path / "there").iterdir()) == [target]
    with pytest.raises(DataError, match="the data file itself"):
        check_writable(second, unlike=target)


def test_links_in_a_circle_and_into_nowhere_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "c").symlink_to("no/such/folder")
    (tmp_path / "d").symlink_to(tmp_path)
    for name, words in (("a", "links lead in a circle"), ("c", "does not exist; create it"), ("d", "it is a folder")):
        with pytest.raises(DataError, match=words):
            whole(tmp_path / name)
        assert (tmp_path / name).is_symlink()


def test_a_file_without_a_name_is_not_given_one(tmp_path):
    with (tmp_path / "gone").open("wb") as handle:
        (tmp_path / "gone").unlink()
        place = Path(f"/proc/self/fd/{handle.fileno()}")
        if not place.exists():
            pytest.skip("needs a system that shows open files as links")
        with pytest.raises(DataError, match="it leads to a file that is in no folder"):
            whole(place)
    assert not list(tmp_path.iterdir())


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    longest = os.pathconf(tmp_path, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
    whole(tmp_path / ("x" * longest))
    assert (tmp_path / ("x" * longest)).read_bytes() == b"new"
    with pytest.raises(DataError, match="File name too long; take a shorter one"):
        check_writable(tmp_path / ("x" * (longest + 1)))
    check_writable(tmp_path / "y", unlike=Path("x" * 5000))  # such as an address


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the administrator gives files away")
def test_a_file_of_another_user_stays_his(tmp_path):
    place = tmp_path / "his"
    place.write_text("old")
    os.chown(place, 65534, 65533)
    place.chmod(0o640)
    whole(place)
    now = place.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (65534, 65533, 0o640)


def test_another_group_gets_no_rights_by_a_file_that_is_replaced(tmp_path, monkeypatch):
    place = tmp_path / "shared"
    place.write_text("old")
    place.chmod(0o664)

    def refused(*args):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "chown", refused)
    whole(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o604


def test_what_is_write_protected_is_refused_before_work(tmp_path, monkeypatch):
    place = tmp_path / "kept"
    place.write_text("old")
    access = os.access  # the administrator may do everything
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != place and access(path, mode))
    with pytest.raises(DataError, match="it is write-protected"):
        check_writable(place)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(DataError, match="is not writable"):
        check_writable(tmp_path / "new")
    assert place.read_text() == "old"


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
