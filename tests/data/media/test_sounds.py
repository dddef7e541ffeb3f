"""Sounds: levels in decibels by their laws, every sort of WAV file, silence and scraps with finite answers."""

import struct
import warnings
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal
from scipy.io import wavfile
from scipy.spatial.distance import cdist

from assay.data.media.folders import open_folder
from assay.data.media.sounds import BANDS, Recording, load_sound, mel_edges, sound_statistics
from assay.errors import DataError

RNG = np.random.default_rng(7)
NOISE = RNG.uniform(-0.5, 0.5, 8000)
SHARED = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/spoken_digits/sounds"


def parts(x, rate=8000, limit=4000.0):
    found = sound_statistics(Recording(rate, np.asarray(x, dtype=float)), limit)
    return found[:3], found[3 : 3 + BANDS], found[3 + BANDS :]


def tone(frequency, rate=8000, seconds=1.0, amplitude=0.5):
    return amplitude * np.sin(2 * np.pi * frequency * np.arange(int(rate * seconds)) / rate)


@given(st.floats(0.01, 10))
def test_louder_moves_every_level_alike_and_leaves_the_variation(factor):
    (_, loudness, centroid), levels, variation = parts(NOISE)
    (_, louder, same), moved, unmoved = parts(NOISE * factor)
    decibel = 20 * np.log10(factor)
    np.testing.assert_allclose(moved - levels, decibel, atol=1e-9)
    np.testing.assert_allclose(unmoved, variation, atol=1e-9)
    assert louder - loudness == pytest.approx(decibel, abs=1e-9) and same == pytest.approx(centroid)


@pytest.mark.parametrize("limit", [4000.0, 8000.0])
def test_a_tone_sits_in_its_band(limit):
    for band, frequency in enumerate(mel_edges(limit)[1:-1]):
        (_, loudness, centroid), levels, _ = parts(tone(frequency, 16000), 16000, limit)
        assert levels.argmax() == band
        assert levels[band] == pytest.approx(loudness, abs=1.5)  # nearly all of its power
        assert centroid == pytest.approx(frequency, rel=0.02, abs=2)
        assert loudness == pytest.approx(20 * np.log10(0.5) - 10 * np.log10(2), abs=0.05)


@pytest.mark.parametrize("n", [4096, 4100, 5121])
def test_played_backwards_the_levels_are_the_same(n):
    chirp = signal.chirp(np.arange(n) / 8000, 100, n / 8000, 3000) * np.linspace(0.1, 1, n)
    _, levels, variation = parts(chirp)
    _, back, back_variation = parts(chirp[::-1])
    # an odd remainder cannot be cut alike at both ends
    np.testing.assert_allclose(back, levels, atol=1e-9 if n % 2 == 0 else 0.2)
    np.testing.assert_allclose(back_variation, variation, atol=1e-9 if n % 2 == 0 else 0.2)


def test_levels_are_those_of_scipys_spectrogram_under_triangles():
    x = NOISE[: 256 + 128 * 60]
    window = signal.get_window("hann", 256, fftbins=False)
    frequencies, _, density = signal.spectrogram(x - x.mean(), 8000, window, noverlap=128, detrend=False)
    edges = mel_edges(4000)
    corners = [edges[band : band + 3] for band in range(BANDS)]
    power = np.array([np.interp(frequencies, corner, [0, 1, 0]) @ density for corner in corners]) * frequencies[1]
    _, levels, variation = parts(x)
    oracle = 10 * np.log10(power)
    # SciPy counts the highest frequency once where others count twice; no triangle has weight there
    np.testing.assert_allclose(levels, oracle.mean(axis=1), atol=1e-9)
    np.testing.assert_allclose(variation, oracle.std(axis=1), atol=1e-9)


@pytest.mark.parametrize("rate", [11025, 16000, 44100])
def test_the_same_sound_at_another_sample_rate_gives_the_same_numbers(rate):
    def sound(t):
        return 0.3 * np.sin(2 * np.pi * 440 * t) + 0.2 * np.sin(2 * np.pi * 1800 * t)

    reference = parts(sound(np.arange(16000) / 8000))
    found = parts(sound(np.arange(2 * rate) / rate), rate)
    np.testing.assert_allclose(found[0], reference[0], rtol=0.01)
    loud = reference[1] > -40  # the rest is what leaks through the window
    assert loud.sum() == 4
    np.testing.assert_allclose(found[1][loud], reference[1][loud], atol=0.01)


def test_an_offset_does_not_matter():
    for mine, other in zip(parts(NOISE), parts(NOISE + 0.3), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-8)


@pytest.mark.parametrize("x", [np.zeros(8000), np.zeros(1), [0.7], [0.1, -0.1], np.full(100, 0.25), NOISE[:255]])
def test_silence_and_scraps_have_finite_answers(x):
    found = np.concatenate(parts(x))
    assert np.isfinite(found).all() and found[1] >= -120 and (found[3 : 3 + BANDS] >= -120).all()
    if np.ptp(x) == 0:
        assert found[2] == 0 and (found[3 : 3 + BANDS] == -120).all() and (found[3 + BANDS :] == 0).all()


def test_long_sounds_are_read_in_parts_that_add_up(monkeypatch):
    whole = np.concatenate(parts(np.tile(NOISE, 6)))
    monkeypatch.setattr("assay.data.media.sounds._FRAMES", 7)
    np.testing.assert_allclose(np.concatenate(parts(np.tile(NOISE, 6))), whole, rtol=1e-10)


def test_bands_above_half_the_sample_rate_are_missing():
    _, levels, variation = parts(NOISE, 4000, 4000.0)
    beyond = mel_edges(4000)[:-2] >= 2000
    assert beyond.any() and (np.isnan(levels) == beyond).all() and (np.isnan(variation) == beyond).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32, np.float64])
