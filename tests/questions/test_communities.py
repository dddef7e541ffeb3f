"""Communities of a network: found where they are, not claimed where degrees, parts, trees or sides make them."""

import networkx as nx
import numpy as np
import pytest

import assay
from assay import Graph
from assay.asking.page import Page
from assay.asking.question import Context
from assay.asking.subject import Subject
from assay.questions.communities import QUESTION
from assay.questions.communities.agreement import agreement
from assay.questions.communities.held_out import left_out
from assay.questions.communities.linked import linked
from assay.questions.communities.test import Effort, clustered
from assay.study.forms.network import FORM
from assay.summary.network.random_graphs import AlikeEnds, state_of


def graph_of(G, names=None):
    return Graph.of_adjacency(nx.to_scipy_sparse_array(G).astype(float), names=names, directed=G.is_directed())


def said(G, **how):
    found = clustered(graph_of(G) if not isinstance(G, Graph) else G, "links.csv", **how)
    return found, found.findings()[0].sentence


def asked(graph):
    return Subject("network", FORM.read(graph, {}).card, graph)


PLANTED = nx.planted_partition_graph(4, 30, 0.4, 0.02, seed=1)


@pytest.fixture(scope="module")
def found():
    return clustered(graph_of(PLANTED, [f"node {i}" for i in range(120)]), "links.csv")


class TestWhereThereAre:
    def test_planted_communities_are_found_named_and_counted(self, found):
        truth = np.repeat(np.arange(4), 30)
        assert agreement(truth, found.labels, np.ones(120, np.bool_)).rand == 1.0
        assert found.evidence.verdict == "supported" and found.firm == [0, 1, 2, 3] and found.number_known
        sentence = found.findings()[0].sentence
        assert sentence.startswith("The links of links.csv fall into 4 communities beyond chance: node ")
        assert "stay inside communities found without them, where the numbers of links alone give" in sentence
        assert found.headline("supported") == "4 communities" and found.headline("suggestive") == ""

    def test_the_share_of_unseen_links_inside_is_that_of_the_plan(self, found):
        # of 30 pairs inside at .4 and 90 outside at .02 for each node: .4 * 29 / (.4 * 29 + .02 * 90) = .866
        assert found.left.inside == pytest.approx(0.866, abs=0.04)
        # by degrees alone a quarter, less what is known to be linked already
        assert 0.1 < found.left.expected < 0.25
        low, high = found.evidence.interval
        assert 0 < low < found.evidence.held_out < high

    def test_its_page_has_the_matrix_the_table_and_the_groups_of_nodes(self, found):
        view = found.views()[0]
        assert view.figure is not None and view.numbers.count("<tr>") == 5 and "node " in view.numbers
        page = Page([found])
        assert len(set(page.node_groups)) == 4 and page.node_groups[0].startswith(f"{found.labels[0] + 1}: node ")

    def test_its_numbers_are_ready_for_json(self, found):
        numbers = found.as_dict()["numbers"]
        assert numbers["k"] == 4 and [one["size"] for one in numbers["communities"]] == [30] * 4

    def test_more_questions_make_it_stricter(self, found):
        assert found.stricter(100.0, 0.05).evidence.verdict == "not distinguishable from chance"

    def test_the_same_seed_gives_the_same_evidence(self, found):
        again = clustered(graph_of(PLANTED), "links.csv")
        assert again.evidence.as_dict() == found.evidence.as_dict()


def test_weights_alone_tell_communities_where_all_nodes_are_linked():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 12)
    W = rng.lognormal(0, 0.5, (36, 36)) * np.where(truth[:, None] == truth, 3.0, 1.0)
    W = np.triu(W, 1) + np.triu(W, 1).T
    found, _ = said(Graph.of_adjacency(W))
    assert found.evidence.verdict == "supported"
    assert agreement(truth, found.labels, np.ones(36, np.bool_)).rand == 1.0


def test_links_one_way_are_taken_both_ways():
    rng = np.random.default_rng(3)
    truth = np.repeat(np.arange(3), 25)
    A = rng.random((75, 75)) < np.where(truth[:, None] == truth, 0.25, 0.02)
    np.fill_diagonal(A, False)
    found, _ = said(Graph.of_adjacency(A.astype(float), directed=True))
    assert found.evidence.verdict == "supported"
    assert agreement(truth, found.labels, np.ones(75, np.bool_)).rand > 0.9


