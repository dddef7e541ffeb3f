"""Themes of texts as a question: asked of texts only, quiet elsewhere, sure of topics, not of random words."""

import numpy as np
import polars as pl
import pytest

import assay
from assay.asking.question import Context
from assay.questions.themes import QUESTION
from assay.questions.themes.test import LIMIT, _picked, text_themes
from assay.study.gather import gathered
from assay.study.table import prepare

WORDS = np.array([a + b for a in ("ba", "ke", "li", "mo", "nu", "pa", "ri", "so") for b in ("ra", "ten", "lis", "dok")])


def texts(n=240, topics=0, seed=0, length=10):
    rng = np.random.default_rng(seed)
    base = 1.0 / np.arange(2.0, len(WORDS) + 2)
    base /= base.sum()
    laws = [rng.permutation(base) for _ in range(max(topics, 1))]
    kind = np.arange(n) % max(topics, 1)
    told = [" ".join(rng.choice(WORDS, length, p=0.8 * laws[k] + 0.2 * base if topics else base)) for k in kind]
    return told, kind


def table(frame, **options):
    return gathered(prepare(assay.read(frame), **options)[0], frozenset(), 0).of(QUESTION)


def test_topics_are_supported_with_their_words_and_drawn_without_the_texts():
    told, kind = texts(topics=3)
    frame = pl.DataFrame({"note": told, "kind": [["first", "second", "third"][k] for k in kind]})
    answer = QUESTION.ask(table(frame), Context())
    (column,) = answer.columns
    assert [theme.evidence.verdict for theme in column.tested[:2]] == ["supported", "supported"]
    assert len(column.having("supported")) == 2
    assert column.tested[0].towards and column.tested[0].away
    assert column.label == "kind" and set(column.labels) == {"first", "second", "third"}
    middle = np.array(
        [column.places[np.array(column.labels) == name].mean(axis=0) for name in sorted(set(column.labels))]
    )
    within = max(column.places[np.array(column.labels) == name].std(axis=0).max() for name in set(column.labels))
    apart = [np.linalg.norm(middle[i] - middle[j]) for i in range(3) for j in range(i)]
    assert min(apart) > within
    (finding,) = answer.findings()
    assert "The texts in note share 2 themes" in finding.sentence
    assert "more along the weakest of them than chance gives" in finding.sentence
    (view,) = answer.views()
    page = (
        view.numbers
        + view.caption
        + finding.inside
        + str(view.figure.to_json_string() if hasattr(view.figure, "to_json_string") else "")
    )
    assert not any(text in page for text in told)
    assert answer.as_dict()["numbers"]["columns"][0]["themes"][0]["towards"]


def test_random_words_share_nothing():
    """Of eight columns at most two are claimed: a rate of .05 gives more with a chance of .006, one of .5 with .86."""
    answers = [
        QUESTION.ask(table(pl.DataFrame({"note": texts(150, seed=seed)[0]})), Context(seed=seed)) for seed in range(8)
    ]
    silent = [answer for answer in answers if answer.columns[0].best == "not distinguishable from chance"]
    assert sum(answer.columns[0].best == "supported" for answer in answers) <= 2
    assert len(silent) >= 5
    assert "The texts in note share no theme that shows" in silent[0].findings()[0].sentence
    assert not silent[0].headline("supported")
    assert silent[0].views()[0].figure is None


def test_a_table_without_texts_is_not_asked_and_its_ledger_is_silent():
    numbers = pl.DataFrame({"x": np.arange(12.0) ** 1.5})
    assert not QUESTION.concerns(table(numbers))
    found = assay.study(numbers)
    assert "themes" not in found.answers
    assert QUESTION.wording not in [one.question for one in found.ledger.not_asked]


