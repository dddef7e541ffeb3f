"""Damage that knows the format: lengths, counts and headers are changed where they are, and sums made to fit again."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import random
import re
import struct
import zipfile
import zlib

import pyarrow as pa
from tests.fuzz.damage import NUMBERS, WORDS, Damage, any_bytes, any_text, number, several, within, word
from tests.fuzz.samples import zipped

_ATTRIBUTE = re.compile(rb'([\w:]+)="([^"]*)"')
_ELEMENT = re.compile(rb"<(/?)([\w:]+)([^<>]*)>")


def parquet_footer(content: bytes, rng: random.Random) -> bytes:
    """The metadata at the end, in Thrift's numbers of seven bits a byte; its length stays true or not."""
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8]
    new = rng.choice((any_bytes, _varint, _varint))(footer, rng)
    told = rng.choice((len(new), len(new), len(new), length, rng.choice(NUMBERS) % 2**32))
    return content[: -8 - length] + new + told.to_bytes(4, "little") + content[-4:]


def _varint(content: bytes, rng: random.Random) -> bytes:
    value = rng.choice(NUMBERS) % 2**64
    spelt = bytearray()
    while value > 127:
        spelt.append(value & 127 | 128)
        value >>= 7
    spelt.append(value)
    at = rng.randrange(max(len(content), 1))
    end = at
    while end < len(content) - 1 and content[end] > 127:
        end += 1
    return content[:at] + bytes(spelt) + content[end + 1 :]


def arrow_metadata(content: bytes, rng: random.Random) -> bytes:
    """Fields of the flatbuffers that describe messages, of four or eight bytes; values stay as they are."""
    starts = [found.end() for found in re.finditer(rb"\xff\xff\xff\xff", content[:-4])]
    spans = [
        (at + 4, at + 4 + size)
        for at in starts
        if 0 < (size := int.from_bytes(content[at : at + 4], "little")) < 1 << 16
    ]
    if content.startswith(b"ARROW1"):
        footer = int.from_bytes(content[-10:-6], "little")
        spans.append((len(content) - 10 - footer, len(content) - 10))
    spans = [(a, b) for a, b in spans if 0 <= a < b <= len(content)]
    if not spans:
        return any_bytes(content, rng)
    return within(*rng.choice(spans), several((number, number, any_bytes)))(content, rng)


def zip_members(inner: dict[str, Damage]) -> Damage:
    """A member damaged and packed again, with sums that fit; a member gone, empty, twice as large, or packed anew.

    Args:
        inner: how members are damaged, by the end of their names.
    """

    def damaged(content: bytes, rng: random.Random) -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
        except (zipfile.BadZipFile, zlib.error, ValueError):
            return any_bytes(content, rng)
        name = rng.choice(list(parts))
        how = rng.random()
        if how < 0.8:
            way = next((way for end, way in inner.items() if name.endswith(end)), any_bytes)
            parts[name] = way(parts[name], rng)
        elif how < 0.85:
            del parts[name]
        elif how < 0.9:
            parts[name] = b""
        elif how < 0.93:
            parts[name] += bytes(rng.choice((1, 1000, 1 << 24)))
        elif how < 0.96:
            parts = {
                (rng.choice(WORDS).encode("utf-8", "replace").decode()[:200] or "x") if n == name else n: c
                for n, c in parts.items()
            }
        else:
            other = rng.choice(list(parts))
            parts[name], parts[other] = parts[other], parts[name]
        return zipped(
            parts, rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
        )

    return damaged


def zip_headers(content: bytes, rng: random.Random) -> bytes:
    """What the zip file says of its members: sizes, sums, places, ways of packing."""
    places = [m.start() + rng.randrange(4, 46) for m in re.finditer(rb"PK(\x01\x02|\x03\x04|\x05\x06)", content)]
    at = rng.choice(places) if places else 0
    return within(at, min(at + 8, len(content)), number)(content, rng)


def xml(content: bytes, rng: random.Random) -> bytes:
    """Attributes and elements: another value, another spelling, gone, doubled, nested deeply."""
    attributes, elements = list(_ATTRIBUTE.finditer(content)), list(_ELEMENT.finditer(content))
    if not attributes or not elements:
        return any_text(content, rng)
    how = rng.randrange(7)
    found = rng.choice(attributes if how < 4 else elements)
    if how == 0:
        value = str(rng.choice(NUMBERS)).encode()
    elif how == 1:
        value = rng.choice(WORDS).encode("utf-8", "replace").replace(b'"', b"")
    elif how == 2:
        value = b""
    elif how == 3:
        spelt = found[0].replace(b'="', b"='")[:-1] + b"'"
        return (
            content[: found.start()]
            + rng.choice((spelt, b" ", found[0].replace(b"=", b" = ")))
            + content[found.end() :]
        )
    elif how == 4:
        return content[: found.start()] + content[found.end() :]
    elif how == 5:
        return content[: found.start()] + found[0] * rng.choice((2, 1000)) + content[found.end() :]
    else:
        return any_text(content, rng)
    return content[: found.start(2)] + value + content[found.end(2) :]


