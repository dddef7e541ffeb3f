"""Spreadsheets: values as saved, with errors and formulas told by their cell."""

import datetime as dt
import zipfile

import openpyxl
import pandas as pd
import pytest

from assay.data.formats.excel_cells import address, column_number
from assay.data.read import read
from assay.errors import DataError, ParameterError


def book(path, rows, first=(1, 1), title="data"):
    found = openpyxl.Workbook()
    sheet = found.active
    sheet.title = title
    fill(sheet, rows, first)
    found.save(path)
    return found


def fill(sheet, rows, first=(1, 1)):
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value is not None:
                sheet.cell(first[0] + i, first[1] + j, value)


def told(source):
    list(source.blocks())
    return [(problem.what, problem.column, problem.count, problem.examples) for problem in source.problems]


def test_pandas_reads_the_same(tmp_path):
    path = tmp_path / "t.xlsx"
    book(path, [["x", "when", "who", "flag"], *([i / 4, dt.datetime(2020, 1, 1, i), f"n{i}", i > 3] for i in range(9))])
    wanted = pd.read_excel(path, engine="openpyxl")
    assert read(path).to_arrow().to_pylist() == wanted.to_dict("records")
    assert {field.name: field.kind for field in read(path).schema}["when"] == "time"


def test_error_cells_and_formulas_without_a_value_are_missing_and_told(tmp_path):
    path = tmp_path / "t.xlsx"
    rows = [["x", "y"], *([i, i + 0.5] for i in range(30))]
    found = book(path, rows)
    sheet = found.active
    sheet["B7"] = "#DIV/0!"
    sheet["B7"].data_type = "e"
    sheet["A5"] = "=SUM(B1:B3)"
    sheet["A6"] = '=WEBSERVICE("http://127.0.0.1:9/leak")'
    found.save(path)
    source = read(path)
    assert sorted(told(source)) == [
        ("cells hold an error and count as missing", "y", 1, (("B7", "#DIV/0!"),)),
        (
            "formulas have no saved value and count as missing; open and save the file in a spreadsheet program",
            "x",
            2,
            (("A5", None), ("A6", None)),
        ),
    ]
    assert source.to_arrow().column("x").to_pylist()[3:5] == [None, None]
    assert source.to_arrow().column("y")[5].as_py() is None


