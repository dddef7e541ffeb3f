"""A study: what is used, what is found, what is said, and the promise against chance."""

import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import assay
from assay.errors import DataError, ParameterError
from assay.questions.components.test import components
from assay.study.run import study
from assay.study.table import prepare

EVIDENCE_KEYS = ["statistic", "p", "q", "held_out", "interval", "stability", "n", "looks", "method", "verdict", "limit"]


def factor(n, d, seed=0, strength=1.0):
    rng = np.random.default_rng(seed)
    return strength * rng.standard_normal((n, 1)) + rng.standard_normal((n, d))


def write(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    return path


def test_a_common_factor_is_found_and_named(tmp_path):
    X = factor(300, 4)
    path = write(tmp_path, "a,b,c,d\n" + "\n".join(",".join(map(str, row)) for row in X))
    found = study(path)
    first, links, *others = found.findings
    assert [f.kind for f in (links, *others)] == ["correlations", "groups", "anomalies", "map", "order", "order"]
    assert links.sentence.startswith("6 of 6 pairs of columns go together") and links.evidence.verdict == "supported"
    assert {f.evidence.verdict for f in others[:2]} == {"not distinguishable from chance"}
    assert first.evidence.verdict == "supported"
    assert [e.verdict for e in found.answers["components"].tested] == ["supported", "not distinguishable from chance"]
    assert set(first.subject.replace(" and ", ", ").split(", ")) == set("abcd")
    assert first.sentence.startswith("Component 1 is real: ")
    low, high = first.evidence.interval
    # four columns of variance 2 sharing a factor of variance 1: the first eigenvalue is 1 + 3 / 2 of 4
    assert low < 2.5 / 4 < high


@pytest.fixture(scope="module")
def customers(wholesale):
    return study(wholesale)


def test_wholesale_customers_have_two_real_components(customers):
    found = customers
    assert found.data.rows == found.data.rows_used == 440
    assert found.answers["components"].n_real == 2
    assert [e.verdict for e in found.answers["components"].tested[:2]] == ["supported"] * 2
    assert found.findings[0].sentence.startswith("2 directions are real. Together they carry ")
    assert "Detergents_Paper" in found.findings[0].subject and "Grocery" in found.findings[0].subject
    kinds = {column.name: column.kind for column in found.data.columns}
    assert (kinds["Channel"], kinds["Region"], kinds["Fresh"]) == ("category", "category", "count")
    assert "Skewed columns enter as log(1 + x): Fresh, Milk" in found.data.notes[0]


def test_a_category_is_told_by_its_level_and_a_logarithm_by_its_column(customers, wholesale):
    assert "Channel = 2" in customers.findings[0].subject
    assert "log" not in customers.findings[0].sentence
    table, _ = prepare(assay.read(wholesale), log="never")
    assert table.card.notes == ()


def test_the_same_seed_gives_the_same_study(customers, wholesale):
    assert study(wholesale).as_dict() == customers.as_dict()


def test_a_wide_table_goes_through_its_rows():
    rng = np.random.default_rng(1)
    X = 2.0 * rng.standard_normal((60, 1)) * rng.standard_normal(400) + rng.standard_normal((60, 400))
    found = study(X, only="components").answers["components"]
    assert found.n_real >= 1
    assert found.evidence.verdict == "supported"
    assert found.loadings.shape[0] == 400


@pytest.mark.calibrate
def test_at_most_one_study_of_noise_in_twenty_claims_anything():
    rng = np.random.default_rng(2)
    draws = {
        "gaussian": lambda: rng.standard_normal((120, 8)),
        "heavy": lambda: rng.standard_t(3, (120, 8)),
        "discrete": lambda: rng.poisson(0.5, (120, 8)).astype(float),
        "wide": lambda: rng.exponential(size=(40, 80)),
    }
    claims = sum(
        any(f.evidence.verdict == "supported" for f in study(draw(), random_state=i).findings)
        for i in range(20)
        for draw in draws.values()
    )
    # of 80 studies more than 9: a chance of .007 at a true rate of 5%, of .28 at 10%, .97 at 20%; what would notice 10%
    # takes an hour: make calibrate
    assert claims <= 9


def test_what_cannot_be_used_is_set_aside_with_its_reason(tmp_path):
    rng = np.random.default_rng(3)
    lines = ["id,x,y,name,flat,sparse,huge,gone"]
    for i in range(60):
        x, y = rng.standard_normal(2)
        lines.append(f"{i + 1},{x},{'' if i == 5 else y},n{i},7,{i if i < 9 else ''},{1e200 * x},")
    found = study(write(tmp_path, "\n".join(lines) + "\n"), only="components")
    notes = {column.name: column.note for column in found.data.columns if not column.used}
    assert notes == {
        "id": notes["id"],
        "name": notes["name"],
        "flat": notes["flat"],
        "sparse": "51 of 60 values missing",
        "huge": notes["huge"],
        "gone": notes["gone"],
    }
    assert notes["id"].startswith("identifier") and "one value" in notes["flat"]
    assert "squares leave the range" in notes["huge"]


@pytest.mark.parametrize("kept", [1 << 29, 100])
@pytest.mark.parametrize(("missing", "used"), [("fill", 59), ("drop", 58)])
def test_rows_with_gaps_are_filled_or_left_out_and_counted(tmp_path, monkeypatch, missing, used, kept):
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", kept)
    X = np.random.default_rng(3).standard_normal((60, 3)).astype(str)
    X[5, 1], X[9] = "", ""
    found = study(write(tmp_path, "x,y,z\n" + "\n".join(map(",".join, X)) + "\n"), missing=missing, only="components")
    assert (found.data.rows, found.data.rows_used) == (60, used)
    notes = " ".join(found.data.notes)
    assert "1 of 60 rows hold no value in any column in use" in notes
    left_out = "were left out because a value in use is missing or infinite; y lacks the most, 2."
    assert f"1 of 60 rows {left_out if missing == 'drop' else 'have gaps, most in y (2). Pairs of columns'}" in notes


@pytest.mark.slow
def test_values_that_stand_in_invent_no_component():
    rng = np.random.default_rng(8)
    false = 0
    for _ in range(80):
        X = rng.standard_normal((100, 8))
        X[rng.random(X.shape) < 0.2] = np.nan
        table, _ = prepare(assay.read(X))
        false += components(table.columns, rows=table.rows, groups=table.groups).n_real > 0
    # of 80 more than 9: a chance of .007 at a true rate of 5%, of .28 at 10%, .97 at 20%
    assert false <= 9


@pytest.mark.parametrize("kept", [1 << 29, 100])
def test_a_column_that_varies_only_in_rows_left_out_is_set_aside(tmp_path, monkeypatch, kept):
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", kept)
    rng = np.random.default_rng(6)
    lines = ["a,b,c"]
    for i in range(60):
        gap = i % 4 == 0
        lines.append(f"{rng.standard_normal()},{i if gap else 7},{'' if gap else rng.standard_normal()}")
    found = study(write(tmp_path, "\n".join(lines) + "\n"), missing="drop", only="components")
    aside = [column for column in found.data.columns if not column.used]
    assert [(column.name, column.note) for column in aside] == [("b", "constant in the rows in use")]
    assert (found.data.rows_used, found.answers["components"].columns) == (45, ("a", "c"))


def test_rows_that_follow_each_other_are_noted():
    rng = np.random.default_rng(4)
    walks = rng.standard_normal((200, 3)).cumsum(axis=0)
    assert any("Neighbouring rows are alike" in note for note in study(walks, only="components").data.notes)
    assert not study(rng.permutation(walks), only="components").data.notes


def test_columns_can_be_left_out(wholesale):
    found = study(wholesale, drop=["Channel", "Region"], only="components")
    assert found.answers["components"].columns == (
        "Fresh",
        "Milk",
        "Grocery",
        "Frozen",
        "Detergents_Paper",
        "Delicassen",
    )
    with pytest.raises(ParameterError, match="no column 'Chanel' to drop; there are Channel, Region"):
        study(wholesale, drop=["Chanel"])


def test_rows_that_do_not_fit_are_streamed_to_the_same_numbers(customers, wholesale, monkeypatch):
    kept = customers.answers["components"]
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", 1000)
    streamed = study(wholesale, only="components")
    found = streamed.answers["components"]
    np.testing.assert_allclose(found.values, kept.values, rtol=1e-12)
    np.testing.assert_allclose(found.held_out, kept.held_out, rtol=1e-10)
    assert streamed.findings[0].evidence.method == "Tracy-Widom law"
    assert found.scores.shape[0] == 0
    assert found.n_real == kept.n_real


@pytest.mark.parametrize("kept", [1 << 29, 1000])
def test_every_pass_tells_how_far_it_is(tmp_path, monkeypatch, kept):
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", kept)
    path = write(tmp_path, "x,y\n" + "".join(f"{i % 7}.5,{i % 11}\n" for i in range(100_000)))
    told = []
    study(path, only="components", progress=lambda what, rows, fraction: told.append((what, rows, fraction)))
    passes = {what: (rows, fraction) for what, rows, fraction in told if rows is not None}
    assert passes == dict.fromkeys(("Reading", "Looking for gaps", "Summarising"), (100_000, 1.0))


@pytest.mark.parametrize(("n", "d"), [(3, 2), (6, 4), (9, 30), (39, 1), (5, 1)])
def test_too_little_to_test_is_said_not_guessed(n, d):
    found = study(factor(n, d))
    assert {f.evidence.verdict for f in found.findings} == {"not testable here"}
    assert ("at least two" if d == 1 else "too few to tell") in found.findings[0].sentence
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n", "header but no rows"),
        ("x,y\n1,2\n", "has 1 row, 1 of them complete; at least 3"),
        ("name\na\nb\nc\n", "no column that can be used: name"),
        ("x\n5\n5\n5\n", r"no column that can be used: x \(one value in all rows\)"),
        ("x,y\n1,\n,2\n3,\n,4\n", "0 of them complete"),
    ],
)
def test_tables_without_enough_numbers_are_refused(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        study(write(tmp_path, text), missing="drop")


def test_the_json_form_has_the_promised_keys(customers):
    document = customers.as_dict()
    assert list(document) == ["format", "assay", "data", "rows", "ledger", "findings", "answers"]
    for finding in document["findings"]:
        assert list(finding) == [
            "id",
            "kind",
            "subject",
            "line",
            "sentence",
            "evidence",
            "beyond_chance",
            "shown",
            "question",
        ]
        assert list(finding["evidence"]) == EVIDENCE_KEYS
    # four ways in which rows may depend; six numbers, one of two channels, two freedoms of three regions; pairs; 2 to 8
    # groups in two spaces, and peaks of columns, peaks of directions and shapes; rows; map; orders
    assert [question["looks"] for question in document["ledger"]["questions"]] == [4, 9, 28, 17, 440, 1, 2]
    assert list(document["data"]["columns"][0])[:5] == ["name", "kind", "unit", "role", "used"]


def three_groups(n=300, seed=0):
    """Three groups in four columns, one row that belongs to none, and a category that has nothing to do with it."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    X = np.array([[0, 0, 0, 0], [7, 5, 0, -4], [0, 6, 7, 4]])[labels] + rng.standard_normal((n, 4))
    X[17] = [-12.0, 14.0, -12.0, 14.0]
    site = rng.choice(["A", "B", "C"], n)
    lines = ["height,weight,ph,iron,site", *(",".join([*map(str, row), s]) for row, s in zip(X, site, strict=True))]
    return "\n".join(lines), labels


@pytest.fixture(scope="module")
def grouped_study(tmp_path_factory):
    text, labels = three_groups()
    path = tmp_path_factory.mktemp("groups") / "patients.csv"
    path.write_text(text)
    return study(path), labels


def test_groups_and_a_row_that_belongs_to_none_are_found(grouped_study):
    found, labels = grouped_study
    by_kind = {f.kind: f for f in found.findings}
    assert by_kind["groups"].evidence.verdict == by_kind["anomalies"].evidence.verdict == "supported"
    assert by_kind["groups"].sentence.startswith("The rows fall into 3 groups: ")
    assert by_kind["anomalies"].sentence.startswith("1 of 300 rows does not belong: row 18. The farthest, row 18, is ")
    assert adjusted_rand_score(found.answers["groups"].labels, labels) > 0.95


def test_levels_of_a_category_are_no_measurements(grouped_study):
    found, _ = grouped_study
    for name in ("groups", "anomalies"):
        assert found.answers[name].columns == ("height", "weight", "ph", "iron")


def test_rows_read_in_blocks_are_judged_like_rows_in_memory(grouped_study, tmp_path, monkeypatch):
    whole, _ = grouped_study
    path = tmp_path / "patients.csv"
    path.write_text(three_groups()[0])
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", 0)
    read = study(path, only=["groups", "anomalies"])
    assert read.answers["anomalies"].rows.tolist() == whole.answers["anomalies"].rows.tolist() == [17]
    np.testing.assert_array_equal(read.answers["groups"].labels, whole.answers["groups"].labels)


def test_one_column_is_its_own_component_and_not_drawn():
    found = study(np.random.default_rng(0).standard_normal((60, 1)), effort="quick")
    assert found["components"].views() == []


def test_steps_with_names_are_described_by_them(tmp_path):
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    rows = "".join(f"{i},{days[i % 7]}\n" for i in range(140)) + "140,Sunday\n"
    column = study(write(tmp_path, f"x,day\n{rows}"), only="correlations").data.columns[1]
    assert (column.kind, column.typical) == ("ordered", "Monday to Sunday")
    told = column.profile
    assert (told.low, told.median, told.high) == ("Monday", "Thursday", "Sunday")
    assert told.top[0] == ("Sunday", 21) and told.drift_of == "share of Sunday"
    assert told.mean is told.sd is told.zeros is None
