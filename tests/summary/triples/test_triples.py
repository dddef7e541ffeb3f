"""Matrices as triples: SciPy as oracle, the laws of products, any cut of stripes and blocks, and a cap on memory."""

import errno
import gc
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import assay
import assay.engine.local
from assay.errors import DataError, NotConverged, ParameterError
from assay.summary.triples.allowance import Plan, as_bytes, plan
from assay.summary.triples.matmat import Rooms, Sheet, joined
from assay.summary.triples.matvec import multiply
from assay.summary.triples.triples import Triples

WHOLE = st.integers(-9, 9)  # sums and products of these are exact, whatever their order


@st.composite
def matrices(draw, rows=None, columns=None):
    """Triples with repeated places and explicit zeros, and the same as a dense matrix."""
    rows = draw(st.integers(1, 9)) if rows is None else rows
    columns = draw(st.integers(1, 9)) if columns is None else columns
    cells = draw(
        st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1), WHOLE.map(float)), max_size=40)
    )
    i, j, value = (np.array([cell[k] for cell in cells]) for k in range(3))
    dense = np.zeros((rows, columns))
    for a, b, x in cells:
        dense[a, b] += x
    return Triples.of((i.astype(np.int64), j.astype(np.int64), value), shape=(rows, columns)), dense


sizes = st.integers(1, 10)
plans = st.builds(Plan, sizes, sizes, sizes)
rooms = st.builds(Rooms, sizes, sizes, sizes, sizes, st.integers(0, 30))


def vector(n, seed=0):
    return np.random.default_rng(seed).integers(-9, 10, n).astype(np.float64)


def in_stripes(M, v, stripes, *, exact=False):
    parts = []
    with M.cells(stripes) as cells:
        multiply(cells, lambda lo, hi: v[lo:hi], lambda lo, hi, y: y, parts.append, exact=exact)
    return np.concatenate(parts)


def in_rooms(M, N, held):
    with Sheet((M.shape[0], N.shape[1]), held, None) as sheet:
        joined(M, N, held, sheet)
        return sheet.finish()


@settings(deadline=None)
@given(matrices(), plans, st.booleans())
def test_products_with_a_vector_are_scipys_for_any_stripes(made, stripes, exact):
    M, dense = made
    v = vector(M.shape[1])
    np.testing.assert_array_equal(in_stripes(M, v, stripes, exact=exact), dense @ v)
    np.testing.assert_array_equal(M @ v, M.to_scipy() @ v)
    np.testing.assert_array_equal(M.T @ vector(M.shape[0]), dense.T @ vector(M.shape[0]))


@settings(deadline=None)
@given(st.data(), rooms)
def test_products_of_matrices_are_scipys_for_any_room(data, held):
    M, left = data.draw(matrices())
    N, right = data.draw(matrices(rows=M.shape[1]))
    made = in_rooms(M, N, held)
    np.testing.assert_array_equal(made.to_scipy().toarray(), left @ right)
    # one triple for each place that SciPy's product has, none twice
    assert sum(len(i) for i, _, _ in made.blocks()) == (M.to_scipy() @ N.to_scipy()).nnz
    np.testing.assert_array_equal(M.product(N).to_scipy().toarray(), left @ right)


@settings(deadline=None)
@given(st.data(), rooms, plans)
def test_products_are_associative_and_linear(data, held, stripes):
    M, _ = data.draw(matrices())
    N, _ = data.draw(matrices(rows=M.shape[1]))
    v, w = vector(N.shape[1], 1), vector(N.shape[1], 2)
    np.testing.assert_array_equal(in_rooms(M, N, held) @ v, M @ (N @ v))
    np.testing.assert_array_equal(
        in_stripes(N, 3.0 * v - 2.0 * w, stripes), 3.0 * in_stripes(N, v, stripes) - 2.0 * in_stripes(N, w, stripes)
    )


