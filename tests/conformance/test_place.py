"""The rule of place: a shared room keeps what two or more use."""

import pytest
from tools.place import ARGUED, alone, main, problems, recurring


@pytest.fixture
def house(tmp_path):
    """A small assay: files by their path, with what they import."""

    def built(files):
        for path, text in files.items():
            file = tmp_path / "assay" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return built


def test_every_module_of_a_shared_room_has_two_users_or_an_argument():
    assert problems(alone(), ARGUED) == []


def test_a_module_with_one_user_is_named_with_its_user(house):
    source = house(
        {
            "summary/graph/walk.py": "",
            "models/network/rank/rank.py": "from assay.summary.graph.walk import steps",
            "models/network/rank/power.py": "from assay.summary.graph import walk",
        }
    )
    found = alone(source, {})
    assert found == {"assay.summary.graph.walk": {"assay.models.network.rank"}}
    (said,) = problems(found, {})
    assert said.startswith("assay.summary.graph.walk: only assay.models.network.rank uses it; move it there")


def test_two_methods_are_two_users_and_the_public_is_one(house):
    source = house(
        {
            "linalg/dense/qr.py": "",
            "models/network/rank.py": "import assay.linalg.dense.qr",
            "models/network/links.py": "from assay.linalg.dense.qr import qr",
            "optimize/ball.py": "",
            "models/anomaly/svdd/svdd.py": "from assay.optimize.ball import ball",
        }
    )
    assert alone(source, {}) == {"assay.optimize.ball": {"assay.models.anomaly.svdd"}}
    assert alone(source, {"ball": "assay.optimize.ball"}) == {}


def test_a_module_that_only_its_shelf_imports_has_the_users_of_the_shelf(house):
    source = house(
        {
            "linalg/eigen/ritz.py": "",
            "linalg/eigen/top.py": "from assay.linalg.eigen.ritz import ritz",
            "models/components/pca.py": "from assay.linalg.eigen.top import top",
            "models/components/lsi.py": "from assay.linalg.eigen.top import top",
            "linalg/eigen/one.py": "from assay.linalg.eigen.other import other",
            "linalg/eigen/other.py": "from assay.linalg.eigen.one import one",
        }
    )
    assert alone(source, {}) == {"assay.linalg.eigen.one": set(), "assay.linalg.eigen.other": set()}


def test_a_name_that_a_package_passes_on_counts_for_the_module_that_defines_it(house):
    source = house(
        {
            "linalg/__init__.py": "from assay.linalg.dense.qr import qr",
            "linalg/dense/qr.py": "",
            "models/components/pca.py": "from assay.linalg import qr",
        }
    )
    assert alone(source, {}) == {}


def test_an_argument_that_is_not_needed_is_told():
    assert problems({}, {"assay.linalg.gone": "why"}) == [
        "assay.linalg.gone has other users, or is gone: take it out of ARGUED in tools/place.py"
    ]


def test_names_that_recur_are_listed_for_information(house, capsys):
    source = house({f"{room}/tree.py": "class Tree: ..." for room in ("data", "engine", "views", "study")})
    modules = [f"assay.{room}.tree" for room in ("data", "engine", "study", "views")]
    assert recurring(source) == ({"tree.py": modules}, {"Tree": modules})
    assert main(["--names"]) == 0
    assert "columns.py: " in capsys.readouterr().out
