"""RobustSVDD and the smallest enclosing ball, beside what one would write with SciPy; quality is the excess."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from assay import RobustSVDD, enclosing_ball
from benchmarks.harness import compare, show

NU = 0.1


def run() -> list[dict[str, Any]]:
    return ball() + robust("linear") + robust("hinge")


def ball() -> list[dict[str, Any]]:
    X = np.random.default_rng(0).standard_normal((100_000, 10))
    least = enclosing_ball(X).lower_bound
    return compare(
        "smallest enclosing ball of 100,000 x 10; quality: radius above the proven lower bound, relative",
        {
            "assay enclosing_ball": lambda: enclosing_ball(X).radius,
            "Badoiu-Clarkson, 300 passes": lambda: _towards_the_farthest(X, 300),
        },
        against="Badoiu-Clarkson, 300 passes",
        quality=lambda radius: f"{radius / least - 1:.0e}",
        rounds=3,
    )


def robust(loss: str) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    X = np.vstack([rng.standard_normal((19_500, 10)), 8 + 20 * rng.standard_normal((500, 10))])
    fitted = RobustSVDD(nu=NU, loss=loss).fit(X)
    least = fitted.objective_ - fitted.duality_gap_
    return compare(
        f"RobustSVDD, {loss} loss, 20,000 x 10; quality: objective above the proven lower bound, relative",
        {
            "assay RobustSVDD": lambda: RobustSVDD(nu=NU, loss=loss).fit(X).objective_,
            "SciPy L-BFGS-B on the objective": lambda: _descend(X, loss),
        },
        against="SciPy L-BFGS-B on the objective",
        quality=lambda objective: f"{objective / least - 1:.0e}",
        rounds=3,
    )


def _towards_the_farthest(X: np.ndarray, passes: int) -> float:
    """Badoiu and Clarkson, 2003: step k goes 1 / (k + 1) of the way to the farthest point."""
    c, squares = X.mean(axis=0), np.einsum("ij,ij->i", X, X)
    for k in range(1, passes + 1):
        c = c + (X[np.argmax(squares - 2 * (X @ c))] - c) / (k + 1)
    return float(np.sqrt(((X - c) ** 2).sum(axis=1).max()))


def _descend(X: np.ndarray, loss: str) -> float:
    return float(minimize(_objective(X, loss), X.mean(axis=0), jac=True, method="L-BFGS-B").fun)


def _objective(X: np.ndarray, loss: str) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    k, C = round(NU * len(X)), 1.0 / (NU * len(X))

    def value_and_slope(c: np.ndarray) -> tuple[float, np.ndarray]:
        off = X - c
        f = np.einsum("ij,ij->i", off, off)
        f = f if loss == "hinge" else np.sqrt(f)
        top = np.argpartition(f, len(f) - k)[len(f) - k :]  # for the best radius, the k largest are outside
        slopes = -2 * off[top] if loss == "hinge" else -off[top] / f[top, None]
        return float(C * f[top].sum()), C * slopes.sum(axis=0)

    return value_and_slope


if __name__ == "__main__":
    show(run())