def npy_header(content: bytes, rng: random.Random) -> bytes:
    """The text that tells shape and type, its length told truly or not."""
    if len(content) < 10 or not content.startswith(b"\x93NUMPY"):
        return any_bytes(content, rng)
    length = int.from_bytes(content[8:10], "little")
    header = content[10 : 10 + length]
    how = rng.randrange(5)
    if how == 0:
        new = re.sub(rb"\([^()]*\)", _shape(rng).encode(), header)
    elif how == 1:
        kinds = (
            "<f8",
            "|O",
            "<U100000",
            "|V9",
            "<i8",
            ">c16",
            "|S0",
            "<M8[ns]",
            "|b1",
            "<f2",
            "<U1",
            "<m8",
            "<f16",
            "|S1000",
        )
        new = re.sub(rb"'descr': '[^']*'", f"'descr': '{rng.choice(kinds)}'".encode(), header)
    elif how == 2:
        new = header.replace(b"False", b"True") if rng.random() < 0.5 else header.replace(b"True", b"False")
    else:
        new = word(header, rng)
    told = rng.choice((len(new), len(new), len(new), rng.choice(NUMBERS))) % 2**16
    return content[:8] + told.to_bytes(2, "little") + new + content[10 + length :]


def _shape(rng: random.Random) -> str:
    sides = [str(rng.choice((*NUMBERS, 20, 4, 10**9, -3, True, "1.5"))) for _ in range(rng.randrange(4))]
    return f"({', '.join(sides)},)" if sides else "()"


def sqlite_pages(content: bytes, rng: random.Random) -> bytes:
    """The head of the file, the heads of pages, or the text of the schema."""
    page = int.from_bytes(content[16:18], "big") or 512
    at = rng.randrange(max(len(content) // page, 1)) * page
    how = rng.randrange(4)
    if how == 0:
        return within(16, 100, number)(content, rng)
    if how == 1:
        return within(at, at + 40, number)(content, rng)
    if how == 2:
        return re.sub(
            rb"(TEXT|REAL|INTEGER|PRIMARY KEY|name|price|item)",
            lambda m: word(m[0], rng)[: len(m[0])].ljust(len(m[0])),
            content,
        )
    return any_bytes(content, rng)


def png_chunk(content: bytes, rng: random.Random) -> bytes:
    """A chunk of a PNG file changed, with a sum that fits."""
    if not content.startswith(b"\x89PNG"):
        return within(0, 120)(content, rng)
    chunks, at = [], 8
    while at + 12 <= len(content):
        size = int.from_bytes(content[at : at + 4], "big")
        chunks.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + size]))
        at += 12 + size
    i = rng.randrange(len(chunks))
    kind, body = chunks[i]
    chunks[i] = kind, (number if rng.random() < 0.7 else any_bytes)(body or b"\0", rng)
    made = [struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in chunks]
    return content[:8] + b"".join(made)


def packed_text(content: bytes, rng: random.Random) -> bytes:
    """A text that is packed: damaged inside, or larger than it looks."""
    for start, unpack, pack in (
        (b"\x1f\x8b", gzip.decompress, gzip.compress),
        (b"BZh", bz2.decompress, bz2.compress),
        (b"\xfd7zXZ", lzma.decompress, lzma.compress),
        (b"\x28\xb5\x2f\xfd", None, lambda text: pa.compress(text, codec="zstd", asbytes=True)),
    ):
        if content.startswith(start):
            text = unpack(content) if unpack else b"x,y\n1,2\n" * 50
            if rng.random() < 0.1:
                return pack(text + rng.choice((b"\0", b"\n", b"x", b'"', b"1,")) * (1 << 24))
            return pack(any_text(text, rng))
    return any_text(content, rng)


def json_values(content: bytes, rng: random.Random) -> bytes:
    """A value of a JSON document replaced by one of another type, at any depth; each line is a document."""
    lines = content.split(b"\n") if not content.startswith(b"[") else [content]
    i = rng.randrange(len(lines))
    try:
        document = json.loads(lines[i])
    except ValueError:
        return any_text(content, rng)
    lines[i] = spoilt(document, rng)
    return b"\n".join(lines)


