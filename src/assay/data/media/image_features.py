"""Pictures told by how bright they are and which way their edges run.

The gradient histograms follow N. Dalal and B. Triggs, Histograms of oriented gradients for human detection, CVPR 2005,
with cells that are parts of the picture instead of a number of pixels, so that pictures of any size give as many.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.media.folders import FileFeatures, Loaded
from assay.data.media.images import (
    CHANNELS,
    Picture,
    Pixels,
    checked_size,
    in_colour,
    in_grey,
    load_picture,
    look_at,
    scaled,
)
from assay.errors import ParameterError

BINS = 16
CELLS = 4
ORIENTATIONS = 8
# Larger pictures are scaled down to this on their longer side: the cells are coarser by far.
_LONGEST = 256
# A sum of gradients below this is rounding, not a picture; one step of one 16-bit pixel is 1.5e-5.
_FLAT = 1e-6


def image_features(
    features: str | os.PathLike[str] | None = None, size: int | tuple[int, int] | None = None
) -> FileFeatures:
    """The features that an option names.

    Args:
        features: "pixels", "histograms" or the path of an ONNX file.
        size: of the scaled images.
    """
    sides = checked_size(size)
    if features is None or features == "pixels":
        return Pixels(sides)
    if features == "histograms":
        return Histograms(sides)
    if Path(features).suffix.lower() != ".onnx":
        raise ParameterError(f'features is "pixels", "histograms" or the path of an .onnx file; got {str(features)!r}')
    from assay.data.media.network_features import NetworkFeatures

    return NetworkFeatures(Path(features), sides)


class Histograms:
    """Histograms of intensity (of each colour, if most images have any) and of gradient orientation in 4 x 4 cells.

    Args:
        size: (height, width) to scale images to before; otherwise only those larger than 256 pixels are scaled down.
    """

    threads = True
    held = 0

    def __init__(self, size: tuple[int, int] | None = None) -> None:
        self._size = size
        self._colour = False

    def fields(self, files: Sequence[Path]) -> tuple[list[pa.Field], tuple[str, ...]]:
        """The columns, from a look at a sample."""
        look = look_at(files)
        if look is None:
            return [], ()
        self._colour = look.colour
        edges = np.linspace(0, 1, BINS + 1)
        names = [
            f"{part} {low:.2f}-{high:.2f}"
            for part in (CHANNELS if self._colour else ("intensity",))
            for low, high in pairwise(edges)
        ]
        cells = [f"{r},{c}" for r in range(1, CELLS + 1) for c in range(1, CELLS + 1)]
        angles = [f"{180 / ORIENTATIONS * o:g}°" for o in range(ORIENTATIONS)]
        names += [f"gradient {cell} {angle}" for cell in cells for angle in angles]
        note = (
            f"Images are told by {BINS} shares of {'each colour' if self._colour else 'intensity'} and by gradients "
            f"along {ORIENTATIONS} orientations in {CELLS} x {CELLS} parts."
        )
        return [pa.field(name, pa.float32()) for name in names], (note,)

    def read(self, file: Path) -> Loaded:
        """The histograms of one image."""
        picture = load_picture(file, shortest=2 * max(self._size or (_LONGEST, _LONGEST)))
        picture = scaled(picture, self._size or _bounded(picture.shape[0], picture.shape[1]))
        planes = np.moveaxis(in_colour(picture), 2, 0) if self._colour else in_grey(picture)[None]
        shares = [intensity_shares(plane) for plane in planes]
        return np.concatenate([*shares, gradient_histograms(in_grey(picture)).ravel()]), None

    def rows(self, loaded: Sequence[NDArray[np.float64]]) -> NDArray[np.float32]:
        """(files, bins)."""
        return np.stack(loaded).astype(np.float32)


def intensity_shares(plane: Picture) -> NDArray[np.float64]:
    """(16,) the share of the pixels in each sixteenth of the range from 0 to 1.

    >>> intensity_shares(np.array([[0.0, 1.0]], dtype=np.float32))[[0, -1]]
    array([0.5, 0.5])
    """
    place = np.minimum((plane * BINS).astype(np.int64), BINS - 1)
    return np.bincount(place.ravel(), minlength=BINS) / place.size


def gradient_histograms(plane: Picture) -> NDArray[np.float64]:
    """(4, 4, 8) how strongly the brightness changes along each orientation in each part of a picture.

    Orientations are 0 (from left to right), 22.5, ... 157.5 degrees, clockwise; opposite directions count as one, a
    gradient between two orientations is shared by both, a pixel on the border of cells by these. The whole has length
    one, so neither brightness nor contrast matters; that of a flat picture is zero.

    >>> stripes = np.tile(np.array([0, 0, 1, 1], dtype=np.float32), (8, 4))
    >>> gradient_histograms(stripes).sum(axis=(0, 1)).round(6).nonzero()[0]
    array([0])
    """
    down, across = (_slope(plane.astype(np.float64), axis) for axis in (0, 1))
    strength = np.hypot(down, across)
    place = np.arctan2(down, across) % np.pi * (ORIENTATIONS / np.pi)
    low = np.floor(place)
    upper = strength * (place - low)
    first = low.astype(np.int64) % ORIENTATIONS
    votes = np.zeros((ORIENTATIONS, *plane.shape))
    np.put_along_axis(votes, first[None], (strength - upper)[None], axis=0)
    np.put_along_axis(votes, (first[None] + 1) % ORIENTATIONS, upper[None], axis=0)
    cells = _cells(plane.shape[0]) @ votes @ _cells(plane.shape[1]).T
    length = np.linalg.norm(cells)
    return np.moveaxis(cells / length if length > _FLAT else np.zeros_like(cells), 0, 2)


def _slope(plane: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    return np.gradient(plane, axis=axis) if plane.shape[axis] > 1 else np.zeros_like(plane)


def _cells(pixels: int) -> NDArray[np.float64]:
    """(4, pixels) the part of each pixel that lies in each cell along one side."""
    start = np.arange(pixels) * (CELLS / pixels)
    cell = np.arange(CELLS)[:, None]
    inside = np.minimum(start + CELLS / pixels, cell + 1) - np.maximum(start, cell)
    return np.asarray(np.maximum(inside, 0) * (pixels / CELLS))


def _bounded(height: int, width: int) -> tuple[int, int]:
    shrink = min(1.0, _LONGEST / max(height, width))
    return max(1, round(height * shrink)), max(1, round(width * shrink))
