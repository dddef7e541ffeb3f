"""How often two tables are said to differ: from one source at most at the level, and where something changed.

200 pairs each. A true rate of .12 would be noticed with probability .93; one of .05 passes with .98.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import assay

PAIRS, MOST = 200, 17


def halves(rows, rng):
    order = rng.permutation(len(rows))
    return rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]


def series(rng, n, alike):
    X = rng.standard_normal((n + 100, 4))
    for t in range(1, len(X)):
        X[t] += alike * X[t - 1]
    return X[100:]


def subjects(rng, name):
    X = np.repeat(rng.standard_normal((25, 4)), 12, axis=0) + rng.standard_normal((300, 4))
    return pd.DataFrame(X).assign(subject=np.repeat([f"{name}{i}" for i in range(25)], 12))


def rare(rng, n=300):
    share = np.arange(1, 41) ** -1.5
    return pd.DataFrame({"c": rng.choice(40, n, p=share / share.sum()).astype(str), "x": rng.standard_normal(n)})


def normal(rng):
    return rng.standard_normal((300, 5)), rng.standard_normal((300, 5))


def changed(rng, change):
    a, b = normal(rng)
    return a, change(b)


NOTHING = {
    "normal": normal,
    "heavy tails": lambda rng: halves(rng.standard_t(2, (600, 5)), rng),
    "rare levels": lambda rng: (rare(rng), rare(rng)),
    "wine": lambda rng: halves(load_wine().data, rng),
    "subjects": lambda rng: (subjects(rng, "a"), subjects(rng, "b")),
    "a series": lambda rng: np.split(series(rng, 600, 0.7), 2),
    "few and many": lambda rng: (np.exp(rng.standard_normal((60, 5))), np.exp(rng.standard_normal((600, 5)))),
}
SOMETHING = {
    "a correlation of .5": lambda b: np.column_stack([b[:, 0], 0.5 * b[:, 0] + 0.75**0.5 * b[:, 1], b[:, 2:]]),
    "a group of 10%": lambda b: b + 4.0 * ((np.arange(len(b)) < 30)[:, None] & (np.arange(5) < 3)),
    "a spread of 1.4": lambda b: b * [1.0, 1.4, 1.0, 1.0, 1.0],
}


@pytest.mark.calibrate
@pytest.mark.parametrize("source", NOTHING)
def test_tables_from_one_source(source):
    said = sum(assay.compare(*NOTHING[source](np.random.default_rng(i)), random_state=i).differs for i in range(PAIRS))
    assert said <= MOST


@pytest.mark.calibrate
@pytest.mark.parametrize("change", SOMETHING)
def test_what_changed_is_found_in_most_tables(change):
    """50 pairs: a true rate of .60 would be noticed with probability .99, one of .85 passes with .94."""
    rngs = map(np.random.default_rng, range(50))
    said = sum(assay.compare(*changed(rng, SOMETHING[change])).differs for rng in rngs)
    assert said >= 39


@pytest.mark.calibrate
def test_a_spread_of_a_third_is_found_in_three_of_four_tables():
    """100 pairs: a true rate of .53 would be noticed with probability .99, one of .75 (113 of 150) passes with .99."""
    rngs = map(np.random.default_rng, range(100))
    said = sum(assay.compare(*changed(rng, lambda b: b * [1.0, 1.3, 1.0, 1.0, 1.0])).differs for rng in rngs)
    assert said >= 65
