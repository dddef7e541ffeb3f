"""Networks read from files, tables and other graphs: every way in gives the same graph, and says what it decided."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import io, sparse

from assay.data.read import read
from assay.errors import DataError, ParameterError
from assay.summary.graph.graph import Graph
from assay.summary.network.networks import read_network

SHARED = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data"
shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


def written(folder, text, name="edges.txt", encoding="utf-8"):
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def links(graph):
    """The entries of a graph, by the names of their ends."""
    W = graph.weights.tocoo()
    names = graph.names or tuple(map(str, range(graph.n)))
    return {(names[i], names[j]): w for i, j, w in zip(W.row, W.col, W.data, strict=True)}


@shared
@pytest.mark.parametrize(
    ("file", "nodes", "edges", "directed"),
    [
        ("game_of_thrones/asoiaf-all-edges.csv", 796, 2823, False),
        ("game_of_thrones/asoiaf-book1-edges.csv", 187, 684, False),
        ("web_graphs/hollins_links.csv", 6012, 23875, True),
        ("web_graphs/wiki_vote.csv", 7115, 103689, True),
    ],
)
def test_published_networks_have_their_published_sizes(file, nodes, edges, directed):
    graph = read_network(SHARED / file)
    assert (graph.n, graph.edge_count, graph.directed) == (nodes, edges, directed)
    assert graph.notes[0] == f"{nodes:,} nodes, {edges:,} edges."


@shared
def test_published_facts_of_the_networks_hold():
    pages = read_network(SHARED / "web_graphs/hollins_links.csv")
    assert pages.names == tuple(str(i) for i in range(1, 6013)) and (pages.links == 0).sum() == 3189
    votes = read_network(SHARED / "web_graphs/wiki_vote.csv", directed=False)
    assert votes.edge_count == 100762  # as SNAP counts unordered pairs
    books = read_network(SHARED / "game_of_thrones/asoiaf-all-edges.csv")
    assert links(books)["Addam-Marbrand", "Brynden-Tully"] == 3.0
    assert books.notes[1] == "Links join 'Source' and 'Target' and lead both ways: the column 'Type' says so."
    assert "Columns that are not used: 'id'." in books.notes
    cities = read_network(SHARED / "city_distances/eurodist_km.csv", form="matrix", meaning="distance")
    assert cities.n == 21 and cities.edge_count == 210 and links(cities)["Athens", "Rome"] == 817
    with pytest.raises(DataError, match=r"eurodist_km.csv looks like a square table, not a list of edges; say form="):
        read_network(SHARED / "city_distances/eurodist_km.csv")


EDGES = {("Ann", "Bob"): 2.0, ("Bob", "Cleo"): 0.5, ("Cleo", "Ann"): 1.0}
CSV = "source,target,weight\nAnn,Bob,2\nBob,Cleo,0.5\nCleo,Ann,1\n"


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace(",", " | "),
        CSV.replace(",", "   "),
        CSV.replace(",", " \t "),
        CSV.replace("\n", "\r"),
        CSV.replace("\n", "\r\n"),
        CSV.replace("Ann", '"Ann"'),
        CSV.replace(",", " ").replace("Ann", '"Ann"'),
        "\n\n" + CSV.rstrip("\n"),
        "# a comment\n% another\n" + CSV + "# the last\n",
        CSV.replace("\n", "  \n").replace(",", ", "),
        CSV.split("\n", 1)[1].replace(",", "  "),
        CSV.replace("weight", "Weight ").replace("source", "#From").replace("target", "To"),
        "id,weight,from,to\n1,2,Ann,Bob\n2,0.5,Bob,Cleo\n3,1,Cleo,Ann\n",
    ],
)
def test_every_way_to_write_a_list_gives_the_same_graph(tmp_path, text):
    graph = read_network(written(tmp_path, text), directed=True)
    assert links(graph) == EDGES and graph.names == ("Ann", "Bob", "Cleo")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_names_survive_every_encoding(tmp_path, encoding):
    assert read_network(written(tmp_path, "Zoë,Björn\nBjörn,Åsa\n", encoding=encoding)).names == ("Zoë", "Björn", "Åsa")


def test_packed_lists_are_read(tmp_path):
    (tmp_path / "edges.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    assert links(read_network(tmp_path / "edges.csv.gz")) == EDGES


def frames():
    columns = {"source": [a for a, _ in EDGES], "target": [b for _, b in EDGES], "weight": list(EDGES.values())}
    return [
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype({"source": "category"}),
        pl.DataFrame(columns),
        pa.table(columns),
        read(pa.table(columns)),
        [(a, b, w) for (a, b), w in EDGES.items()],
        sparse.csr_array(([2.0, 0.5, 1.0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3)),
        np.array([[0, 2, 0], [0, 0, 0.5], [1, 0, 0]]),
    ]


@pytest.mark.parametrize("place", range(8))
def test_tables_lists_and_matrices_give_the_same_graph(place):
    data = frames()[place]
    matrix = place >= 6
    graph = read_network(data, directed=True, nodes=["Ann", "Bob", "Cleo"] if matrix else None)
    assert links(graph) == EDGES and graph.names == ("Ann", "Bob", "Cleo")


@given(st.lists(st.tuples(st.integers(-3, 8), st.integers(-3, 8), st.integers(1, 5)), min_size=1, max_size=40))
def test_a_directed_list_adds_up_to_scipys_matrix(edges):
    graph = read_network(edges, directed=True)
    nodes = sorted({end for a, b, _ in edges for end in (a, b)})
    assert graph.names == tuple(map(str, nodes))
    rows, cols = ([nodes.index(edge[i]) for edge in edges] for i in (0, 1))
    oracle = sparse.coo_array(([w for _, _, w in edges], (rows, cols)), shape=(len(nodes), len(nodes)))
    np.testing.assert_array_equal(graph.weights.toarray(), oracle.toarray())
    assert graph.edge_count == len({(a, b) for a, b, _ in edges})


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.integers(1, 5)), min_size=1))
def test_an_undirected_list_does_not_depend_on_the_order_of_edges_or_ends(edges):
    graph = links(read_network(edges))
    assert links(read_network(edges[::-1])) == graph
    assert links(read_network([(b, a, w) for a, b, w in edges])) == graph
    assert links(Graph.of_edges(*zip(*edges, strict=True))) == graph


def test_undirected_edges_given_both_ways_count_once_and_repeated_ones_add_up():
    graph = read_network([("a", "b", 3), ("b", "a", 3), ("a", "c", 1), ("a", "c", 1), ("c", "a", 5), ("c", "c", 2)])
    assert links(graph) == {
        ("a", "b"): 3, ("b", "a"): 3, ("a", "c"): 5, ("c", "a"): 5, ("c", "c"): 2,
    }  # fmt: skip
    assert graph.edge_count == 3
    assert graph.notes[3:] == (
        "Edges that repeat another; their sum counts: 1.",
        "Edges from a node to itself, kept: 1.",
        "Edges given both ways, counted once: 2.",
        "Edges given both ways with different weights, of which the larger weight counts: 1.",
    )


def test_of_distances_the_least_counts_and_zero_is_one():
    graph = read_network([("a", "b", 3), ("a", "b", 2), ("b", "a", 4), ("b", "c", 0)], meaning="distance")
    assert links(graph) == {("a", "b"): 2, ("b", "a"): 2, ("b", "c"): 0, ("c", "b"): 0}
    assert graph.meaning == "distance"


def test_edges_of_weight_zero_are_left_out_and_told():
    graph = read_network([("a", "b", 1), ("b", "c", 0)])
    assert links(graph) == {("a", "b"): 1, ("b", "a"): 1} and graph.names == ("a", "b", "c")
    assert "Edges of weight zero, left out: 1." in graph.notes


@pytest.mark.parametrize(
    ("text", "directed", "why"),
    [
        ("source,target\n1,2\n", True, "the columns are called 'source' and 'target'"),
        ("From,To\n1,2\n", True, "the columns are called 'From' and 'To'"),
        ("Source,Target,Type\n1,2,Undirected\n", False, "the column 'Type' says so"),
        ("Source,Target,Type\n1,2,Directed\n", True, "the column 'Type' says so"),
        ("source,target,type\n1,2,friend\n", True, "the columns are called 'source' and 'target'"),
        ("# Directed graph (each unordered pair of nodes is saved once)\n1\t2\n", True, "a comment in the file says"),
        ("# Undirected graph: dblp\n# FromNodeId ToNodeId\n1\t2\n", False, "a comment in the file says 'undirected'"),
        ("% asym unweighted\n1 2\n", True, "a comment in the file says 'asym'"),
        ("1 2\n", False, "nothing says that they lead one way; say directed=True if they do"),
        ("person,friend\n1,2\n", False, "nothing says"),
    ],
)
def test_what_says_that_edges_lead_one_way(tmp_path, text, directed, why):
    graph = read_network(written(tmp_path, text))
    assert graph.directed == directed and why in graph.notes[1] and graph.n == 2
    assert read_network(written(tmp_path, text), directed=not directed).directed != directed


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("1 2 5\n", 5),
        ("1 2 5 1082040961\n", 5),
        ("1 2 word\n", 1),
        ("from,to,messages\n1,2,5\n", 5),
        ("from,to,year\n1,2,1999\n", 1),
        ("from,to,id,book\n1,2,7,8\n", 1),
        ("from,to,book,strength\n1,2,7,5\n", 5),
        ("1,2,1e-300\n", 1e-300),
        ("1,2,1e300\n", 1e300),
    ],
)
def test_which_column_holds_the_weights(tmp_path, text, weight):
    assert set(links(read_network(written(tmp_path, text))).values()) == {weight}
    assert set(links(read_network(written(tmp_path, text), weighted=False)).values()) == {1}


def test_columns_can_be_named(tmp_path):
    path = written(tmp_path, "id,who,whom,talks,mails\n1,a,b,2,3\n2,b,c,4,5\n")
    graph = read_network(path, source="whom", target="who", weight="mails", directed=True)
    assert links(graph) == {("b", "a"): 3, ("c", "b"): 5}
    assert "Columns that are not used: 'id', 'talks'." in graph.notes


def test_names_are_names_whatever_they_look_like(tmp_path):
    graph = read_network(written(tmp_path, "7,007\nNA,7\nnull,nan\n1e3,1000\n"))
    assert graph.names == ("7", "007", "NA", "null", "nan", "1e3", "1000") and graph.edge_count == 4
    many = "".join(f"{i},{i + 1}\n" for i in range(300_000))
    late = read_network(written(tmp_path, many + "x17,5\n"))
    assert late.n == 300_002 and late.names[-1] == "x17" and late.names[10] == "10"


def test_numbers_come_in_their_order_and_names_as_they_appear(tmp_path):
    assert read_network(written(tmp_path, "10 9\n2 10\n-1 9\n")).names == ("-1", "2", "9", "10")
    huge = read_network(written(tmp_path, "9007199254740993 9007199254740992\n"))
    assert huge.names == ("9007199254740992", "9007199254740993")
    assert read_network(written(tmp_path, "b z\na b\n")).names == ("b", "z", "a")
    assert read_network(np.array([[5.0, 1.0], [1.0, 3.0], [3.0, 9.0]])).names == ("1", "3", "5", "9")


def test_names_with_blanks_commas_and_markup_stay_whole(tmp_path):
    graph = read_network(written(tmp_path, '"New York","Paris, France"\n"<script>","New York"\n'))
    assert graph.names == ("New York", "Paris, France", "<script>")
    assert read_network(written(tmp_path, '"New York" Rome 2\nRome Oslo 1\n')).names == ("New York", "Rome", "Oslo")


def test_hashtags_are_no_comments(tmp_path):
    assert read_network(written(tmp_path, "#python,#java\n#java,#c\n")).names == ("#python", "#java", "#c")


def test_a_first_line_of_names_is_recognised_or_said(tmp_path):
    path = written(tmp_path, "person,friend\nAnn,Bob\n")
    assert read_network(path).n == 4
    assert read_network(path, header=True).names == ("Ann", "Bob")
    assert read_network(written(tmp_path, "node,mate\n1,2\n")).n == 2
    assert read_network(written(tmp_path, "source,target\n1,2\n"), header=False).n == 4


def test_nodes_without_edges_are_named(tmp_path):
    path = written(tmp_path, "2 1\n")
    graph = read_network(path, nodes=[1, 2, 3])
    assert graph.names == ("1", "2", "3") and graph.degree.tolist() == [1, 1, 0]
    with pytest.raises(DataError, match=r"edges.txt, line 1: '2' is not among the nodes; add it to nodes="):
        read_network(path, nodes=["1", "3"])
    with pytest.raises(DataError, match=r"the node '1' is named twice"):
        read_network(path, nodes=["1", 1, "2"])


def test_a_matrix_file_is_read(tmp_path):
    W = sparse.random_array((6, 6), density=0.4, rng=np.random.default_rng(1))
    io.mmwrite(tmp_path / "a.mtx", W)
    graph = read_network(tmp_path / "a.mtx")
    assert graph.directed and "the matrix is not symmetric" in graph.notes[1]
    np.testing.assert_allclose(graph.weights.toarray(), W.toarray())
    io.mmwrite(tmp_path / "b.mtx", W + W.T, symmetry="symmetric")
    both = read_network(tmp_path / "b.mtx", nodes="abcdef".__iter__())
    assert not both.directed and both.names == tuple("abcdef")
    (tmp_path / "c.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    assert links(read_network(tmp_path / "c.mtx")) == {("0", "1"): 1}
    (tmp_path / "d.mtx").write_text("no matrix")
    with pytest.raises(DataError, match=r"cannot read .*d.mtx as a Matrix Market file"):
        read_network(tmp_path / "d.mtx")
    io.mmwrite(tmp_path / "e.mtx", np.ones((2, 3)))
    with pytest.raises(DataError, match=r"e.mtx has shape \(2, 3\); the matrix of a network is square"):
        read_network(tmp_path / "e.mtx")


def test_what_a_matrix_file_claims_is_compared_with_its_bytes_first(tmp_path):
    for size, message in (
        ("coordinate real general\n1000000000 1000000000 1\n1 1 1\n", "it has 1,000,000,000 nodes with 1 links, and"),
        ("coordinate real general\n3 3 1000000000\n1 1 1\n", "it ends before its 1,000,000,000 entries; write or copy"),
        ("array real general\n100000 100000\n1\n", "it ends before its 5,000,000,000 entries; write or copy it again"),
    ):
        (tmp_path / "f.mtx").write_text(f"%%MatrixMarket matrix {size}")
        with pytest.raises(DataError, match=f"cannot read .*f.mtx as a Matrix Market file: {message}"):
            read_network(tmp_path / "f.mtx")


@pytest.mark.parametrize(
    "text",
    [
        "name,a,b,c\na,0,1,0\nb,1,0,2.5\nc,0,2.5,0\n",
        ",a,b,c\na,0,1,\nb,1,,2.5\nc,,2.5,\n",
        "a b c\n0 1 0\n1 0 2.5\n0 2.5 0\n",
        '"a" "b" "c"\n"a" 0 1 0\n"b" 1 0 2.5\n"c" 0 2.5 0\n',
        "name,a,b,c\nb,1,0,2.5\na,0,1,0\nc,0,2.5,0\n",
    ],
)
def test_square_tables_with_names_are_matrices_if_said_so(tmp_path, text):
    graph = read_network(written(tmp_path, text), form="matrix")
    assert graph.names == ("a", "b", "c") and not graph.directed
    np.testing.assert_array_equal(graph.weights.toarray(), [[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]])


def test_square_tables_with_numbers_for_names_or_none_are_matrices_too(tmp_path):
    numbered = read_network(written(tmp_path, ",1,2\n1,0,3\n2,0,0\n"), form="matrix")
    assert numbered.names == ("1", "2") and links(numbered) == {("1", "2"): 3}
    plain = read_network(written(tmp_path, "0 3\n0 0\n"), form="matrix")
    assert plain.names is None and links(plain) == {("0", "1"): 3}
    framed = read_network(pd.DataFrame([[0, 3], [0, 0]], columns=["x", "y"]), form="matrix")
    assert links(framed) == {("x", "y"): 3}


class Drawn:
    """What networkx graphs have."""

    def __init__(self, nodes, edges, directed):
        self.nodes, self._edges, self._directed = nodes, edges, directed

    def is_directed(self):
        return self._directed

    def edges(self, data, default):
        return [(u, v, more.get(data, default)) for u, v, more in self._edges]


def test_graphs_of_networkx_are_read():
    edges = [("a", 1, {"weight": 2.5, "km": 3}), (1, "c", {})]
    graph = read_network(Drawn(["a", 1, "alone", "c"], edges, directed=True))
    assert graph.names == ("a", "1", "alone", "c") and graph.directed
    assert links(graph) == {("a", "1"): 2.5, ("1", "c"): 1}
    far = read_network(Drawn(["a", 1, "c"], edges, directed=False), weight="km")
    assert links(far)["a", "1"] == 3 and not far.directed
    assert read_network(Drawn(["a"], [], directed=False)).n == 1


def test_a_graph_stays_itself():
    graph = Graph.of_edges([0], [1])
    assert read_network(graph) is graph


def test_bad_edges_are_refused_with_their_line(tmp_path):
    def refused(text, message, **options):
        with pytest.raises(DataError, match=message):
            read_network(written(tmp_path, text), **options)

    refused("# note\na b 1\n\nb c nan\n", r"edges.txt, line 4: the weight 'column 3' is missing, but weights are")
    refused("from,to,weight\na,b,1\nb,c,\n", r"line 3: the weight 'weight' is '', but weights are finite numbers")
    refused("from,to,weight\na,b,1\nb,c,x\n", r"line 3: the weight 'weight' is 'x', .* with weighted=False")
    refused("a b 1\nb c -2\n", r"line 2: the weight 'column 3' is -2.0, but weights are finite numbers, none negative")
    refused("a b 1\nb c inf\n", r"line 2: the weight 'column 3' is inf")
    refused("from,to\na,b\nb,\n", r"line 3: 'to' is empty; an edge needs both ends, and nodes without edges")
    refused("a b 1\nb c\nc d 1\nd e 1\n", r"line 2 has 2 values where 3 are expected; repair the line")
    refused("a\nb\n", r"an edge needs two names, but its lines hold one")
    refused("\n\n", r"it holds no edges")
    refused("from,to\n", r"edges.txt holds no edges; name the nodes with nodes=")
    refused("1 2\n", r"edges.txt has no column of weights; name it with weight=", weighted=True)
    refused("Source,Target,Type\n1,2,Directed\n1,3,Undirected\n", r"calls some edges directed and others not; say dir")
    refused("a,b,c\n1,2,3\n", r"has 1 rows and 3 columns; the matrix of a network is square", form="matrix")
    refused(",a,b\na,1,2\nc,3,4\n", r"has a row 'c' that is not the name of one column", form="matrix")
    refused(",a,b\na,1,2\nb,3,x\n", r"edges.txt, line 3: 'x' in column 'b' is not a number", form="matrix")
    refused(",a,b\na,1,2\nb,-3,4\n", r"the edge from node 1 to node 0 has -3.0", form="matrix")
    with pytest.raises(DataError, match=r"there is no such file"):
        read_network(tmp_path / "none.csv")
    with pytest.raises(DataError, match=r"row 2: 'target' is empty"):
        read_network(pa.table({"source": [1, 2], "target": [2, None]}))
    with pytest.raises(DataError, match=r"row 1: 'from' is 1.5, but nodes are named by text or whole numbers"):
        read_network(pa.table({"from": [1.5], "to": [2.0]}))
    with pytest.raises(DataError, match=r"row 2: the weight 'weight' is missing"):
        read_network(pa.table({"from": ["a", "b"], "to": ["b", "c"], "weight": [1.0, None]}))


def test_wrong_questions_are_refused(tmp_path):
    path = written(tmp_path, CSV)
    with pytest.raises(ParameterError, match=r"there is no column 'km' in edges.txt; there are source, target, weight"):
        read_network(path, weight="km")
    with pytest.raises(ParameterError, match=r'form must be "edges" or "matrix", is \'list\''):
        read_network(path, form="list")
    with pytest.raises(ParameterError, match=r"weighted=False leaves weights out, but weight='weight' names them"):
        read_network(path, weighted=False, weight="weight")
    with pytest.raises(ParameterError, match=r"header is about text files; leave it out"):
        read_network([("a", "b")], header=True)
    with pytest.raises(ParameterError, match=r"nodes is a list of names, not one text"):
        read_network(path, nodes="Ann")
    for wrong in ([], ["ab", "cd"], [("a", "b"), ("a", "b", 1)], [("a",)], [1, 2]):
        with pytest.raises(DataError, match=r"the list of edges must hold \(from, to\) or \(from, to, weight\)"):
            read_network(wrong)
    with pytest.raises(DataError, match=r"row 1: the weight 'weight' is 'heavy'"):
        read_network([("a", "b", "heavy")], weighted=True)
    with pytest.raises(DataError, match=r"weights are real numbers"):
        read_network(np.eye(2) * 1j)
    with pytest.raises(DataError, match=r"an undirected graph needs symmetric weights. Say directed=True"):
        read_network(np.array([[0, 1], [0, 0]]), directed=False)


MARKET = "%%MatrixMarket matrix coordinate real general\n"
DAMAGED = {
    "a zero byte": MARKET + "3 3 2\n1 2 0\0.5\n2 3 1\n",  # SciPy's reader ends the process
    "a last line without its end": MARKET + "3 3 2\n1 2 0.5\n2 3" + "\udcff" * 20,  # this one, too
    "more entries than bytes": MARKET + "3 3 1000000000000\n1 1 0.5\n",
    "more nodes than memory": MARKET + "99999999999 99999999999 1\n1 1 0.5\n",
    "a whole matrix without values": "%%MatrixMarket matrix array real general\n99999999 99999999\n1\n",
    "bytes that are no text": "%%MatrixMarket matrix coordinate \udcff general\n3 3 1\n1 2 1\n",
    "too few lines": MARKET + "3 3 5\n1 2 0.5\n",
    "a node that is not there": MARKET + "3 3 1\n1 9 0.5\n",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_matrix_is_refused_in_one_sentence(name, packed, tmp_path):
    content = DAMAGED[name].encode("utf-8", "surrogateescape")
    path = tmp_path / ("m.mtx.gz" if packed else "m.mtx")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataError, match=r"cannot read .* as a Matrix Market file: [^\n]+$"):
        read_network(path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_matrix_may_have_comments_of_any_sort_and_no_last_line_end(packed, tmp_path):
    text = (MARKET + "% Z\N{LATIN SMALL LETTER U WITH DIAERESIS}rich\n\n%\n3 3 2\n1 2 5e-1\n2 3 4").encode()
    path = tmp_path / ("m.mtx.gz" if packed else "m.mtx")
    path.write_bytes(gzip.compress(text) if packed else text)
    np.testing.assert_array_equal(read_network(path).degree, [0.5, 4.0, 0.0])


def test_a_packed_matrix_that_ends_too_early_is_refused(tmp_path):
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress((MARKET + "3 3 1\n1 2 0.5\n").encode())[:-9])
    with pytest.raises(DataError, match="Matrix Market file: the gzip data are damaged or end too early"):
        read_network(tmp_path / "m.mtx.gz")
