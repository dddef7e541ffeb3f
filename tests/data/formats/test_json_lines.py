"""JSON lines: what each line gives, and how what does not fit is counted with its line."""

import gzip
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from assay.data.formats.json_lines import JsonSource
from assay.data.formats.lines import CHUNK, whole_lines
from assay.data.read import read
from assay.errors import DataError, ParameterError

NEW_KEY = "values have a key that the first lines do not have, and were left out"


def source(tmp_path, content, name="t.jsonl", **how):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path, **how)


def told(found):
    return [(problem.what, problem.column, problem.count, problem.examples) for problem in found.problems]


def test_polars_reads_the_same(tmp_path):
    rng = np.random.default_rng(3)
    rows = [{"x": float(v), "name": f"n{i}", "flag": bool(i % 3)} for i, v in enumerate(rng.normal(size=500))]
    found = source(tmp_path, "\n".join(json.dumps(row) for row in rows))
    assert found.to_arrow().to_pylist() == pl.read_ndjson(tmp_path / "t.jsonl").to_dicts()


def test_lines_that_are_no_objects_are_left_out_and_counted(tmp_path):
    found = source(tmp_path, '{"a": 1}\n\n[1]\nnope\n3\n{"a": 2}\n{"a": 3\n{"a": 4}\n')
    assert found.to_arrow().to_pydict() == {"a": [1, 2, 4]}
    (problem,) = found.problems
    assert problem.what == "lines are not a JSON object and were left out"
    assert problem.count == 4
    assert [place for place, _ in problem.examples] == ["line 3", "line 4", "line 5", "line 7"]
    assert [found.line_of(row) for row in range(3)] == [1, 6, 8]


def test_a_contradiction_far_down_is_missing_and_told_with_its_line(tmp_path):
    count = 300_000
    content = b"".join(b'{"a": %d, "b": "t"}\n' % i for i in range(count))
    assert len(content) > CHUNK
    found = source(tmp_path, content + b'{"a": "oops", "b": 5}\n{"a": 1.5, "c": true}\n')
    table = found.to_arrow()
    assert table.column("a").slice(count).to_pylist() == [None, 1.5]
    assert table.column("b").slice(count).to_pylist() == ["5", None]
    assert told(found) == [
        ("values are not numbers and count as missing", "a", 1, ((f"line {count + 1}", "oops"),)),
        (
            NEW_KEY,
            None,
            1,
            ((f"line {count + 2}", "c"),),
        ),
    ]
    assert found.line_of(count) == count + 1
    assert found.rows == count + 2
    assert found.fraction_read == 1.0


def test_new_keys_in_whole_chunks_are_counted(tmp_path):
    content = b'{"a": {"b": 1}}\n' * 300_000 + b'{"a": {"b": 1, "c": 2}, "d": 1}\n{"a": {"b": 2}, "d": 2}\n'
    found = source(tmp_path, content)
    assert found.to_arrow().column_names == ["a.b"]
    assert sorted(told(found)) == [
        (
            NEW_KEY,
            None,
            3,
            (("line 300001", "a.c"), ("line 300001", "d")),
        )
    ]


def test_objects_in_objects_become_columns_one_level_down(tmp_path):
    found = source(tmp_path, '{"a": {"b": 1, "c": {"d": 2}}, "e": [1, 2]}\n{"a": null}\n{"a": {"b": 3}}\n')
    assert found.to_arrow().to_pydict() == {
        "a.b": [1, None, 3],
        "a.c": [{"d": 2}, None, None],
        "e": [[1, 2], None, None],
    }
    kinds = {field.name: field.kind for field in found.schema}
    assert kinds["a.c"] == kinds["e"] == "other"


def test_a_value_in_place_of_an_object_is_missing(tmp_path):
    found = source(tmp_path, '{"a": {"b": 1}}\n' * 30 + '{"a": 5}\n')
    assert found.to_arrow().column("a.b").to_pylist()[-1] is None
    assert told(found) == [("values are not objects and count as missing", "a.b", 1, (("line 31", None),))]


def test_a_column_of_mixed_values_is_text(tmp_path):
    found = source(tmp_path, '{"a": 1}\n{"a": "x"}\n{"a": true}\n{"a": [1]}\n')
    assert found.to_arrow().to_pydict() == {"a": ["1", "x", "true", "[1]"]}


