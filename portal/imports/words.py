"""What people read: the problems of files and of rows of a dry run in plain sentences."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from portal.files import bounds
from portal.imports.columns import BY_NAME
from portal.imports.values import CLEAR_WORDS

Facts = Mapping[str, Any]

_FILES: dict[str, Callable[[Facts], str]] = {
    "empty": lambda f: _("The file is empty."),
    "no_rows": lambda f: _("The file has headings and no rows beneath them."),
    "size": lambda f: _("The file is larger than %(n)d MB.") % {"n": bounds.MAX_FILE_BYTES // 2**20},
    "rows": lambda f: (
        _("The file has more than %(n)s rows. Please cut it into several files.") % {"n": f"{bounds.MAX_ROWS:,}"}
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

ROWS: dict[str, Callable[[Facts], str]] = {
    "missing": lambda f: _("needed for a new member and not given"),
    "string_too_long": lambda f: _("more than %(max_length)d characters") % f,
    "string_too_short": lambda f: _("may not be empty"),
    "nul": lambda f: _("holds a NUL character"),
    "moment": lambda f: _("no date that we can read: write 2026-12-01 or 2026-12-01 09:00"),
    "ends_before": lambda f: _("the use ends before it begins"),
    "email": lambda f: _("no e-mail address"),
    "two_qr_codes": lambda f: _("give either data or an address, not both"),
    "digits_lost": lambda f: _(
        "the spreadsheet keeps only 15 digits of a number and has lost some: format the column as text, enter it again"
    ),
    "cannot_clear": lambda f: _("can be changed but not emptied"),
    "no_such_member": lambda f: _("no member has this ID"),
    "several_members": lambda f: _("%(n)d members have this code: give the member ID") % f,
    "no_such_group": lambda f: (
        _("no group has this name or ID") + (_(" – is “%(hint)s” meant?") % f if f.get("hint") else "")
    ),
    "several_groups": lambda f: _("%(n)d groups have this name: give the group ID") % f,
    "twice_code": lambda f: _("the same code as in line %(line)d") % f,
    "twice_member": lambda f: _("the same member as in line %(line)d") % f,
    "twice_card": lambda f: _("the same card as in line %(line)d") % f,
    "card_of_another": lambda f: _("another member has this card, as far as we know: the service will refuse it"),
}


def of_file(word: str, facts: Facts) -> str:
    """Why a file cannot be used, and that nothing was taken over."""
    said = _FILES.get(word)
    return f"{said(facts) if said else word} {_('Nothing was imported.')}"


def label(field: str) -> str:
    """A column's name; empty when it is no column's."""
    known = BY_NAME.get(field)
    return str(known.label) if known else ""


def clear_word() -> str:
    return " / ".join(CLEAR_WORDS)
