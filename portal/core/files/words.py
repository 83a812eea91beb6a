"""Why a file cannot be used, in plain sentences: the words of `FileFault`, for every page that takes files."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from portal.core.files import bounds

Facts = Mapping[str, Any]

_FILES: dict[str, Callable[[Facts], str]] = {
    "empty": lambda f: _("The file is empty."),
    "no_rows": lambda f: _("The file has headings but no rows."),
    "size": lambda f: _("The file is larger than %(n)d MB.") % {"n": f.get("mb", bounds.MAX_FILE_BYTES // 2**20)},
    "rows": lambda f: (
        _("The file has more than %(n)s rows. Split it into several files.")
        % {"n": f"{f.get('most', bounds.MAX_ROWS):,}"}
    ),
    "columns": lambda f: _("Line %(line)s has more than %(n)d columns.") % {**f, "n": bounds.MAX_COLUMNS},
    "cell": lambda f: _("Line %(line)s has a cell that does not end. A closing quotation mark may be missing.") % f,
    "quotes": lambda f: _("Line %(line)s has a quotation mark in the wrong place. Save the file again.") % f,
    "nul": lambda f: _("Line %(line)s contains a NUL character. The file is damaged or not a spreadsheet.") % f,
    "encoding": lambda f: _("Line %(line)s is neither UTF-8 nor Shift-JIS. Save the file as “CSV UTF-8” or XLSX.") % f,
    "xlsx": lambda f: _("This XLSX file cannot be read. Save it again as XLSX or CSV."),
    "old_excel": lambda f: _("This is an old Excel file (.xls) or has a password. Save it as XLSX or CSV."),
    "password": lambda f: _("The file is password-protected. Save it without a password."),
    "bomb": lambda f: _("The file is too large when unpacked or has unexpected content. It was not opened."),
}


def of_file(word: str, facts: Facts) -> str:
    """The sentence for a word of FileFault; one that nobody described is shown as it is."""
    said = _FILES.get(word)
    return said(facts) if said else word
