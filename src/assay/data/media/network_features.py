"""Pictures as a trained network sees them: the first output of an ONNX file, run by onnxruntime on the processor."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.media.folders import Loaded, reason
from assay.data.media.images import Picture, in_colour, in_grey, load_picture, scaled
from assay.data.place import Place
from assay.errors import DataError, ParameterError
from assay.leftovers import TemporaryFolder

_USUAL_SIZE = (224, 224)
_BATCH = 32
# What the network takes, and what white is there.
_TYPES: dict[str, tuple[type[np.generic], int]] = {
    "tensor(float)": (np.float32, 1),
    "tensor(float16)": (np.float16, 1),
    "tensor(double)": (np.float64, 1),
    "tensor(uint8)": (np.uint8, 255),
}


@dataclass(frozen=True, slots=True)
class Input:
    """What a network takes.

    Attributes:
        name: of its input.
        size: (height, width) of the images.
        channels: 1 (grey) or 3 (red, green, blue).
        channels_first: whether (n, channels, h, w) or (n, h, w, channels).
        batch: images at a time, if that is fixed.
        dtype: of the numbers.
        white: the number that stands for white.
    """

    name: str
    size: tuple[int, int]
    channels: int
    channels_first: bool
    batch: int | None
    dtype: type[np.generic]
    white: int


class NetworkFeatures:
    """The first output of a network for each image, flattened.

    Images come in as 0 (black) to 1 (white), or 0 to 255 where the network takes bytes; a network trained on other
    numbers must contain that step. It has one input of shape (n, channels, h, w) or (n, h, w, channels), 1 or 3
    channels, and holds its weights itself: files beside it are not read.

    Args:
        file: the network.
        size: (height, width) where the network leaves it open; 224 x 224 otherwise.
    """

    threads = True

    def __init__(self, file: Path, size: tuple[int, int] | None = None) -> None:
        self._file = file
        self._session = _session(file)
        self._input = _input(self._session, file, size)
        self.held = self._input.size[0] * self._input.size[1] * self._input.channels

    def fields(self, files: Sequence[Path]) -> tuple[list[pa.Field], tuple[str, ...]]:
        """The columns, from the output for a black image."""
        taken = self._input
        black = np.zeros((*taken.size, taken.channels), dtype=np.float32)
        count = self.rows([black if taken.channels == 3 else black[:, :, 0]]).shape[1]
        colour = "coloured" if taken.channels == 3 else "grey"
        note = (
            f"Images are read as {taken.size[0]} x {taken.size[1]} {colour} pixels from 0 to {taken.white} and put "
            f"through the network {self._file.name}, which gives {count:,} numbers."
        )
        return [pa.field(f"feature {i}", pa.float32()) for i in range(1, count + 1)], (note,)

    def read(self, file: Path) -> Loaded:
        """The picture as the network wants it."""
        picture = load_picture(file, shortest=2 * max(self._input.size))
        wanted = in_colour(picture) if self._input.channels == 3 else in_grey(picture)
        return scaled(wanted, self._input.size), None

    def rows(self, loaded: Sequence[Picture]) -> NDArray[np.float32]:
        """(files, outputs)."""
        step = self._input.batch or _BATCH
        return np.concatenate([self._run(loaded[start : start + step]) for start in range(0, len(loaded), step)])

    def _run(self, pictures: Sequence[Picture]) -> NDArray[np.float32]:
        taken = self._input
        X = np.stack(pictures)
        if taken.channels == 1:
            X = X[..., None]
        missing = taken.batch - len(X) if taken.batch else 0
        X = np.pad(X, [(0, missing), (0, 0), (0, 0), (0, 0)])
        X = np.rint(X * 255) if taken.white == 255 else X
        X = np.ascontiguousarray(np.moveaxis(X, 3, 1) if taken.channels_first else X, dtype=taken.dtype)
        try:
            out = self._session.run([self._output], {taken.name: X})[0]
        except Exception as error:  # onnxruntime's errors share no other base
            raise DataError(f"cannot run {self._file} on images of shape {X.shape[1:]}: {reason(error)}") from error
        if not isinstance(out, np.ndarray) or out.dtype.kind not in "fiub" or out.shape[:1] != (len(X),):
            raise DataError(f"cannot use {self._file}: its first output must have one row of numbers for each image")
        return out.reshape(len(X), -1)[: len(pictures)].astype(np.float32)

    @cached_property
    def _output(self) -> str:
        return str(self._session.get_outputs()[0].name)


def _session(file: Path) -> Any:
    with Place.of(file).open() as handle:
        content = handle.read()
    try:
        runtime = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ParameterError(
            "features from an ONNX file need onnxruntime, which is not installed; run pip install 'assay[onnx]'"
        ) from error
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    # weights kept in other files are looked for in an empty folder, not in the one where the user happens to be
    with TemporaryFolder() as empty:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(empty))
        try:
            return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors share no other base
            if "external data" in str(error).lower() or str(empty) in str(error):
                raise DataError(
                    f"cannot use {file}: its weights lie in another file, which is not read; save the network with its "
                    "weights inside"
                ) from error
            raise DataError(
                f"cannot use {file}: it is not a network that onnxruntime can run: {reason(error)}"
            ) from error


def _input(session: Any, file: Path, size: tuple[int, int] | None) -> Input:
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise DataError(f"cannot use {file}: a network for images has one input, this one has {len(inputs)}")
    shape, type_ = inputs[0].shape, inputs[0].type
    if len(shape) != 4 or type_ not in _TYPES:
        raise DataError(
            f"cannot use {file}: its input {inputs[0].name!r} must be numbers of shape (n, channels, height, width) or "
            f"(n, height, width, channels), is {type_} of shape {shape}"
        )
    fixed = [side if isinstance(side, int) and side > 0 else None for side in shape]
    channels_first = fixed[1] in (1, 3) or (fixed[3] not in (1, 3) and fixed[1] is None)
    channels, height, width = (fixed[i] for i in ((1, 2, 3) if channels_first else (3, 1, 2)))
    if channels not in (None, 1, 3):
        raise DataError(
            f"cannot use {file}: images have 1 or 3 channels, its input {inputs[0].name!r} has shape {shape}"
        )
    usual = size or _USUAL_SIZE
    sides = (height or usual[0], width or usual[1])
    if size is not None and sides != size:
        raise ParameterError(f"size is {size}, but the network {file} takes images of {sides}; leave size out")
    dtype, white = _TYPES[type_]
    return Input(inputs[0].name, sides, channels or 3, channels_first, fixed[0], dtype, white)