@settings(deadline=None, max_examples=30)
@given(matrices(), st.randoms(use_true_random=False), sizes, plans)
def test_the_order_and_the_cut_of_the_triples_do_not_matter(made, random, group, stripes):
    M, dense = made
    i, j, value = M.gathered(None)
    order = list(range(len(i)))
    random.shuffle(order)
    table = pa.table({"i": i[order], "j": j[order], "value": value[order]})
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=group), schema=table.schema)
    again = Triples.of(batches, shape=M.shape)
    v = vector(M.shape[1])
    np.testing.assert_array_equal(in_stripes(again, v, stripes), dense @ v)
    np.testing.assert_array_equal(again @ v, dense @ v)


def drawn(rows=300, columns=200, count=20_000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, rows, count), rng.integers(0, columns, count), rng.standard_normal(count)


def test_the_number_of_workers_changes_no_bit(monkeypatch):
    M, N = Triples.of(drawn(count=3000), shape=(300, 200)), Triples.of(drawn(200, 100, 3000, seed=1), shape=(200, 100))
    v = np.random.default_rng(2).standard_normal(200)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr("assay.summary.triples.allowance.available_cores", lambda cores=cores: cores)
        made = in_rooms(M, N, Rooms(400, 300, 900, 700, 10**6)).gathered(None)
        found.append((in_stripes(M, v, Plan(40, 30, 1000)), M @ v, *made))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_the_cut_of_blocks_and_of_row_stripes_changes_no_bit():
    M = Triples.of(drawn(), shape=(300, 200))
    v = np.random.default_rng(2).standard_normal(200)
    one = in_stripes(M, v, Plan(40, 30, 1000))
    np.testing.assert_array_equal(in_stripes(M, v, Plan(300, 30, 17)), one)
    np.testing.assert_array_equal(in_stripes(M, v, Plan(7, 200, 999)), M @ v)


def test_kahans_sums_are_right_where_plain_ones_are_not():
    n = 100_000
    value = np.tile([1.0, 2.0**-53, 2.0**-53], n)
    M = Triples.of((np.zeros(3 * n, np.int64), np.zeros(3 * n, np.int64), value))
    assert in_stripes(M, np.ones(1), Plan(1, 1, 1000), exact=True)[0] == n + n * 2.0**-52


def test_every_way_to_keep_triples_gives_the_same(tmp_path):
    i, j, value = drawn(count=500)
    table = pa.table({"i": i, "j": j, "value": value})
    expected = Triples.of((i, j, value), shape=(300, 200)) @ np.ones(200)
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(table, tmp_path / "all.parquet")
    pq.write_table(table.slice(0, 200), folder / "a.parquet")
    pq.write_table(table.slice(200), folder / "b.parquet")
    text = "\n".join(["i,j,value", *(f"{a},{b},{x!r}" for a, b, x in zip(i, j, value.tolist(), strict=True))])
    (tmp_path / "all.csv").write_text(text)
    kept = [
        tmp_path / "all.parquet",
        str(folder),
        str(folder / "*.parquet"),
        [folder / "a.parquet", folder / "b.parquet"],
        assay.read(tmp_path / "all.parquet"),
        tmp_path / "all.csv",
        table,
        table.cast(pa.schema([("i", pa.float64()), ("j", pa.uint16()), ("value", pa.float64())])),
        pa_dataset.dataset(folder),
        iter(table.to_batches(max_chunksize=50)),
        (i.astype(np.uint32), j.astype(np.int16), value),
        sparse.coo_array((value, (i, j)), shape=(300, 200)),
    ]
    for data in kept:
        np.testing.assert_allclose(Triples.of(data, shape=(300, 200)) @ np.ones(200), expected, rtol=0, atol=1e-12)
    named = table.rename_columns(["from", "to", "weight"])
    M = Triples.of(named, row="from", column="to", value="weight", shape=(300, 200))
    np.testing.assert_array_equal(M @ np.ones(200), expected)


