"""Whole files of every format, small and with something of everything, from which damaged ones are made."""

import bz2
import datetime as dt
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import struct
import subprocess
import sys
import tempfile
import warnings
import wave
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

SECRET = "geheim4711"  # every value of the column "secret"
ROWS = 40
Files = dict[str, bytes]  # by their names within the folder of a case


def table() -> pa.Table:
    """Numbers, texts, categories, times, gaps, nested and packed values."""
    rng = np.random.default_rng(0)
    start = dt.datetime(2024, 1, 1)
    return pa.table(
        {
            "x": rng.normal(size=ROWS),
            "y": [None if i % 7 == 0 else i for i in range(ROWS)],
            "kind": pa.array([f"level {i % 3}" for i in range(ROWS)]).dictionary_encode(),
            "words": [f"word {i} \N{LATIN SMALL LETTER U WITH DIAERESIS}" for i in range(ROWS)],
            "when": [start + dt.timedelta(hours=i) for i in range(ROWS)],
            "flag": [i % 2 == 0 for i in range(ROWS)],
            "secret": [f"{SECRET}-{i}" for i in range(ROWS)],
        }
    )


def _rows() -> list[dict[str, object]]:
    return [{k: v.isoformat() if isinstance(v, dt.datetime) else v for k, v in row.items()} for row in _plain()]


def _plain() -> list[dict[str, object]]:
    return table().to_pylist()