def test_numbers_beyond_float64_are_missing_and_told_as_written(tmp_path):
    found = source(tmp_path, '{"a": 1}\n' * 40 + '{"a": 1e400}\n{"a": -1e-400}\n')
    assert found.to_arrow().column("a").to_pylist()[-2:] == [None, 0.0]
    assert told(found) == [("values are not numbers and count as missing", "a", 1, (("line 41", "1e400"),))]


def test_long_whole_numbers_stay_whole(tmp_path):
    found = source(tmp_path, '{"id": 12345678901234567}\n{"id": 12345678901234568}\n')
    assert found.to_arrow().to_pydict() == {"id": [12345678901234567, 12345678901234568]}


def test_whole_numbers_may_turn_into_fractions(tmp_path):
    content = b'{"a": 1}\n' * 500_000 + b'{"a": 1.5}\n'
    found = source(tmp_path, content)
    assert list(found.float_blocks())[-1][-1, 0] == 1.5
    assert not list(found.problems)


def test_times_are_times_with_fractions_too(tmp_path):
    found = source(tmp_path, '{"t": "2020-01-02"}\n{"t": "2020-01-02T03:04:05Z"}\n')
    assert found.arrow_schema.field("t").type == pa.timestamp("us")
    as_text = source(tmp_path, '{"t": "2020-01-02"}\n', kinds={"t": "text"})
    assert as_text.to_arrow().to_pydict() == {"t": ["2020-01-02"]}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_the_encoding_is_found(tmp_path, encoding):
    assert source(tmp_path, '{"é": "ü"}\n'.encode(encoding)).to_arrow().to_pydict() == {"é": ["ü"]}


def test_bad_bytes_half_characters_and_repeated_keys_are_told(tmp_path):
    content = '{"a": "é"}\n'.encode() * 3 + b'{"a": "\xff"}\n{"a": "\\ud800"}\n{"a": "x", "a": "y"}\n'
    found = source(tmp_path, content)
    assert found.to_arrow().column("a").to_pylist()[3:] == ["\ufffd", "y"]
    assert [(what, place) for what, _, _, place in told(found)] == [
        ("lines are not a JSON object and were left out", (("line 4", None),)),
        ("lines hold half a character (a lone surrogate), shown as \ufffd", (("line 5", None),)),
        ("lines repeat a key; the last value was taken", (("line 6", None),)),
    ]


def test_brackets_nested_a_hundred_thousand_deep_do_no_harm(tmp_path):
    deep = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    found = source(tmp_path, b'{"a": 1}\n' + deep + b'{"a": 2}\n' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
    assert found.to_arrow().to_pydict() == {"a": [1, 2]}
    assert found.problems and next(iter(found.problems)).count == 2


def test_an_array_of_objects_is_read_when_it_is_small(tmp_path, monkeypatch):
    found = source(tmp_path, ' [{"a": 1},\n {"a": 2}, 3]', name="t.json")
    assert found.to_arrow().to_pydict() == {"a": [1, 2]}
    assert told(found) == [("lines are not a JSON object and were left out", None, 1, (("record 3", None),))]
    monkeypatch.setattr("assay.data.formats.json_lines._LARGEST_ARRAY", 10)
    with pytest.raises(DataError, match=r"one JSON array of more than 0 MB.*save it as JSON lines, one object a line"):
        source(tmp_path, '[{"a": 1}, {"a": 2}]', name="t.json")
    monkeypatch.setattr("assay.data.formats.json_lines._LARGEST_ARRAY", 1000)
    packed = gzip.compress(b"[" + b'{"a": 1},\n' * 10_000 + b'{"a": 1}]')
    assert len(packed) < 1000
    with pytest.raises(DataError, match="one JSON array of more than 0 MB"):
        source(tmp_path, packed, name="t.json.gz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{\n  "a": 1\n}\n', "none of its first lines is a JSON object; save the records as JSON lines"),
        ("[]", "there are no records in it"),
        ("  \n\n", "there are no records in it"),
        ('[{"a": 1},', r"not a JSON array that can be read \(line 1: Expecting value\)"),
    ],
)
def test_what_is_no_table_of_records_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        source(tmp_path, content, name="t.json")