def test_the_saved_value_of_a_formula_is_read(tmp_path):
    path = tmp_path / "t.xlsx"
    book(path, [["x", "y"], [1, 2], [3, 4]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<c r="B2" t="n"><v>2</v></c>', b'<c r="B2"><f>A2*21</f><v>21</v></c>')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    source = read(path)
    assert source.to_arrow().column("y").to_pylist() == [21, 4]
    assert told(source) == []


def test_text_among_numbers_is_missing_and_told_with_its_cell(tmp_path):
    path = tmp_path / "t.xlsx"
    book(path, [["x"], *([i] for i in range(39)), ["many"], ["NA"], ["7"]], first=(3, 2))
    source = read(path)
    assert source.to_arrow().column("x").to_pylist()[-3:] == [None, None, 7]
    assert told(source) == [("values are not numbers and count as missing", "x", 1, (("B43", "many"),))]
    assert source.line_of(0) == 4


def test_what_stands_above_the_table_is_left_out_with_a_note(tmp_path):
    path = tmp_path / "t.xlsx"
    found = book(path, [["Sales of 2020"], [None], ["x", "y", "z"], [1, 2, 3], [None, None, None], [4, 5, 6]], (2, 3))
    found.active.merge_cells("C2:E2")
    found.save(path)
    source = read(path)
    assert source.to_arrow().to_pydict() == {"x": [1, 4], "y": [2, 5], "z": [3, 6]}
    assert source.notes == ("2 rows above the table in sheet 'data' were left out.",)
    assert told(source) == [("rows are empty and were left out", None, 1, (("row 6", None),))]
    assert [source.line_of(row) for row in range(2)] == [5, 7]


def test_a_sheet_is_chosen_by_name_or_number_and_the_others_are_named(tmp_path):
    path = tmp_path / "t.xlsx"
    found = openpyxl.Workbook()
    found.active.title = "cover"
    found.active["A1"] = "only a title"
    fill(found.create_sheet("first"), [["x"], [1]])
    fill(found.create_sheet("second"), [["y"], [2]])
    hidden = found.create_sheet("archive")
    fill(hidden, [["z"], [3]])
    hidden.sheet_state = "hidden"
    found.save(path)
    source = read(path)
    assert source.to_arrow().column_names == ["x"]
    assert source.notes == (
        "Sheet 'first' was read; the workbook also has 'cover', 'second', 'archive' (hidden); choose one with sheet=.",
    )
    assert read(path, sheet="second").to_arrow().column_names == ["y"]
    assert read(path, sheet=4).to_arrow().column_names == ["z"]
    for wrong in ("third", 0, 5, True):
        with pytest.raises(ParameterError, match=f"has no sheet {wrong!r}; there are 'cover', 'first', 'second', 'a"):
            read(path, sheet=wrong)


def test_a_sheet_without_names_is_numbered(tmp_path):
    path = tmp_path / "t.xlsx"
    book(path, [[1, 2], [3, 4]])
    source = read(path)
    assert source.to_arrow().to_pydict() == {"column 1": [1, 3], "column 2": [2, 4]}
    assert source.notes == ("The first row holds no names, so the columns are numbered.",)
    assert read(path, header=True).to_arrow().to_pydict() == {"1": [3], "2": [4]}
    book(path, [["a", "b"], ["c", "d"]])
    assert read(path, header=False).to_arrow().num_rows == 2


def test_names_are_made_unique_and_script_stays_text(tmp_path):
    path = tmp_path / "t.xlsx"
    book(path, [["x", None, "x", "<script>alert(1)</script>"], [1, 2, 3, "=cmd|' /C calc'!A0"]])
    source = read(path)
    assert source.to_arrow().column_names == ["x", "column 2", "x (2)", "<script>alert(1)</script>"]
    assert "'' to 'column 2', 'x' to 'x (2)'" in source.notes[0]


def test_sensitive_cells_reach_no_message(tmp_path):
    path = tmp_path / "t.xlsx"
    found = book(path, [["x", "secret"], *([i, i] for i in range(40)), [1, "planted"]])
    found.active["B9"] = "#N/A"
    found.active["B9"].data_type = "e"
    found.save(path)
    source = read(path, sensitive=["secret"])
    assert told(source) == []
    assert "planted" not in str(source.to_arrow().to_pylist()) + str(source.notes)


def test_cells_far_apart_do_not_fill_the_memory(tmp_path):
    path = tmp_path / "t.xlsx"
    found = book(path, [["x"], [1]])
    found.active["XFD1048576"] = 1
    found.save(path)
    with pytest.raises(DataError, match=r"sheet 'data' spans 17,179,869,184 cells, and at most 50,000,000 are re"):
        read(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.xlsx"
    book(path, [["x"], [1]])
    monkeypatch.setattr("assay.data.formats.sheet_process._LARGEST", path.stat().st_size)
    with pytest.raises(DataError, match="at most 0 MB are held in memory; save the sheet as CSV"):
        read(path)


def test_empty_and_damaged_workbooks_are_refused(tmp_path):
    path = tmp_path / "t.xlsx"
    book(path, [])
    with pytest.raises(DataError, match=r"none of its sheets holds a table \('data'\)"):
        read(path)
    with pytest.raises(DataError, match="sheet 'data' is empty; choose another with sheet="):
        read(path, sheet="data")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<broken")
    with pytest.raises(DataError, match="not a spreadsheet that can be read, or it is damaged"):
        read(path)


def test_open_document_sheets_are_read(tmp_path):
    cells = [["x", "who"], [1.5, "Ann"], [2.5, "Bob"]]
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
            if isinstance(cell, float)
            else f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in cells
    )
    names = "".join(
        f' xmlns:{part}="urn:oasis:names:tc:opendocument:xmlns:{part}:1.0"' for part in ("office", "table", "text")
    )
    sheet = f'<office:spreadsheet><table:table table:name="s">{rows}</table:table></office:spreadsheet>'
    body = f"<office:body>{sheet}</office:body>"
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", f"<office:document-content{names}>{body}</office:document-content>")
    assert read(tmp_path / "t.ods").to_arrow().to_pydict() == {"x": [1.5, 2.5], "who": ["Ann", "Bob"]}


def test_dates_beside_times_are_all_times(tmp_path):
    path = tmp_path / "t.xlsx"
    book(path, [["t"], [dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1, 12, 30)]])
    assert read(path).to_arrow().column("t").to_pylist() == [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12, 30)]


@pytest.mark.parametrize(("column", "letters"), [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (16384, "XFD")])
def test_addresses_are_those_of_spreadsheets(column, letters):
    assert address(1, column) == f"{letters}1" == f"{openpyxl.utils.get_column_letter(column)}1"
    assert column_number(letters) == column
