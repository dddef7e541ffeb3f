"""Pictures as arrays of numbers from 0 (black) to 1 (white), and their pixels as features."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from assay.data.media.folders import Loaded, reason
from assay.errors import DataError, ParameterError

Picture: TypeAlias = NDArray[np.float32]  # (h, w) grey or (h, w, 3) red, green, blue

# Named, because Pillow tries every format whatever the suffix, and for PostScript it starts a program.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
# What Pillow logs about damaged files is told in the problems; without a handler Python prints it.
logging.getLogger("PIL").addHandler(logging.NullHandler())
_ALPHA = ("LA", "La", "RGBA", "RGBa", "PA")
_ORIENTATION = 0x0112  # EXIF tag; values from 5 on lay the picture on its side
_SAMPLE = 64
_USUAL_SIZE = (32, 32)
_MOST_PIXELS = 64 * 64
CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True, slots=True)
class ImageLook:
    """What a sample of the images of a folder has in common.

    Attributes:
        count: images in the sample that could be read.
        size: their (height, width), if they share it.
        colour: whether most show colours.
    """

    count: int
    size: tuple[int, int] | None
    colour: bool


class Pixels:
    """The pixels of images scaled to one size, from 0 to 1, row by row.

    Without a size the images keep the one they share, if it has at most 4,096 pixels, and become 32 x 32 otherwise.
    They stay coloured if most of the sample are.

    Args:
        size: (height, width).
    """

    threads = True
    held = 0

    def __init__(self, size: tuple[int, int] | None = None) -> None:
        self._size = size or _USUAL_SIZE
        self._given = size is not None
        self._shared = False
        self._colour = False

    def fields(self, files: Sequence[Path]) -> tuple[list[pa.Field], tuple[str, ...]]:
        """The columns, from a look at a sample."""
        look = look_at(files)
        if look is None:
            return [], ()
        self._colour = look.colour
        if not self._given and look.size is not None and look.size[0] * look.size[1] <= _MOST_PIXELS:
            self._size, self._shared = look.size, True
        height, width = self._size
        places = [f"{r},{c}" for r in range(1, height + 1) for c in range(1, width + 1)]
        names = [f"{part} {place}" for place in places for part in (CHANNELS if self._colour else ("pixel",))]
        why = "as asked" if self._given else "as they are" if self._shared else "since they are large or differ in size"
        note = (
            f"Images are read as {height} x {width} {'coloured' if self._colour else 'grey'} pixels from 0 (black) to "
            f"1 (white), {why}."
        )
        return [pa.field(name, pa.float32()) for name in names], (note,)

    def read(self, file: Path) -> Loaded:
        """The picture at the common size."""
        picture = load_picture(file, shortest=2 * max(self._size))
        other = self._shared and picture.shape[:2] != self._size
        remark = "images have another size than the rest and are scaled" if other else None
        return scaled(in_colour(picture) if self._colour else in_grey(picture), self._size), remark

    def rows(self, loaded: Sequence[Picture]) -> NDArray[np.float32]:
        """(files, pixels)."""
        return np.stack(loaded).reshape(len(loaded), -1)


def load_picture(file: Path, *, shortest: int | None = None) -> Picture:
    """Decode an image file: the first frame, upright, transparent parts over white.

    Args:
        file: a PNG, JPEG, GIF, BMP, TIFF, WebP or PPM file.
        shortest: a JPEG may be decoded at a half, a quarter or an eighth, as long as no side gets shorter than this.

    Returns:
        (h, w) or (h, w, 3) from 0 to 1.
    """
    try:
        with Image.open(file, formats=_FORMATS) as image:
            _refuse_huge(image)
            if shortest is not None:
                image.draft(None, (shortest, shortest))
            return _values(ImageOps.exif_transpose(image))
    except (DataError, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise DataError("it is not an image") from error
    except Image.DecompressionBombError as error:
        raise DataError(f"it has more than {Image.MAX_IMAGE_PIXELS:,} pixels") from error
    except Exception as error:  # decoders of damaged files raise whatever they stumble over
        raise DataError(reason(error)) from error


def look_at(files: Sequence[Path]) -> ImageLook | None:
    """Look at 64 images spread over all, or at as many more as it takes to find one that can be read."""
    spread = dict.fromkeys(np.linspace(0, len(files) - 1, min(_SAMPLE, len(files))).round().astype(int).tolist())
    seen = list(_glances(files[i] for i in spread))
    if not seen:
        seen = list(_glances((file for i, file in enumerate(files) if i not in spread), enough=1))
    if not seen:
        return None
    sizes = {size for size, _ in seen}
    coloured = sum(colour for _, colour in seen)
    return ImageLook(len(seen), sizes.pop() if len(sizes) == 1 else None, 2 * coloured > len(seen))


def in_grey(picture: Picture) -> Picture:
    """The brightness as the eye weighs it (ITU-R BT.601)."""
    return picture if picture.ndim == 2 else picture @ np.array([0.299, 0.587, 0.114], dtype=np.float32)


def in_colour(picture: Picture) -> Picture:
    """Three channels, alike for a grey picture."""
    return picture if picture.ndim == 3 else np.repeat(picture[:, :, None], 3, axis=2)


def scaled(picture: Picture, size: tuple[int, int]) -> Picture:
    """Bring a picture to (height, width); when it shrinks, each new pixel averages all those it covers.

    >>> scaled(np.array([[0, 1], [1, 0]], dtype=np.float32), (1, 1))
    array([[0.5]], dtype=float32)
    """
    if picture.shape[:2] == size:
        return picture
    planes = [picture] if picture.ndim == 2 else list(np.moveaxis(picture, 2, 0))
    made = [
        np.asarray(Image.fromarray(np.ascontiguousarray(plane)).resize(size[::-1], Image.Resampling.BILINEAR))
        for plane in planes
    ]
    return made[0] if picture.ndim == 2 else np.stack(made, axis=2)


def checked_size(size: int | tuple[int, int] | None) -> tuple[int, int] | None:
    """The size an option names, as (height, width).

    >>> checked_size(28)
    (28, 28)
    """
    if size is None:
        return None
    sides = (size, size) if isinstance(size, int) else size
    whole = isinstance(sides, Sequence) and all(isinstance(side, int) and not isinstance(side, bool) for side in sides)
    if not whole or len(sides) != 2 or not all(1 <= side <= 4096 for side in sides):
        raise ParameterError(f"size is a whole number from 1 to 4096, or (height, width) of such; got {size!r}")
    return (int(sides[0]), int(sides[1]))


def _glances(files: Iterable[Path], enough: int = _SAMPLE) -> Iterator[tuple[tuple[int, int], bool]]:
    """Sizes and whether there is colour, of the images that can be read, until there are enough."""
    for file in files:
        try:
            with Image.open(file, formats=_FORMATS) as image:
                width, height = image.size
                on_its_side = image.getexif().get(_ORIENTATION, 1) >= 5
            picture = load_picture(file, shortest=32)
        except (DataError, OSError, ValueError, SyntaxError, TypeError, Image.DecompressionBombError):
            continue
        yield ((width, height) if on_its_side else (height, width)), _shows_colour(picture)
        enough -= 1
        if not enough:
            return


def _shows_colour(picture: Picture) -> bool:
    # a grey picture saved with three channels may differ between them by a rounding or two
    return picture.ndim == 3 and float((picture.max(axis=2) - picture.min(axis=2)).max()) > 0.02


def _refuse_huge(image: Image.Image) -> None:
    most = Image.MAX_IMAGE_PIXELS
    if most is not None and image.width * image.height > most:
        raise DataError(f"it has {image.width * image.height:,} pixels, more than {most:,}")


def _values(image: Image.Image) -> Picture:
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _unbounded(np.asarray(image), white=1 if image.mode == "F" else 65535)
    if image.mode in ("1", "L") and "transparency" not in image.info:
        return np.asarray(image.convert("L"), dtype=np.float32) / np.float32(255)
    if image.mode in _ALPHA or "transparency" in image.info:
        whole = np.asarray(image.convert("RGBA"), dtype=np.float32) / np.float32(255)
        opaque = whole[:, :, 3:]
        return np.asarray(whole[:, :, :3] * opaque + (1 - opaque))
    return np.asarray(image.convert("RGB"), dtype=np.float32) / np.float32(255)


def _unbounded(values: NDArray[Any], white: float) -> Picture:
    if not (values.min() >= 0 and values.max() <= white):  # also true of NaN
        raise DataError(f"its values leave the range from 0 to {white} and have no known white")
    return np.asarray(values.astype(np.float32) / np.float32(white))
