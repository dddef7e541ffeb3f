"""Least squares against NIST's certified values, and against the solvers people use.

Two yardsticks, because one alone can be lucky:

- the certified coefficients, which belong to the decimal data. A design matrix of float64 powers is already rounded, so
  the *exact* least squares solution of that matrix agrees with them to a limited number of digits (Filip: 7.6). No
  solver can claim more than that ceiling; digits beyond it are chance, and are not counted for anybody;
- the exact solution of the float64 problem itself, in rational arithmetic. Nothing is lucky there.
"""

import csv
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sla

from assay.linalg import lstsq

SHARED = Path(__file__).parents[3] / "shared"
FOLDER = SHARED / "data" / "nist_strd"
DEGREE = {"Norris": 1, "Pontius": 2, "Filip": 10} | {f"Wampler{i}": 5 for i in range(1, 6)}
SETS = ["Norris", "Pontius", "NoInt1", "NoInt2", "Filip", "Longley", *(f"Wampler{i}" for i in range(1, 6))]


@pytest.fixture(scope="module", autouse=True)
def _data_are_here():
    if FOLDER.exists():
        return
    if os.environ.get("CI") and SHARED.exists():
        pytest.fail(f"{FOLDER} is missing")
    pytest.skip("NIST's reference data are not on this machine")


def certified(name):
    with (FOLDER / "certified_linear.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["dataset"] == name and r["parameter"].startswith("B")]
    return np.array([float(r["estimate"]) for r in sorted(rows, key=lambda r: int(r["parameter"][1:]))])


def design(name):
    data = np.genfromtxt(FOLDER / "linear" / f"{name}.csv", delimiter=",", names=True)
    y = data["y"]
    if name.startswith("NoInt"):
        return data["x"][:, None], y
    if name == "Longley":
        return np.column_stack([np.ones_like(y), *(data[f"x{i}"] for i in range(1, 7))]), y
    return np.column_stack([data["x"] ** power for power in range(DEGREE[name] + 1)]), y


def exact_solution(A, y):
    """Solve the normal equations in rational arithmetic: no rounding until the end."""
    rows = [[Fraction(v) for v in (*row, right)] for row, right in zip(A.tolist(), y.tolist(), strict=True)]
    n = A.shape[1]
    N = [[sum(r[i] * r[j] for r in rows) for j in range(n + 1)] for i in range(n)]
    for p in range(n):
        N[p] = [v / N[p][p] for v in N[p]]
        for q in range(n):
            if q != p:
                factor = N[q][p]
                N[q] = [a - factor * b for a, b in zip(N[q], N[p], strict=True)]
    return np.array([float(N[i][n]) for i in range(n)])


def digits(estimate, reference, cap=15.0):
    """Correct significant digits of the worst coefficient (log relative error)."""
    with np.errstate(divide="ignore"):
        each = -np.log10(np.abs(estimate - reference) / np.abs(reference))
    return float(np.minimum(each, cap).min())


def peers(A, y):
    answers = {"numpy.linalg.lstsq": np.linalg.lstsq(A, y)[0]}
    for driver in ("gelsd", "gelsy", "gelss"):
        answers[f"scipy.linalg.lstsq {driver}"] = sla.lstsq(A, y, lapack_driver=driver)[0]
    Q, R = np.linalg.qr(A)
    answers["numpy QR"] = sla.solve_triangular(R, Q.T @ y)
    return answers


@pytest.mark.parametrize("name", SETS)
def test_no_peer_has_more_certified_digits_than_the_data_allow_and_assay_has(name):
    A, y = design(name)
    reference = certified(name)
    ceiling = digits(exact_solution(A, y), reference)
    ours = digits(lstsq(A, y).x, reference)
    assert ours == pytest.approx(ceiling, abs=0.05)
    for peer, answer in peers(A, y).items():
        assert ours >= min(digits(answer, reference), ceiling) - 0.05, peer


@pytest.mark.parametrize("name", SETS)
def test_the_exact_solution_of_the_float64_problem_is_found_to_the_last_digit(name):
    A, y = design(name)
    exact = exact_solution(A, y)
    ours = digits(lstsq(A, y).x, exact, cap=15.5)
    assert ours == 15.5
    for peer, answer in peers(A, y).items():
        assert ours >= digits(answer, exact, cap=15.5), peer


@pytest.mark.parametrize("name", SETS)
def test_no_column_is_thrown_away_and_the_residual_is_certified_too(name):
    A, y = design(name)
    result = lstsq(A, y)
    assert result.rank == A.shape[1]
    with (FOLDER / "certified_linear.csv").open(newline="") as file:
        sd = next(
            float(r["estimate"])
            for r in csv.DictReader(file)
            if r["dataset"] == name and r["parameter"] == "residual_sd"
        )
    ours = result.residual_norm / np.sqrt(A.shape[0] - A.shape[1])
    assert ours == pytest.approx(sd, rel=1e-7 if name == "Filip" else 1e-12, abs=1e-9 if sd == 0 else 0)