def test_every_sort_of_number_gives_the_same_sound(tmp_path, dtype):
    x = tone(440)
    if dtype == np.uint8:
        stored = np.rint(x * 128 + 128).astype(dtype)
    elif np.issubdtype(dtype, np.integer):
        stored = np.rint(x * 2.0 ** (8 * np.dtype(dtype).itemsize - 1)).astype(dtype)
    else:
        stored = x.astype(dtype)
    wavfile.write(tmp_path / "a.wav", 8000, stored)
    sound = load_sound(tmp_path / "a.wav")
    assert sound.rate == 8000 and sound.whole
    np.testing.assert_allclose(sound.samples, x, atol=1 / 255 if dtype == np.uint8 else 2e-5)


def test_twenty_four_bits_are_read(tmp_path):
    x = tone(440)
    with wave.open(str(tmp_path / "a.wav"), "wb") as handle:
        handle.setnchannels(1)
        handle.setsampwidth(3)
        handle.setframerate(8000)
        handle.writeframes(b"".join(struct.pack("<i", int(v * 2**23))[:3] for v in x))
    np.testing.assert_allclose(load_sound(tmp_path / "a.wav").samples, x, atol=1e-6)


def test_channels_are_averaged(tmp_path):
    wavfile.write(tmp_path / "a.wav", 8000, np.column_stack([NOISE, np.zeros_like(NOISE)]))
    np.testing.assert_allclose(load_sound(tmp_path / "a.wav").samples, NOISE / 2)


def test_a_sound_that_ends_early_is_used_and_told(tmp_path):
    wavfile.write(tmp_path / "whole.wav", 8000, (NOISE * 30000).astype(np.int16))
    content = (tmp_path / "whole.wav").read_bytes()
    (tmp_path / "cut.wav").write_bytes(content[:9001])
    streamed = bytearray(content)
    streamed[4:8] = streamed[40:44] = b"\xff" * 4
    (tmp_path / "streamed.wav").write_bytes(streamed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = open_folder(tmp_path)
        table = source.to_arrow()
    assert table.column("duration").to_pylist() == [4478 / 8000, 1.0, 1.0]
    (problem,) = source.problems
    assert problem.what == "sounds end before their time and are used as far as they go"
    assert problem.examples == (("cut.wav", None),)


def test_files_that_are_no_sounds_are_left_out(tmp_path):
    wavfile.write(tmp_path / "good.wav", 8000, NOISE)
    content = (tmp_path / "good.wav").read_bytes()
    wavfile.write(tmp_path / "nothing.wav", 8000, np.zeros(0, dtype=np.int16))
    wavfile.write(tmp_path / "nan.wav", 8000, np.full(9, np.nan))
    wavfile.write(tmp_path / "huge.wav", 8000, np.full(9, 1e300))
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "text.wav").write_text("no sound")
    (tmp_path / "head.wav").write_bytes(content[:30])
    (tmp_path / "packed.wav").write_bytes(content[:20] + b"\x02\x00" + content[22:])
    source = open_folder(tmp_path)
    assert source.to_arrow().column("file").to_pylist() == ["good.wav"]
    (problem,) = source.problems
    assert problem.count == 7
    reasons = dict(problem.examples)
    assert reasons["empty.wav"] and "not finite" in reasons["huge.wav"] and "not finite" in reasons["nan.wav"]
    with pytest.raises(DataError, match="it holds no samples"):
        load_sound(tmp_path / "nothing.wav")


def test_columns_have_units_and_the_limit_is_that_of_the_slowest_file(tmp_path):
    wavfile.write(tmp_path / "a.wav", 44100, NOISE)
    fast = open_folder(tmp_path)
    assert fast.numeric_columns[3] == "level at 74 Hz" and "up to 8000 Hz" in fast.notes[0]
    wavfile.write(tmp_path / "b.wav", 8000, NOISE)
    source = open_folder(tmp_path)
    schema = source.arrow_schema
    units = [schema.field(name).metadata[b"unit"] for name in ("duration", "loudness", "centroid", "level at 55 Hz")]
    assert units == [b"s", b"dB", b"Hz", b"dB"]
    assert len(source.numeric_columns) == len(set(source.numeric_columns)) == 3 + 2 * BANDS
    assert "up to 4000 Hz" in source.notes[0]
    assert np.isfinite(np.concatenate(list(source.float_blocks()))).all()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_spoken_digits_are_told_apart_far_better_than_by_chance():
    source = open_folder(SHARED)
    X, y = np.concatenate(list(source.float_blocks())), source.to_arrow().column("label").to_numpy()
    assert X.shape == (180, 51)
    apart = cdist(X, X, "seuclidean")
    np.fill_diagonal(apart, np.inf)
    assert (y[apart.argmin(axis=1)] == y).mean() > 0.8  # chance is 0.1


@pytest.mark.parametrize("rate", [1, 4_000_000_000])
def test_sample_rates_that_cannot_be_are_refused_and_do_not_move_the_bands(tmp_path, rate):
    wavfile.write(tmp_path / "a.wav", 8000, NOISE)
    wavfile.write(tmp_path / "b.wav", 8000, NOISE)
    content = bytearray((tmp_path / "b.wav").read_bytes())
    content[24:28] = struct.pack("<I", rate)
    (tmp_path / "b.wav").write_bytes(content)
    source = open_folder(tmp_path)
    assert source.to_arrow().num_rows == 1 and "up to 4000 Hz" in source.notes[0]
    assert "samples in a second, outside 100 to 2,000,000" in next(iter(source.problems)).examples[0][1]