def test_names_are_made_unique_and_script_stays_text(tmp_path):
    found = source(tmp_path, '{"": 1, "a.b": 2, "a": {"b": 3}, "<script>": "<b>"}\n')
    assert found.to_arrow().to_pydict() == {"column 1": [1], "a.b": [2], "a.b (2)": [3], "<script>": ["<b>"]}
    assert "'' to 'column 1', 'a.b' to 'a.b (2)'" in found.notes[0]


def test_sensitive_values_reach_no_message(tmp_path):
    lines = ['{"x": 1, "who": {"name": "planted", "age": 3}}'] * 30
    lines += [
        '{"x": 2, "who": "planted"}',
        '{"x": "y", "who": {"name": ["planted"], "new": "other"}}',
        '{"who": "planted',
    ]
    for sensitive in (["who"], ["who.name"], ["who.name", "who.age"]):
        found = source(tmp_path, "\n".join(lines), sensitive=sensitive)
        table = found.to_arrow()
        assert "planted" not in str(table.to_pylist()) + str(told(found)) + str(found.notes)
        assert ("who.age" in table.column_names) == (sensitive == ["who.name"])
    with pytest.raises(ParameterError, match="column 'whom' was declared sensitive, but there is none"):
        source(tmp_path, "\n".join(lines), sensitive=["whom"])


def test_a_pass_holds_a_few_chunks(tmp_path):
    content = b'{"a": 1.25, "b": "some text that takes room"}\n' * 500_000
    found = source(tmp_path, content)
    start = pa.total_allocated_bytes()
    peak = max(pa.total_allocated_bytes() - start for _ in found.blocks())
    assert peak < 0.8 * len(content)


def test_lines_are_cut_at_their_ends_only():
    text = b"".join(b"x" * (i % 97) + b"\n" for i in range(1000)) + b"last"
    position = 0

    def read_little(_):
        nonlocal position
        position += 13
        return text[position - 13 : position]

    chunks = list(whole_lines(read_little))
    assert b"".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text.endswith(b"\n") for chunk in chunks[:-1])
    assert [chunk.line for chunk in chunks] == list(np.cumsum([1, *(chunk.text.count(b"\n") for chunk in chunks[:-1])]))


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.formats.lines.LONGEST_LINE", 1 << 20)
    with pytest.raises(DataError, match=r"cannot read .*t\.jsonl: line 1 is longer than 1 MB; put every record on"):
        source(tmp_path, b'{"a": "' + b"x" * (3 * CHUNK))


def test_the_class_opens_a_place(tmp_path):
    assert isinstance(source(tmp_path, '{"a": 1}'), JsonSource)


@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_half_a_character_in_names_and_values_is_shown_as_such_and_counted(tmp_path, name):
    lines = [
        r'{"a\ud800": 1, "b": "x\uDFFFy", "c": "\ud83d\ude00"}',
        r'{"a\ud800": 2, "b": "\\ud800", "c": "z"}',
    ]
    content = "\n".join(lines) if name == "t.jsonl" else f"[{','.join(lines)}]"
    found = source(tmp_path, content, name)
    assert found.to_arrow().to_pylist() == [
        {"a\ufffd": 1, "b": "x\ufffdy", "c": "\U0001f600"},
        {"a\ufffd": 2, "b": r"\ud800", "c": "z"},
    ]
    assert [problem.count for problem in found.problems if "half a character" in problem.what] == [2]


def test_a_line_of_null_is_no_row(tmp_path):
    """In a child: where it is the first line, Arrow's parser ended the process."""
    texts = {
        'null\n{"x": 1}\n': [1.0],
        '\n  null\n{"x": 1}\n': [1.0],
        '{"x": 1}\nnull\n{"x": 2}\n': [1.0, 2.0],
        '{"x": 1}\n  null \n\n{"x": 2}\n': [1.0, 2.0],
        '  {"x": 1}\n\t{"x": 2}': [1.0, 2.0],
    }
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.jsonl").write_text(text)
    read = "assay.read(f'{i}.jsonl').to_arrow().column('x').to_pylist()"
    code = f"import assay\nfor i in range({len(texts)}): print({read}, flush=True)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert run.stdout.splitlines() == [str(rows) for rows in texts.values()], run


def test_a_file_of_null_alone_holds_no_records(tmp_path):
    (tmp_path / "t.jsonl").write_text("null\n")
    with pytest.raises(DataError, match="none of its first lines is a JSON object"):
        read(tmp_path / "t.jsonl")
