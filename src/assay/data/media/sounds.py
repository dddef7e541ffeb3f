"""Sounds told by how loud they are at each pitch, and how much that changes.

    frames   power spectral density of 32 ms windows, half overlapping, one-sided, full scale = 1
    bands    24 triangles of equal width on the mel scale, from 0 Hz to a limit common to all files
    columns  mean and standard deviation over the frames of 10 log10(power in a band), duration, loudness, centroid

The densities are per Hz, so recordings of the same sound at different sample rates give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import fft, signal
from scipy.io import wavfile

from assay.arrays import Array
from assay.data.media.folders import Loaded, reason
from assay.errors import DataError

BANDS = 24
# Power below this counts as this: -120 dB, a fortieth of the last bit of a 16-bit recording.
FLOOR = 1e-12
_WINDOW = 0.032
_HIGHEST = 8000.0
# Spectra at a time: bounds memory for recordings of hours.
_FRAMES = 2048
# Samples in a second that a file may claim; a window of any number more would be as long as it says.
_RATES = (100, 2_000_000)
# Beyond this a square is not a number.
_LARGEST = 1e100
_UNKNOWN_LENGTHS = (0, 0xFFFFFFFF)  # written by programs that stream


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One sound.

    Attributes:
        rate: samples in a second.
        samples: (n,) from -1 to 1, channels averaged.
        whole: whether the file is as long as it says.
    """

    rate: int
    samples: Array
    whole: bool = True


class SoundFeatures:
    """Statistics of the spectrogram of WAV files.

    The upper limit of the bands is half the lowest sample rate of all files, at most 8,000 Hz.
    """

    threads = True
    held = 0

    def __init__(self) -> None:
        self._limit = _HIGHEST

    def fields(self, files: Sequence[Path]) -> tuple[list[pa.Field], tuple[str, ...]]:
        """The columns, from the sample rates in the headers of the files."""
        rates = [rate for rate in map(_rate_of, files) if rate]
        if not rates:
            return [], ()
        self._limit = min(_HIGHEST, min(rates) / 2)
        centres = mel_edges(self._limit)[1:-1]
        names = [f"{what} at {centre:.0f} Hz" for what in ("level", "variation") for centre in centres]
        units = [("duration", "s"), ("loudness", "dB"), ("centroid", "Hz"), *((name, "dB") for name in names)]
        note = (
            f"Sounds are told by mean and standard deviation over time of their level in {BANDS} bands up to "
            f"{self._limit:g} Hz, in dB below full scale and never below −120; silence has its centroid at 0 Hz."
        )
        return [pa.field(name, pa.float64(), metadata={b"unit": unit.encode()}) for name, unit in units], (note,)

    def read(self, file: Path) -> Loaded:
        """The statistics of one file."""
        sound = load_sound(file)
        remark = None if sound.whole else "sounds end before their time and are used as far as they go"
        return sound_statistics(sound, self._limit), remark

    def rows(self, loaded: Sequence[Array]) -> Array:
        """(files, statistics)."""
        return np.stack(loaded)


def load_sound(file: Path) -> Recording:
    """Read a WAV file of 8 to 64 bits, whole or floating numbers, any number of channels."""
    try:
        with file.open("rb") as handle:
            head = handle.read(8)
            handle.seek(0)
            rate, values = wavfile.read(handle)
        claimed = int.from_bytes(head[4:8], "big" if head[:4] == b"RIFX" else "little")
        whole = claimed in _UNKNOWN_LENGTHS or claimed + 8 <= file.stat().st_size
    except Exception as error:  # of damaged files the reader raises whatever it stumbles over
        raise DataError(reason(error)) from error
    if not _RATES[0] <= rate <= _RATES[1]:
        raise DataError(f"it claims {rate:,} samples in a second, outside {_RATES[0]:,} to {_RATES[1]:,}")
    if not values.size:
        raise DataError("it holds no samples")
    samples = _scaled(values)
    samples = samples.mean(axis=1) if samples.ndim == 2 else samples
    if not np.abs(samples).max() < _LARGEST:  # also true of NaN
        raise DataError("it holds samples that are not finite")
    return Recording(int(rate), samples, whole)


