"""Sparse matrices whose indices leave them are refused before any compiled routine sees them."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.attacked import attacked

from assay.errors import DataError
from assay.linalg.sparse.structure import as_sparse

FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")
KINDS = [getattr(sp, f"{form}_{flavour}") for form in FORMATS for flavour in ("array", "matrix")]


def example(kind):
    return kind(sp.random(30, 12, density=0.2, random_state=0, format="csr"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_whole_matrix_passes_untouched(kind):
    given = example(kind)
    before = given.toarray()
    assert as_sparse(given) is given
    np.testing.assert_array_equal(given.toarray(), before)
    as_sparse(kind((3, 4)))


def test_unsorted_and_repeated_entries_and_nan_are_no_damage():
    given = sp.csr_array((np.array([1.0, 2.0, np.nan]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert as_sparse(given).nnz == 3
    assert not given.has_canonical_format
    spare = sp.csr_array(given)
    spare.data, spare.indices = np.append(spare.data, 5.0), np.append(spare.indices, 1)  # room for more is allowed
    assert as_sparse(spare).nnz == 3
    assert len(spare.data) == 4
    assert as_sparse(sp.coo_array(np.ones(3))).ndim == 1
    assert as_sparse(np.eye(2)).shape == (2, 2)


def changed(array, value):
    found = array.copy()
    found.flat[3] = value
    return found


COMPRESSED = {
    "indices": [
        (lambda a: changed(a, 2**30), "its index 1,073,741,824 is outside 0 to "),
        (lambda a: changed(a, -1), "its index -1 is outside 0 to "),
        (lambda a: changed(a.astype(np.int64), 2**40), "its index 1,099,511,627,776 is outside 0 to "),
        (lambda a: a.astype(float), "what it has for each index is float64"),
        (lambda a: a[:-1], "indices and .* values"),
    ],
    "indptr": [
        (lambda a: changed(a, 2**30), "its indptr does not begin at 0 and rise from there"),
        (lambda a: changed(a, -5), "its indptr does not begin at 0 and rise from there"),
        (lambda a: np.append(1, a[1:]), "its indptr does not begin at 0 and rise from there"),
        (lambda a: np.append(a[:-1], 10**8), "its indptr ends at 100,000,000 with "),
        (lambda a: a[:2], "its indptr has the shape"),
        (lambda a: a[:0], "its indptr has the shape"),
    ],
    "data": [(lambda a: a[:2], "and 2 values")],
}


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("part", "change", "message"), [(part, *case) for part, cases in COMPRESSED.items() for case in cases]
)
def test_compressed_matrices_that_point_outside_are_refused(form, part, change, message):
    given = example(getattr(sp, f"{form}_array"))
    setattr(given, part, change(getattr(given, part)))
    with pytest.raises(DataError, match=f"the sparse matrix is damaged: .*{message}.*; build it again"):
        as_sparse(given)


def test_other_formats_that_point_outside_are_refused():
    coo = example(sp.coo_array)
    coo.coords = (changed(coo.coords[0], 30), coo.coords[1])
    with pytest.raises(DataError, match="its coordinate along axis 0 30 is outside 0 to 29"):
        as_sparse(coo)
    coo = example(sp.coo_array)
    coo.data = coo.data[:-1]
    with pytest.raises(DataError, match="it has 72 coordinates along axis 0 and 71 values"):
        as_sparse(coo)
    dia = example(sp.dia_array)
    dia.offsets = np.append(dia.offsets, 1)
    with pytest.raises(DataError, match="it has offsets of the shape"):
        as_sparse(dia)
    for change, message in (
        (lambda lil: lil.rows.__setitem__(3, [12] * len(lil.rows[3])), "its index 12 is outside 0 to 11"),
        (lambda lil: lil.rows[3].append(0), "row 3 has .* places and .* values"),
        (lambda lil: setattr(lil, "rows", lil.rows[:2]), "it has lists of the shapes"),
    ):
        lil = example(sp.lil_array)
        change(lil)
        with pytest.raises(DataError, match=message):
            as_sparse(lil)
    dok = example(sp.dok_array)
    dok._dict[10**9, 0] = 1.0
    with pytest.raises(DataError, match="is damaged: "):
        as_sparse(dok)


def test_no_damaged_matrix_crashes_where_it_is_given():
    told = attacked(
        """
        import warnings
        warnings.simplefilter("ignore")
        import numpy as np, scipy.sparse as sp
        import assay
        from assay.data.read import read
        from assay.linalg.eigen.top_svd import top_svd
        from assay.summary.distances.distances import as_rows
        def bad(form="csr", part="indices"):
            made = sp.csr_array(sp.random(40, 40, density=0.2, random_state=0, format="csr"))
            made = getattr(sp, form + "_array")(made + made.T)
            getattr(made, part)[3] = 2**30
            return made
        y = np.arange(40) % 2
        for form in ("csr", "csc", "bsr"):
            for part in ("indices", "indptr"):
                refused(lambda: list(read(bad(form, part)).blocks()))
                refused(lambda: assay.PCA().fit(bad(form, part)))
        ways = (
            lambda M: assay.Moments.of(M),
            lambda M: assay.KMeans(2).fit(M),
            lambda M: assay.Logistic().fit(M, y),
            lambda M: assay.NaiveBayes().fit(M, y),
            lambda M: assay.LSI(2).fit(M),
            lambda M: assay.validate(assay.Logistic(), M, y),
            lambda M: assay.ClassCounts.of(M, y),
            lambda M: assay.Graph.of_adjacency(M),
            lambda M: assay.Graph(M),
            lambda M: assay.read_network(M),
            lambda M: assay.pagerank(M),
            lambda M: assay.communities(M),
            lambda M: assay.NetworkEmbedding(2).fit(M),
            lambda M: assay.SpectralClustering(2).fit(M),
            lambda M: assay.Ratings.of(M),
            lambda M: assay.MatrixFactorization(2).fit(M),
            lambda M: assay.Triples.of(M),
            lambda M: assay.MDP(M, np.zeros(40), 0.9),
            lambda M: assay.MDS(2).fit(M),
            lambda M: assay.euclidean_dimension(M),
            lambda M: assay.CCA().fit(M, np.eye(40)),
            lambda M: top_svd(M, 2),
            lambda M: as_rows(M),
            lambda M: assay.study(M),
        )
        for way in ways:
            refused(lambda: way(bad()))
        """,
        seconds=180,
    )
    assert len(told) == 36
    for line in told:
        assert line.startswith("DataError: ")
        assert " is damaged: its ind" in line, line