class TestWhereThereAreNone:
    """Of 8 networks each with nothing but their degrees, at level .05. A test that claims three or more notices a true
    rate of .5 with a chance of .86; `calibrate` below notices smaller ones."""

    @pytest.mark.parametrize("kind", ["even", "heavy", "one way"])
    def test_random_networks_have_none(self, kind):
        claimed = 0
        for seed in range(8):
            claimed += said(random_network(kind, seed), seed=seed)[0].evidence.verdict == "supported"
        assert claimed <= 2

    def test_a_random_network_says_so(self):
        found, sentence = said(nx.gnm_random_graph(60, 150, seed=5))
        assert found.evidence.verdict == "not distinguishable from chance" and found.views() == []
        assert sentence.startswith("No communities beyond chance: the best found have modularity .")
        assert Page([found]).node_groups is None and found.headline(found.evidence.verdict) == ""

    def test_small_separate_parts_are_no_evidence(self):
        G = nx.disjoint_union_all([nx.gnm_random_graph(150, 500, seed=3)] + [nx.complete_graph(3)] * 10)
        found, sentence = said(G)
        assert found.evidence.verdict == "not distinguishable from chance"
        assert sentence.startswith(
            "The network has 11 separate parts, the largest of 150 nodes; that small ones are separate counts for "
            "nothing here. No communities"
        )


def random_network(kind, seed):
    rng = np.random.default_rng([seed, 4])
    if kind == "even":
        return nx.gnm_random_graph(60, 150, seed=seed)
    if kind == "heavy":
        degrees = np.minimum((rng.pareto(1.5, 120) + 2).astype(int), 30)
        degrees[0] += degrees.sum() % 2
        G = nx.Graph(nx.configuration_model(degrees.tolist(), seed=seed))
        G.remove_edges_from(list(nx.selfloop_edges(G)))
        for _, _, data in G.edges(data=True):
            data["weight"] = float(rng.lognormal(0, 1.5))
        return G
    # every second link is answered: that links are mutual is no community
    A = np.triu(rng.random((70, 70)) < 0.06, 1)
    back = A.T & (rng.random((70, 70)) < 0.5)
    return Graph.of_adjacency((A | back).astype(float), directed=True)


def test_large_separate_parts_are_communities():
    found, sentence = said(
        nx.disjoint_union(nx.gnm_random_graph(40, 200, seed=1), nx.gnm_random_graph(40, 200, seed=2))
    )
    assert found.evidence.verdict == "supported"
    assert sentence.startswith("The network has 2 separate parts, of 40 and 40 nodes: no link joins them.")
    assert found.left.inside > 0.95 or found.k > 2


def test_a_ring_clusters_without_borders():
    found, sentence = said(nx.watts_strogatz_graph(100, 6, 0.0))
    assert found.evidence.verdict == "supported" and not found.firm
    assert "cluster beyond chance: near nodes are linked. But borders are arbitrary" in sentence
    assert found.headline("supported") == "clustering of links without borders"
    assert Page([found]).node_groups is None


@pytest.mark.parametrize("G", [nx.random_labeled_tree(60, seed=1), nx.star_graph(30), nx.path_graph(20)])
def test_trees_can_be_cut_anywhere(G):
    found, sentence = said(G)
    assert found.evidence.verdict == "not testable here" and found.evidence.p is None
    assert sentence.startswith("The network has no cycle")
    assert found.views() == [] and found.as_dict()["numbers"]["fewest"] is None


def test_a_complete_network_leaves_no_other():
    _, sentence = said(nx.complete_graph(8))
    assert (
        sentence == "These numbers of links leave no other network: there is no chance to compare the communities with."
    )


@pytest.mark.parametrize(
    "G", [nx.cycle_graph(12), nx.complete_bipartite_graph(4, 5), nx.wheel_graph(8), nx.barbell_graph(4, 2)]
)
def test_small_networks_have_an_answer(G):
    found, sentence = said(G)
    assert found.evidence.verdict in ("supported", "not distinguishable from chance", "not testable here", "suggestive")
    assert sentence and "nan" not in sentence and found.as_dict()["evidence"]["n"] == G.number_of_edges()


