"""PageRank of links as triples, in stripes: the scores of the ranking in memory, its bound, and what it refuses."""

import tempfile
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from assay import Triples, pagerank
from assay.errors import DataError, NotConverged, ParameterError
from assay.models.network.pagerank import striped
from assay.summary.triples.allowance import Plan


def solved(W, damping=0.85, v=None):
    """The fixed point by a dense solve."""
    n = len(W)
    v = np.full(n, 1 / n) if v is None else np.asarray(v, dtype=np.float64) / np.sum(v)
    out = W.sum(axis=1)
    P = np.where(out[:, None] > 0, W / np.where(out > 0, out, 1)[:, None], v)
    return np.linalg.solve(np.eye(n) - damping * P.T, (1 - damping) * v)


@st.composite
def links(draw):
    n = draw(st.integers(1, 10))
    end = st.integers(0, n - 1)
    found = draw(st.lists(st.tuples(end, end, st.sampled_from([0.0, 1.0, 2.5, 1e-3])), max_size=30))
    return n, np.array(found).reshape(-1, 3)


@settings(deadline=None, max_examples=60)
@given(links(), st.sampled_from([0.0, 0.3, 0.85, 0.99]), st.randoms(use_true_random=False))
def test_the_bound_bounds_the_distance_to_a_dense_solve_for_any_stripes(drawn, damping, random):
    n, found = drawn
    v = [random.random() + 0.01 for _ in range(n)]
    W = np.zeros((n, n))
    np.add.at(W, (found[:, 0].astype(int), found[:, 1].astype(int)), found[:, 2])
    stripes = Plan(random.randint(1, n), random.randint(1, n), random.randint(1, 9))
    data = Triples.of((found[:, 0], found[:, 1], found[:, 2]), shape=(n, n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(striped, "plan", lambda *_, **__: stripes)
        ranking = pagerank(data, damping=damping, personalise=v, tol=1e-9)
    # the solve itself is right to about its condition, 2 / (1 - d), times n roundings
    allowed = ranking.error_bound + 2e-16 * n * 2 / (1 - damping)
    assert np.abs(ranking.scores - solved(W, damping, v)).sum() <= allowed
    assert ranking.error_bound <= 1e-9
    assert abs(ranking.scores.sum() - 1) < 1e-14


def popular(n=70_000, m=200_000, seed=0):
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n - n // 10, m)  # the last tenth has no out-links
    j = np.minimum((rng.pareto(1.2, m) * n / 50).astype(np.int64), n - 1)
    return i, j, rng.integers(1, 5, m).astype(np.float64)


@pytest.mark.parametrize("weighted", [True, False])
def test_scores_are_those_of_the_ranking_in_memory(tmp_path, monkeypatch, weighted):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    n = 70_000
    i, j, value = popular()
    table = {"i": i, "j": j, "value": value} if weighted else {"i": i, "j": j}
    pq.write_table(pa.table(table), tmp_path / "links.parquet")
    v = np.zeros(n)
    v[:100] = np.arange(100)
    np.save(tmp_path / "v.npy", v)
    W = sparse.coo_array((value if weighted else np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    data = Triples.of(tmp_path / "links.parquet", shape=(n, n))
    for personalise, kept in ((None, None), (v, tmp_path / "v.npy"), ({3: 2.0, 5: 1.0}, {3: 2.0, 5: 1.0})):
        there = pagerank(W, personalise=personalise, tol=4e-13)
        here = pagerank(data, personalise=kept, tol=4e-13, memory="1 MB")
        assert np.abs(here.scores - there.scores).sum() < 1e-12
        assert here.top(5) == [(name, pytest.approx(score, rel=1e-9)) for name, score in there.top(5)]
        assert here.rank(int(there.top(3)[2][0])) == 3
    assert isinstance(here.scores, np.memmap)
    again = pagerank(data, start=here, personalise={3: 2.0, 5: 1.0}, memory="1 MB", out=tmp_path / "x.npy")
    assert again.iterations < here.iterations / 4
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), again.scores)
    assert not list(scratch.iterdir())


def test_the_number_of_workers_changes_no_bit(monkeypatch):
    data = Triples.of(popular(), shape=(70_000, 70_000))
    found = []
    for cores in (1, 2):
        monkeypatch.setattr("assay.summary.triples.allowance.available_cores", lambda cores=cores: cores)
        found.append(pagerank(data, memory="1 MB").scores)
    np.testing.assert_array_equal(*found)


def test_triples_that_need_no_cap_and_nodes_without_links():
    found = pagerank(Triples.of(([0, 2], [1, 1])))  # three nodes, though no link leads to the last
    assert len(found.scores) == 3
    assert [name for name, _ in found.top()] == ["1", "0", "2"]
    assert repr(found).startswith("Ranking(3 nodes: 1 0.")
    assert found.lines(2)[0].startswith("3 nodes; scores right to")
    assert found.as_dict(1)["nodes"][0] == {"node": "1", "rank": 1, "score": found.top(1)[0][1]}
    none = pagerank(Triples.of(([], []), shape=(4, 4)))
    np.testing.assert_allclose(none.scores, 0.25, rtol=1e-15)
    assert pagerank(Triples.of(([0], [0]))).scores.tolist() == [1.0]


def test_evidence_needs_links_in_memory_and_says_so():
    found = pagerank(Triples.of(([0, 1], [1, 0])))
    for ask in (
        lambda: found.intervals,
        lambda: found.beyond_degree,
        lambda: found.outranks(0, 1),
        lambda: found.as_dict(evidence=True),
        lambda: found.lines(evidence=True),
    ):
        with pytest.raises(DataError, match=r"pagerank\(triples\.to_scipy\(\)\)"):
            ask()


def test_a_bound_that_cannot_be_reached_is_said():
    data = Triples.of(popular(200, 2000), shape=(200, 200))
    with pytest.warns(NotConverged, match="rounding allows no less"):
        pagerank(data, tol=1e-17)
    with pytest.warns(NotConverged, match="after max_iter=2 steps"):
        assert pagerank(data, max_iter=2).iterations == 2


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_bound_holds_after_any_number_of_steps(steps):
    i, j, value = popular(100, 900)
    W = sparse.coo_array((value, (i, j)), shape=(100, 100)).toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        found = pagerank(Triples.of((i, j, value), shape=(100, 100)), max_iter=steps)
    assert np.abs(found.scores - solved(W)).sum() <= found.error_bound + 1e-13


@pytest.mark.parametrize(
    ("data", "how", "words"),
    [
        (([0, 1], [1, 0], [1.0, -2.0]), {}, "triple 2: the weight is -2, but weights are finite numbers"),
        (([0, 1], [1, 0], [1.0, np.inf]), {}, "triple 2: the weight is inf"),
        (([0, 1], [1, 0], [np.nan, 1.0]), {}, "triple 1: the weight is nan"),
        (([0, 0, 1], [1, 0, 0], [1e308, 1e308, 1.0]), {}, "links of node 0 add up to inf"),
        (([0, 1], [1, 0], [1.0, 5e-324]), {}, "links of node 1 add up to 4.94066e-324, out of the range"),
        (([0], [0]), {"directed": False}, "give both"),
        (([0], [0]), {"personalise": {3: 1.0}}, "personalise names 3, which is no node"),
        (([0], [0]), {"personalise": [0.0]}, "personalise is 0 for every node"),
        (([0], [0]), {"personalise": [-1.0]}, "personalise must be finite and not negative; node 0 has -1.0"),
        (([0], [0]), {"personalise": [1.0, 1.0]}, "personalise must have one number for each of 1"),
        (([0], [0]), {"memory": "1 kB"}, "memory is at least 1 MB"),
        (([], []), {}, "there are no nodes"),
    ],
)
def test_what_cannot_be_ranked_is_refused_with_its_place(data, how, words):
    with pytest.raises((DataError, ParameterError), match=words), np.errstate(over="ignore"):
        pagerank(Triples.of(data), **how)


def test_a_cap_is_for_triples_and_a_matrix_of_links_is_square():
    with pytest.raises(ParameterError, match=r"give pagerank\(assay\.Triples\.of\(links\), memory=\.\.\.\)"):
        pagerank([("a", "b")], memory="1 GB")
    with pytest.raises(DataError, match=r"this one has shape \(2, 3\)"):
        pagerank(Triples.of(([0], [1]), shape=(2, 3)))
