""".npy, .npz and LIBSVM files: the arrays that were saved, block by block, and never a pickle."""

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

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


def test_query_numbers_are_a_column_and_huge_indices_are_refused(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 qid:3 1:2\n0 qid:4 2:5\n")
    assert read(path).to_arrow().column("qid").to_pylist() == [3, 4]
    path.write_text("1 1:2 999999999:1\n")
    with pytest.raises(DataError, match="its largest index is 999,999,999, and at most 1,000,000 columns are read"):
        read(path)
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


@pytest.mark.parametrize("letter", [0xD800, 0xDFFF, 0x110000, 2**31, 2**32 - 1])
@pytest.mark.parametrize("order", "<>")
def test_letters_that_unicode_does_not_have_are_refused(letter, order, tmp_path):
    texts = np.array(["ab", "cd", "ef"], dtype=f"{order}U2")
    texts.view(f"{order}u4")[3] = letter
    np.save(tmp_path / "x.npy", texts)
    with pytest.raises(DataError, match="characters that Unicode does not have"):
        list(read(tmp_path / "x.npy").blocks())