def test_without_values_each_is_one_and_the_shape_is_found():
    M = Triples.of((np.array([3, 3, 0]), np.array([1, 1, 4])))
    assert repr(M) == "Triples(shape not looked for yet, 3 triples)"
    assert M.shape == (4, 5)
    assert M.T.shape == (5, 4)
    np.testing.assert_array_equal(M @ np.arange(5.0), [4.0, 0.0, 0.0, 2.0])
    np.testing.assert_array_equal(in_stripes(M, np.arange(5.0), Plan(2, 2, 2)), [4.0, 0.0, 0.0, 2.0])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (5, 2)])
def test_an_empty_matrix_gives_zeros(shape):
    M = Triples.of((np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)), shape=shape)
    np.testing.assert_array_equal(M @ np.ones(shape[1]), np.zeros(shape[0]))
    assert (M @ M.T).to_scipy().toarray().tolist() == np.zeros((shape[0], shape[0])).tolist()
    assert Triples.of(pa.table({"i": pa.array([], pa.int64()), "j": pa.array([], pa.int64())})).shape == (0, 0)


def test_one_cell_wide_and_tall():
    assert (Triples.of(([0, 0], [0, 0], [2.0, 3.0])) @ [4.0]).tolist() == [20.0]
    n = 90_000
    wide = Triples.of((np.zeros(n, np.int64), np.arange(n), np.ones(n)))
    assert wide.dot(np.arange(float(n)), memory="1 MB").tolist() == [n * (n - 1) / 2]
    np.testing.assert_array_equal(wide.T.dot([2.0], memory="1 MB"), np.full(n, 2.0))
    assert wide.product(wide.T, memory="1 MB").to_scipy().toarray() == [[n]]


def test_nan_and_infinite_values_spread_along_what_is_there_as_in_scipy():
    i, j, value = np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2]), np.array([np.nan, np.inf, 1.0, 0.0])
    M, v = Triples.of((i, j, value), shape=(4, 3)), np.array([1.0, 0.0, np.inf])
    expected = sparse.coo_array((value, (i, j)), shape=(4, 3)).tocsr() @ v
    with np.errstate(invalid="ignore"):
        for found in (M @ v, in_stripes(M, v, Plan(2, 2, 2))):
            np.testing.assert_array_equal(found, expected)
    assert np.isnan(expected).tolist() == [True, True, True, False]
    made = in_rooms(M, M.T, Rooms(2, 2, 2, 2, 2)).to_scipy().toarray()
    np.testing.assert_array_equal(made, (M.to_scipy() @ M.to_scipy().T).toarray())