def sound_statistics(sound: Recording, limit: float = _HIGHEST) -> Array:
    """(3 + 2 * 24,) duration, loudness, centroid, then means and standard deviations of the levels of the bands.

    Levels in bands that begin above half the sample rate are NaN.

    >>> t = np.arange(8000) / 8000
    >>> found = sound_statistics(Recording(8000, np.sin(2 * np.pi * 1000 * t)), 4000)
    >>> found[:3].round(1)
    array([   1.,   -3., 1000.])
    """
    x = sound.samples - sound.samples.mean()
    edges = mel_edges(limit)
    triangles: Array | None = None
    total: Array = np.zeros(0)
    levels = []
    for frequencies, density in _spectra(x, sound.rate, limit):
        if triangles is None:
            triangles = _triangles(frequencies, edges)
            total = np.zeros(len(frequencies))
        total += density.sum(axis=0)
        levels.append(_decibel(density @ triangles.T * frequencies[1]))
    whole = np.concatenate(levels)
    means, variation = whole.mean(axis=0), whole.std(axis=0)
    beyond = edges[:-2] >= sound.rate / 2
    means[beyond] = variation[beyond] = np.nan
    centroid = float(total @ frequencies / total.sum()) if total.sum() > 0 else 0.0
    own = [len(x) / sound.rate, float(_decibel(np.mean(x**2))), centroid]
    return np.concatenate([own, means, variation])


def mel_edges(limit: float) -> Array:
    """(26,) where bands of equal width on the mel scale begin, peak and end: band b peaks at entry b + 1.

    >>> mel_edges(4000)[[0, 1, -1]].round(1)
    array([   0. ,   55.4, 4000. ])
    """
    mel = np.linspace(0, 2595 * np.log10(1 + limit / 700), BANDS + 2)
    return np.asarray(700 * (10 ** (mel / 2595) - 1))


def _rate_of(file: Path) -> int:
    """The sample rate in the header, 0 if there is none that can be."""
    try:
        with file.open("rb") as handle:
            head = handle.read(1 << 12)
    except OSError:
        return 0
    start = head.find(b"fmt ")
    if head[:4] not in (b"RIFF", b"RIFX", b"RF64") or start < 0 or len(head) < start + 16:
        return 0
    rate = int.from_bytes(head[start + 12 : start + 16], "big" if head[:4] == b"RIFX" else "little")
    return rate if _RATES[0] <= rate <= _RATES[1] else 0


def _scaled(values: NDArray[Any]) -> Array:
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    if values.dtype == np.uint8:
        return (values.astype(np.float64) - 128) / 128
    return np.asarray(values.astype(np.float64) / -float(np.iinfo(values.dtype).min))


def _spectra(x: Array, rate: int, limit: float) -> Iterator[tuple[Array, Array]]:
    """Frequencies (k,) and power densities (frames, k) up to the limit, some frames at a time.

    Frames lie in the middle of the sound, so that it has the same ones when played backwards.
    """
    # longer windows for low limits, so that each band has a frequency of the transform in it
    length = max(4, round(rate * max(_WINDOW, 128 / limit)))
    hop = length // 2
    if len(x) < length:
        x = np.pad(x, ((length - len(x)) // 2, (length - len(x) + 1) // 2))
    x = x[(len(x) - length) % hop // 2 :]
    window = signal.get_window("hann", length, fftbins=False)
    frequencies: Array = np.arange(length // 2 + 1, dtype=np.float64) * (rate / length)
    kept = frequencies <= limit
    scale = 2 / (rate * np.square(window).sum())
    frames = np.lib.stride_tricks.sliding_window_view(x, length)[::hop]
    for start in range(0, len(frames), _FRAMES):
        spectrum: NDArray[np.complex128] = fft.rfft(frames[start : start + _FRAMES] * window, axis=1)[:, kept]
        yield frequencies[kept], scale * (spectrum.real**2 + spectrum.imag**2)


def _triangles(frequencies: Array, edges: Array) -> Array:
    """(bands, k) one at the centre of a band, zero at the centres of its neighbours."""
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (frequencies - low) / (centre - low), (high - frequencies) / (high - centre)
    return np.asarray(np.maximum(np.minimum(rising, falling), 0))


def _decibel(power: Any) -> Array:
    return np.asarray(10 * np.log10(np.maximum(power, FLOOR)))
