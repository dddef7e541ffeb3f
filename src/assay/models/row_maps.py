"""The models that draw a map of rows, by the names that the command line and the map of a study use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.errors import ParameterError
from assay.models.registry import model_class
from assay.shown import meant


@dataclass(frozen=True, slots=True)
class MapMethod:
    """One way to draw a map.

    Attributes:
        kind: of the registered model.
        words: as sentences call it.
        starts: whether it begins at random, so that another start may give another map.
        options: of the model.
    """

    kind: str
    words: str
    starts: bool = False
    options: tuple[tuple[str, Any], ...] = ()


TSNE = "tsne"
METHODS: dict[str, MapMethod] = {
    TSNE: MapMethod("TSNE", "t-SNE", starts=True),
    "pca": MapMethod("PCA", "PCA"),
    "isomap": MapMethod("Isomap", "Isomap"),
    "mds": MapMethod("MDS", "MDS", starts=True),
    "classical-mds": MapMethod("ClassicalMDS", "classical MDS"),
    "diffusion": MapMethod("DiffusionMap", "a diffusion map"),
    "kernel-pca": MapMethod("KernelPCA", "kernel PCA (Gaussian)", options=(("kernel", "gaussian"),)),
}


def map_method(name: str) -> MapMethod:
    """A method by its name; one that is not there is refused.

    >>> map_method("mds").kind
    'MDS'
    """
    if name not in METHODS:
        raise ParameterError(f"a map is drawn by {', '.join(METHODS)}; got {name!r}{meant(name, list(METHODS))}")
    return METHODS[name]


def map_model(name: str, seed: int, **options: Any) -> Any:
    """A model, not fitted, that draws a map in two dimensions.

    Args:
        name: of the method.
        seed: of what is random in it.
        options: of the model, beside those of the method.

    >>> type(map_model("pca", 0)).__name__
    'PCA'
    """
    how = map_method(name)
    return model_class(how.kind)(n_components=2, random_state=seed, **dict(how.options), **options)
