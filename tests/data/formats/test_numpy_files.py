""".npy, .npz and LIBSVM files: the arrays that were saved, block by block, and never a pickle."""

import itertools
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from tests.attacked import attacked

from assay.data.formats.libsvm import LibsvmSource
from assay.data.read import read
from assay.errors import DataError, ParameterError


def whole(source):
    return np.concatenate(list(source.float_blocks()))


@pytest.fixture(params=["C", "F"])
def X(request):  # noqa: N802
    return np.array(np.random.default_rng(1).normal(size=(70_000, 3)), order=request.param)


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "i2"])
def test_an_array_comes_out_as_it_was_saved(tmp_path, X, dtype):
    saved = (100 * X).astype(dtype, order="K")
    np.save(tmp_path / "x.npy", saved)
    source = read(tmp_path / "x.npy")
    assert source.rows == 70_000
    np.testing.assert_array_equal(whole(source), saved.astype(np.float64))
    np.testing.assert_array_equal(whole(read((tmp_path / "x.npy").as_uri())), saved.astype(np.float64))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_the_only_array_of_an_archive_is_the_table(tmp_path, X, save):
    save(tmp_path / "x.npz", X=X)
    np.testing.assert_array_equal(whole(read(tmp_path / "x.npz")), X)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_equally_long_arrays_stand_side_by_side(tmp_path, X, save):
    save(tmp_path / "x.npz", X=X, y=X[:, 0])
    source = read(tmp_path / "x.npz", sensitive=["X 2"])
    assert source.numeric_columns == ("X 1", "X 3", "y")
    np.testing.assert_array_equal(whole(source), np.column_stack([X[:, 0], X[:, 2], X[:, 0]]))
    assert read(tmp_path / "x.npz", array="y").numeric_columns == ("column 1",)


def test_of_unequal_arrays_the_only_table_is_read_or_one_is_chosen(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.ones((4, 2)), classes=np.arange(3))
    source = read(tmp_path / "x.npz")
    assert source.rows == 4
    assert source.notes == ("Of several arrays the only table 'X' was read, not 'classes'.",)
    np.savez(tmp_path / "y.npz", X=np.ones((4, 2)), Y=np.ones((3, 2)))
    with pytest.raises(DataError, match=r"several arrays of different lengths \(X \(4, 2\), Y \(3, 2\)\); choose"):
        read(tmp_path / "y.npz")
    assert read(tmp_path / "y.npz", array="Y").rows == 3
    with pytest.raises(ParameterError, match="has no array 'Z'; there are X, Y"):
        read(tmp_path / "y.npz", array="Z")


def test_a_sparse_archive_is_a_sparse_matrix(tmp_path):
    X = sp.random(40, 10, density=0.2, random_state=0, format="csr")
    sp.save_npz(tmp_path / "x.npz", X)
    np.testing.assert_array_equal(whole(read(tmp_path / "x.npz")), X.toarray())
    sp.save_npz(tmp_path / "y.npz", X.tocoo())
    np.testing.assert_array_equal(whole(read(tmp_path / "y.npz")), X.toarray())


def test_fields_of_structured_arrays_are_columns_whatever_their_letters(tmp_path):
    saved = np.array([(1, 2.5, "x")], dtype=np.dtype([("größe", "i4"), ("b", "f8"), ("雪", "U3")], align=True))
    with pytest.warns(UserWarning, match="format 3.0"):
        np.save(tmp_path / "x.npy", saved)
    assert read(tmp_path / "x.npy").to_arrow().to_pydict() == {"größe": [1], "b": [2.5], "雪": ["x"]}


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_objects_are_refused_since_they_are_pickles(tmp_path, name):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    saved = np.array([Trap()], dtype=object)
    (np.save if name == "x.npy" else np.savez)(tmp_path / name, saved)
    with pytest.raises(DataError, match="Python objects as a pickle, which could run code when opened; save numbers"):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-8], r"it ends after 248 of 256 bytes; write or copy it again"),
        (lambda content: content[:40], "its header is not that of a .npy file"),
        (lambda content: content[:8] + b"\xff\xff" + content[10:], "its header is not that of a .npy file"),
        (lambda content: content.replace(b"'shape': (16,)", b"__import__('x')"[:14]), "its header is not that"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage, message):
    np.save(tmp_path / "x.npy", np.arange(16.0))
    content = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(damage(content))
    with pytest.raises(DataError, match=message):
        read(tmp_path / "x.npy")


