"""Files of other formats are named, with what to do instead of uploading them."""

import pytest

from portal.base.files import reading
from portal.base.files.file_limits import FileFault, fault_text
from tests.support.workbooks import archive, sheet, texts, workbook

WEB_PAGE = "This is a web page saved as .xls. Open it and save it as XLSX."
NO_SPREADSHEET = "This is not a spreadsheet. Save the list as XLSX or CSV."
TABLE = "<table><tr><th>Name</th></tr><tr><td>Mei Sample</td></tr></table>"
XML_2003 = '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="{}"></Workbook>'.format(
    "urn:schemas-microsoft-com:office:spreadsheet"
)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (f"<html><head><meta charset=utf-8></head><body>{TABLE}</body></html>".encode(), WEB_PAGE),
        (f"\n\n  {TABLE}".encode(), WEB_PAGE),
        (f"<!DOCTYPE html>\n<html>{TABLE}</html>".encode("utf-8-sig"), WEB_PAGE),
        (f"<HTML>{TABLE}</HTML>".encode("utf-16"), WEB_PAGE),
        (f"<style>td {{}}</style>{TABLE}".encode("cp932"), WEB_PAGE),
        (f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">{TABLE}</html>'.encode(), WEB_PAGE),
        (b"MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n", WEB_PAGE),
        (XML_2003.encode(), "This is an XML spreadsheet. Open it in Excel and save it as XLSX."),
        (b'<?xml version="1.0"?><members><member/></members>', NO_SPREADSHEET),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512),
         "This is an old Excel file (.xls) or has a password. Save it as XLSX or CSV."),
        (b"\x09\x08\x10\x00\x00\x06\x05\x00" + bytes(512),
         "This is an old Excel file (.xls) or has a password. Save it as XLSX or CSV."),
        (b"%PDF-1.7\n", "This is a PDF. Upload the spreadsheet that it was created from, as XLSX or CSV."),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), NO_SPREADSHEET),
        (b"\xff\xd8\xff\xe0" + bytes(30), NO_SPREADSHEET),
        (rb"{\rtf1\ansi Name}", NO_SPREADSHEET),
        (b"BEGIN:VCARD\r\nFN:Mei Sample\r\nEND:VCARD\r\n", NO_SPREADSHEET),
        (archive({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}),
         "This is an OpenDocument file. Open it and save it as XLSX or CSV."),
        (archive({"Index/Document.iwa": "x", "Metadata/Properties.plist": "x"}),
         "This is a Numbers file. Open it in Numbers and export it as Excel or CSV."),
        (archive({"[Content_Types].xml": "<x/>", "xl/workbook.bin": "x"}),
         "This is a binary Excel file (.xlsb). Open it in Excel and save it as XLSX."),
        (archive({"[Content_Types].xml": "<x/>", "word/document.xml": "<x/>"}), NO_SPREADSHEET),
        (archive({"members.csv": "Name\nMei\n"}),
         "This is a ZIP archive without a workbook. Unpack it and upload the spreadsheet in it."),
        (archive({}), "This is a ZIP archive without a workbook. Unpack it and upload the spreadsheet in it."),
        (archive({"[Content_Types].xml": "<x/>"}), "This XLSX file cannot be read. Save it again as XLSX or CSV."),
    ],
)  # fmt: skip
def test_a_file_of_another_format_is_refused_with_what_to_do(content, sentence):
    with pytest.raises(FileFault) as refused:
        reading.inspect_file(lambda: [content], lambda _heading: False)
    assert fault_text(refused.value.code, refused.value.values) == sentence


@pytest.mark.parametrize("first", ["<Name>", "<bookings>", "PK", "%", "MIME", "ID;PName"])
def test_a_csv_may_begin_with_anything_else(first):
    content = f"{first},Code\nMei,1\n".encode()
    assert reading.inspect_file(lambda: [content], lambda _heading: False).sample


def test_a_workbook_whose_archive_has_backslashes_is_read():
    content = workbook({"Members": sheet(texts("Name", "Code"), texts("Mei", "1"))}, slash="\\")
    info = reading.inspect_file(lambda: [content], lambda heading: heading == "Name")
    assert (info.headings, info.sample) == (["Name", "Code"], [["Mei", "1"]])
