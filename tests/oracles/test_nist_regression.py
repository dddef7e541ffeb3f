"""LeastSquares against NIST's certified coefficients, standard errors, residual deviation and R squared.

Certified values belong to the decimal data. Columns of float64 powers are rounded already, so that even their exact
solution has a limited number of certified digits (see test_nist.py); more than those is luck, counted for nobody.
Run this file as a script for the table of digits in docs/guide/regression.md.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sla
from sklearn.linear_model import LinearRegression

from assay import LeastSquares, Moments
from assay.linalg import lstsq

FOLDER = Path(__file__).parent / "data" / "nist_strd"
DEGREE = {"Norris": 1, "Pontius": 2, "Filip": 10} | {f"Wampler{i}": 5 for i in range(1, 6)}
SETS = ["Norris", "Pontius", "NoInt1", "NoInt2", "Filip", "Longley", *(f"Wampler{i}" for i in range(1, 6))]


def certified(name):
    with (FOLDER / "certified_linear.csv").open(newline="") as file:
        rows = {r["parameter"]: r for r in csv.DictReader(file) if r["dataset"] == name}
    numbered = sorted((key for key in rows if key.startswith("B")), key=lambda key: int(key[1:]))
    estimates, errors = (np.array([float(rows[key][what]) for key in numbered]) for what in ("estimate", "sd"))
    return estimates, errors, float(rows["residual_sd"]["estimate"]), float(rows["r_squared"]["estimate"])


def columns(name):
    data = np.genfromtxt(FOLDER / f"{name}.csv", delimiter=",", names=True)
    if name == "Longley":
        return np.column_stack([data[f"x{i}"] for i in range(1, 7)]), data["y"]
    return np.column_stack([data["x"] ** power for power in range(1, DEGREE.get(name, 1) + 1)]), data["y"]


def has_intercept(name):
    return not name.startswith("NoInt")


def design(name):
    X, y = columns(name)
    return (np.column_stack([np.ones(len(y)), X]) if has_intercept(name) else X), y


def digits(estimate, reference, cap=15.0):
    """Right digits of the worst entry; of a reference of zero those after the point."""
    estimate, reference = np.atleast_1d(estimate), np.atleast_1d(reference)
    with np.errstate(divide="ignore"):
        off = np.abs(estimate - reference) / np.where(reference == 0.0, 1.0, np.abs(reference))
        return float(np.clip(-np.log10(off), 0.0, cap).min())


def fitted(name):
    return LeastSquares(fit_intercept=has_intercept(name)).fit(*columns(name))


def peers(name):
    X, y = columns(name)
    A, _ = design(name)
    Q, R = np.linalg.qr(A)
    line = LinearRegression(fit_intercept=has_intercept(name)).fit(X, y)
    return {
        "numpy.linalg.lstsq": np.linalg.lstsq(A, y)[0],
        "numpy QR": sla.solve_triangular(R, Q.T @ y),
        "scikit-learn": np.append(line.intercept_, line.coef_) if has_intercept(name) else line.coef_,
    }


@pytest.mark.parametrize("name", SETS)
def test_as_many_certified_digits_as_the_columns_allow_and_no_fewer_than_any_peer(name):
    reference = certified(name)[0]
    ceiling = digits(lstsq(*design(name)).x, reference)
    ours = digits(fitted(name).table().estimate, reference)
    assert ours >= ceiling - 0.1
    for peer, answer in peers(name).items():
        assert ours >= min(digits(answer, reference), ceiling) - 0.1, peer


@pytest.mark.parametrize("name", SETS)
def test_standard_errors_residual_deviation_and_r_squared_are_certified_too(name):
    _, errors, deviation, r_squared = certified(name)
    model = fitted(name)
    limit = 7.0 if name == "Filip" else 12.5
    assert digits(model.table().se, errors) >= limit
    assert digits(model.residual_sd_, deviation) >= limit
    assert digits(model.r_squared_, r_squared) >= limit


@pytest.mark.parametrize("name", SETS)
def test_the_route_is_told_and_no_column_is_thrown_away(name):
    model = fitted(name)
    assert model.rank_ == columns(name)[0].shape[1]
    assert model.route_ == ("moments" if name in ("Norris", "Pontius", "NoInt1", "NoInt2") else "qr")
    assert model.notes_ == ()


def test_a_summary_of_filips_columns_is_not_passed_off_as_an_answer():
    with pytest.warns(UserWarning, match="from a summary about . digits of the coefficients are certain"):
        LeastSquares().fit_moments(Moments.of(np.column_stack(columns("Filip"))), 10)


if __name__ == "__main__":
    print("| set | route | condition | assay | numpy lstsq | numpy QR | scikit-learn | assay's standard errors |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SETS:
        reference, errors, *_ = certified(name)
        model = fitted(name)
        table = model.table()
        found = [table.estimate, *peers(name).values()]
        cells = [*(digits(answer, reference) for answer in found), digits(table.se, errors)]
        print(f"| {name} | {model.route_} | {model.condition_:.1e} | " + " | ".join(f"{c:.1f}" for c in cells) + " |")