def test_a_large_file_is_never_held_whole(tmp_path):
    X = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype="f8", shape=(600_000, 8))
    X[:] = 2.0
    X.flush()
    tracemalloc.start()
    try:
        assert sum(block.sum() for block in read(tmp_path / "x.npy").float_blocks()) == 2.0 * X.size
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.4 * X.nbytes


def libsvm(path, n=300, d=7, zero_based=False):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)).round(4), 0.0)
    X[0, [0, d - 1]] = 1.0
    y = rng.integers(0, 2, n)
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)
    return X, y


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_files_are_read_as_scikit_learn_reads_them(tmp_path, zero_based):
    libsvm(tmp_path / "data", zero_based=zero_based)
    X, y = load_svmlight_file(str(tmp_path / "data"))
    source = read(tmp_path / "data")
    assert isinstance(source, LibsvmSource)
    assert source.numeric_columns == ("label", *(f"f{j + 1}" for j in range(X.shape[1])))
    np.testing.assert_array_equal(whole(source), np.column_stack([y, X.toarray()]))


def test_wide_libsvm_files_come_in_short_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.memory.arrays._BLOCK_VALUES", 700)
    X, y = libsvm(tmp_path / "data")
    source = read(tmp_path / "data", sensitive=["f1"])
    assert max(block.num_rows for block in source.blocks()) == 100
    np.testing.assert_array_equal(whole(source), np.column_stack([y, X[:, 1:]]))
    assert [source.line_of(row) for row in (0, 299)] == [1, 300]


