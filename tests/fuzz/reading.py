"""What is done with a file in a child, and what of that is as it should be."""

import itertools
import unicodedata
import warnings
from pathlib import Path
from typing import Any

from tests.fuzz.samples import SECRET

LONGEST = 20_500  # letters of a sentence
# have a column that is not to be read; in a text table a lost quote may move its values into another one
SECRETIVE = ("jsonl", "parquet", "arrow", "feather", "xlsx", "ods", "sqlite")
SAVED = ("saved", "models")  # formats that assay.load reads


def prepare() -> None:
    """Import all that reading needs, so that a child is a fork away."""
    import PIL.Image
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.json
    import pyarrow.parquet  # noqa: F401
    import scipy.io
    import scipy.sparse  # noqa: F401

    import assay
    import assay.data.databases.database
    import assay.data.formats.arrow_files
    import assay.data.formats.edge_lists
    import assay.data.formats.excel
    import assay.data.formats.json_lines
    import assay.data.formats.libsvm
    import assay.data.formats.many
    import assay.data.formats.numpy_files
    import assay.data.media.documents
    import assay.data.media.folders
    import assay.data.media.image_features
    import assay.data.media.sounds
    import assay.data.text.csv
    import assay.models.files
    import assay.summary.network.networks
    import assay.watch.watch  # noqa: F401
    from assay.models.registry import MODELS, model_class

    PIL.Image.init()
    for name in MODELS:
        model_class(name)


def tried(form: str, folder: Path, names: list[str], seed: int) -> dict[str, Any]:
    """Read a damaged file: {"rows": n}, {"refused": sentence} or {"wrong": what happened}.

    Args:
        form: the format it had.
        folder: where it lies.
        names: of the files, within the folder.
        seed: of the case; it decides what is done beside reading.
    """
    from assay.errors import AssayError

    alone = folder / names[0]
    path = folder if form in ("images", "sounds", "texts", "many") else alone
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if form in SAVED:
                return _loaded(alone)
            if form == "edges":
                return _network(alone)
            return _read(form, path, seed)
    except AssayError as error:
        return _refused(error, form, seed)


def _read(form: str, path: Path, seed: int) -> dict[str, Any]:
    import assay

    how: dict[str, Any] = {"skip_unreadable": True} if seed % 3 == 1 else {}
    hidden = form in SECRETIVE and seed % 2 == 0
    source = assay.read(path, **how, **({"sensitive": ["secret"]} if hidden else {}))
    _ = source.schema
    rows = 0
    for block in source.blocks():
        block.validate(full=True)
        rows += block.num_rows
    if seed % 4 == 0:
        again = sum(len(block) for block in itertools.islice(source.float_blocks(), 100))
        if again != rows and rows <= 100 * (1 << 16):
            return {"wrong": f"{rows} rows, then {again}"}
    told = [*source.notes, *(f"{p.what} {p.column} {p.examples}" for p in source.problems)]
    if hidden and any(SECRET in text for text in told):
        return {"wrong": f"a note or problem tells what is secret: {told}"}
    if seed % 16 == 0 and 2 <= rows <= 1000:
        _ = [block.sum() for block in assay.encode(source).float_blocks()]
    return {"rows": rows}


def _loaded(path: Path) -> dict[str, Any]:
    import assay

    found = assay.load(path)
    repr(found)
    found.save(path.with_suffix(".again"), **({"fewest_rows": 0} if hasattr(found, "count") else {}))
    return {"rows": 0}


def _network(path: Path) -> dict[str, Any]:
    import assay

    graph = assay.read_network(path)
    return {"rows": len(graph.degree)}


def _refused(error: Exception, form: str, seed: int) -> dict[str, Any]:
    said = str(error)
    odd = [letter for letter in said if unicodedata.category(letter) in ("Cc", "Cs", "Cf", "Zl", "Zp")]
    if odd:
        return {"wrong": f"the sentence has letters that do not print, {odd[0]!r}: {said!r}"}
    if not said.strip() or len(said) > LONGEST:
        return {"wrong": f"the sentence has {len(said)} letters: {said[:300]!r}"}
    if SECRET in said and form in SECRETIVE and seed % 2 == 0:
        return {"wrong": f"the sentence tells what is secret: {said!r}", "kind": type(error).__name__}
    if form in SAVED and type(error).__name__ != "FileFormatError":
        return {"wrong": f"{type(error).__name__} instead of FileFormatError: {said!r}"}
    return {"refused": said}
