"""Folders of images, texts or sounds: one row for each file, labelled by the sub-folder it lies in."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.field import Declared, Kind
from assay.data.file_fingerprint import Unchanged
from assay.data.media.listing import FolderKind, Listed, kind_of, listed, most_frequent
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import DataError, ParameterError

# Files in a block at most, and numbers in one at most, so that wide features make short blocks.
_BLOCK_FILES = 256
_BLOCK_NUMBERS = 1 << 22
_THREADS = min(8, os.cpu_count() or 1)

# What was read from one file, and words for the problems if it was not wholly as it should be.
Loaded: TypeAlias = tuple[Any, str | None]


class FileFeatures(Protocol):
    """How files of one kind become numbers.

    Attributes:
        threads: whether reading frees the interpreter enough for threads to pay.
        held: numbers that `read` keeps for one file, where these are more than the columns.
    """

    threads: bool
    held: int

    def fields(self, files: Sequence[Path]) -> tuple[list[pa.Field], tuple[str, ...]]:
        """The columns and what was decided about them; asked once, before anything is read."""

    def read(self, file: Path) -> Loaded:
        """Read one file; raises `DataError` with the reason alone if that cannot be done."""

    def rows(self, loaded: Sequence[Any]) -> NDArray[Any]:
        """(files, columns) numbers of some files."""


def folder_kind(path: str | os.PathLike[str]) -> FolderKind | None:
    """What a folder is made of, by the most frequent sort of its files; None if that is another sort.

    Args:
        path: the folder; its sub-folders count, hidden files do not.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.wav").touch(), (folder / "b.wav").touch(), (folder / "readme.md").touch()
    >>> folder_kind(folder)
    'sounds'
    """
    return most_frequent(listed(Path(path)).files)


def open_folder(
    path: str | os.PathLike[str],
    declared: Declared | None = None,
    *,
    features: str | os.PathLike[str] | None = None,
    size: int | tuple[int, int] | None = None,
    stop_words: str | Sequence[str] | None = "english",
    max_words: int = 1000,
    weights: Literal["tf-idf", "counts"] = "tf-idf",
    **unknown: Any,
) -> FolderSource:
    """Open a folder of images, texts or sounds as a table with one row for each file.

    The columns are "file", "label" (the sub-folder, if there are any) and the features. Files that cannot be read are
    left out and listed in `problems`; so are links that lead out of the folder.

    Args:
        path: the folder.
        declared: what the user says of the columns.
        features: of images: "pixels" (the default), "histograms" of intensities and gradient orientations, or the path
            of an ONNX network whose first output is taken.
        size: to which images are scaled: pixels on each side, or (height, width).
        stop_words: of texts: "english", a list of words to leave out, or None.
        max_words: of texts: so many of the most frequent words become columns.
        weights: of texts: "tf-idf" or "counts".
    """
    if unknown:
        raise ParameterError(
            f"a folder has no option {sorted(unknown)[0]!r}; there are features, size, stop_words, max_words, weights"
        )
    folder = Path(path)
    found = listed(folder)
    kind = most_frequent(found.files)
    if kind is None:
        what = "most of its files are of another sort" if found.files else "it holds no files"
        raise DataError(
            f"cannot read {folder} as a folder of images, sounds (.wav) or texts (.txt, .md, .rst): {what}; "
            "give the folder in which they are"
        )
    if kind != "images" and (features is not None or size is not None):
        option = "features" if features is not None else "size"
        raise ParameterError(f"{option} is an option for images, but {folder} is a folder of {kind}; leave it out")
    if kind == "images":
        from assay.data.media.image_features import image_features

        return FolderSource(folder, kind, found, image_features(features, size), declared)
    if kind == "sounds":
        from assay.data.media.sounds import SoundFeatures

        return FolderSource(folder, kind, found, SoundFeatures(), declared)
    from assay.data.media.documents import WordFeatures

    return FolderSource(folder, kind, found, WordFeatures(stop_words, max_words, weights), declared)


class FolderSource(Source):
    """One row for each file of a folder that can be read, in the order of their relative paths.

    Attributes:
        folder: where the files are.
        kind: "images", "sounds" or "texts".
        files: those of that kind, relative to the folder.
    """

    unchanged: Unchanged

    def __init__(
        self, folder: Path, kind: FolderKind, listed: Listed, features: FileFeatures, declared: Declared | None = None
    ) -> None:
        given = declared or Declared()
        self.folder = folder
        self.kind = kind
        self.files = tuple(file for file in listed.files if kind_of(file) == kind)
        self._labelled = any("/" in file for file in self.files)
        kinds: dict[str, Kind] = {"file": "identifier"}
        if self._labelled:
            kinds["label"] = "category"
        # the path of a file tells its label
        sensitive = given.sensitive | ({"file"} if given.hides("label") else set())
        super().__init__(folder.resolve().name, replace(given, kinds={**kinds, **given.kinds}, sensitive=sensitive))
        others = [("files are of another sort and left out", file) for file in listed.files if kind_of(file) != kind]
        self._left_out = (*others, *listed.left_out)
        self.unchanged = Unchanged(
            Place(str(folder / file), shown=str(folder if self._secret else folder / _shown(file)))
            for file in self.files
        )
        self._features = features
        self._files_read = 0

    @property
    def fraction_read(self) -> float | None:
        """How far the latest pass has come, from 0 to 1."""
        return self._files_read / len(self.files)

    @cached_property
    def _columns(self) -> pa.Schema:
        own = [pa.field("file", pa.string(), metadata={b"role": b"file"})]
        if self._labelled:
            own.append(pa.field("label", pa.string(), metadata={b"role": b"label"}))
        with _quiet():
            fields, decided = self._features.fields([self.folder / file for file in self.files])
        if not fields:
            raise self._none_readable()
        self.notes = (*self.notes, *decided)
        return pa.schema([*own, *fields])

    def _arrow_schema(self) -> pa.Schema:
        return self._columns

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for what, file in self._left_out:
            self.problems.add(what, place=self._place(file))
        width = len(self._columns) - 1
        step = max(1, min(_BLOCK_FILES, _BLOCK_NUMBERS // max(width, self._features.held)))
        self._files_read = 0
        readable = False
        with ThreadPoolExecutor(_THREADS if self._features.threads else 1) as pool:
            for start in range(0, len(self.files), step):
                batch = self._batch(self.files[start : start + step], pool)
                self._files_read = min(start + step, len(self.files))
                if batch is not None:
                    readable = True
                    yield batch
        if not readable:
            raise self._none_readable()

    def texts(self) -> Iterator[str]:
        """The texts that can be read, one for each row."""
        if self.kind != "texts":
            raise DataError(
                f"{self.folder} is a folder of {self.kind}, not of texts; give one of .txt, .md or .rst files"
            )
        with self.unchanged.kept():
            for file in self.files:
                answer = self._attempt(file)
                if not isinstance(answer, DataError):
                    yield answer[0]

    def _batch(self, files: Sequence[str], pool: Executor) -> pa.RecordBatch | None:
        with _quiet():
            answers = list(pool.map(self._attempt, files))
        names, values = [], []
        for file, answer in zip(files, answers, strict=True):
            if isinstance(answer, DataError):
                why = None if self._secret else str(answer)
                self.problems.add("files cannot be read and are left out", place=self._place(file), value=why)
                continue
            if answer[1] is not None:
                self.problems.add(answer[1], place=self._place(file))
            names.append(file)
            values.append(answer[0])
        if not names:
            return None
        own = [pa.array([_shown(name) for name in names], pa.string())]
        if self._labelled:
            own.append(pa.array([_shown(Path(name).parent.name) or None for name in names], pa.string()))
        X = self._features.rows(values)
        columns = [pa.array(np.ascontiguousarray(column), from_pandas=True) for column in X.T]
        return pa.RecordBatch.from_arrays([*own, *columns], schema=self._columns)

    def _attempt(self, file: str) -> Loaded | DataError:
        try:
            return self._features.read(self.folder / file)
        except DataError as error:
            return error

    @property
    def _secret(self) -> bool:
        return self.declared.hides("file")

    def _place(self, file: str) -> str:
        return "" if self._secret else _shown(file)

    def _none_readable(self) -> DataError:
        return DataError(
            f"cannot read {self.folder}: none of its {len(self.files):,} {self.kind} can be read; check that they are "
            "what their names say"
        )


def reason(error: Exception) -> str:
    """Why a file could not be read, in one line, without its path.

    >>> reason(PermissionError(13, "Permission denied", "/home/x/y.png"))
    'Permission denied'
    """
    words = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return words.strip().splitlines()[0]


def _shown(name: str) -> str:
    # names of files are bytes; those that are no UTF-8 cannot be put into a table as they are
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    # decoders warn about damage that is judged and counted here; never held across a yield, since it is global
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