def spoilt(document: object, rng: random.Random) -> bytes:
    """A JSON document with one value changed, gone or added, as text."""
    places: list[tuple[object, object]] = []

    def walk(node: object) -> None:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            places.append((node, key))
            if isinstance(value, dict | list):
                walk(value)

    if isinstance(document, dict | list):
        walk(document)
    mark = "\N{SNOWMAN}here"
    if not places:
        return json.dumps(document).encode()
    node, key = rng.choice(places)
    how = rng.random()
    if how < 0.1:
        del node[key]
        return json.dumps(document).encode()
    if how < 0.2 and isinstance(node, dict):
        node[rng.choice(WORDS).encode("utf-8", "replace").decode()] = node[key]
        return json.dumps(document).encode()
    old = node[key]
    if how < 0.35:
        node[key] = rng.choice(places)[0]
        try:
            return json.dumps(document).encode()
        except (ValueError, RecursionError):  # it holds itself
            node[key] = old
    node[key] = mark
    odd = (
        "null", "true", "[]", "{}", '""', "1e999", "NaN", "-Infinity", "1.5", "-1", '"x"', "[" * 5000 + "]" * 5000,
        f"1{'0' * 5000}", '{"float":"nan"}', '{"range":[0,1000000000000,1]}', '{"texts":[1]}', '{"tuple":[]}',
        '{"list":{}}', '{"dict":[]}', '{"value":{"kind":"Moments","header":{},"arrays":{}}}',
        '{"record":{"kind":"Gram","fields":{}}}', json.dumps([old] * 1000), json.dumps({"a": old}),
        json.dumps("x" * 100_000), str(rng.choice(NUMBERS)), json.dumps(rng.choice(WORDS)),
    )  # fmt: skip
    return json.dumps(document).replace(json.dumps(mark), rng.choice(odd), 1).encode()


def sealed(content: bytes, rng: random.Random) -> bytes:
    """A file that assay saved, changed within and with a checksum that fits; or of format 1, which had none."""
    from assay.data.archive import DIGEST, TAIL

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(("assay.json", "assay.json", rng.choice(list(parts))))
    if name == "assay.json":
        parts[name] = spoilt(json.loads(parts[name]), rng)
    else:
        parts[name] = several((npy_header, npy_header, any_bytes, arrow_metadata))(parts[name], rng)
    if rng.random() < 0.2:
        return zipped({n: c.replace(b'"format": 2', b'"format": 1') for n, c in parts.items()}, zipfile.ZIP_STORED)
    handle = io.BytesIO(zipped(parts, zipfile.ZIP_STORED))
    with zipfile.ZipFile(handle, "a") as archive:
        archive.comment = bytes(TAIL)
    body = handle.getvalue()[:-TAIL]
    if rng.random() < 0.1:
        body = number(body, rng)
    return body + DIGEST + hashlib.sha256(body).hexdigest().encode()


_SHEETS = zip_members({".xml": xml, ".rels": xml})
_ARRAYS = zip_members({".npy": several((npy_header, npy_header, any_bytes))})
WAYS: dict[str, tuple[Damage, ...]] = {
    "csv": (any_text, packed_text, any_bytes),
    "many": (any_text,),
    "jsonl": (json_values, json_values, packed_text, any_bytes),
    "parquet": (parquet_footer, parquet_footer, any_bytes),
    "arrow": (arrow_metadata, arrow_metadata, any_bytes),
    "feather": (within(-400, 0), any_bytes),
    "xlsx": (_SHEETS, _SHEETS, _SHEETS, zip_headers, any_bytes),
    "ods": (_SHEETS, _SHEETS, _SHEETS, zip_headers, any_bytes),
    "statistics": (any_bytes, within(0, 200), within(200, 2000)),
    "xls": (any_bytes, within(0, 512), within(512, 1200), within(-1024, 0)),
    "npy": (npy_header, npy_header, any_bytes),
    "npz": (_ARRAYS, _ARRAYS, zip_headers, any_bytes),
    "sparse": (_ARRAYS, _ARRAYS, zip_headers, any_bytes),
    "libsvm": (any_text, any_bytes),
    "sqlite": (sqlite_pages, sqlite_pages, any_bytes),
    "edges": (any_text, any_text, any_bytes),
    "images": (png_chunk, any_bytes),
    "sounds": (within(0, 60), any_bytes),
    "texts": (any_text, any_bytes),
    "words": (lambda content, rng: content,),
    "saved": (sealed, sealed, sealed, any_bytes),
    "models": (sealed, sealed, sealed, any_bytes),
}
