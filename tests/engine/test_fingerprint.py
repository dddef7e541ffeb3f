"""The same work has the same fingerprint in every process; other work has another."""

import functools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.read import read
from assay.engine.fingerprint import NoFingerprintError, fingerprint
from assay.summary.moments.moments import Moments

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN, lambda inside: st.lists(inside) | st.tuples(inside, inside) | st.dictionaries(st.text(), inside)
)


def shown(value):
    """What a value is, type by type: True is not 1, and -0.0 is not 0.0."""
    if isinstance(value, dict):
        return f"dict({','.join(f'{key!r}:{shown(inside)}' for key, inside in value.items())})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({','.join(map(shown, value))})"
    return f"{type(value).__name__}:{value!r}"


@given(VALUES, VALUES)
def test_values_have_the_same_fingerprint_if_and_only_if_they_are_the_same(a, b):
    assert (fingerprint(a) == fingerprint(b)) == (shown(a) == shown(b))


@given(st.sets(st.text()), st.randoms())
def test_the_order_of_a_set_does_not_show(values, random):
    shuffled = sorted(values)
    random.shuffle(shuffled)
    assert fingerprint(values) == fingerprint(set(shuffled))
    assert fingerprint(frozenset(values)) == fingerprint(frozenset(shuffled))


def made(number, by=1.0):
    return lambda part: part * number + by


def test_functions_are_told_by_their_code_and_by_what_they_captured():
    assert fingerprint(made(2)) == fingerprint(made(2))
    assert (
        len({fingerprint(work) for work in (made(2), made(3), made(2, 0.5), lambda part: part * 2 + 1, abs, max)}) == 6
    )
    assert fingerprint(np.add) == fingerprint(np.add) != fingerprint(np.maximum)
    assert fingerprint(Moments.__add__) != fingerprint(Moments.__sub__)
    assert fingerprint(functools.partial(int, base=2)) != fingerprint(functools.partial(int, base=3))


def test_arrays_are_told_by_values_types_and_order_of_memory():
    X = np.arange(6.0).reshape(2, 3)
    others = [X + 1e-15, X.astype(np.float32), X.reshape(3, 2), np.asfortranarray(X), X[:1]]
    assert fingerprint(X) == fingerprint(X.copy())
    assert len({fingerprint(other) for other in (X, *others)}) == 6


def test_what_was_computed_and_remembered_does_not_show():
    a, b = Moments.of(np.eye(4)), Moments.of(np.eye(4))
    _ = a.covariance, a.correlation
    assert fingerprint(a) == fingerprint(b)


def test_a_value_that_holds_itself_has_a_fingerprint():
    def ring(value):
        found = [value]
        found.append(found)
        return found

    assert fingerprint(ring(1)) == fingerprint(ring(1)) != fingerprint(ring(2))


@pytest.mark.parametrize("value", [threading.Lock(), (i for i in ()), type("Local", (), {})()])
def test_what_cannot_be_told_from_others_is_refused(value):
    with pytest.raises(NoFingerprintError):
        fingerprint([value])
    with pytest.raises(NoFingerprintError):
        fingerprint(lambda: value)


def test_rows_in_memory_have_no_identity():
    with pytest.raises(NoFingerprintError):
        fingerprint(read(np.eye(3)))


def test_a_file_that_was_changed_is_another(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n")
    before = fingerprint(read(path))
    assert fingerprint(read(path)) == before
    os.utime(path, ns=(1, 1))
    assert fingerprint(read(path)) != before
    assert fingerprint(read(path, delimiter=";")) != fingerprint(read(path))


SCRIPT = """
from functools import partial
from assay.data.field import Declared
from assay.engine.fingerprint import fingerprint
chosen = {"zinc", "iron", "gold", "lead", "tin"}
def work(part):
    return part if part in {"zinc", "iron", "gold"} else chosen
print(fingerprint(work, chosen, Declared(sensitive=frozenset(chosen)), partial(work, "tin")).hex())
"""


def test_the_seed_of_python_hashes_does_not_show():
    def run(seed):
        return subprocess.run(
            [sys.executable, "-c", SCRIPT], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout

    assert run("1") == run("2") == run("3") != b""
