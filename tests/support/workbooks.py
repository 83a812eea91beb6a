"""Workbooks whose sheets are written as XML, as other programs write them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def sheet(*rows: str, before: str = "", after: str = "") -> str:
    """Return a sheet with these rows, each the XML of its cells or of the whole row."""
    numbered = (row if row.startswith("<row") else f"<row>{row}</row>" for row in rows)
    return f'<worksheet xmlns="{_MAIN}">{before}<sheetData>{"".join(numbered)}</sheetData>{after}</worksheet>'


def text(value: str, style: int = 0) -> str:
    """Return a cell with a text."""
    return f'<c t="inlineStr" s="{style}"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def texts(*values: str) -> str:
    return "".join(map(text, values))


def number(value: object, style: int = 0) -> str:
    """Return a cell with a stored number."""
    return f'<c s="{style}"><v>{value}</v></c>'


def workbook(
    sheets: Mapping[str, str],
    *,
    formats: Sequence[str | int] = (),
    calculation: str = "",
    hidden: Sequence[str] = (),
    slash: str = "/",
) -> bytes:
    """Return a workbook. Cell style n has format n: a code, or the number of a built-in format; `slash` joins names."""
    places = dict(enumerate(sheets, start=1))
    states = {name: "hidden" if name in hidden else "visible" for name in sheets}
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{place}" r:id="s{place}" state="{states[name]}"/>'
        for place, name in places.items()
    )
    book = f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets>{calculation}</workbook>'
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="b" Type="{_OFFICE}/officeDocument" '
        f'Target="xl{slash}workbook.xml"/></Relationships>',
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">'
        + "".join(
            f'<Relationship Id="s{place}" Type="{_OFFICE}/worksheet" Target="worksheets{slash}sheet{place}.xml"/>'
            for place in places
        )
        + "</Relationships>",
        "xl/styles.xml": _styles(formats),
    } | {f"xl/worksheets/sheet{place}.xml": sheets[name] for place, name in places.items()}
    return archive({name.replace("/", slash): part for name, part in parts.items()})


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP archive of the parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, part in parts.items():
            target.writestr(name, part)
    return made.getvalue()


def _styles(formats: Sequence[str | int]) -> str:
    numbers = [each if isinstance(each, int) else 200 + place for place, each in enumerate(formats)]
    codes = "".join(
        f"<numFmt numFmtId={quoteattr(str(at))} formatCode={quoteattr(code)}/>"
        for at, code in zip(numbers, formats, strict=True)
        if isinstance(code, str)
    )
    cells = "".join(f'<xf numFmtId="{at}"/>' for at in numbers)
    return f'<styleSheet xmlns="{_MAIN}"><numFmts>{codes}</numFmts><cellXfs>{cells}</cellXfs></styleSheet>'
