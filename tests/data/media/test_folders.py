"""Folders: a row for each file, labels from sub-folders, nothing followed out of them, nothing dropped in silence."""

import os

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from scipy.io import wavfile

from assay.data.field import Declared
from assay.data.media.folders import folder_kind, open_folder
from assay.errors import DataError, ParameterError


def picture(path, value=0, size=(4, 4)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full(size, value, dtype=np.uint8)).save(path)


@pytest.fixture
def animals(tmp_path):
    for i, name in enumerate(["dog/2.png", "cat/1.png", "cat/10.png", "dog/a b.png"]):
        picture(tmp_path / name, 51 * i)
    return tmp_path


def found(source):
    list(source.blocks())
    return {problem.what: problem for problem in source.problems}


def test_each_file_is_a_row_in_the_order_of_its_path_with_its_sub_folder_as_label(animals):
    table = open_folder(animals).to_arrow()
    assert table.column("file").to_pylist() == ["cat/1.png", "cat/10.png", "dog/2.png", "dog/a b.png"]
    assert table.column("label").to_pylist() == ["cat", "cat", "dog", "dog"]
    np.testing.assert_allclose(table.column("pixel 4,4").to_numpy(), np.array([51, 102, 0, 153]) / 255, rtol=1e-6)


def test_the_name_of_a_file_is_an_identifier_and_the_label_has_its_role(animals):
    source = open_folder(animals)
    file, label = source.schema[:2]
    assert (file.kind, label.kind) == ("identifier", "category")
    assert source.arrow_schema.field("file").metadata == {b"role": b"file"}
    assert source.arrow_schema.field("label").metadata == {b"role": b"label"}
    assert source.numeric_columns[0] == "pixel 1,1" and len(source.numeric_columns) == 16


def test_what_the_user_declares_goes_first(animals):
    assert open_folder(animals, Declared(kinds={"label": "text"})).schema[1].kind == "text"


def test_the_label_is_the_innermost_folder_and_missing_at_the_top(tmp_path):
    for name in ["train/cat/1.png", "test/cat/2.png", "0.png"]:
        picture(tmp_path / name)
    assert open_folder(tmp_path).to_arrow().column("label").to_pylist() == [None, "cat", "cat"]


def test_without_sub_folders_there_is_no_label(tmp_path):
    picture(tmp_path / "a.png")
    assert "label" not in open_folder(tmp_path).arrow_schema.names


def test_files_that_cannot_be_read_are_named_and_the_rest_is_read(animals):
    (animals / "cat" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
    (animals / "dog" / "empty.png").write_bytes(b"")
    (animals / "dog" / "words.png").write_text("no picture")
    source = open_folder(animals)
    assert source.to_arrow().num_rows == 4
    (problem,) = source.problems
    assert problem.what == "files cannot be read and are left out" and problem.count == 3
    assert [place for place, _ in problem.examples] == ["cat/broken.png", "dog/empty.png", "dog/words.png"]
    assert problem.examples[2][1] == "it is not an image"


def test_every_pass_tells_its_own_problems_once(animals):
    (animals / "notes.csv").write_text("x")
    (animals / "cat" / "broken.png").write_bytes(b"")
    source = open_folder(animals)
    assert source.schema
    for _ in range(2):
        problems = found(source)
        assert problems["files cannot be read and are left out"].count == 1
        assert problems["files are of another sort and left out"].examples == (("notes.csv", None),)


def test_a_folder_in_which_nothing_can_be_read_is_refused(tmp_path):
    (tmp_path / "a.png").write_text("x")
    (tmp_path / "b.png").write_text("x")
    with pytest.raises(DataError, match=r"none of its 2 images can be read; check that they are what their names say"):
        _ = open_folder(tmp_path).arrow_schema


def test_files_that_break_between_passes_stop_the_second(animals):
    """Otherwise one pass would tell of four rows and the next of three."""
    source = open_folder(animals)
    assert source.to_arrow().num_rows == 4
    (animals / "cat" / "1.png").unlink()
    with pytest.raises(DataError, match=r"cat/1\.png: it changed while it was being read \(it is gone\)"):
        source.to_arrow()
    assert open_folder(animals).to_arrow().num_rows == 3


def test_a_folder_of_which_nothing_can_be_read_is_refused(animals):
    for file in animals.rglob("*.png"):
        file.write_bytes(b"no image")
    with pytest.raises(DataError, match="none of its 4 images can be read"):
        list(open_folder(animals).blocks())


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    picture(inside / "a.png", 255)
    picture(outside / "secret.png")
    (inside / "there.png").symlink_to(outside / "secret.png")
    (inside / "folder").symlink_to(outside)
    (inside / "same.png").symlink_to(inside / "a.png")
    (inside / "again").symlink_to(inside)
    (inside / "self.png").symlink_to(inside / "self.png")
    os.mkfifo(inside / "pipe.png")
    source = open_folder(inside)
    assert source.to_arrow().column("file").to_pylist() == ["a.png", "same.png"]
    problems = found(source)
    out = problems["links lead out of the folder and are not followed"]
    assert [place for place, _ in out.examples] == ["folder", "there.png"]
    assert problems["links to folders are not followed"].examples == (("again", None),)
    assert [place for place, _ in problems["entries are not files and are left out"].examples] == [
        "pipe.png",
        "self.png",
    ]


def test_a_folder_reached_by_a_link_is_read(tmp_path, animals):
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(animals)
    assert open_folder(link).to_arrow().num_rows == 4


def test_hidden_files_and_folders_are_passed_over(animals):
    picture(animals / ".hidden.png")
    picture(animals / ".git" / "x.png")
    (animals / "cat" / ".DS_Store").write_text("x")
    source = open_folder(animals)
    assert source.to_arrow().num_rows == 4 and not len(source.problems)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["a.png", "b.JPG", "readme.md"], "images"),
        (["a.wav", "a.txt"], "sounds"),
        (["a.txt", "b.rst", "c.md", "d.png"], "texts"),
        (["a.csv", "b.csv", "readme.md"], None),
        (["a.parquet"], None),
        ([".a.png"], None),
        ([], None),
    ],
)
def test_a_folder_is_what_most_of_its_files_are(tmp_path, names, kind):
    for name in names:
        (tmp_path / name).write_text("x")
    assert folder_kind(tmp_path) == kind


