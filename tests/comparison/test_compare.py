"""Two tables compared: what is found, what is not, and what every input gets for an answer."""

import json

import numpy as np
import pandas as pd
import pytest

import assay
from assay.errors import AssayError, DataError, ParameterError

RNG = np.random.default_rng(1)


def frame(n=200, seed=0, **more):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.standard_normal((n, 3)), columns=["x", "y", "z"])
    return table.assign(c=rng.choice(list("abc"), n), **{name: make(rng, n) for name, make in more.items()})


def supported(found):
    return {(finding.kind, finding.subject) for finding in found.differences}


@pytest.fixture(scope="module")
def same():
    return assay.compare(frame(seed=1), frame(seed=2))


def test_tables_from_one_source_do_not_differ(same):
    assert not same.differs
    assert {finding.evidence.verdict for finding in same.findings} == {"not distinguishable from chance"}


CHANGES = {
    "a shift": (lambda t: t.assign(x=t.x + 0.6), ("column", "x")),
    "a spread": (lambda t: t.assign(y=t.y * 2), ("column", "y")),
    "a level": (lambda t: t.assign(c=np.where(RNG.random(len(t)) < 0.3, "a", t.c)), ("column", "c")),
    "gaps": (lambda t: t.assign(z=t.z.where(RNG.random(len(t)) < 0.8)), ("column", "z")),
    "a correlation": (lambda t: t.assign(y=0.7 * t.x + 0.7 * t.y), ("correlation", "x, y")),
    "a group": (
        lambda t: t.assign(**{k: np.r_[t[k][:30] + 6, t[k][30:]] for k in "xyz"}),
        ("groups", "groups of rows"),
    ),
    "a column": (lambda t: t.assign(w=1.5 * t.x), ("schema", "w")),
    "a kind": (lambda t: t.assign(z=[f"z{i % 3}" for i in range(len(t))]), ("schema", "z")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_found_and_named(change):
    how, expected = CHANGES[change]
    found = assay.compare(frame(seed=1), how(frame(seed=2)))
    assert found.differs
    assert expected in supported(found)


def test_the_mirror_image_says_the_same():
    a, b = frame(seed=1), CHANGES["a shift"][0](frame(n=150, seed=2))
    there, back = assay.compare(a, b), assay.compare(b, a)
    evidence = [
        {
            f.id: (f.evidence.p, f.evidence.q, f.evidence.verdict)
            for f in found.findings
            if f.kind in ("column", "overall")
        }
        for found in (there, back)
    ]
    assert evidence[0] == evidence[1]
    shares = (
        [f.sentence for f in there.findings if f.subject == "x"],
        [f.sentence for f in back.findings if f.subject == "x"],
    )
    assert "higher in B" in shares[0][0]
    assert "lower in B" in shares[1][0]


def test_other_seeds_and_orders_of_rows_lead_to_the_same_verdicts():
    a, b = frame(seed=1), CHANGES["a shift"][0](frame(seed=2))
    first = supported(assay.compare(a, b))
    assert ("column", "x") in first
    assert ("column", "x") in supported(assay.compare(a, b, random_state=5))
    assert ("column", "x") in supported(
        assay.compare(a.sample(frac=1, random_state=0), b.sample(frac=1, random_state=1))
    )


def test_a_table_does_not_differ_from_itself():
    found = assay.compare(frame(), frame())
    assert not found.differs
    assert any("are in A, too" in note for note in found.notes)


def test_the_margin_of_a_column_is_no_correlation():
    a, b = frame(n=400, seed=1), frame(n=400, seed=2)
    b = b.assign(x=np.exp(3 * b.x), y=100 * b.y - 7)
    kinds = {kind for kind, _ in supported(assay.compare(a, b))}
    assert "column" in kinds
    assert kinds.isdisjoint({"correlation", "components"})


def test_units_are_converted_and_said():
    a = pd.DataFrame({"mass [kg]": RNG.normal(70, 5, 100), "x": RNG.standard_normal(100)})
    b = pd.DataFrame({"mass [g]": 1000 * RNG.normal(70, 5, 100), "x": RNG.standard_normal(100)})
    found = assay.compare(a, b)
    assert [f.kind for f in found.differences] == ["schema"]
    assert "kg" in found.differences[0].sentence and "compared in kg" in found.differences[0].sentence


def subjects(seed, names, shift=0.0, own=None):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(20), 10)
    own = rng.standard_normal((20, 3)) if own is None else own
    X = own[who] + 0.5 * rng.standard_normal((200, 3)) + [shift, 0, 0]
    return pd.DataFrame(X, columns=["x", "y", "z"]).assign(subject=[f"{names}{i}" for i in who])


def test_rows_of_one_subject_are_no_rows_of_their_own():
    # the means of 20 subjects lie 0.45 apart by chance alone, which 200 rows of their own would make 5 standard errors
    found = assay.compare(subjects(3, "a"), subjects(4, "b"), by="subject")
    assert not found.differs
    assert all("subject" not in finding.subject for finding in found.findings)


def test_a_subject_before_and_after_is_compared_with_itself():
    own = np.random.default_rng(0).standard_normal((20, 3))
    before, after = subjects(3, "s", own=own), subjects(4, "s", shift=0.4, own=own)
    assert ("column", "x") in supported(assay.compare(before, after, by="subject"))


def test_a_series_cut_in_two_does_not_differ():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    for t in range(1, len(X)):
        X[t] += 0.9 * X[t - 1]
    found = assay.compare(X[:200], X[200:])
    assert found.rows[0].how == "time"
    assert not found.differs


EDGES = {
    "three rows each": (np.eye(3), np.eye(3) + 1),
    "a constant in one": (frame().assign(x=1.0), frame(seed=2)),
    "one column": (RNG.standard_normal((50, 1)), RNG.standard_normal((50, 1))),
    "more columns than rows": (RNG.standard_normal((12, 40)), RNG.standard_normal((14, 40))),
    "huge and tiny": tuple(RNG.standard_normal((40, 3)) * [1e300, 1e-300, 1.0] for _ in "ab"),
    "a column without values": (frame().assign(x=np.nan), frame(seed=2)),
    "all levels rare": (
        pd.DataFrame({"c": list("aabbcc"), "x": range(6)}),
        pd.DataFrame({"c": list("ddeeff"), "x": range(6)}),
    ),
    "duplicated columns": (frame().assign(w=lambda t: t.x), frame(seed=2).assign(w=lambda t: t.x)),
    "heavy tails": (RNG.standard_cauchy((80, 3)), RNG.standard_cauchy((80, 3))),
    "texts": tuple(
        pd.DataFrame({"t": [f"{word} words of row {i} and {i * 7}" for i in range(60)], "x": RNG.standard_normal(60)})
        for word in ("some", "other")
    ),
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges_have_a_defined_answer(edge):
    found = assay.compare(*EDGES[edge])
    assert found.findings
    json.dumps(found.as_dict(), allow_nan=False)


REFUSED = {
    "no rows": (frame()[:0], frame(), DataError, "no rows"),
    "one row": (frame()[:1], frame(), DataError, "at least 3 are needed"),
    "nothing in common": (frame(), frame().rename(columns=lambda name: name + "2"), DataError, "no column in common"),
    "numbers out of range": (
        RNG.standard_normal((40, 1)) * 1e300,
        RNG.standard_normal((40, 1)),
        DataError,
        "rescale it",
    ),
    "a number": (3, frame(), DataError, "cannot read a int"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_said(case):
    a, b, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        assay.compare(a, b)


@pytest.mark.parametrize("options", [{"level": 0.0}, {"level": 1.0}, {"drop": ["w"]}, {"by": "w"}, {"columns": "w"}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises((ParameterError, AssayError)):
        assay.compare(frame(), frame(), **options)


def test_many_rows_are_drawn_from_and_that_is_said(monkeypatch):
    monkeypatch.setattr("assay.comparison.pair.ROWS", 150)
    found = assay.compare(frame(), frame(seed=2))
    assert all(any("fair sample of 150 of 200 rows" in note for note in card.notes) for card in found.data)
    assert found.findings[0].evidence.n == 300


def test_the_level_is_kept_in_small_tables():
    """240 pairs at .05: a true rate of .12 would be noticed with probability .98, one of .05 passes with .96."""
    rng = np.random.default_rng(0)
    differ = 0
    for seed in range(240):
        pool = rng.standard_t(3, (40, 3))
        differ += _columns_differ(pool[:20], pool[20:], seed)
    assert differ <= 18


def _columns_differ(a, b, seed):
    from assay.comparison import columns
    from assay.comparison.exchange import exchange_of
    from assay.comparison.pair import Pair
    from assay.evidence.design import Independent

    X = np.concatenate([a, b])
    names = tuple("xyz")
    exchange = exchange_of((Independent(len(a)), Independent(len(b))), (False, True), None, 1.0)
    pair = Pair(("A", "B"), exchange, names, ("number",) * 3, X, {}, X, names, names, np.ones(3, dtype=bool))
    return columns.ask(pair, seed, 0.05).evidence.p <= 0.05
