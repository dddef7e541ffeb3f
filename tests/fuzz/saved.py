"""Everything that assay saves, once each."""

import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn.utils import get_tags

import assay
from assay.models.registry import MODELS, model_class

# compiled when they are first fitted, or fitted slowly
_SLOW = frozenset({"MDS", "SNE", "SymmetricSNE", "TSNE", "VAE", "SpectralClustering", "MatrixFactorization"})


def saved_files(*, slow: bool) -> list[dict[str, bytes]]:
    """The files.

    Args:
        slow: of the models that take half a minute to fit, else of all others and of summaries.
    """
    rng = np.random.default_rng(0)
    X = rng.random((40, 4))
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "m.assay"
        for name in (name for name in MODELS if (name in _SLOW) == slow):
            if MODELS[name].needs and find_spec(MODELS[name].needs) is None:
                continue
            model = model_class(name)()
            number = X[:, 0] + 0.1 * X[:, 1]
            tags = get_tags(model)
            y = np.where(number > 0.5, "large", "small") if tags.estimator_type == "classifier" else number
            model.fit(X, *((y,) if tags.target_tags.required else ()))
            model.save(path)
            found.append({f"{name}.assay": path.read_bytes()})
        for name, value in ({} if slow else _summaries(X, rng)).items():
            value.save(path)
            found.append({f"{name}.assay": path.read_bytes()})
    return found


def _summaries(X: np.ndarray, rng: np.random.Generator) -> dict[str, object]:
    table = pa.table(
        {"a": X[:, 0], "b": X[:, 1], "c": rng.choice(["x", "y"], 40), "when": pa.array(range(40), pa.timestamp("s"))}
    )
    many = pa.table({"a": rng.random(400), "b": rng.random(400), "c": rng.choice(["x", "y"], 400)})
    watch = assay.Watch(reference=300, every=50)
    watch.update(many)
    early = assay.Watch(reference=300, every=50)
    early.update(table)
    return {
        "moments": assay.Moments.of(X, columns=("a", "b", "c", "d")),
        "grouped": assay.GroupedMoments.of(X, ["u", "v"] * 20),
        "counts": assay.ClassCounts.of(X, ["u", "v"] * 20),
        "shared": assay.summarize(many, by="c"),
        "encoding": assay.encode(assay.read(table)).encoding,
        "watch": watch,
        "early": early,
    }