def test_what_does_not_fit_comes_as_a_file_and_leaves_nothing_behind(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    n = 100_000
    rng = np.random.default_rng(0)
    i, j, value = rng.integers(0, n, 30_000), rng.integers(0, n, 30_000), vector(30_000)
    M, S = Triples.of((i, j, value), shape=(n, n)), sparse.coo_array((value, (i, j)), shape=(n, n)).tocsr()
    v = vector(n)
    np.save(tmp_path / "v.npy", v)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    for kept in (v, tmp_path / "v.npy", mapped, np.concatenate([v, v])[:n], v.astype(np.int32)):
        y = M.dot(kept, memory="1 MB")
        assert isinstance(y, np.memmap)
        np.testing.assert_array_equal(y, S @ v)
    np.save(tmp_path / "twice.npy", np.concatenate([v + 1.0, v]))
    part = np.load(tmp_path / "twice.npy", mmap_mode="r")[n:]
    np.testing.assert_array_equal(M.dot(part, memory="1 MB"), S @ v)
    y = M.dot(v, memory="1 MB", out=tmp_path / "y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), S @ v)
    np.testing.assert_array_equal(y, S @ v)
    M.product(M, memory="1 MB", out=tmp_path / "c.parquet")
    assert pq.read_schema(tmp_path / "c.parquet").names == ["i", "j", "value"]
    C = Triples.of(tmp_path / "c.parquet", shape=(n, n)).to_scipy()
    assert (C != S @ S).nnz == 0
    made = M.product(M, memory="1 MB")
    assert list(scratch.iterdir())  # more than a quarter of the memory: a file that lives as long as the triples
    assert (made.to_scipy() != S @ S).nnz == 0
    del made
    gc.collect()
    assert not list(scratch.iterdir())


def test_an_error_on_the_way_leaves_no_file(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    bad = Triples.of((np.array([0, 5]), np.array([0, 0])), shape=(100_000, 100_000)).with_shape((3, 100_000))
    with pytest.raises(DataError, match="i is 5"):
        bad.dot(np.ones(100_000), memory="1 MB", out=tmp_path / "y.npy")
    with pytest.raises(DataError, match="i is 5"):
        bad.product(bad.T.with_shape((100_000, 3)), memory="1 MB", out=tmp_path / "c.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["scratch"]
    assert not list(scratch.iterdir())


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"i": [0, -3], "j": [0, 0]}, r"row 2: i is -3, but indices are whole numbers from 0"),
        ({"i": [0, 1], "j": [0, 9]}, r"row 2: j is 9, but the shape has 4 columns, 0 to 3; give a larger one"),
        ({"i": [0.0, 1.5], "j": [0, 1]}, r"row 2: i is 1.5, but indices are whole numbers"),
        ({"i": [0.0, np.nan], "j": [0, 1]}, r"row 2: i is nan, but indices are whole numbers"),
        ({"i": [0, None], "j": [0, 1]}, r"row 2: i is missing, but each triple has all its numbers"),
        ({"i": [0, 1], "j": [0, 1], "value": [1.0, None]}, r"row 2: value is missing"),
        ({"i": ["a", "b"], "j": [0, 1]}, r"'i' holds string, but indices are whole numbers from 0; number names"),
        ({"i": [0, 1], "j": [0, 1], "value": ["x", "y"]}, r"'value' holds string, but values are real numbers"),
        ({"from": [0], "to": [1]}, r"has no column 'i' \(it has from, to\); say which holds the row indices with row="),
        ({"i": [2**60], "j": [0]}, r"i is 1152921504606846976, but the shape has 4 rows"),
    ],
)
def test_what_cannot_be_a_triple_is_refused_with_its_place(table, words):
    with pytest.raises(DataError, match=words):
        Triples.of(pa.table(table), shape=(4, 4)) @ np.ones(4)


def test_the_place_is_that_of_the_file_and_of_the_line(tmp_path):
    (tmp_path / "links.csv").write_text("i,j\n0,1\n1,0\n2,-1\n")
    with pytest.raises(DataError, match=r"links\.csv, line 4: j is -1"):
        _ = Triples.of(tmp_path / "links.csv").shape
    i = np.zeros(200_000, np.int64)
    i[150_000] = -1
    with pytest.raises(DataError, match=r"triple 150,001: i is -1"):
        Triples.of((i, np.zeros(200_000, np.int64)), shape=(1, 1)).dot([1.0], memory="1 MB")
    with pytest.raises(DataError, match=r"j is 9007199254740992, but indices are below"):
        _ = Triples.of(([0], [2**53])).shape