def test_names_that_are_no_utf8_become_text(tmp_path):
    picture(tmp_path / "a.png")
    (tmp_path / "a.png").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.png"))
    (tmp_path / "b.png").write_text("x")
    source = open_folder(tmp_path)
    assert source.to_arrow().column("file").to_pylist() == ["\ufffd.png"]


@pytest.mark.parametrize("sensitive", ["file", "label"])
def test_sensitive_names_of_files_are_told_nowhere(animals, sensitive):
    (animals / "cat" / "secret.png").write_text("x")
    (animals / "dog" / "secret.csv").write_text("x")
    source = open_folder(animals, Declared(sensitive=frozenset({sensitive})))
    table = source.to_arrow()
    assert "file" not in table.column_names and table.num_rows == 4
    told = [problem.sentence() for problem in source.problems] + list(source.notes) + [str(table.schema)]
    assert len(list(source.problems)) == 2
    assert not any(word in text for word in ("secret", "cat", "dog/") for text in told)
    assert ("label" in table.column_names) == (sensitive == "file")


def test_columns_declared_that_are_not_there_are_refused(animals):
    with pytest.raises(ParameterError, match="column 'name' was declared sensitive, but there is none"):
        _ = open_folder(animals, Declared(sensitive=frozenset({"name"}))).arrow_schema


def test_blocks_are_short_and_add_up_to_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.media.folders._BLOCK_FILES", 3)
    for i in range(8):
        picture(tmp_path / f"{i}.png", i)
    (tmp_path / "3.png").write_text("x")
    source = open_folder(tmp_path)
    blocks = list(source.blocks())
    assert [block.num_rows for block in blocks] == [3, 2, 2]
    assert source.fraction_read == 1.0 and source.rows_read == 7
    values = pa.Table.from_batches(blocks).column("pixel 1,1").to_numpy()
    np.testing.assert_allclose(values * 255, [0, 1, 2, 4, 5, 6, 7], rtol=1e-6)


def test_how_far_the_pass_has_come_is_known_before_the_number_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.media.folders._BLOCK_FILES", 1)
    for i in range(4):
        picture(tmp_path / f"{i}.png", i)
    source = open_folder(tmp_path)
    assert source.rows is None
    assert [source.fraction_read for _ in source.blocks()] == [0.25, 0.5, 0.75, 1.0]


def test_the_same_folder_gives_the_same_table(animals):
    assert open_folder(animals).to_arrow().equals(open_folder(animals).to_arrow())


def test_wrong_folders_and_options_are_refused_in_a_sentence(tmp_path, animals):
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    with pytest.raises(DataError, match=r"as a folder of images, sounds .* it holds no files; give the folder"):
        open_folder(sounds)
    wavfile.write(sounds / "a.wav", 8000, np.zeros(10, dtype=np.int16))
    with pytest.raises(ParameterError, match=r"size is an option for images, but .* is a folder of sounds; leave it"):
        open_folder(sounds, size=3)
    with pytest.raises(ParameterError, match=r"features is an option for images"):
        open_folder(sounds, features="histograms")
    (sounds / "b.csv").write_text("x")
    (sounds / "c.csv").write_text("x")
    with pytest.raises(DataError, match=r"most of its files are of another sort; give the folder in which they are"):
        open_folder(sounds)
    with pytest.raises(DataError, match=r"nowhere: there is no such folder"):
        open_folder(tmp_path / "nowhere")
    with pytest.raises(ParameterError, match=r"a folder has no option 'colour'; there are features, size, stop_words"):
        open_folder(animals, colour=True)
    with pytest.raises(ParameterError, match=r'features is "pixels", "histograms" or the path of an .onnx file; got'):
        open_folder(animals, features="edges")
    for size in (0, 5000, (3,), (3, 0), 2.5, True, "28"):
        with pytest.raises(ParameterError, match=r"size is a whole number from 1 to 4096, or \(height, width\)"):
            open_folder(animals, size=size)