def test_lines_that_are_not_libsvm_are_counted(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:2 3:4\n# a remark\n\nbad line\n-1 2:x\n+1 2:1e3 # more\n")
    source = read(path)
    assert whole(source).tolist() == [[1, 2, 0, 4], [1, 0, 1000, 0]]
    (problem,) = source.problems
    assert problem.what == "lines are not a label and index:value pairs, and were left out"
    assert [place for place, _ in problem.examples] == ["line 4", "line 5"]
    assert source.line_of(1) == 6


def test_query_numbers_are_a_column_and_a_file_without_pairs_is_refused(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 qid:3 1:2\n0 qid:4 2:5\n")
    assert read(path).to_arrow().column("qid").to_pylist() == [3, 4]
    path.write_text("no pairs here\n")
    with pytest.raises(DataError, match="it has no index:value pairs"):
        read(path)


def test_times_of_day_are_not_taken_for_libsvm(tmp_path):
    for text in ("5 12:30\n6 11:45\n", "1 10:15 9:30\n2 10:20 9:45\n"):
        (tmp_path / "data.txt").write_text(text)
        assert not isinstance(read(tmp_path / "data.txt"), LibsvmSource)


def test_blocks_of_a_pass_can_be_left_early(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    source = read(tmp_path / "x.npy")
    first = next(source.float_blocks())
    np.testing.assert_array_equal(next(itertools.islice(source.float_blocks(), 1)), first)


@pytest.mark.parametrize("zero_based", [False, True])
def test_of_very_many_columns_a_libsvm_file_hands_out_those_that_occur(tmp_path, zero_based):
    path = tmp_path / "data.svm"
    first = 0 if zero_based else 1
    path.write_text(f"1 {first}:2 999999998:1\n0 {first + 2}:5 20000:0.5\n")
    source = read(path, kinds={"f7": "number"})
    last, middle = 999_999_998 + 1 - first, 20_000 + 1 - first
    assert source.numeric_columns == ("label", "f1", "f3", "f7", f"f{middle}", f"f{last}")
    assert whole(source).tolist() == [[1, 2, 0, 0, 0, 1], [0, 0, 5, 0, 0.5, 0]]
    assert source.notes == (f"Of {last:,} columns the 5 with an entry are read; the others hold zeros only.",)
    hidden = read(path, sensitive=[f"f{last}", "f8"])
    assert hidden.numeric_columns == ("label", "f1", "f3", f"f{middle}")


def test_wide_sparse_matrices_hand_out_the_columns_that_hold_something(tmp_path):
    X = sp.random(50, 30_000, density=0.0002, random_state=0, format="csr")
    used = np.unique(X.indices)
    sp.save_npz(tmp_path / "x.npz", X)
    for source in (read(X), read(X.tocsc()), read(tmp_path / "x.npz")):
        assert source.numeric_columns == tuple(f"column {j + 1}" for j in used)
        np.testing.assert_array_equal(whole(source), X.toarray()[:, used])
        assert f"Of 30,000 columns the {len(used)} with an entry are read" in source.notes[0]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("flavour", ["array", "matrix"])
def test_sparse_files_of_every_format_are_read(tmp_path, form, flavour):
    X = sp.random(40, 10, density=0.2, random_state=0, format="csr")
    sp.save_npz(tmp_path / "x.npz", getattr(sp, f"{form}_{flavour}")(X))
    np.testing.assert_array_equal(whole(read(tmp_path / "x.npz")), X.toarray())


SMALL = """
import io, sys
import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from assay.data.read import read
path = sys.argv[1] + "/x"
def used(data, **how):
    source = read(data, **how)
    source.schema
    for block in source.blocks():
        block.to_pylist()
def npy_file(shape, dtype="<f8", body=b""):
    text = io.BytesIO()
    npy.write_array_header_1_0(text, {"descr": dtype, "fortran_order": False, "shape": shape})
    open(path + ".npy", "wb").write(text.getvalue() + body)
    return path + ".npy"
def npz_file(form="csr", **arrays):
    np.savez_compressed(path + ".npz", format=np.array(form.encode()), **arrays)
    return path + ".npz"
def csr(indices, indptr, shape):
    return npz_file(indices=indices, indptr=indptr, data=np.ones(len(indices)), shape=shape)
"""


def test_no_small_file_takes_much_memory_or_time(tmp_path):
    told = attacked(
        SMALL
        + """
for shape in (1, 50_000_000), (0, 10**9), (10**9, 0), (10**15, 0), (-5, 2):
    refused(lambda: used(npy_file(shape)))
refused(lambda: used(npy_file((10**12, 2), "|S0")))
refused(lambda: used(npy_file((3,), [("f", "<f8", (10**8,))])))
refused(lambda: used(npz_file("coo", row=[0], col=[0], data=[1.0], shape=[700_000_000, 1])))
refused(lambda: used(npz_file("coo", row=[0], col=[0], data=[1.0], shape=[10_000_000, 10_000])))
refused(lambda: used(npz_file(indices=np.zeros(280_000_000, np.int8), indptr=[0, 1], data=[1.0], shape=[1, 1])))
used(npz_file("coo", row=[0], col=[0], data=[1.0], shape=[1, 100_000_000]))
used(csr([0, 1, 1], [0, 1, 3], [2, 700_000_000]))
open(path + ".svm", "w").write("1 1:1 2:1 999999:1\\n0 1:2 3:1 999:1\\n" * 20)
used(path + ".svm")
used(npy_file((3,), [(f"f{i}", "<f8") for i in range(3000)], bytes(24 * 3000)))
""",
        tmp_path,
        memory=2 << 30,
    )
    assert told == [
        f"UnreadableError: cannot read {tmp_path}/x.npy: it ends after 128 of 400,000,128 bytes; write or copy it "
        "again",
        "DataError: cannot read x.npy: it has 1,000,000,000 columns, and at most 1,000,000 are read; select columns "
        "first, or turn the table so that its rows are the cases",
        *["DataError: cannot read x.npy: it has no columns, or its values have no size; give values"] * 2,
        f"DataError: cannot read {tmp_path}/x.npy: its header is not that of a .npy file; write it again",
        "DataError: cannot read x.npy: it has no columns, or its values have no size; give values",
        f"UnreadableError: cannot read {tmp_path}/x.npy: it ends after 128 of 2,400,000,128 bytes; write or copy it "
        "again",
        *(
            f"DataError: cannot read x.npz: it has {shape} columns with 1 entries, and a sparse table has at most "
            "10,000 cells and 100 rows an entry, or 1,000,000,000 cells and 100,000,000 rows; leave out empty rows, "
            "and hash or select columns first"
            for shape in ("700,000,000 rows of 1", "10,000,000 rows of 10,000")
        ),
        told[9],
    ]
    assert re.fullmatch(
        r"DataError: cannot read .*x\.npz: its [\d,]+ bytes unpack to [\d,]+, all of which would be held, and that may "
        r"be 100 times as many, or 256 MB; save it without compression",
        told[9],
    )


def test_no_index_of_a_sparse_file_crashes(tmp_path):
    told = attacked(
        SMALL
        + """
for indices, indptr in (
    ([0, 2**30, 1], [0, 1, 2, 3]),
    ([0, -(2**30), 1], [0, 1, 2, 3]),
    ([0, 3, 1], [0, 1, 2, 3]),
    ([0, 1, 1], [0, 2**30, 2, 3]),
    ([0, 1, 1], [0, 3, 1, 3]),
    ([0, 1, 1], [0, 1, 2, 10**8]),
    ([0, 1, 1], [0, 1]),
    ([0.5, 1, 1], [0, 1, 2, 3]),
):
    refused(lambda: used(csr(indices, indptr, [3, 3])))
refused(lambda: used(csr([0], [0, 1], [-1, 3])))
refused(lambda: used(npz_file("csr", shape=np.array([3, 3]), data=np.ones(3))))
refused(lambda: used(npz_file("xyz", shape=np.array([3, 3]), data=np.ones(3))))
refused(lambda: used(npz_file("bsr", indices=[0, 2**28], indptr=[0, 1, 2], data=np.ones((2, 2, 2)), shape=[4, 4])))
""",
        tmp_path,
    )
    assert len(told) == 12
    for line in told:
        assert line.startswith(f"UnreadableError: cannot read {tmp_path}/x.npz: it is a damaged sparse matrix (")
        assert line.endswith("); write it again")


def damaged(content, what):
    content, directory = bytearray(content), content.find(b"PK\x01\x02")
    if what == "checksum":
        return bytes(content.replace(content[14:18], b"abcd"))
    if what == "deflate":
        content[60] = 0xFF
    elif what == "name in the local header":
        content[30] = ord("z")
    elif what == "encrypted":
        content[6] = content[directory + 8] = 1
    elif what == "packed by another method":
        return bytes(content.replace(b"\x08\x00", b"\x63\x00"))
    elif what == "place of the local header":
        content[directory + 42 : directory + 46] = b"\xf0\xff\xff\x7f"
    elif what == "size":
        content[directory + 24 : directory + 28] = b"\x90\x00\x00\x00"
    return bytes(content)


@pytest.mark.parametrize(
    "what",
    [
        "checksum",
        "deflate",
        "name in the local header",
        "encrypted",
        "packed by another method",
        "place of the local header",
        "size",
    ],
)
def test_a_damaged_member_of_an_archive_is_refused_in_a_sentence(tmp_path, X, what):
    np.savez_compressed(tmp_path / "x.npz", X)
    (tmp_path / "x.npz").write_bytes(damaged((tmp_path / "x.npz").read_bytes(), what))
    with pytest.raises(DataError, match=r"^cannot read .*x\.npz.*; write (it|or copy it) again( with numpy\.savez)?$"):
        whole(read(tmp_path / "x.npz"))


def test_an_archive_of_too_many_arrays_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.formats.numpy_files._MOST_ARRAYS", 2)
    np.savez(tmp_path / "y.npz", a=np.ones(2), b=np.ones(2), c=np.ones(2))
    with pytest.raises(DataError, match="it holds 3 arrays, and at most 2 are read side by side; choose one with"):
        read(tmp_path / "y.npz")
    assert read(tmp_path / "y.npz", array="b").rows == 2


def test_what_would_be_held_whole_may_not_unpack_to_very_much(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.formats.numpy_files._UNPACKED", 1 << 16)
    np.savez_compressed(tmp_path / "x.npz", np.asfortranarray(np.zeros((5_000, 4))))
    with pytest.raises(DataError, match="bytes unpack to 160,128, all of which would be held"):
        whole(read(tmp_path / "x.npz"))
    np.savez_compressed(tmp_path / "y.npz", np.zeros((5_000, 4)))  # row by row, nothing is held
    assert whole(read(tmp_path / "y.npz")).shape == (5_000, 4)


@pytest.mark.parametrize("letter", [0xD800, 0xDFFF, 0x110000, 2**31, 2**32 - 1])
@pytest.mark.parametrize("order", "<>")
def test_letters_that_unicode_does_not_have_are_refused(letter, order, tmp_path):
    texts = np.array(["ab", "cd", "ef"], dtype=f"{order}U2")
    texts.view(f"{order}u4")[3] = letter
    np.save(tmp_path / "x.npy", texts)
    with pytest.raises(DataError, match="characters that Unicode does not have"):
        list(read(tmp_path / "x.npy").blocks())


def test_sparse_values_that_are_no_numbers_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", format=b"csr", data=np.array(["a"]), indices=[0], indptr=[0, 1], shape=[1, 1])
    with pytest.raises(DataError, match="its values are <U1"):
        read(tmp_path / "x.npz")