def test_loops_and_nodes_without_links_change_nothing():
    plain = graph_of(PLANTED)
    rows, cols = plain.weights.nonzero()
    once = rows < cols
    more = Graph.of_edges([*rows[once], 5, 9], [*cols[once], 5, 9], n=130)
    assert clustered(more, "x").evidence.as_dict() == clustered(plain, "x").evidence.as_dict()
    links = linked(more)
    assert (links.loops, links.alone, links.n) == (2, 10, 120)


def test_the_scale_of_weights_changes_nothing():
    graph = graph_of(nx.les_miserables_graph())
    large = Graph.of_adjacency(graph.weights * 2.0**900, directed=False)
    assert clustered(large, "x").evidence.as_dict() == clustered(graph, "x").evidence.as_dict()


class TestChance:
    def test_keeps_what_each_node_has_one_way_and_both_ways(self):
        rng = np.random.default_rng(1)
        A = rng.random((30, 30)) < 0.2
        np.fill_diagonal(A, False)
        ends = linked(Graph.of_adjacency(A.astype(float), directed=True)).ends
        drawn, done = ends.mixed(7)
        assert done > 50
        for end in ("sources", "targets"):
            of_one_way = [np.bincount(getattr(one, end)[ends.one_way], minlength=30) for one in (ends, drawn)]
            assert np.array_equal(*of_one_way)
        both = [np.bincount(np.append(one.sources, one.targets), minlength=30) for one in (ends, drawn)]
        assert np.array_equal(*both)
        pairs = {frozenset(pair) for pair in zip(drawn.sources.tolist(), drawn.targets.tolist(), strict=True)}
        assert len(pairs) == len(ends.sources) and all(len(pair) == 2 for pair in pairs)

    def test_keeps_the_two_sides_of_a_network(self):
        G = nx.bipartite.gnmk_random_graph(20, 30, 120, seed=1)
        links = linked(graph_of(G))
        assert links.two_sided
        drawn, done = links.ends.mixed(3)
        number = links.nodes
        assert done > 50 and ((number[drawn.sources] < 20) != (number[drawn.targets] < 20)).all()
        assert not linked(graph_of(nx.gnm_random_graph(20, 60, seed=1))).two_sided

    def test_keeps_branches_and_small_parts(self):
        G = nx.disjoint_union(nx.gnm_random_graph(30, 100, seed=1), nx.path_graph(3))
        G.add_edges_from([(0, 33), (33, 34), (33, 35)])
        links = linked(graph_of(G))
        assert links.branches == 5
        drawn, _ = links.ends.mixed(1)
        kept = links.ends.kinds < 0
        assert np.array_equal(drawn.targets[kept], links.ends.targets[kept])

    def test_all_graphs_of_a_kind_are_equally_likely(self):
        # degrees 2 of six nodes, no pair twice: 60 hexagons and 10 pairs of triangles
        ring = np.arange(6)
        ends = AlikeEnds(ring, np.roll(ring, -1), np.zeros(6, np.int64), np.zeros(6, np.bool_), 6)
        seen = {}
        for seed in range(3500):
            drawn, _ = ends.mixed(state_of(seed, 1), tries=20)
            key = frozenset(
                frozenset(pair) for pair in zip(drawn.sources.tolist(), drawn.targets.tolist(), strict=True)
            )
            seen[key] = seen.get(key, 0) + 1
        assert len(seen) == 70
        counts = np.array(list(seen.values()))
        # chi-square with 69 degrees of freedom: 128 has p = 2e-5
        assert ((counts - 50.0) ** 2 / 50.0).sum() < 128


