"""How often a watch is wrong, over many streams of six families: the figures of docs/theory/streams.md."""

import numpy as np
import pytest
from scipy.signal import lfilter

from assay.watch.watch import Watch

D = 8
MIX = np.linalg.cholesky(0.5 * np.eye(D) + 0.5)


def drawn(family, rng, n):
    match family:
        case "normal":
            Z = rng.standard_normal((n, D))
        case "t5":
            Z = rng.standard_normal((n, D)) / np.sqrt(rng.chisquare(5, (n, 1)) / 5)
        case "exponential":
            Z = rng.exponential(size=(n, D))
        case "lognormal":
            Z = np.exp(rng.standard_normal((n, D)))
        case "Poisson":
            Z = rng.poisson(1.0, (n, D)).astype(float)
        case _:
            noise = rng.standard_normal((n + 200, D))
            Z = lfilter([0.8], [1, -0.6], noise, axis=0)[200:]
    return Z @ MIX.T


@pytest.mark.calibrate
@pytest.mark.parametrize("family", ["normal", "t5", "exponential", "lognormal", "Poisson", "autoregression"])
def test_clean_streams_have_few_false_alerts(family):
    """200 streams of 40,000 rows: a chance of any false drift of .1, or of .1 for a stretch, would show."""
    streams, stretches = 200, 8
    any_drift = anomalous = 0
    for i in range(streams):
        rng = np.random.default_rng([i, 77])
        X = drawn(family, rng, 46_000)
        watch = Watch(reference=6000, every=500, horizon=5000)
        told = watch.update(X)
        any_drift += any("drift of" in alert.kind for alert in told)
        anomalous += len({(alert.row - 6001) // 5000 for alert in told if alert.kind == "anomaly"})
    assert any_drift / streams <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / streams)
    assert anomalous / (streams * stretches) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / (streams * stretches))
