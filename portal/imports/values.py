"""From cells to what the service takes. Values pass unchanged; only dates and removals are read for their meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from accessapi.resources import write_moment
from portal.core.files import moments
from portal.core.files.sheets import LOST
from portal.core.mirror.folding import fold

Problem = tuple[str, str, dict[str, Any]]  # field, word, facts

# The word that empties a field of an existing member; a blank cell leaves it as it is.
CLEAR_WORDS: Final = ("#clear", "#消去")
_CLEAR = {fold(word) for word in CLEAR_WORDS}
CLEARED: Final = {"card_data": "", "member_code": "", "qr": None, "use_date_start": None, "use_date_end": None}


@dataclass
class Cells:
    """A row by field, as the file has it. `given` holds what is not blank; `cleared` the fields to be emptied."""

    member_id: str = ""
    group: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.given.get("member_name", ""))

    @property
    def code(self) -> str:
        return str(self.given.get("member_code", ""))


def read(cells: Sequence[str], columns: Mapping[str, int]) -> Cells:
    """The cells of one line, by the mapping. `given` has names and values of the specification but for the group."""
    row = Cells()
    width = len(cells)
    texts = {name: cells[place] for name, place in columns.items() if place < width and cells[place].strip()}
    for name in [name for name, text in texts.items() if text.startswith("#") and fold(text) in _CLEAR]:
        del texts[name]
        _clear(row, name)
    for name, text in texts.items():
        if LOST in text:
            row.problems.append((name, "digits_lost", {}))
    row.member_id = texts.get("member_id", "").strip()
    row.group = texts.get("group", "").strip()
    for name in ("member_name", "member_code", "card_data"):
        if name in texts:
            row.given[name] = texts[name]
    _read_qr(row, texts)
    for name in ("use_date_start", "use_date_end"):
        if name in texts:
            _read_moment(row, name, texts[name])
    return row


def _clear(row: Cells, name: str) -> None:
    if name in ("qr_data", "qr_email"):
        row.cleared.add("qrcode")
    elif name in CLEARED:
        row.cleared.add(name)
    else:
        row.problems.append((name, "cannot_clear", {}))


def _read_qr(row: Cells, texts: Mapping[str, str]) -> None:
    data, email = texts.get("qr_data"), texts.get("qr_email")
    if data and email:
        row.problems.append(("qr_email", "two_qr_codes", {}))
    elif data:
        row.given["qrcode"] = {"data": data}
    elif email:
        address = email.strip()
        if "@" not in address[1:-1] or any(map(str.isspace, address)):
            row.problems.append(("qr_email", "email", {}))
        row.given["qrcode"] = {"email": address}


def _read_moment(row: Cells, name: str, text: str) -> None:
    moment = moment_of(text, end=name == "use_date_end")
    if moment is None:
        row.problems.append((name, "moment", {}))
    else:
        row.given[name] = moment


@lru_cache(maxsize=10_000)
def moment_of(text: str, *, end: bool) -> str | None:
    """The moment as the service writes it, at +09:00; None for what is none. A day alone begins or, as an end, ends."""
    moment = moments.moment_of(text, end=end)
    try:
        return write_moment(moment) if moment is not None else None
    except (ValueError, OverflowError):
        return None