def _csv(delimiter: str = ",") -> bytes:
    rows = _rows()
    lines = [delimiter.join(rows[0])]
    lines += [delimiter.join('"a ""quoted"" one"' if v is None else str(v) for v in row.values()) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def csv() -> list[Files]:
    """Text tables: plain, by tabs, in other encodings, packed."""
    plain, tabs = _csv(), _csv("\t")
    return [
        {"t.csv": plain},
        {"t.tsv": tabs},
        {"t.csv": plain.decode().encode("utf-16")},
        {"t.csv": plain.replace(b"\n", b"\r\n")},
        {"t.csv.gz": gzip.compress(plain, mtime=0)},
        {"t.csv.bz2": bz2.compress(plain)},
        {"t.csv.xz": lzma.compress(plain)},
        {"t.csv.zst": pa.compress(plain, codec="zstd", asbytes=True)},
    ]


def many() -> list[Files]:
    """Several files as one table."""
    return [{"year=2020/a.csv": _csv(), "year=2021/b.csv": _csv()}]


def jsonl() -> list[Files]:
    """JSON lines and a JSON array, with nested objects."""
    rows = [{**row, "inner": {"a": i, "b": [i, {"c": None}]}} for i, row in enumerate(_rows())]
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    return [{"t.jsonl": lines}, {"t.json": json.dumps(rows, indent=1).encode()}, {"t.jsonl.gz": gzip.compress(lines)}]


def parquet() -> list[Files]:
    """Parquet files: several row groups, packed in several ways, with and without nesting."""
    import pyarrow.parquet as pq

    nested = table().append_column("list", pa.array([[i, None] for i in range(ROWS)]))
    how = [
        {"compression": "snappy", "row_group_size": 15},
        {"compression": "none", "write_page_checksum": True},
        {"compression": "zstd", "data_page_version": "2.0", "use_dictionary": False},
    ]
    return [
        {"t.parquet": _written(lambda sink, h=h, t=t: pq.write_table(t, sink, **h))}
        for h in how
        for t in (table(), nested)
    ]


def arrow() -> list[Files]:
    """Arrow files and streams, packed or not, with every sort of layout."""
    wide = pa.table(
        {
            **dict(zip(table().column_names, table().columns, strict=True)),
            "list": pa.array([[1, 2], None] * (ROWS // 2)),
            "struct": pa.array([{"a": 1, "b": "x"}] * ROWS),
            "view": pa.array(["a view of a long text"] * ROWS, pa.string_view()),
            "fixed": pa.array([b"abcd"] * ROWS, pa.binary(4)),
            "big": pa.array(["large"] * ROWS, pa.large_string()),
        }
    )
    found = []
    for rows, packed in ((table(), None), (wide, None), (wide, "lz4"), (table(), "zstd")):
        options = pa.ipc.IpcWriteOptions(compression=packed)

        def file(sink: pa.NativeFile, rows: pa.Table = rows, options: pa.ipc.IpcWriteOptions = options) -> None:
            with pa.ipc.new_file(sink, rows.schema, options=options) as writer:
                writer.write_table(rows, max_chunksize=15)

        def stream(sink: pa.NativeFile, rows: pa.Table = rows, options: pa.ipc.IpcWriteOptions = options) -> None:
            with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
                writer.write_table(rows, max_chunksize=15)

        found += [{"t.arrow": _written(file)}, {"t.arrows": _written(stream)}]
    return found


def feather() -> list[Files]:
    """Feather files of the first version, where pyarrow still writes them."""
    import pyarrow.feather as pa_feather

    plain = table().select(["x", "y", "kind", "words", "when", "flag", "secret"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [{"t.feather": _written(lambda sink: pa_feather.write_feather(plain, sink, version=1))}]


def xlsx() -> list[Files]:
    """Workbooks as openpyxl writes them, with errors, formulas, dates and a second sheet."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    rows = _plain()
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append(list(row.values()))
    sheet["A5"] = "=SUM(B1:B3)"
    sheet["B7"] = "#DIV/0!"
    sheet["B7"].data_type = "e"
    book.create_sheet("other").append(["a", 1])
    handle = io.BytesIO()
    book.save(handle)
    return [{"t.xlsx": handle.getvalue()}]


_ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="one">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"""


def ods() -> list[Files]:
    """An OpenDocument sheet, with repeated cells and rows."""
    word = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    number = '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p></table:table-cell>'
    rows = [word.format("x") + word.format("secret") + word.format("z")]
    repeated = '<table:table-cell table:number-columns-repeated="2"/>'
    rows += [
        number.format(i) + word.format(f"{SECRET}-{i}") + (number.format(i / 4) if i % 3 else repeated)
        for i in range(20)
    ]
    text = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    text += '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
    manifest = b'<?xml version="1.0"?><m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    parts = {
        "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": _ODS.format(rows=text).encode(),
        "META-INF/manifest.xml": manifest,
    }
    return [{"t.ods": zipped(parts)}]


def xls() -> list[Files]:
    """A workbook of Excel 5: records in a compound file, of which the sectors and their tables are made by hand."""
    return [{"t.xls": _compound(_biff())}]


def _biff() -> bytes:
    def record(kind: int, body: bytes = b"") -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    cells = b"".join(record(0x0204, struct.pack("<HHHH", 0, j, 0, len(n)) + n) for j, n in enumerate((b"x", b"y")))
    for i in range(1, 20):
        for j in range(2):
            cells += record(0x0203, struct.pack("<HHHd", i, j, 0, i / (j + 2)))
    size = record(0x0200, struct.pack("<HHHHH", 0, 20, 0, 2, 0))
    sheet = record(0x0809, struct.pack("<HHHH", 0x0500, 0x0010, 0, 0)) + size + cells + record(0x000A)
    start = record(0x0809, struct.pack("<HHHH", 0x0500, 0x0005, 0, 0)) + record(0x0042, struct.pack("<H", 1252))
    end = record(0x000A)
    place = len(start) + 4 + 7 + 3 + len(end)
    return start + record(0x0085, struct.pack("<IBBB", place, 0, 0, 3) + b"one") + end + sheet


def _compound(stream: bytes) -> bytes:
    stream = stream.ljust(8 * 512, b"\0")  # beyond 4,096 bytes no small sectors are needed
    sectors = len(stream) // 512
    free, end, table_ = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    links = [*range(1, sectors), end, end, table_]  # the stream, the folder, this table
    fat = struct.pack(f"<{len(links)}I", *links).ljust(512, b"\xff")

    def entry(name: str, kind: int, child: int, first: int, size: int) -> bytes:
        spelt = (name + "\0").encode("utf-16-le")
        body = (
            spelt.ljust(64, b"\0") + struct.pack("<HBB", len(spelt), kind, 1) + struct.pack("<III", free, free, child)
        )
        return body + bytes(36) + struct.pack("<IQ", first, size)

    folder = entry("Root Entry", 5, 1, end, 0) + entry("Book", 2, free, 0, len(stream)) + 2 * bytes(128)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIIII", 0, 1, sectors, 0, 4096, end, 0, end, 0, sectors + 1)
    return head[:512].ljust(512, b"\xff") + stream + folder + fat


def statistics() -> list[Files]:
    """Files of Stata, SPSS and SAS, with labels of values."""
    import pandas as pd
    import pyreadstat

    rows = table().select(["x", "words", "when", "secret"]).to_pandas()
    rows["words"] = [f"word {i}" for i in range(ROWS)]  # portable files of SPSS have no other letters
    rows["kind"] = [float(i % 3 + 1) for i in range(ROWS)]
    labels = {"kind": {1.0: "low", 2.0: "middle", 3.0: "high"}}
    found: list[Files] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, write, how in (
            ("t.dta", pyreadstat.write_dta, {"variable_value_labels": labels}),
            ("t.sav", pyreadstat.write_sav, {"variable_value_labels": labels}),
            ("t.zsav", pyreadstat.write_sav, {"variable_value_labels": labels, "compress": True}),
            ("t.por", pyreadstat.write_por, {}),
            ("t.xpt", pyreadstat.write_xport, {}),
        ):
            write(pd.DataFrame(rows), str(Path(folder) / name), **how)
            found.append({name: (Path(folder) / name).read_bytes()})
    return found


def npy() -> list[Files]:
    """Arrays of numbers by rows and by columns, records and texts."""
    X = np.arange(80.0).reshape(20, 4)
    records = np.array([(i, i / 2, f"r{i}") for i in range(20)], dtype=[("a", "i4"), ("b", "f8"), ("c", "U8")])
    return [{"t.npy": _npy(a)} for a in (X, np.asfortranarray(X), records, np.array(["a", "bc"] * 10), X[:, 0] > 3)]


def npz() -> list[Files]:
    """Several arrays side by side, packed and not."""
    parts = {"a": np.arange(80.0).reshape(20, 4), "b": np.arange(20), "c": np.array(["u", "v"] * 10)}
    return [
        {"t.npz": _written_bytes(lambda f, save=save: save(f, **parts))} for save in (np.savez, np.savez_compressed)
    ]


def sparse() -> list[Files]:
    """Sparse matrices of every layout that SciPy saves."""
    from scipy import sparse as sp

    matrix = sp.random_array((20, 12), density=0.2, rng=np.random.default_rng(0))
    made = [matrix.tocsr(), matrix.tocsc(), matrix.tocoo(), matrix.tobsr(), matrix.todia()]
    made += [sp.csr_matrix(matrix), sp.coo_matrix(matrix), sp.dia_matrix(matrix)]
    return [{"t.npz": _written_bytes(lambda f, m=m: sp.save_npz(f, m, compressed=False))} for m in made]


def libsvm() -> list[Files]:
    """Labels and index:value pairs, with query numbers and comments."""
    rng = np.random.default_rng(0)
    lines = [
        f"{i % 2} qid:{i // 5} " + " ".join(f"{j}:{rng.random():.3f}" for j in range(1, 9, 1 + i % 3))
        for i in range(30)
    ]
    plain = [line.replace("qid:", "1:", 1).split(" ", 2) for line in lines]
    return [
        {"t.libsvm": ("\n".join(lines) + " # done\n").encode()},
        {"t.svm": "\n".join(f"{a} {b}" for a, _, b in plain).encode()},
    ]


def sqlite() -> list[Files]:
    """A database with keys, a view, an index and values of every type."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        shop = sqlite3.connect(path)
        shop.executescript(
            "PRAGMA page_size = 512; CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, secret TEXT);"
        )
        rows = [(i, f"item {i}" * (1 + 40 * (i == 7)), i / 3, f"{SECRET}-{i}") for i in range(60)]
        shop.executemany("INSERT INTO item VALUES (?, ?, ?, ?)", rows)
        shop.commit()
        shop.close()
        return [{"t.db": path.read_bytes()}]


def edges() -> list[Files]:
    """Lists of edges, by commas, by blanks, and a matrix in Matrix Market's format."""
    pairs = [(f"n{i}", f"n{i * 7 % 19}", i % 5 + 1) for i in range(40)]
    market = "%%MatrixMarket matrix coordinate real general\n% comment\n9 9 8\n"
    market += "".join(f"{i} {i + 1} {i / 2}\n" for i in range(1, 9))
    return [
        {"e.csv": ("source,target,weight\n" + "".join(f"{a},{b},{w}\n" for a, b, w in pairs)).encode()},
        {"e.txt": ("# a comment\n" + "".join(f'"{a}" {b}   {w}\n' for a, b, w in pairs)).encode()},
        {"e.mtx": market.encode()},
    ]


def images() -> list[Files]:
    """Pictures of every format that Pillow writes."""
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (12, 10, 3), dtype=np.uint8)
    found = []
    for suffix, kind in (
        ("png", "PNG"),
        ("jpg", "JPEG"),
        ("gif", "GIF"),
        ("bmp", "BMP"),
        ("tif", "TIFF"),
        ("webp", "WEBP"),
        ("ppm", "PPM"),
    ):
        handle = io.BytesIO()
        Image.fromarray(pixels).save(handle, kind)
        found.append({f"a.{suffix}": handle.getvalue(), f"b.{suffix}": handle.getvalue()})
    return found


def sounds() -> list[Files]:
    """Sounds of one and two channels, in 8 and 16 bits."""
    found = []
    for channels, width in ((1, 2), (2, 1)):
        handle = io.BytesIO()
        with wave.open(handle, "wb") as sound:
            sound.setnchannels(channels)
            sound.setsampwidth(width)
            sound.setframerate(8000)
            sound.writeframes(bytes(np.random.default_rng(0).integers(0, 256, 4000, dtype=np.uint8)))
        found.append({"a.wav": handle.getvalue(), "b.wav": handle.getvalue()})
    return found


def texts() -> list[Files]:
    """Texts in folders."""
    text = "the quick brown fox jumps over the lazy dog and so on, w\N{LATIN SMALL LETTER O WITH DIAERESIS}rter\n"
    return [{"one/a.txt": text.encode(), "two/b.txt": text[::-1].encode()}]


def zipped(parts: dict[str, bytes], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file of these members."""
    handle = io.BytesIO()
    with zipfile.ZipFile(handle, "w", packed) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, packed)
    return handle.getvalue()


def _written(write: Callable[[pa.NativeFile], object]) -> bytes:
    sink = pa.BufferOutputStream()
    write(sink)
    return bytes(sink.getvalue())


def _written_bytes(write: Callable[[io.BytesIO], object]) -> bytes:
    handle = io.BytesIO()
    write(handle)
    return handle.getvalue()


def _npy(array: np.ndarray) -> bytes:
    return _written_bytes(lambda handle: np.save(handle, array))


def saved() -> list[Files]:
    """Whatever assay saves: models, moments, shared summaries, encodings and watches."""
    from tests.fuzz.saved import saved_files

    return saved_files(slow=False)


def words() -> list[Files]:
    """Beside words on the command line there is nothing to damage."""
    return [{"t.csv": b"\x93 no table"}]


def models() -> list[Files]:
    """The other models, whose fitting takes half a minute."""
    from tests.fuzz.saved import saved_files

    return saved_files(slow=True)


MAKERS: dict[str, Callable[[], list[Files]]] = {
    made.__name__: made
    for made in (
        csv, many, jsonl, parquet, arrow, feather, xlsx, ods, xls, statistics, npy, npz, sparse, libsvm, sqlite, edges,
        images, sounds, texts, words, saved, models,
    )
}  # fmt: skip


_made: dict[str, list[Files]] = {}


def samples(forms: Sequence[str]) -> dict[str, list[Files]]:
    """The whole files of formats, made by another process: the threads that writers start would not outlive a fork."""
    left = [form for form in forms if form not in _made]
    if left:
        code = f"import sys; from tests.fuzz.samples import tell; tell({left!r}, sys.stdout.buffer)"
        told = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE).stdout
        _made.update(pickle.loads(told))
    return {form: _made[form] for form in forms}


def know(made: dict[str, list[Files]]) -> None:
    """Take over what another process has made."""
    _made.update(made)


def tell(forms: Sequence[str], out: IO[bytes]) -> None:
    """Write the files of formats for whoever asked."""
    pickle.dump({form: MAKERS[form]() for form in forms}, out)
