"""Why a file cannot be used, in plain sentences: the words of `FileFault`, for every page that takes files."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from portal.core.files import bounds

Facts = Mapping[str, Any]

_FILES: dict[str, Callable[[Facts], str]] = {
    "empty": lambda f: _("The file is empty."),
    "no_rows": lambda f: _("The file has headings and no rows beneath them."),
    "size": lambda f: _("The file is larger than %(n)d MB.") % {"n": f.get("mb", bounds.MAX_FILE_BYTES // 2**20)},
    "rows": lambda f: (
        _("The file has more than %(n)s rows. Please cut it into several files.")
        % {"n": f"{f.get('most', bounds.MAX_ROWS):,}"}
    ),
    "columns": lambda f: _("Line %(line)s has more than %(n)d columns.") % {**f, "n": bounds.MAX_COLUMNS},
    "cell": lambda f: _("Line %(line)s holds a cell that never ends. Often a quotation mark is missing there.") % f,
    "quotes": lambda f: _("Line %(line)s has a quotation mark where none may be. Please save the file again.") % f,
    "nul": lambda f: _("Line %(line)s holds a NUL character: the file is damaged or is no spreadsheet.") % f,
    "encoding": lambda f: (
        _("Line %(line)s is neither UTF-8 nor Shift-JIS. Please save the file as “CSV UTF-8” or as XLSX.") % f
    ),
    "xlsx": lambda f: _("This is not a readable XLSX file. Please save it again as XLSX or CSV."),
    "old_excel": lambda f: _("This is an old Excel file (.xls) or one with a password. Please save it as XLSX or CSV."),
    "password": lambda f: _("The file is protected by a password. Please save it without one."),
    "bomb": lambda f: _("The file would grow too large when unpacked, or holds what no spreadsheet needs. Not opened."),
}


def of_file(word: str, facts: Facts) -> str:
    """The sentence for a word of FileFault; one that nobody described is shown as it is."""
    said = _FILES.get(word)
    return said(facts) if said else word
