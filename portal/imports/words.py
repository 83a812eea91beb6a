"""What people read: the problems of files and rows in plain sentences, changes as old and new, secrets masked."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from portal.files import bounds
from portal.imports.columns import BY_NAME, OF_MODEL
from portal.imports.models import ImportRow
from portal.imports.states import Action, RowState
from portal.imports.values import CLEAR_WORDS
from portal.ui.times import local

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

_ROWS: dict[str, Callable[[Facts], str]] = {
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
    "appeared": lambda f: _("a member with this code has come meanwhile, so that it was not sent"),
    "whole_request": lambda f: _("The service refused the whole request. Nothing of it was applied."),
    "found": lambda f: _("The answer was lost. The list read at %(at)s shows that it was applied.") % _read_at(f),
    "absent": lambda f: (
        _("The answer was lost. The list read at %(at)s shows that it was not applied: it may be sent again.")
        % _read_at(f)
    ),
    "unclear": lambda f: (
        _(
            "The answer was lost, and the list read at %(at)s does not show plainly whether it was applied. "
            "Look for the member, then decide here."
        )
        % _read_at(f)
    ),
    "decided_yes": lambda f: _("A person decided: it was applied."),
    "decided_no": lambda f: _("A person decided: it was not applied."),
    "retried_elsewhere": lambda f: _("Another import has sent this row again already."),
}

_CODES: dict[str, Callable[[], str]] = {
    "40901": lambda: _("The card is registered to another member. Nothing of this row was applied."),
    "40002": lambda: _("The service found a value of this row invalid. Nothing of it was applied."),
}


def of_file(word: str, facts: Facts) -> str:
    """Why a file cannot be used, and that nothing was taken over."""
    said = _FILES.get(word)
    return f"{said(facts) if said else word} {_('Nothing was imported.')}"


def problem(field: str, word: str, facts: Facts) -> str:
    """One problem or note of a row. A word that nobody described is shown as it is."""
    described = _ROWS.get(word)
    text = described(facts) if described else word
    known = BY_NAME.get(field)
    return f"{known.label if known else field}: {text}" if field else text


def problems(found: Iterable[Any]) -> list[str]:
    return [problem(field, word, facts) for field, word, facts in found]


def of_code(code: str) -> str:
    """The service's code in a human sentence."""
    described = _CODES.get(code)
    return described() if described else _("The service refused this row. Nothing of it was applied.")


def reasons(row: ImportRow) -> list[str]:
    """Everything that is to be said about what came of a row, the service's code and words among it."""
    said = problems(row.problems)
    if row.state == RowState.FAILED and (row.code or row.detail):
        words = row.detail or ""
        said.append(" ".join(filter(None, [of_code(row.code), row.code and f"({row.code})", words])))
    elif row.state == RowState.FAILED and not said:
        said.append(of_code(""))
    return said


def label(field: str) -> str:
    known = BY_NAME.get(OF_MODEL.get(field, field))
    return str(known.label) if known else field


def shown(field: str, value: Any, groups: Mapping[str, str]) -> str:
    """A value as pages show it: secrets masked, groups by name, moments without their offset."""
    if value in (None, "", {}):
        return ""
    if field == "card_data":
        return masked(str(value))
    if field == "qrcode":
        return _qr(value)
    if field == "membergroup_id":
        return groups.get(value, value)
    if field in ("use_date_start", "use_date_end"):
        return str(value)[:16].replace("T", " ")
    return str(value)


def masked(text: str) -> str:
    """Enough to recognise a card by and too little to make one."""
    return "••••" + text[-4:] if len(text) >= 8 else "••••"


def changes(row: ImportRow, groups: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(field, old, new) of a row to be changed; old is empty for a new one."""
    content = row.content
    old = content.get("old", {})
    skip = {"member_name", "member_code"} if row.action == Action.CREATE else set()
    return [
        (label(name), shown(name, old.get(name), groups), shown(name, value, groups))
        for name, value in content["body"].items()
        if name not in skip
    ]


def clear_word() -> str:
    return " / ".join(CLEAR_WORDS)


def _qr(value: Any) -> str:
    if isinstance(value, dict) and value.get("email"):
        return str(value["email"])
    data = value.get("data") if isinstance(value, dict) else value
    return masked(str(data or ""))


def _read_at(facts: Facts) -> dict[str, str]:
    try:
        return {"at": local(datetime.fromisoformat(facts["at"])).strftime("%Y-%m-%d %H:%M:%S")}
    except (KeyError, ValueError):
        return {"at": "?"}