def test_options_that_cannot_be_are_refused(tmp_path):
    M = Triples.of(([0, 1], [0, 1]))
    with pytest.raises(ParameterError, match=r"one number for each of 2; its shape is \(3,\)"):
        M @ np.ones(3)
    with pytest.raises(DataError, match="a vector holds real numbers"):
        M @ np.array(["a", "b"])
    with pytest.raises(DataError, match=r"cannot read .*none\.npy as a vector"):
        M.dot(tmp_path / "none.npy")
    np.savez(tmp_path / "two.npz", a=np.ones(2))
    with pytest.raises(DataError, match="it holds several arrays"):
        M.dot(tmp_path / "two.npz")
    with pytest.raises(ParameterError, match="2 columns cannot be multiplied with one of 3 rows; give shape="):
        M.product(Triples.of(([2], [0])))
    with pytest.raises(ParameterError, match=r"shape is \(rows, columns\)"):
        Triples.of(([0], [0]), shape=(2.5, 1))
    with pytest.raises(ParameterError, match=r"the matrix has shape \(2, 2\), not \(3, 3\)"):
        Triples.of(sparse.eye_array(2), shape=(3, 3))
    with pytest.raises(ParameterError, match="of one length"):
        Triples.of(([0, 1], [0]))
    with pytest.raises(DataError, match="values are real numbers"):
        Triples.of(([0], [0], [1j]))
    with pytest.raises(DataError, match="cannot write"):
        M.dot(np.ones(2), out=tmp_path / "no" / "y.npy")
    for memory, words in ((True, "a number of bytes"), ("much", "a number of bytes"), ("10 kB", "at least 1 MB")):
        with pytest.raises(ParameterError, match=words):
            M.dot(np.ones(2), memory=memory)
    pq.write_table(pa.table({"i": [0], "j": [0]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"i": [0], "j": [0], "value": [2.0]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match="some of the files have a column of values"):
        Triples.of([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_more_cells_than_can_be_kept_apart_are_refused_and_what_is_named_instead_is_enough():
    with pytest.raises(ParameterError, match="allow memory=") as refused:
        plan((10**9, 10**9), as_bytes("1 MB"))
    enough = int(str(refused.value).rsplit("=", 1)[1].replace(",", ""))
    assert plan((10**9, 10**9), enough).cells((10**9, 10**9)) <= enough // 64


def test_stripes_of_inner_indices_that_cannot_be_kept_apart_are_refused_and_what_is_named_is_enough():
    n = 10**8
    i = np.arange(10_000) * 9_973
    M = Triples.of((i, i, np.ones(10_000)), shape=(n, n))
    with pytest.raises(ParameterError, match="inner indices make more stripes") as refused:
        M.product(M, memory="1 MB")
    enough = int(str(refused.value).rsplit("=", 1)[1].replace(",", ""))
    found = M.product(M, memory=enough).gathered(None)
    np.testing.assert_array_equal(np.sort(found[0]), i)
    np.testing.assert_array_equal(found[2], np.ones(10_000))


def test_a_full_disk_is_one_sentence(monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("assay.summary.triples.triples.cut", full)
    with pytest.raises(DataError, match="No space left on device; point TMPDIR to a larger disk"):
        Triples.of(([0], [0]), shape=(100_000, 100_000)).dot(np.ones(100_000), memory="1 MB")


@pytest.mark.parametrize("n", [1, 2, 40])
def test_the_leading_pair_is_lapacks(n):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    A = A + A.T + 3.0 * np.eye(n)
    values, vectors = np.linalg.eigh(A)
    found = Triples.of(sparse.coo_array(A)).power_iteration(memory="1 MB", tol=1e-11)
    scale = np.abs(values).max()
    assert found.converged
    assert abs(found.value - values[-1]) <= found.residual + 1e-14 * n * scale
    # the angle is at most the residual over the gap
    gap = values[-1] - values[-2] if n > 1 else scale
    assert abs(found.vector @ vectors[:, -1]) >= 1 - (found.residual / gap) ** 2 - 1e-13
    assert found.vector[np.argmax(np.abs(found.vector))] > 0
    assert np.linalg.norm(A @ found.vector - found.value * found.vector) <= 1e-11 * scale + 1e-14 * n * scale


def test_the_largest_eigenvalue_is_meant_also_where_a_negative_one_is_larger_in_modulus():
    diagonal = np.array([1.0, 5.0, -9.0])
    found = Triples.of((np.arange(3), np.arange(3), diagonal)).power_iteration()
    assert found.value == pytest.approx(5.0, abs=1e-8)
    zero = Triples.of(([], []), shape=(3, 3)).power_iteration()
    assert (zero.value, zero.converged) == (0.0, True)


def test_power_iteration_in_stripes_is_that_of_linalg(tmp_path):
    n, path = 70_000, tmp_path / "u.npy"
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, n, 100_000), rng.integers(0, n, 100_000)
    i, j = (
        np.concatenate([i, j, np.zeros(500, np.int64), np.arange(500)]),
        np.concatenate([j, i, np.arange(500), np.zeros(500, np.int64)]),
    )
    M = Triples.of((i, j), shape=(n, n))
    found = M.power_iteration(memory="1 MB", tol=1e-9, shift=5.0, out=path)
    from scipy.sparse.linalg import eigsh

    value, vectors = eigsh(M.to_scipy(), 1, which="LA")
    assert found.value == pytest.approx(value[0], rel=1e-9)
    assert abs(np.load(path) @ vectors[:, 0]) >= 1 - 1e-9


def test_power_iteration_says_what_it_cannot_do():
    with pytest.raises(DataError, match="the matrix is not symmetric"):
        Triples.of(([0, 1], [1, 1]), shape=(2, 2)).power_iteration()
    with pytest.raises(DataError, match="eigenvalues are of square matrices; this one is 1 x 2"):
        Triples.of(([0], [1])).power_iteration()
    with pytest.raises(DataError, match="no finite numbers"), np.errstate(all="ignore"):
        Triples.of(([0], [0], [np.inf])).power_iteration()
    swap = Triples.of(([0, 1, 2], [1, 0, 2], [2.0, 2.0, 1.0]))  # 2 and -2
    with pytest.warns(NotConverged, match="give a shift"):
        assert not swap.power_iteration(max_iter=20).converged
    assert swap.power_iteration(shift=1.0).value == pytest.approx(2.0, abs=1e-9)
    for wrong in ({"tol": 0.0}, {"max_iter": 0}, {"random_state": -1}, {"shift": np.inf}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            swap.power_iteration(**wrong)


CAPPED = """
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
import assay

folder, cap = sys.argv[1], 16_000_000

def memory(field):
    with open("/proc/self/status") as lines:
        return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])

def whole(name):
    links = assay.Triples.of(f"{folder}/{name}.parquet", shape=shape(name))
    y = links.dot(f"{folder}/{name}.npy", memory=cap, out=f"{folder}/y.npy")
    ranks = assay.pagerank(links, memory=cap, tol=0.1, out=f"{folder}/ranks.npy")
    return ranks.error_bound

def shape(name):
    n = len(np.load(f"{folder}/{name}.npy", mmap_mode="r"))
    return n, n

whole("small")  # libraries and compiled code
before = memory("VmRSS")
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
bound = whole("large")
print(memory("VmHWM") - before, bound)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_vectors_and_triples_far_above_the_cap_need_no_more_memory(tmp_path):
    n, m, chunk = 2_000_000, 1_500_000, 100_000
    rng = np.random.default_rng(0)
    schema = pa.schema([("i", pa.int64()), ("j", pa.int64()), ("value", pa.float64())])
    for name, size, count in (("small", 100_000, 100_000), ("large", n, m)):
        with pq.ParquetWriter(tmp_path / f"{name}.parquet", schema, compression="none") as file:
            for _ in range(0, count, chunk):
                ends = rng.integers(0, size, (2, chunk))
                file.write_table(pa.table([*ends, rng.integers(1, 9, chunk).astype(float)], schema=schema))
        np.save(tmp_path / f"{name}.npy", rng.integers(-9, 10, size).astype(float))
    done = subprocess.run(
        [sys.executable, "-c", CAPPED, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    peak, bound = (float(word) for word in done.stdout.split())
    v, y = np.load(tmp_path / "large.npy"), np.load(tmp_path / "y.npy")
    links = Triples.of(tmp_path / "large.parquet", shape=(n, n)).to_scipy()
    np.testing.assert_array_equal(y, links @ v)
    x = np.load(tmp_path / "ranks.npy")
    out = np.asarray(links.sum(axis=1)).ravel()
    share = np.divide(x, out, out=np.zeros(n), where=out > 0)
    step = 0.85 * (links.T @ share + x[out == 0].sum() / n) + 0.15 / n
    assert abs(x.sum() - 1) < 1e-12
    # one step more is at most 1.85 times as far as the fixed point
    assert np.abs(step - x).sum() <= 1.85 * bound
    # 16 MB and what Arrow and the allocator hold beside it; v and y alone have 32 MB, the vectors of PageRank 80, and
    # links as arrays 36
    assert peak < 48e6