class TestLinksLeftOut:
    def test_degrees_alone_are_what_pairs_give_by_hand(self):
        rng = np.random.default_rng(2)
        links = linked(graph_of(nx.gnm_random_graph(14, 40, seed=2)))
        labels = rng.integers(0, 3, links.n)
        out = rng.permutation(links.m) < 8
        found = left_out(links, out, labels, lambda *_: labels, 0)
        a, b = links.ends.sources, links.ends.targets
        k = np.bincount(np.append(a[~out], b[~out]), minlength=links.n)
        taken = {frozenset(pair) for pair in zip(a[~out].tolist(), b[~out].tolist(), strict=True)}
        pairs = [(i, j) for i in range(links.n) for j in range(i) if frozenset((i, j)) not in taken]
        inside = sum(k[i] * k[j] for i, j in pairs if labels[i] == labels[j])
        assert found.expected == pytest.approx(inside / sum(k[i] * k[j] for i, j in pairs))
        assert found.inside == pytest.approx((labels[a[out]] == labels[b[out]]).mean())
        for c in range(3):
            ends = sum(k[i] * k[j] * (int(labels[i] == c) + int(labels[j] == c)) for i, j in pairs)
            own = sum(2 * k[i] * k[j] for i, j in pairs if labels[i] == labels[j] == c)
            assert found.own_expected[c] == pytest.approx(own / ends)

    def test_pairs_of_one_side_are_not_expected(self):
        links = linked(graph_of(nx.bipartite.gnmk_random_graph(8, 9, 40, seed=1)))
        labels = np.arange(links.n) % 2
        out = np.arange(links.m) % 5 == 0
        found = left_out(links, out, labels, lambda *_: labels, 0)
        a, b = links.ends.sources, links.ends.targets
        k = np.bincount(np.append(a[~out], b[~out]), minlength=links.n)
        taken = {frozenset(pair) for pair in zip(a[~out].tolist(), b[~out].tolist(), strict=True)}
        number = links.nodes
        pairs = [
            (i, j) for i in range(links.n) for j in range(i)
            if frozenset((i, j)) not in taken and (number[i] < 8) != (number[j] < 8)
        ]  # fmt: skip
        inside = sum(k[i] * k[j] for i, j in pairs if labels[i] == labels[j])
        assert found.expected == pytest.approx(inside / sum(k[i] * k[j] for i, j in pairs))

    def test_agreement_is_that_of_scikit_learn(self):
        from sklearn.metrics import adjusted_rand_score

        rng = np.random.default_rng(0)
        one, two = rng.integers(0, 4, 50), rng.integers(0, 6, 50)
        found = agreement(one, two, np.ones(50, np.bool_))
        assert found.rand == pytest.approx(adjusted_rand_score(one, two))
        most = max(np.sum((one == 1) & (two == g)) / np.sum((one == 1) | (two == g)) for g in range(6))
        assert found.jaccard[1] == pytest.approx(most)


def test_large_networks_are_drawn_less_often():
    assert Effort.of(500) == Effort(5, 199, 4)
    assert Effort.of(100_000) == Effort(1, 40, 4)
    assert Effort.of(2_000_000) == Effort(1, 19, 1)


def test_it_is_asked_of_networks_with_links_enough():
    few = Graph.of_edges([0, 1, 2], [1, 2, 0])
    assert QUESTION.why_not(asked(few), Context()) == "it takes 10 links between different nodes"
    lengths = Graph.within(np.random.default_rng(0).random((20, 2)), 0.5)
    assert "distances" in QUESTION.why_not(asked(lengths), Context())
    assert QUESTION.why_not(asked(graph_of(PLANTED)), Context()) == ""


def test_a_study_of_links_asks_it(tmp_path):
    G = nx.karate_club_graph()
    path = tmp_path / "club.csv"
    path.write_text("source,target\n" + "".join(f"m{a},m{b}\n" for a, b in G.edges))
    study = assay.study(assay.read_network(path, directed=False), skip="links")  # which takes longest
    answer = study.answers["communities"]
    assert answer.evidence.verdict == "supported" and answer.modularity == pytest.approx(0.4197896, abs=1e-6)
    assert "m33" in answer.findings()[0].sentence


@pytest.mark.calibrate
@pytest.mark.parametrize("kind", ["even", "heavy", "one way"])
def test_random_networks_are_rarely_called_clustered(kind):
    # at most 5% are claimed: 60 of them with 8 or more have a chance below .01 then, and above .95 at a rate of .22
    claimed = sum(said(random_network(kind, s), seed=s)[0].evidence.verdict == "supported" for s in range(60))
    assert claimed <= 7


@pytest.mark.calibrate
def test_planted_communities_above_the_limit_are_found():
    found = 0
    for seed in range(40):
        G = nx.planted_partition_graph(4, 50, 0.16, 0.04, seed=seed)
        found += said(G, seed=seed)[0].evidence.verdict == "supported"
    assert found >= 36
