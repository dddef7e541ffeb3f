"""Images: what decoders give, as numbers from 0 to 1; gradients by their symmetries."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from assay.data.media.folders import open_folder
from assay.data.media.image_features import CELLS, ORIENTATIONS, gradient_histograms, intensity_shares
from assay.data.media.images import in_grey, load_picture, scaled
from assay.errors import DataError

RNG = np.random.default_rng(3)
GREY = RNG.integers(0, 256, (6, 9), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (6, 9, 3), dtype=np.uint8)


def saved(tmp_path, image, name="a.png", **options):
    image.save(tmp_path / name, **options)
    return tmp_path / name


def matrix(source):
    return np.concatenate(list(source.float_blocks()))


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.tiff", "a.pgm", "a.gif"])
def test_grey_values_are_bytes_over_255(tmp_path, name):
    picture = load_picture(saved(tmp_path, Image.fromarray(GREY), name))
    np.testing.assert_allclose(in_grey(picture), GREY / 255, rtol=1e-6)


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.tiff", "a.ppm", "a.webp"])
def test_colours_keep_their_channels(tmp_path, name):
    options = {"lossless": True} if name.endswith("webp") else {}
    picture = load_picture(saved(tmp_path, Image.fromarray(COLOUR), name, **options))
    np.testing.assert_allclose(picture, COLOUR / 255, rtol=1e-6)


@pytest.mark.parametrize("name", ["a.png", "a.tiff", "a.pgm"])
def test_sixteen_bits_keep_their_precision(tmp_path, name):
    deep = RNG.integers(0, 65536, (5, 4), dtype=np.uint16)
    deep[0, :2] = 0, 65535
    np.testing.assert_allclose(load_picture(saved(tmp_path, Image.fromarray(deep), name)), deep / 65535, rtol=1e-6)


def test_one_bit_is_black_and_white(tmp_path):
    picture = load_picture(saved(tmp_path, Image.fromarray(GREY > 128), "a.png"))
    np.testing.assert_array_equal(picture, (GREY > 128).astype(float))


def test_floating_values_need_a_known_white(tmp_path):
    whole = np.array([[0.0, 0.25], [1.0, 0.5]], dtype=np.float32)
    np.testing.assert_array_equal(load_picture(saved(tmp_path, Image.fromarray(whole), "a.tiff")), whole)
    for wrong in (whole * 300, whole - 1, whole * np.nan):
        with pytest.raises(DataError, match="its values leave the range from 0 to 1 and have no known white"):
            load_picture(saved(tmp_path, Image.fromarray(wrong), "a.tiff"))


def test_transparent_parts_are_white(tmp_path):
    whole = np.dstack([COLOUR, np.full(GREY.shape, 255, np.uint8)])
    whole[0] = (10, 20, 30, 0)
    whole[1, :, 3] = 51
    picture = load_picture(saved(tmp_path, Image.fromarray(whole)))
    np.testing.assert_array_equal(picture[0], 1)
    np.testing.assert_allclose(picture[1], 0.2 * COLOUR[1] / 255 + 0.8, atol=1e-6)
    np.testing.assert_allclose(picture[2:], COLOUR[2:] / 255, rtol=1e-6)


def test_palettes_are_resolved(tmp_path):
    table = Image.fromarray(np.array([[0, 1], [2, 0]], np.uint8), "L").convert("P")
    table.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    picture = load_picture(saved(tmp_path, table))
    np.testing.assert_array_equal(picture, [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 0]]])
    clear = load_picture(saved(tmp_path, table, "b.png", transparency=0))
    np.testing.assert_array_equal(clear, [[[1, 1, 1], [0, 1, 0]], [[0, 0, 1], [1, 1, 1]]])


def test_cmyk_becomes_colour(tmp_path):
    cmyk = Image.new("CMYK", (3, 2), (0, 255, 255, 0))
    np.testing.assert_array_equal(load_picture(saved(tmp_path, cmyk, "a.tiff")), np.tile([1.0, 0, 0], (2, 3, 1)))


def test_a_picture_on_its_side_is_set_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn clockwise to see it upright
    picture = load_picture(saved(tmp_path, Image.fromarray(GREY), exif=exif))
    np.testing.assert_allclose(picture, np.rot90(GREY, -1) / 255, rtol=1e-6)
    assert matrix(open_folder(tmp_path)).shape == (1, GREY.size)
    assert open_folder(tmp_path).numeric_columns[-1] == "pixel 9,6"


def test_of_an_animation_the_first_frame_counts(tmp_path):
    frames = [Image.fromarray(np.full((3, 3), value, np.uint8)) for value in (255, 0)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    np.testing.assert_array_equal(load_picture(tmp_path / "a.gif"), 1)


def test_scaling_averages_whole_blocks_and_stays_within_range():
    noise = RNG.random((40, 60)).astype(np.float32)
    small = scaled(noise, (4, 6))
    assert small.shape == (4, 6) and small.min() > 0.35 and small.max() < 0.65
    np.testing.assert_allclose(scaled(np.full((7, 5), 0.3, np.float32), (3, 9)), 0.3, rtol=1e-6)
    both = np.stack([noise, 1 - noise, noise], axis=2)
    np.testing.assert_array_equal(scaled(both, (4, 6))[:, :, 0], small)


def test_large_jpegs_are_decoded_coarsely_to_nearly_the_same(tmp_path):
    ramp = np.add.outer(np.arange(400), np.arange(600)) / 1000 * 255
    path = saved(tmp_path, Image.fromarray(ramp.astype(np.uint8)), "a.jpg", quality=95)
    coarse = load_picture(path, shortest=64)
    assert 64 <= min(coarse.shape) < 400
    np.testing.assert_allclose(scaled(coarse, (32, 32)), scaled(load_picture(path), (32, 32)), atol=0.02)


def test_images_keep_a_small_size_they_share_and_become_32_by_32_otherwise(tmp_path):
    for i in range(3):
        saved(tmp_path, Image.fromarray(GREY), f"{i}.png")
    shared = open_folder(tmp_path)
    np.testing.assert_allclose(matrix(shared), np.tile(GREY.ravel() / 255, (3, 1)), rtol=1e-6)
    assert "6 x 9 grey pixels from 0 (black) to 1 (white), as they are" in shared.notes[0]
    saved(tmp_path, Image.fromarray(GREY[:3]), "3.png")
    mixed = open_folder(tmp_path)
    assert matrix(mixed).shape == (4, 1024) and "since they are large or differ in size" in mixed.notes[0]
    assert matrix(open_folder(tmp_path, size=(2, 3))).shape == (4, 6)


def test_large_images_of_one_size_are_scaled_too(tmp_path):
    saved(tmp_path, Image.fromarray(np.zeros((65, 64), np.uint8)))
    assert matrix(open_folder(tmp_path)).shape == (1, 1024)


def test_an_image_of_another_size_beyond_the_sample_is_told(tmp_path):
    for i in range(200):
        Image.fromarray(GREY[:2, :2] if i == 1 else GREY).save(tmp_path / f"{i:03}.png", compress_level=0)
    source = open_folder(tmp_path)
    assert matrix(source).shape == (200, GREY.size)
    (problem,) = source.problems
    assert problem.what == "images have another size than the rest and are scaled"
    assert problem.examples == (("001.png", None),)


def test_the_first_readable_image_is_found_among_many_broken_ones(tmp_path):
    for i in range(150):
        (tmp_path / f"{i:03}.png").write_text("x")
    saved(tmp_path, Image.fromarray(GREY), "001.png")
    source = open_folder(tmp_path)
    assert matrix(source).shape == (1, GREY.size)
    assert next(iter(source.problems)).count == 149


def test_folders_of_colours_keep_them_and_grey_ones_saved_as_colours_do_not(tmp_path):
    saved(tmp_path, Image.fromarray(COLOUR))
    source = open_folder(tmp_path)
    assert source.numeric_columns[:4] == ("red 1,1", "green 1,1", "blue 1,1", "red 1,2")
    np.testing.assert_allclose(matrix(source)[0], COLOUR.ravel() / 255, rtol=1e-6)
    saved(tmp_path, Image.fromarray(GREY).convert("RGB"))
    np.testing.assert_allclose(matrix(open_folder(tmp_path))[0], GREY.ravel() / 255, rtol=1e-5)


def test_grey_is_pillows_grey():
    ours = in_grey((COLOUR / 255).astype(np.float32)) * 255
    np.testing.assert_allclose(ours, np.asarray(Image.fromarray(COLOUR).convert("L")), atol=0.6)


@pytest.mark.parametrize("most", [40, 20])
def test_bombs_are_problems_not_warnings(tmp_path, monkeypatch, most):
    saved(tmp_path, Image.fromarray(GREY[:2, :2]))
    saved(tmp_path, Image.fromarray(GREY), "bomb.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most)  # Pillow warns beyond this and raises beyond twice this
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = open_folder(tmp_path)
        assert matrix(source).shape == (1, 4)
    ((place, why),) = next(iter(source.problems)).examples
    assert place == "bomb.png" and f"more than {most}" in why


def test_truncated_files_are_problems(tmp_path):
    saved(tmp_path, Image.fromarray(np.tile(GREY, (9, 9))), "whole.jpg")
    saved(tmp_path, Image.fromarray(np.tile(GREY, (9, 9))), "whole.png")
    for name in ("jpg", "png"):
        content = (tmp_path / f"whole.{name}").read_bytes()
        (tmp_path / f"cut.{name}").write_bytes(content[: len(content) // 2])
    source = open_folder(tmp_path)
    assert source.to_arrow().column("file").to_pylist() == ["whole.jpg", "whole.png"]
    assert [place for place, _ in next(iter(source.problems)).examples] == ["cut.jpg", "cut.png"]


def test_postscript_under_another_name_starts_no_program(tmp_path):
    (tmp_path / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n%%EOF\n")
    with pytest.raises(DataError, match="it is not an image"):
        load_picture(tmp_path / "a.png")


planes = arrays(np.float32, st.tuples(st.integers(1, 13), st.integers(1, 13)), elements=st.floats(0, 1, width=16))


@given(planes)
def test_a_quarter_turn_turns_cells_and_orientations_alike(plane):
    turned = np.rot90(gradient_histograms(plane), axes=(0, 1))
    np.testing.assert_allclose(
        gradient_histograms(np.rot90(plane)), np.roll(turned, ORIENTATIONS // 2, axis=2), atol=1e-6
    )


@given(planes)
def test_a_mirror_image_mirrors_cells_and_orientations(plane):
    mirrored = gradient_histograms(plane)[:, ::-1]
    expected = mirrored[:, :, -np.arange(ORIENTATIONS) % ORIENTATIONS]
    np.testing.assert_allclose(gradient_histograms(plane[:, ::-1]), expected, atol=1e-6)


@given(planes, st.integers(-3, 3), st.sampled_from([0.25, 0.5, 4.0]))
def test_brightness_contrast_and_negatives_do_not_change_the_gradients(plane, shift, scale):
    whole = gradient_histograms(plane)
    changed = (plane.astype(np.float64) * scale + shift).astype(np.float64)
    np.testing.assert_allclose(gradient_histograms(changed), whole, atol=1e-6)
    np.testing.assert_allclose(gradient_histograms(1 - plane.astype(np.float64)), whole, atol=1e-6)
    assert np.linalg.norm(whole) == pytest.approx(1) or (whole == 0).all()


@pytest.mark.parametrize("angle", np.arange(0, 180, 22.5))
def test_a_ramp_lies_in_its_orientation(angle):
    turn = np.deg2rad(angle)
    ramp = np.add.outer(np.sin(turn) * np.arange(16), np.cos(turn) * np.arange(16))
    histogram = gradient_histograms(ramp).sum(axis=(0, 1))
    assert histogram.argmax() == round(angle / 22.5)
    assert np.delete(histogram, histogram.argmax()).max() < 1e-6 * histogram.max()


def test_gradients_stay_in_their_cell():
    spot = np.zeros((16, 16))
    spot[6, 13] = 1
    strength = gradient_histograms(spot).sum(axis=2)
    assert strength.argmax() == 1 * CELLS + 3 and (strength > 0).sum() == 1


def test_a_flat_picture_has_no_gradients():
    assert (gradient_histograms(np.full((5, 7), 0.3, np.float32)) == 0).all()
    assert (gradient_histograms(np.zeros((1, 1), np.float32)) == 0).all()


@given(planes)
def test_shares_of_intensity_are_numpys_histogram(plane):
    oracle = np.histogram(plane, bins=16, range=(0, 1))[0] / plane.size
    np.testing.assert_allclose(intensity_shares(plane), oracle)


def test_histograms_have_a_column_for_each_bin_whatever_the_size(tmp_path):
    saved(tmp_path, Image.fromarray(GREY))
    saved(tmp_path, Image.fromarray(np.tile(GREY, (60, 60))), "large.png")
    source = open_folder(tmp_path, features="histograms")
    found = matrix(source)
    assert found.shape == (2, 16 + 4 * 4 * 8)
    np.testing.assert_allclose(found[:, :16].sum(axis=1), 1, rtol=1e-6)
    assert source.numeric_columns[0] == "intensity 0.00-0.06" and source.numeric_columns[-1] == "gradient 4,4 157.5°"
    saved(tmp_path, Image.fromarray(COLOUR))
    saved(tmp_path, Image.fromarray(COLOUR), "large.png")
    coloured = open_folder(tmp_path, features="histograms", size=8)
    assert matrix(coloured).shape == (2, 48 + 128) and coloured.numeric_columns[16] == "green 0.00-0.06"
