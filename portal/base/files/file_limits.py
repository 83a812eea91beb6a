"""The limits of uploaded files, the fault of an unusable file, and its sentence for people."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

MAX_ROWS = 100_000
MAX_COLUMNS = 100
MAX_FILE_BYTES = 32 * 1024 * 1024
# A longer cell means a broken file: all fields of the service are far shorter. It is also the limit of spreadsheets.
MAX_CELL = 32_767

# XLSX is a ZIP archive. These are unpacked sizes, checked in its directory before anything is unpacked.
MAX_PARTS = 2_000
MAX_SHEET_BYTES = 256 * 1024 * 1024
MAX_STRINGS_BYTES = 48 * 1024 * 1024
MAX_SMALL_PART_BYTES = 8 * 1024 * 1024
MAX_STRINGS = 1_000_000
MAX_MERGES = 100_000
# Rows after this many blank ones are the spreadsheet's formatting, not data.
MAX_BLANK_RUN = 20_000

CHUNK_BYTES = 1024 * 1024
BATCH_ROWS = 1_000


class FileFault(Exception):
    """The file cannot be used; nothing of it was imported.

    `code` is the reason; `values` go into the sentence (never a value of a cell).
    """

    def __init__(self, word: str, **facts: Any) -> None:
        super().__init__(word)
        self.code = word
        self.values = facts


Facts = Mapping[str, Any]

_FAULT_TEXTS: dict[str, Callable[[Facts], str]] = {
    "empty": lambda f: _("The file is empty."),
    "empty_sheet": lambda f: _("The sheet “%(sheet)s” is empty. Choose another sheet.") % f,
    "no_sheet": lambda f: _("The file has no visible sheet “%(sheet)s”. Choose another sheet.") % f,
    "no_rows": lambda f: _("The file has headings but no rows."),
    "size": lambda f: _("The file is larger than %(n)d MB.") % {"n": f.get("mb", MAX_FILE_BYTES // 2**20)},
    "rows": lambda f: (
        _("The file has more than %(n)s rows. Split it into several files.") % {"n": f"{f.get('most', MAX_ROWS):,}"}
    ),
    "columns": lambda f: _("Line %(line)s has more than %(n)d columns.") % {**f, "n": MAX_COLUMNS},
    "cell": lambda f: _("Line %(line)s has a cell that does not end. A closing quotation mark may be missing.") % f,
    "quotes": lambda f: _("Line %(line)s has a quotation mark in the wrong place. Save the file again.") % f,
    "nul": lambda f: _("Line %(line)s contains a NUL character. The file is damaged or not a spreadsheet.") % f,
    "encoding": lambda f: _("Line %(line)s is neither UTF-8 nor Shift-JIS. Save the file as “CSV UTF-8” or XLSX.") % f,
    "other_encoding": lambda f: _("Line %(line)s does not fit this encoding. Choose another encoding.") % f,
    "xlsx": lambda f: _("This XLSX file cannot be read. Save it again as XLSX or CSV."),
    "old_excel": lambda f: _("This is an old Excel file (.xls) or has a password. Save it as XLSX or CSV."),
    "password": lambda f: _("The file is password-protected. Save it without a password."),
    "html": lambda f: _("This is a web page saved as .xls. Open it and save it as XLSX."),
    "xml_excel": lambda f: _("This is an XML spreadsheet. Open it in Excel and save it as XLSX."),
    "binary_excel": lambda f: _("This is a binary Excel file (.xlsb). Open it in Excel and save it as XLSX."),
    "open_document": lambda f: _("This is an OpenDocument file. Open it and save it as XLSX or CSV."),
    "numbers": lambda f: _("This is a Numbers file. Open it in Numbers and export it as Excel or CSV."),
    "pdf": lambda f: _("This is a PDF. Upload the spreadsheet that it was created from, as XLSX or CSV."),
    "zip": lambda f: _("This is a ZIP archive without a workbook. Unpack it and upload the spreadsheet in it."),
    "no_spreadsheet": lambda f: _("This is not a spreadsheet. Save the list as XLSX or CSV."),
    "bomb": lambda f: _("The file is too large when unpacked or has unexpected content. It was not opened."),
}


def fault_text(word: str, facts: Facts) -> str:
    """Return the sentence for a code of FileFault; an unknown code is returned unchanged."""
    describe = _FAULT_TEXTS.get(word)
    return describe(facts) if describe else word
