"""Which links are missing or surprising: claims where links follow a rule, and none where only degrees do."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

import assay
from assay import Graph
from assay.questions.links.surprising import surprising
from assay.questions.links.test import links_told
from assay.report.page import render


def graph_of(made):
    pairs = np.array(list(made.edges()))
    return Graph.of_edges(pairs[:, 0], pairs[:, 1], n=made.number_of_nodes(), directed=made.is_directed())


def blocks(seed, inside=0.35, outside=0.03, size=30):
    shares = [[inside if i == j else outside for j in range(3)] for i in range(3)]
    return networkx.stochastic_block_model([size] * 3, shares, seed=seed)


def heavy_tailed(seed, n=100):
    rng = np.random.default_rng(seed)
    degree = np.minimum((rng.pareto(1.5, n) + 1) * 2, n // 3).astype(int)
    degree[0] += degree.sum() % 2
    made = networkx.Graph(networkx.configuration_model(degree.tolist(), seed=seed))
    made.remove_edges_from(list(networkx.selfloop_edges(made)))
    return made


@pytest.fixture(scope="module")
def told():
    return links_told(graph_of(blocks(1)), name="blocks")


def test_links_of_blocks_are_told_with_a_value_on_unseen_links(told):
    assert told.evidence.verdict == "supported"
    low, high = told.evidence.interval
    assert 0 < low < told.evidence.held_out < high
    assert told.evidence.statistic > told.chance.max()
    assert told.told


def test_missing_links_lie_inside_blocks(told):
    inside = [int(one.source) // 30 == int(one.target) // 30 for one in told.missing]
    # a third of all pairs is inside; of 20 by chance 15 or more with probability below 1e-4
    assert sum(inside) >= 15


def test_the_sentence_says_chance_random_graphs_and_how_many_would_be_links(told):
    sentence = told.findings()[0].sentence
    assert sentence.startswith(
        "Links of blocks can be told beyond the numbers of links of each node: of an unseen link"
    )
    assert "50% by chance" in sentence
    assert "in random networks with the same numbers of links" in sentence
    right = round(sum(one.chance for one in told.missing))
    assert "Of the 20 pairs that look most like links" in sentence
    assert f"about {right} would be links if as many were missing as were hidden" in sentence


def test_stricter_takes_the_claim_and_with_it_what_is_missing(told):
    fallen = told.stricter(0.5 / told.evidence.p, 0.05)
    assert fallen.evidence.verdict == "not distinguishable from chance"
    assert len(fallen.findings()) == 1
    assert "cannot be told" in fallen.findings()[0].sentence
    assert "no link is called missing, and none surprising" in fallen.findings()[0].sentence
    assert [view.name for view in fallen.views()] == ["link-scores"]
    assert fallen.numbers()["missing"] == []


@pytest.mark.parametrize(
    "made",
    [
        networkx.random_geometric_graph(90, 0.2, seed=2),
        networkx.watts_strogatz_graph(90, 6, 0.1, seed=2),
        networkx.DiGraph(networkx.watts_strogatz_graph(60, 6, 0.1, seed=2)),
    ],
    ids=["near nodes linked", "small world", "both ways"],
)
def test_planted_rules_are_found(made):
    assert links_told(graph_of(made)).evidence.verdict == "supported"


@pytest.mark.calibrate
def test_where_only_degrees_are_at_work_hardly_anything_is_claimed():
    """Notices a rate of .4 with probability .95: 3 or more of 12."""
    made = [networkx.gnm_random_graph(50, 150, seed=seed) for seed in range(4)]
    made += [networkx.barabasi_albert_graph(60, 3, seed=seed) for seed in range(4)]
    made += [heavy_tailed(seed) for seed in range(4)]
    verdicts = [links_told(graph_of(one), seed=seed).evidence.verdict for seed, one in enumerate(made)]
    assert verdicts.count("supported") <= 2


@pytest.mark.calibrate
def test_the_rate_of_claims_where_only_degrees_are_at_work():
    """At most 5%: of 60 graphs 8 or more would come with probability .02 at 6%, and does at 20% with .93."""
    makers = (
        lambda seed: networkx.gnm_random_graph(80, 240, seed=seed),
        lambda seed: networkx.barabasi_albert_graph(120, 3, seed=seed),
        lambda seed: heavy_tailed(seed, 150),
    )
    for make in makers:
        found = [links_told(graph_of(make(seed)), seed=seed).evidence.verdict for seed in range(60)]
        assert found.count("supported") <= 7


def test_a_link_between_nodes_without_common_friends_with_many_friends_is_surprising():
    """Two groups of 60 with many links inside; one link joins the best-connected node of each."""
    one, two = (networkx.gnp_random_graph(60, 0.5, seed=seed) for seed in (1, 2))
    made = networkx.disjoint_union(one, two)
    made.add_edges_from([(i, 119 - i) for i in range(2, 6)])
    hubs = max(range(60), key=made.degree), max(range(60, 120), key=made.degree)
    made.add_edge(*hubs)
    found = surprising(graph_of(made))
    first = {int(found.sources[0]), int(found.targets[0])}
    across = {frozenset((i, 119 - i)) for i in range(2, 6)} | {frozenset(hubs)}
    claimed = {
        frozenset(pair)
        for pair in zip(found.sources[found.p <= 0.05].tolist(), found.targets[found.p <= 0.05].tolist(), strict=True)
    }
    assert frozenset(first) in across
    assert claimed <= across
    assert len(claimed) >= 4
    assert found.unseen < 0.5
    assert (np.diff(found.p) >= 0).all()


def test_no_link_of_a_random_graph_is_surprising_too_often():
    """All links counted: 4 or more of 12 graphs would be noticed at a rate of .5 with probability .93."""
    claims = [
        (surprising(graph_of(networkx.gnm_random_graph(60, 400, seed=seed)), seed=seed).p <= 0.05).any()
        for seed in range(12)
    ]
    assert sum(claims) <= 3


def test_a_network_of_two_kinds_of_nodes_has_no_surprising_links():
    made = networkx.bipartite.random_graph(30, 30, 0.3, seed=1)
    assert len(surprising(graph_of(made)).p) == 0


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (networkx.path_graph(12), "it takes 20 links between different nodes, there are 11"),
        (networkx.complete_graph(9), "all nodes are linked with each other"),
        (networkx.star_graph(40), "only 0 links can be taken out"),
    ],
)
def test_what_cannot_be_asked_is_in_the_ledger_with_the_reason(made, why):
    study = assay.study(graph_of(made))
    assert "links" not in study.answers
    assert any(why in silent.why for silent in study.ledger.not_asked if "missing" in silent.question)


def test_degrees_that_leave_no_other_network_cannot_be_tested():
    """A threshold graph is the only one with its degrees."""
    pairs = [(i, j) for i in range(10) for j in range(i) if i + j < 12]
    graph = Graph.of_edges([i for i, _ in pairs], [j for _, j in pairs])
    found = links_told(graph)
    assert found is None or found.evidence.verdict == "not testable here"
    assert found is None or "cannot be tested" in found.findings()[0].sentence


def test_the_page_and_the_json_hold_what_was_found(tmp_path):
    made = blocks(3, inside=0.4)
    named = networkx.relabel_nodes(made, lambda i: f"<b>{i}</b>")
    pairs = np.array(list(named.edges()))
    study = assay.study(Graph.of_edges(pairs[:, 0], pairs[:, 1]), only="links")
    answer = study.answers["links"]
    assert answer.evidence.verdict == "supported"
    text = render(study)
    assert "Links that may be missing" in text
    assert "<b>1</b>" not in text
    numbers = answer.as_dict()["numbers"]
    assert len(numbers["missing"]) == 20
    assert set(numbers["scores"]) == {"degrees", "common", "adamic_adar", "resource", "low_rank_4", "low_rank_16"}
    assert 0 <= numbers["missing"][0]["chance"] <= 1


def test_the_figure_shows_every_score_and_every_random_graph(told):
    drawn = told.views()[0].figure
    data = [one.data_source.data for one in drawn.renderers]
    assert len(data[0]["x"]) == 6
    assert len(data[2]["x"]) == len(told.chance)
