"""Spreadsheets written to break the reader: one sentence each, in bounded memory and time, whatever the reader does."""

import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.data.formats import hostile_books as hostile

from assay.data.read import read
from assay.errors import DataError

SOURCES = Path(__file__).parents[3] / "src"


def refusals(paths, memory=6 << 30):
    """What reading each file says, in a process with so much memory: a reader that aborts ends it."""
    script = f"""
        import resource, sys
        resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        from assay.data.read import read
        from assay.errors import DataError
        for path in sys.argv[1:]:
            try:
                print("read", read(path).rows, flush=True)
            except DataError as error:
                print(error, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, paths)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_a_cell_far_away_fills_no_memory_however_it_is_spelt(tmp_path):
    books = hostile.far_cells(tmp_path)
    body = hostile.worksheet(hostile.HEAD + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    wide = body.replace('version="1.0"', 'version="1.0" encoding="UTF-16"').encode("utf-16")
    books["UTF-16"] = hostile.packed(tmp_path / "utf16.xlsx", hostile.members(wide))
    for name, said in zip(books, refusals(books.values()), strict=True):
        assert "sheet 'data' spans " in said, name
        assert "at most 50,000,000 are read; delete stray cells far from the table, or save it as CSV" in said, name


def test_what_only_has_a_format_reaches_nowhere(tmp_path):
    path = hostile.far(tmp_path / "t.xlsx", '<row r="1048576"><c r="XFD1048576" s="0"/></row>')
    assert read(path).to_arrow().to_pydict() == {"x": [1.0]}


def test_repeated_cells_of_open_documents_fill_no_memory(tmp_path):
    one = '<table:table-cell office:value-type="float" office:value="1"{}/>'
    plain = one.format("")
    gap = '<table:table-cell table:number-columns-repeated="16384"/>'
    rows = [
        '<table:table-row table:number-rows-repeated="1048576">'
        + one.format(' table:number-columns-repeated="16384"')
        + "</table:table-row>",
        f'<table:table-row>{plain}</table:table-row><table:table-row table:number-rows-repeated="1048570">'
        f"<table:table-cell/></table:table-row><table:table-row>{gap}{plain}</table:table-row>",
        f'<table:table-row table:number-rows-repeated="{"9" * 30}">{plain}</table:table-row>',
    ]
    books = [hostile.open_document(tmp_path / f"{i}.ods", text) for i, text in enumerate(rows)]
    assert all("sheet 's' spans" in said for said in refusals(books))
    head = '<table:table-row><table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'
    rest = f'<table:table-row table:number-rows-repeated="1048574">{gap}</table:table-row>'
    honest = f"{head}{gap}</table:table-row><table:table-row>{plain}{gap}</table:table-row>{rest}"
    assert read(hostile.open_document(tmp_path / "t.ods", honest)).to_arrow().to_pydict() == {"x": [1.0]}


def test_a_long_text_that_many_cells_share_fills_no_memory(tmp_path):
    # 2 GB of text in a file of 2 kB: refused by the bound on memory, and by that on what is handed over
    path = hostile.shared_text(tmp_path / "t.xlsx", 1_000_000, 2000)
    [said] = refusals([path], memory=2 << 30)
    assert "delete stray cells far from the table and long texts, or save the sheet as CSV" in said


def test_more_than_is_held_is_not_handed_over(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.formats.sheet_process._LARGEST", 1 << 21)
    with pytest.raises(DataError, match="its cells hold more than 2 MB; leave long texts out, or save it as CSV"):
        read(hostile.shared_text(tmp_path / "t.xlsx", 1000, 3000))


def test_tags_that_never_end_take_no_time(tmp_path):
    # 3.5 kB on which expressions of earlier versions took minutes
    for i, tag in enumerate(["<c " + 't="e" ' * 580, "<c" + " r" * 1700, '<c r="A1"><f>' * 250]):
        path = hostile.packed(tmp_path / f"{i}.xlsx", hostile.members(hostile.worksheet(hostile.HEAD + tag)))
        with pytest.raises(DataError, match=r"its member 'xl/worksheets/sheet1.xml' is damaged \(.*\); save it again"):
            read(path)


def test_entities_are_refused(tmp_path):
    laughs = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(20))
    text = hostile.worksheet(hostile.HEAD, before=f'<!DOCTYPE a [<!ENTITY a0 "ha">{laughs}]>')
    for name in (hostile.SHEET, "xl/workbook.xml"):
        parts = {**hostile.members(hostile.worksheet(hostile.HEAD)), name: text}
        with pytest.raises(DataError, match="it declares entities, which no spreadsheet needs"):
            read(hostile.packed(tmp_path / "t.xlsx", parts))


@pytest.mark.parametrize("how", ["crc", "truncated", "gone"])
@pytest.mark.parametrize(
    "name", ["xl/workbook.xml", "xl/_rels/workbook.xml.rels", hostile.SHEET, "xl/sharedStrings.xml"]
)
def test_a_damaged_member_is_told_in_one_sentence(tmp_path, name, how):
    path = hostile.damaged(tmp_path / "t.xlsx", name, how)
    told = {"gone": "save it again$"}.get(how, f"its member '{name}' is damaged; copy or save it again$")
    with pytest.raises(DataError, match=rf"^cannot read {path}: .*{told}"):
        read(path)


def test_two_members_of_one_name_are_refused(tmp_path):
    parts = hostile.members(hostile.worksheet(hostile.HEAD))
    parts["XL/Worksheets/Sheet1.xml"] = parts[hostile.SHEET]
    with pytest.raises(DataError, match="two of its members have one name"):
        read(hostile.packed(tmp_path / "t.xlsx", parts))


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import os; os.abort()", "takes more than .* GB of memory, or more than there is, or breaks the reader"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "or breaks the reader"),
        ("raise MemoryError", "or more than there is"),
        ("import pickle, sys, os; pickle.dump(os.system, sys.stdout.buffer)", "breaks the reader"),
        (
            "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass",
            "takes longer than [0-9]+ s of computing; save the sheet as CSV",
        ),
    ],
)
def test_a_reader_that_dies_is_one_sentence(tmp_path, monkeypatch, program, told):
    path = hostile.packed(tmp_path / "t.xlsx", hostile.members(hostile.worksheet(hostile.HEAD)))
    monkeypatch.setattr("assay.data.formats.sheet_process._PROGRAM", program)
    with pytest.raises(DataError, match=told):
        read(path)


def test_a_panic_is_one_sentence(tmp_path, monkeypatch):
    path = hostile.packed(tmp_path / "t.xlsx", hostile.members(hostile.worksheet(hostile.HEAD)))
    program = (
        "import sys; sys.path += sys.argv[2:]\n"
        "from assay.data.formats import sheet_child\n"
        "class Panic(BaseException): pass\n"
        "def broken(book, name): raise Panic('index out of bounds')\n"
        "sheet_child._sheet = broken\n"
        "sheet_child.main()"
    )
    monkeypatch.setattr("assay.data.formats.sheet_process._PROGRAM", program)
    with pytest.raises(DataError, match=r"it is damaged \(index out of bounds\); save it again"):
        read(path)


def test_the_process_is_bounded_and_gone(tmp_path, monkeypatch):
    path = hostile.packed(tmp_path / "t.xlsx", hostile.members(hostile.worksheet(hostile.HEAD)))
    started = []
    popen = subprocess.Popen

    def noted(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    program = (
        "import pickle, resource, sys; sys.path += sys.argv[2:]\n"
        "from assay.data.formats.child_limits import limit\n"
        "limit(1 << 30, 7)\n"
        "told = [resource.getrlimit(x)[0] for x in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)]\n"
        "pickle.dump(('refused', str(told)), sys.stdout.buffer)"
    )
    monkeypatch.setattr("assay.data.formats.sheet_process._PROGRAM", program)
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    bound = 1 << 30 if soft == resource.RLIM_INFINITY else min(soft, 1 << 30)
    with pytest.raises(DataError, match=rf"\[{bound}, 7, 0\]"):
        read(path)
    assert [process.poll() is not None for process in started] == [True]


def test_the_first_row_of_a_table_is_found_below_many_short_ones(tmp_path):
    rows = "".join(f'<row r="{i}"><c r="A{i}"><v>1</v></c></row>' for i in range(1, 20_001))
    last = "".join(f'<c r="{letter}20001" t="inlineStr"><is><t>{letter}</t></is></c>' for letter in "ABC")
    end = '<row r="20002"><c r="A20002"><v>1</v></c><c r="B20002"><v>2</v></c></row>'
    text = hostile.worksheet(f'{rows}<row r="20001">{last}</row>{end}')
    source = read(hostile.packed(tmp_path / "t.xlsx", hostile.members(text)))
    assert source.to_arrow().to_pydict() == {"A": [1], "B": [2], "C": [None]}
