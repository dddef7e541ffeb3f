"""What docs/theory/scale.md says of links and ratings is what their methods do."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("cloudpickle")

from benchmarks._costs import Files, Shape, agree, rank_costs, sweep_costs
from benchmarks._counting import CountingEngine

import assay
from assay.engine.current import using
from assay.models.network.pagerank import spread_links
from assay.models.prediction.recommender import spread_ratings
from assay.summary.triples.triples import Triples


def test_a_step_of_pagerank_sends_the_scores_to_each_worker_and_brings_them_back_once(tmp_path, monkeypatch):
    monkeypatch.setattr(spread_links, "_BLOCK", 1000)
    rng, n, m = np.random.default_rng(0), 300, 5000
    ends = {"i": np.r_[rng.integers(0, n, m), n - 1], "j": np.r_[rng.integers(0, n, m), 0]}
    pq.write_table(pa.table(ends | {"value": rng.random(m + 1)}), tmp_path / "links.parquet", row_group_size=500)
    files = Files(tmp_path / "links.parquet", tmp_path, Shape(m, 3, 1, 10))
    engine = CountingEngine()
    with files.in_parts(), using(engine):
        ranks = assay.pagerank(Triples.of(files.rows))
    agree(engine.passes, rank_costs(n, ranks.iterations))
    assert engine.passes[1].kind == "regroup"
    assert engine.passes[1].back == 0


def test_a_sweep_of_ratings_sends_the_factors_of_the_other_side(tmp_path, monkeypatch):
    monkeypatch.setattr(spread_ratings, "_BLOCK", 500)
    rng, users, items, k, m = np.random.default_rng(0), 60, 25, 2, 2000
    user, item = (
        np.r_[np.arange(users), rng.integers(0, users, m)],
        np.r_[np.arange(users) % items, rng.integers(0, items, m)],
    )
    taste = rng.standard_normal((users, k)) @ rng.standard_normal((k, items))
    rating = 3.0 + taste[user, item] + rng.normal(0.0, 0.3, len(user))
    table = pa.table({"user": user, "item": item, "rating": rating})
    pq.write_table(table, tmp_path / "ratings.parquet", row_group_size=500)
    files = Files(tmp_path / "ratings.parquet", tmp_path, Shape(m, 3, 1, 5))
    engine = CountingEngine()
    with files.in_parts(), using(engine):
        model = assay.MatrixFactorization(k, tol=1e-2).fit(str(files.rows))
    agree(engine.passes[-2 * model.n_iter_ :], sweep_costs(users, items, k) * model.n_iter_)
    assert sum(one.read > 0 for one in engine.passes) == 3
