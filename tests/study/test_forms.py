"""Data that are no table are told by their columns, and studied by questions of their own."""

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

import assay
from assay.asking.found import found
from assay.data.read import read
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.study.forms.opened import forms, opened


@pytest.fixture
def links(tmp_path):
    path = tmp_path / "links.csv"
    rng = np.random.default_rng(0)
    rows = sorted({(int(a), int(b)) for a, b in rng.integers(20, size=(60, 2)) if a != b})
    path.write_text("source,target\n" + "".join(f"n{a},n{b}\n" for a, b in rows))
    return path


def test_a_list_of_links_is_a_network_and_the_first_note_says_why(links):
    study = assay.study(str(links))
    assert study.data.form == "network"
    assert study.data.facts[0] == "20 nodes"
    assert "studied as a network" in study.data.notes[0]
    assert "'source' and 'target'" in study.data.notes[0]
    assert {question.form for question in found().questions if question.name in study.answers} == {"network"}


def test_it_is_a_table_where_the_user_says_so_or_speaks_of_columns(links):
    rows = links.parent / "rows.csv"
    values = np.random.default_rng(1).uniform(size=(60, 2))
    rows.write_text("from,to,weight,length\n" + "".join(f"a{i},b{i % 9},{x},{y}\n" for i, (x, y) in enumerate(values)))
    assert opened(str(rows)).form == "network"
    assert assay.study(str(rows), form="table").data.form == "table"
    assert assay.study(str(rows), target="weight").data.form == "table"
    with pytest.raises(ParameterError, match="no columns to say anything of"):
        assay.study(str(links), form="network", target="target")


def test_what_looks_like_a_network_but_cannot_be_one_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text("from,to,value\na,b,1\nb,c,-2\n")
    with pytest.raises(DataError, match="line 3: the weight 'value' is -2.*say form=table to study their rows"):
        assay.study(str(path))


def test_options_of_other_forms_are_refused_and_so_are_unknown_forms(links):
    with pytest.raises(ParameterError, match="there is no form 'graph' of data; there are table, "):
        assay.study(str(links), form="graph")
    with pytest.raises(ParameterError, match="a network is read without 'sheet'"):
        opened(str(links), "network", {"sheet": 1})


@pytest.mark.parametrize(
    "columns",
    [
        {"start": [1, 2, 3], "end": [4, 5, 6]},  # times
        {"source": [0.5, 1.5, 2.5], "target": [1.5, 2.5, 3.5]},  # measurements
        {"source": ["a", "b", "a"], "target": [1, 2, 3], "age": [1, 2, 3], "size": [3, 1, 2]},  # a target to predict
        {"a": [1, 2, 3], "b": [4, 5, 6]},
    ],
)
def test_tables_that_only_might_be_networks_stay_tables(columns):
    assert isinstance(opened(pa.table(columns)), Source)


def test_graphs_are_networks_whatever_made_them():
    network = nx.karate_club_graph()
    for data in (network, assay.read_network(network)):
        assert assay.study(data).data.facts[0] == "34 nodes"


def test_options_of_the_reader_go_to_the_form_that_is_named(links):
    assert "both ways" in opened(str(links), "network", {"directed": False}).card.facts[1]


def test_every_question_is_of_a_form_there_is():
    assert {question.form for question in found().questions} <= {"table", *forms()}


def test_a_source_that_is_open_is_told_by_its_columns_too(links):
    assert opened(read(str(links))).form == "network"
