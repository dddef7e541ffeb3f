"""Texts told by the words in them: how often each of the most frequent words occurs, or its tf-idf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from assay.data.media.folders import Loaded, reason
from assay.data.text.encodings import Utf8, encoding_of, repaired
from assay.data.tokens import stop_list, terms_of
from assay.errors import DataError, ParameterError

_OWN = ("file", "label")


class WordFeatures:
    """The most frequent words of all texts, one column each.

    Words are those of `assay.data.tokens`. A first pass over the files counts them, a second one
    weighs them; only the counts of all words and one block of texts are held. tf-idf is scikit-learn's: counts times
    1 + log((1 + n) / (1 + texts with the word)), each text scaled to length one.

    Args:
        stop_words: "english" (scikit-learn's list) or another language, words to leave out, or None.
        max_words: columns at most.
        weights: "tf-idf" or "counts".
    """

    threads = False
    held = 0

    def __init__(
        self,
        stop_words: str | Sequence[str] | None = "english",
        max_words: int = 1000,
        weights: Literal["tf-idf", "counts"] = "tf-idf",
    ) -> None:
        if isinstance(max_words, bool) or not isinstance(max_words, int) or max_words < 1:
            raise ParameterError(f"max_words is a whole number from 1 on; got {max_words!r}")
        if weights not in ("tf-idf", "counts"):
            raise ParameterError(f'weights is "tf-idf" or "counts"; got {weights!r}')
        self._stop_words = stop_list(stop_words)
        self._max_words = max_words
        self._weights = weights
        self._vectorizer: Any = None

    def fields(self, files: Sequence[Path]) -> tuple[list[pa.Field], tuple[str, ...]]:
        """The columns, from a pass over all texts."""
        words_in = terms_of(self._stop_words)
        occurrences: Counter[str] = Counter()
        texts_with: Counter[str] = Counter()
        texts = 0
        for file in files:
            try:
                counts = Counter(words_in(load_text(file)))
            except DataError:
                continue
            texts += 1
            occurrences.update(counts)
            texts_with.update(counts.keys())
        if not texts:
            return [], ()
        if not occurrences:
            raise DataError(f"the {texts:,} texts hold no words but stop words; give others with stop_words=")
        kept = sorted(sorted(occurrences, key=lambda word: (-occurrences[word], word))[: self._max_words])
        self._vectorizer = self._prepared(kept, np.array([texts_with[word] for word in kept]), texts)
        type_ = pa.float64() if self._weights == "tf-idf" else pa.int64()
        fields = [pa.field(f"{word} (word)" if word in _OWN else word, type_) for word in kept]
        return fields, (self._note(len(kept), len(occurrences)),)

    def read(self, file: Path) -> Loaded:
        """The text."""
        return load_text(file), None

    def rows(self, loaded: Sequence[str]) -> NDArray[Any]:
        """(files, words)."""
        return np.asarray(self._vectorizer.transform(loaded).toarray())

    def _prepared(self, words: list[str], texts_with: NDArray[np.int64], texts: int) -> Any:
        if self._weights == "counts":
            return CountVectorizer(analyzer=terms_of(self._stop_words), vocabulary=words)
        vectorizer = TfidfVectorizer(analyzer=terms_of(self._stop_words), vocabulary=words)
        vectorizer.idf_ = np.log((1 + texts) / (1 + texts_with)) + 1
        return vectorizer

    def _note(self, kept: int, found: int) -> str:
        which = f"the {kept:,} most frequent of {found:,} words" if kept < found else f"all {found:,} words"
        without = "" if not self._stop_words else ", stop words left out"
        return f"Texts are told by the {self._weights} of {which}{without}."


def load_text(file: Path) -> str:
    """Read a text in UTF-8, UTF-16 or UTF-32, or else Windows-1252."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(reason(error)) from error
    return decoded(content)


def decoded(content: bytes) -> str:
    """Turn bytes into text by the encoding they show.

    >>> decoded("naïve".encode("cp1252"))
    'naïve'
    """
    try:
        encoding, _ = encoding_of(content, complete=True)
    except DataError as error:
        raise DataError("it is a binary file, not a text") from error
    try:
        text = Utf8(BytesIO(content), encoding).read(max(len(content), 1))
    except UnicodeDecodeError as error:
        raise DataError(f"it begins as {encoding} but does not go on so") from error
    return repaired(text)[0].decode("utf-8")
