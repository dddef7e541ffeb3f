"""Workbooks that are written to break a reader, byte by byte: no library would write them."""

import io
import zipfile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "xl/worksheets/sheet1.xml"
HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row>'


def worksheet(rows, before="", prefix=""):
    named = f"xmlns:{prefix[:-1]}" if prefix else "xmlns"
    inside = f"<{prefix}sheetData>{rows}</{prefix}sheetData>"
    return f'<?xml version="1.0"?>{before}<{prefix}worksheet {named}="{MAIN}">{inside}</{prefix}worksheet>'


def members(sheet, path=SHEET, target="worksheets/sheet1.xml", **more):
    """The members of a workbook with one sheet, by name."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    types = f'<Override PartName="/xl/workbook.xml" ContentType="{kind}"/>'
    return {
        "[Content_Types].xml": f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="data" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" '
        f'Type="{OFFICE}/worksheet" Target="{target}"/><Relationship Id="rId2" Type="{OFFICE}/sharedStrings" '
        'Target="sharedStrings.xml"/></Relationships>',
        path: sheet,
        **more,
    }


def packed(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def far(file, cell, **how):
    """A table of one column, and one cell far from it."""
    return packed(file, members(worksheet(HEAD + cell), **how))


def open_document(path, rows):
    names = "".join(
        f' xmlns:{part}="urn:oasis:names:tc:opendocument:xmlns:{part}:1.0"' for part in ("office", "table", "text")
    )
    table = f'<table:table table:name="s">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", f"<office:document-content{names}>{body}</office:document-content>")
    return path


def far_cells(folder):
    """A cell in the last corner of a sheet, in every spelling that a reader takes; by what is odd about it."""
    value = "<v>1</v></c></row>"
    corner = '<row r="1048576"><c r="XFD1048576">' + value
    wide = "<c/>" * 16383
    found = {
        "plain": far(folder / "plain.xlsx", corner),
        "single quotes": far(folder / "single.xlsx", "<row r='1048576'><c r='XFD1048576'>" + value),
        "blanks": far(folder / "blanks.xlsx", '<row r = "1048576"><c\n r\t=\n "XFD1048576" >' + value),
        "lower case": far(folder / "lower.xlsx", '<row r="1048576"><c r="xfd1048576">' + value),
        "five letters": far(folder / "letters.xlsx", '<row r="1048576"><c r="AAAAA1048576">' + value),
        "no reference": far(folder / "none.xlsx", f'<row r="1048576">{wide}<c>{value}'),
        "no row either": far(folder / "rowless.xlsx", f'<row r="1048575"/><row>{wide}<c>{value}'),
        "reference not first": far(folder / "later.xlsx", '<row r="1048576"><c s="0" cm="1" r="XFD1048576">' + value),
        "path in another case": far(folder / "path.xlsx", corner, path="xl/Worksheets/SHEET1.xml"),
        "path with another slash": far(folder / "slash.xlsx", corner, path="xl\\worksheets\\sheet1.xml"),
        "absolute target": far(folder / "absolute.xlsx", corner, target="/xl/worksheets/sheet1.xml"),
        "target with xl": far(folder / "target.xlsx", corner, target="xl/worksheets/sheet1.xml"),
        "a lie about the extent": packed(
            folder / "dimension.xlsx",
            members(worksheet(HEAD + corner).replace("<sheetData>", '<dimension ref="A1:A2"/><sheetData>')),
        ),
        "characters by number": far(folder / "number.xlsx", '<row r="1048576"><c r="&#88;FD1048576">' + value),
        "text in the cell": far(
            folder / "inline.xlsx", '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>a</t></is></c></row>'
        ),
    }
    body = (HEAD + corner).replace("</", "</\0").replace("<", "<x:").replace("<x:/\0", "</x:")
    found["prefix"] = packed(folder / "prefix.xlsx", members(worksheet(body, prefix="x:")))
    return found


def shared_text(path, length, cells):
    """One long text that many cells share: little in the file, much in memory."""
    rows = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>0</v></c></row>' for i in range(1, cells + 1))
    text = f'<sst xmlns="{MAIN}" count="1" uniqueCount="1"><si><t>{"a" * length}</t></si></sst>'
    return packed(path, members(worksheet(rows), **{"xl/sharedStrings.xml": text}))


def damaged(path, name, how):
    """A sound workbook with one member damaged: "crc", "truncated" or "gone"."""
    parts = members(
        worksheet(HEAD + '<row r="3"><c r="A3" t="s"><v>0</v></c></row>'),
        **{"xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"><si><t>{"word " * 200}</t></si></sst>'},
    )
    if how == "gone":
        del parts[name]
        return packed(path, parts)
    packed(path, parts)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as archive:
        info = archive.getinfo(name)
    start = info.header_offset + 30 + len(name)
    if how == "crc":
        content[info.header_offset + 14] ^= 0xFF
        at = content.rindex(name.encode()) - 46
        content[at + 16] ^= 0xFF
    else:
        content[start + info.compress_size // 2 : start + info.compress_size] = bytes(
            info.compress_size - info.compress_size // 2
        )
    path.write_bytes(bytes(content))
    return path
