import json

import numpy as np
import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.errors import DataError, ParameterError


@pytest.fixture
def csv(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, 3))
    price = 10 + 3 * x[:, 0] + rng.standard_normal(120)
    sold = np.where(x[:, 1] + 0.5 * rng.standard_normal(120) > 0, "yes", "no")
    lines = [
        f"{a:.4f},{b:.4f},{c:.4f},{p:.3f},{s},item {i}"
        for i, ((a, b, c), p, s) in enumerate(zip(x, price, sold, strict=True))
    ]
    lines[5] = lines[5].replace(f"{price[5]:.3f}", "")
    path = tmp_path / "t.csv"
    path.write_text("size,age,colour,price,sold,name\n" + "\n".join(lines) + "\n")
    return path


def finding(study, kind):
    return next(f for f in study.findings if f.kind == kind)


def test_a_number_is_predicted_first_and_rows_without_it_are_counted(csv):
    study = assay.study(csv, target="price")
    found = study.findings[0]
    assert found.kind == "prediction" and found.evidence.verdict == "supported" and "size" in found.subject
    assert any("1 of 120 rows lack price and were left out" in note for note in study.data.notes)
    assert study.answers["prediction"].truth.shape == (119,)
    assert any(look.question == "Can price be predicted?" for look in study.ledger.questions)


def test_the_other_questions_are_asked_of_the_other_columns(csv):
    study = assay.study(csv, target="sold", only=["prediction", "components", "correlations"])
    assert not any("sold" in column for column in study.answers["components"].columns)
    assert "sold" in study.answers["correlations"].found.columns
    with pytest.raises(DataError, match="'a' is the only column in use: there is nothing to predict it from"):
        assay.study({"a": [0.5, 1.5, 2.25, 4.0] * 10}, target="a")


def test_classes_are_predicted_under_their_names(csv):
    found = assay.study(csv, target="sold", only="prediction").answers["prediction"]
    assert set(found.classes) == {"yes", "no"} and found.right > 0.75
    true = np.array(found.classes)[found.truth.astype(int)]
    written = [line.split(",")[4] for line in csv.read_text().splitlines()[1:]]
    assert true.tolist() == written


def test_the_page_and_the_json_tell_what_can_be_predicted(csv, tmp_path):
    page, findings = tmp_path / "r.html", tmp_path / "r.json"
    result = CliRunner().invoke(app, ["report", str(csv), "--target", "sold", "-o", str(page), "--json", str(findings)])
    assert result.exit_code == 0, result.output
    assert "sold can be predicted" in " ".join(result.output.split())
    assert json.loads(findings.read_text())["findings"][0]["kind"] == "prediction"
    html = page.read_text()
    assert "What the prediction rests on" in html and "Which classes are taken for which" in html


def test_a_target_that_cannot_be_one_is_refused_with_the_reason(csv, tmp_path):
    with pytest.raises(ParameterError, match="no column 'prize' to be predicted; there are size"):
        assay.study(csv, target="prize")
    with pytest.raises(DataError, match="'name' cannot be predicted: it is a column of"):
        assay.study(csv, target="name")
    result = CliRunner().invoke(app, ["report", str(csv), "--target", "prize", "-o", str(tmp_path / "x.html")])
    assert result.exit_code == 2 and not (tmp_path / "x.html").exists()


def test_two_sets_of_columns_are_asked_whether_they_go_together(csv, tmp_path):
    page = tmp_path / "s.html"
    command = ["report", str(csv), "--side", "price", "--side", "sold", "--only", "canonical", "-o", str(page)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    told = " ".join(result.output.split())
    assert "price, sold and the other columns go together in" in told
    assert "What carries pair 1" in page.read_text()
    with pytest.raises(ParameterError, match="no column 'prize' in use to be on one side"):
        assay.study(csv, side=["prize"])


def predicted_classes(columns, target):
    """The class of each row as the prediction names it."""
    found = assay.study(columns, target=target, only="prediction").answers["prediction"]
    return np.array(found.classes)[found.truth.astype(int)].tolist(), found.classes


def numbers(n=120):
    return {"x": np.random.default_rng(0).standard_normal(n), "z": np.random.default_rng(1).standard_normal(n)}


@pytest.mark.parametrize(
    ("target", "levels"),
    [
        ("kind", ["kind = a", "a", "kind ="]),  # looks like the name of an indicator
        ("kind", ["a = b", "b"]),
        ("kind", ["kind", "kind (2)"]),
        ("yes", ["no", "perhaps"]),  # a column that is called like a level
        ("yes", ["yes", "no"]),
        ("sold", ["TRUE", "FALSE"]),  # in the words of the column
    ],
)
def test_classes_keep_the_names_that_the_data_give_them(target, levels):
    written = [levels[i * i % 7 % len(levels)] for i in range(120)]
    told, classes = predicted_classes({**numbers(), target: written}, target)
    assert told == written and set(classes) == set(levels)


def test_classes_keep_their_names_where_two_columns_would_name_a_number_alike():
    # "a" with the level "b = c" and "a = b" with the level "c": both numbers would be called a = b = c
    written = [("c", "d", "e")[i % 3] for i in range(120)]
    other = [("b = c", "b = d", "f")[i // 40] for i in range(120)]
    told, classes = predicted_classes({**numbers(), "a": other, "a = b": written}, "a = b")
    assert told == written and set(classes) == {"c", "d", "e"}


def test_rare_levels_are_one_class_and_the_one_beside_them_keeps_its_name():
    rng = np.random.default_rng(2)
    written = np.array(["common"] * 2000, dtype=object)
    rare = rng.choice(2000, 24, replace=False)
    written[rare] = [f"rare {i}" for i in range(6)] * 4
    told, classes = predicted_classes({**numbers(2000), "kind": written.tolist()}, "kind")
    assert classes == ("common", "other (6 levels)")
    assert [name == "common" for name in told] == (written == "common").tolist()


def test_yes_and_no_without_words_are_called_so():
    truth = [i % 3 == 0 for i in range(120)]
    told, classes = predicted_classes({**numbers(), "flag": truth}, "flag")
    assert classes == ("no", "yes") and told == ["yes" if one else "no" for one in truth]