def test_dropped_and_sensitive_columns_and_targets_are_not_read():
    told, _ = texts(60)
    frame = pl.DataFrame({"note": told, "other": texts(60, seed=1)[0], "x": np.arange(60.0) ** 1.1})
    assert set(table(frame).texts) == {"note", "other"}
    assert set(table(frame, drop=["note"]).texts) == {"other"}
    source = assay.read(frame, sensitive=["note"])
    assert set(prepare(source)[0].texts) == {"other"}
    assert set(prepare(assay.read(frame), outcomes=frozenset({"note"}))[0].texts) == {"other"}


def test_only_texts_of_rows_in_use_are_read():
    told, _ = texts(60)
    frame = pl.DataFrame({"note": told, "x": [None if i % 3 == 0 else float(i) ** 1.1 for i in range(60)]})
    kept = prepare(assay.read(frame), missing="drop")[0]
    assert list(kept.texts["note"]()) == [text for i, text in enumerate(told) if i % 3]


def test_two_columns_of_texts_count_twice():
    frame = pl.DataFrame({"note": texts(topics=2)[0], "other": texts(seed=5)[0]})
    answer = QUESTION.ask(table(frame), Context())
    assert answer.looks == 2 and "every p times 2" in answer.rule
    first = answer.columns[0].tested[0].evidence
    assert first.q == pytest.approx(2 * first.p)
    assert answer.evidence.p == min(column.tested[0].evidence.p for column in answer.columns)
    stricter = answer.stricter(1e6, 0.05)
    assert not stricter.headline("supported") and not stricter.headline("suggestive")


def test_texts_that_depend_on_each_other_are_suggestive_at_most_and_few_are_not_tested():
    told, _ = texts(topics=2)
    subject = np.repeat(np.arange(60), 4)
    frame = pl.DataFrame(
        {"subject": subject, "note": told, "x": subject + np.random.default_rng(0).normal(0, 0.01, 240)}
    )
    kept = gathered(prepare(assay.read(frame), told=_by("subject"))[0], frozenset(), 0).of(QUESTION)
    answer = text_themes(kept)
    assert answer.columns[0].best == "suggestive"
    assert answer.columns[0].tested[0].evidence.limit == LIMIT
    few = QUESTION.ask(table(pl.DataFrame({"note": told[:12]})), Context())
    assert few.columns[0].best == "not testable here"
    assert "cannot be told" in few.findings()[0].sentence
    assert few.stricter(2.0, 0.05).columns[0].best == "not testable here"


def _by(column):
    from assay.study.row_dependence.rows import Told

    return Told(None, column, ())


def test_a_folder_of_texts_is_asked_by_its_files(tmp_path):
    told, kind = texts(240, topics=2, seed=1)
    for i, (text, k) in enumerate(zip(told, kind, strict=True)):
        (tmp_path / f"part{k}").mkdir(exist_ok=True)
        (tmp_path / f"part{k}" / f"{i:03d}.txt").write_text(text)
    kept = gathered(prepare(assay.read(tmp_path))[0], frozenset(), 0).of(QUESTION)
    assert list(kept.texts) == [tmp_path.name]
    answer = QUESTION.ask(kept, Context())
    assert answer.columns[0].best == "supported"
    assert answer.columns[0].label == "label"


def test_a_large_collection_is_sampled_fairly_with_the_rows_of_the_first_look():
    class Look:
        rows = np.arange(7, 50_000, 31) + 1

    picked = _picked(np.arange(50_000), Look, 0)
    assert len(picked) == len(np.unique(picked)) == 20_000
    assert np.isin(Look.rows - 1, picked).all()
    # fair: halves of the data have as many, within five standard deviations
    assert abs((picked < 25_000).sum() - 10_000) < 5 * np.sqrt(20_000 * 0.25)


@pytest.mark.calibrate
def test_false_claims_stay_below_the_level():
    """Of 60 columns of random words at most 7: a rate of .05 gives more with a chance of .007, one of .2 with .92."""
    hits = 0
    for seed in range(60):
        told = texts(200, seed=seed, length=3 + seed % 20)[0]
        hits += QUESTION.ask(table(pl.DataFrame({"note": told})), Context(seed=seed)).columns[0].best == "supported"
    assert hits <= 7
