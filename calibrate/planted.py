"""Structure that is there: pairs of any shape, series, treatments, confounding, and what issue 15 names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from calibrate import reference
from calibrate.dependent import SUBJECTS, autoregression, in_time, of_subjects
from calibrate.family import Drawn, Family, Found, Generator, framed, pairs_of, supports
from calibrate.independent import LUMP

ROWS = 200


def _pair(shape: Callable[[Generator], tuple[Array, Array]], test: Callable[[Array, Array], float]) -> Any:
    """The pair as c1 and c2, beside two columns of noise."""

    def draw(rng: Generator) -> Drawn:
        x, y = shape(rng)
        data = framed(np.column_stack([x, y, rng.standard_normal((ROWS, 2))]))
        return Drawn(data, reference=lambda: test(x, y))

    return draw


def _parabola(rng: Generator) -> tuple[Array, Array]:
    x = rng.standard_normal(ROWS)
    return x, x**2 + 0.5 * rng.standard_normal(ROWS)


def _circle(rng: Generator) -> tuple[Array, Array]:
    angle, noise = rng.uniform(0, 2 * np.pi, ROWS), 0.2 * rng.standard_normal((2, ROWS))
    return np.cos(angle) + noise[0], np.sin(angle) + noise[1]


def _cross(rng: Generator) -> tuple[Array, Array]:
    x = rng.standard_normal(ROWS)
    return x, x * rng.choice([-1.0, 1.0], ROWS) + 0.3 * rng.standard_normal(ROWS)


def _spread(rng: Generator) -> tuple[Array, Array]:
    x = rng.standard_normal(ROWS)
    return x, x * rng.standard_normal(ROWS)


def _line(rng: Generator) -> tuple[Array, Array]:
    x = rng.standard_normal(ROWS)
    return x, 0.3 * x + np.sqrt(1 - 0.09) * rng.standard_normal(ROWS)


def goes(a: str, b: str) -> Found:
    """The pair is among those said to go together, or one can be predicted."""
    return lambda study, drawn: frozenset({a, b}) in pairs_of(study) or supports(study, "prediction")


def _leads(lag: int) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        both = autoregression(rng, 300 + lag, 2, 0.7)
        x, y = both[lag:, 0], np.sqrt(0.3) * both[:300, 0] + np.sqrt(0.7) * both[lag:, 1]
        data = in_time(framed(np.column_stack([x, y, autoregression(rng, 300, 2, 0.7)])))
        return Drawn(data, {"time": "day", "target": "c2"}, reference=lambda: reference.lagged(x, y))

    return draw


def _treatment(rng: Generator) -> Drawn:
    data, who = of_subjects(rng)
    treated = (rng.permutation(SUBJECTS) % 2)[who].astype(bool)
    data["c1"] += 1.5 * treated
    data["arm"] = np.where(treated, "treated", "control")
    values = data["c1"].to_numpy()
    return Drawn(data, {"by": "subject"}, reference=lambda: reference.subject_means(values, who, treated))


def _confounded(rng: Generator) -> Drawn:
    """Five departments along the diagonal; +.75 over all, -.9 within each."""
    level = rng.integers(0, 5, ROWS)
    own = rng.multivariate_normal([0, 0], [[1.0, -0.9], [-0.9, 1.0]], ROWS)
    # covariance over all: 2 s^2 - .9 against 2 s^2 + 1, where the levels' places have variance 2
    s = np.sqrt((0.75 + 0.9) / (2 * (1 - 0.75)))
    x, y = own.T + s * level
    data = framed(np.column_stack([x, y, rng.standard_normal(ROWS)]))
    data["department"] = np.array(["north", "south", "east", "west", "centre"])[level]
    return Drawn(data, reference=lambda: reference.within(x, y, level.astype(float)))


def _says_confounded(study: Any, drawn: Drawn) -> bool:
    """The sentence on pairs says what becomes of c1 and c2 within departments."""
    words = " ".join(finding.sentence for finding in study.findings if finding.kind == "correlations")
    return any(f"within {some} department" in words for some in ("each", "levels of"))


def _two_modes(d: int, apart: float = 5.0) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        X = rng.standard_normal((300, d))
        X[:, 0] += apart * (rng.random(300) < 0.5)
        return Drawn(framed(X), reference=lambda: reference.critical_bandwidth(X[:, 0]))

    return draw


def _blobs(rng: Generator) -> Drawn:
    centres = 6.0 * np.eye(3, 5)
    return Drawn(framed(centres[rng.integers(0, 3, 300)] + rng.standard_normal((300, 5))))


def _elongated(rng: Generator) -> Drawn:
    X = rng.standard_normal((300, 4)) * [6.0, 1.0, 1.0, 1.0]
    X[:, 1] += 6.0 * (rng.random(300) < 0.5)
    return Drawn(framed(X))


def _rings(rng: Generator) -> Drawn:
    angle, far = rng.uniform(0, 2 * np.pi, 300), rng.random(300) < 0.5
    radius = np.where(far, 3.0, 1.0) + 0.15 * rng.standard_normal(300)
    return Drawn(framed(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])))


def _curve(rng: Generator) -> Drawn:
    x = rng.uniform(-2, 2, 300)
    return Drawn(framed(np.column_stack([x, x**2 + 0.3 * rng.standard_normal(300)])))


def groups(k: int) -> Found:
    """As many groups as there are."""
    return lambda study, drawn: supports(study, "groups") and study.answers["groups"].numbers()["k"] == k


def _anomalies(sd: float) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        X = rng.standard_normal((300, 5))
        way = rng.standard_normal((3, 5))
        X[:3] = sd * way / np.linalg.norm(way, axis=1, keepdims=True)
        return _with_anomalies(X, 3)

    return draw


def _between(rng: Generator) -> Drawn:
    """Three rows midway between two groups 16 sd apart: 8 sd from each, and near the mean of all."""
    X = rng.standard_normal((300, 5))
    X[:, 0] += 16.0 * (np.arange(300) % 2)
    X[:3, 0] = 8.0 + 0.5 * rng.standard_normal(3)
    return Drawn(framed(X), planted=(0, 1, 2))


def _masked(rng: Generator) -> Drawn:
    X = rng.uniform(0, 3, (75, 4))
    X[:14] = np.array([[10.0, 10.0, 10.0, 10.0]] * 10 + [[11.0, 12.0, 12.0, 0.0]] * 4) + 0.3 * rng.random((14, 4))
    return _with_anomalies(X, 14)


def _far_cluster(rng: Generator) -> Drawn:
    X = rng.standard_normal((300, 5))
    X[:30] = 5.0 + 0.3 * rng.standard_normal((30, 5))
    return _with_anomalies(X, 30)


def _with_anomalies(X: Array, count: int) -> Drawn:
    planted = tuple(range(count))
    return Drawn(framed(X), reference=lambda: reference.robust_distances(X, planted), planted=planted)


def rows(study: Any, drawn: Drawn) -> bool:
    """Every planted row is among those that do not belong."""
    if not supports(study, "anomalies"):
        return False
    return set(drawn.planted) <= {row["row"] - 1 for row in study.answers["anomalies"].numbers()["rows"]}


def _target(how: Callable[[Array], NDArray[Any]], noise: float = 0.3) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        X = rng.standard_normal((300, 5))
        y = how(X)
        if y.dtype != bool:
            y = y + noise * y.std() * rng.standard_normal(300)
        data = framed(X).assign(y=np.where(y, "yes", "no") if y.dtype == bool else y)
        return Drawn(data, {"target": "y"}, reference=lambda: reference.forest(X, y.astype(float)))

    return draw


def predicted(study: Any, drawn: Drawn) -> bool:
    """The target can be predicted."""
    return supports(study, "prediction")


_SHAPES: dict[str, tuple[Callable[[Generator], tuple[Array, Array]], str]] = {
    "parabola": (_parabola, "HSIC"),
    "circle": (_circle, "HSIC"),
    "cross": (_cross, "HSIC"),
    "multiplicative noise": (_spread, "HSIC"),
    "line, r = .3": (_line, "Spearman"),
}
_TESTS = {"HSIC": reference.hsic, "Spearman": reference.spearman}
_TARGETS: dict[str, Callable[[Array], NDArray[Any]]] = {
    "x1 x2": lambda X: X[:, 0] * X[:, 1],
    "XOR": lambda X: (X[:, 0] > 0) ^ (X[:, 1] > 0),
    "|x|": lambda X: np.abs(X[:, 0]),
    "p^2 + q r": lambda X: X[:, 0] ** 2 + X[:, 1] * X[:, 2],
}

PLANTED = (
    *(
        Family(f"{name}, 200 x 4", "planted", _pair(shape, _TESTS[test]), goes("c1", "c2"), test)
        for name, (shape, test) in _SHAPES.items()
    ),
    *(
        Family(f"a series leads another by {lag}", "planted", _leads(lag), goes("c1", "c2"), "shifted lags")
        for lag in (0, 1, 3)
    ),
    Family("treatment between subjects", "planted", _treatment, goes("c1", "arm"), "t of subject means"),
    Family("confounding, +.75 over all, -.9 within", "planted", _confounded, _says_confounded, "r within"),
    *(
        Family(f"two groups in one column of {d}, 5 sd", "planted", _two_modes(d), groups(2), "Silverman", tables=12)
        for d in (5, 10)
    ),
    Family("two groups in one column of 5, 20 sd", "planted", _two_modes(5, 20.0), groups(2), "Silverman", tables=6),
    Family("three groups, 300 x 5", "planted", _blobs, groups(3), tables=12),
    Family("two elongated groups", "planted", _elongated, groups(2), tables=12),
    Family("two rings", "planted", _rings, groups(2), tables=12),
    Family("a curve, which is no groups", "planted", _curve, false=("groups",), tables=12),
    LUMP,
    *(
        Family(f"3 rows of 300 x 5 at {sd} sd", "planted", _anomalies(sd), rows, "robust distances", tables=12)
        for sd in (4, 6, 8)
    ),
    Family("3 rows of 300 x 5 in a gap of 8 sd", "planted", _between, rows, tables=6),
    Family("14 rows of 75 that mask each other", "planted", _masked, rows, "robust distances", tables=12),
    Family("a far cluster of 30 rows of 300", "planted", _far_cluster, rows, "robust distances", tables=12),
    *(
        Family(f"target {name}", "planted", _target(how), predicted, "random forest", tables=12)
        for name, how in _TARGETS.items()
    ),
)
