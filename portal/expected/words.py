"""What people read about lists of expected guests: problems of files and rows, and what came of each row."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accessapi.meanings import Blame
from portal.core.files.words import of_file as of_any_file
from portal.core.intents.models import Intent
from portal.core.intents.states import UNDER_WAY, Reason, State
from portal.core.jobs import lists
from portal.core.jobs.models import Row
from portal.core.jobs.words import problems
from portal.core.ui.chips import Chip
from portal.core.ui.sentences import joined
from portal.core.ui.times import local
from portal.expected.columns import BY_NAME
from tenants.models import current_tenant

Facts = Mapping[str, Any]

ROWS: dict[str, Callable[[Facts], str]] = {
    "missing": lambda f: _("is needed and not given"),
    "string_too_long": lambda f: _("more than %(max_length)d characters") % f,
    "string_too_short": lambda f: _("may not be empty"),
    "controls": lambda f: _("holds a line break or a control character"),
    "digits_lost": lambda f: _(
        "the spreadsheet keeps only 15 digits of a number and has lost some: format the column as text, enter it again"
    ),
    "moment": lambda f: _("no time that we can read: write 2026-12-01 13:00"),
    "time_alone": lambda f: _("a time without a day: write 2026-12-01 13:00, or add a column for the date"),
    "date": lambda f: _("no day that we can read: write 2026-12-01"),
    "ends_before": lambda f: _("the end lies before the start"),
    "over": lambda f: _("this time is over already"),
    "email": lambda f: _("no e-mail address"),
    "no_such_preset": lambda f: _("no preset has this name"),
    "unsent_remarks": lambda f: _("not used: remarks go with the service's e-mail only"),
    "double_guest": lambda f: (
        _("a guest of this name has a code for these hours already, until %(until)s") % {"until": _when(f["until"])}
    ),
    "double_line": lambda f: _("the same name for overlapping hours as in line %(line)d") % f,
    "appeared": lambda f: _("a code of this name for these hours was issued meanwhile, so that none was asked for"),
    "waits": lambda f: _("waits until it is known whether an earlier code of this name was issued"),
}

_MEANT: dict[Blame, Callable[[], str]] = {
    Blame.SCOPE: lambda: _("The connection lacks the permission for this. No code was issued."),
    Blame.CONTRACT: lambda: _("The contract with the service does not include this. No code was issued."),
    Blame.SETTING: lambda: _("The key box does not give keys to guests. No code was issued."),
    Blame.DUPLICATE: lambda: _("The code was taken already. No code was issued; it can be tried again."),
}


def of_file(word: str, facts: Facts) -> str:
    """Why a file cannot be used, and that nothing was kept."""
    if word == "no_names":
        said = _("No column holds names: give one the heading “Name” or “氏名”.")
    elif word == "rows":
        said = _("The file has more than %(n)d rows. Each is one of the hour's 720 calls: please cut it into several.")
        said %= {"n": facts["most"]}
    else:
        said = of_any_file(word, facts)
    return f"{said} {_('Nothing was kept or sent.')}"


def label(field: str) -> str:
    """A column's name; empty when it is no column's."""
    known = BY_NAME.get(field)
    return str(known.label) if known else ""


def outcome(row: Row) -> Chip:
    """What came of a row, in a word."""
    return Chip(_OF_INTENT[State(row.intent.state)]) if row.intent is not None else lists.outcome(row)


_OF_INTENT = {
    State.QUEUED: "waiting",
    State.SENDING: "sent",
    State.ACCEPTED: "sent",
    State.SUCCEEDED: "done",
    State.FAILED: "refused",
    State.UNCERTAIN: "uncertain",
    State.EXPIRED: "expired",
    State.CANCELLED: "cancelled",
}


def reasons(row: Row) -> list[str]:
    """Everything to be said about what came of a row; the service's code and words among it."""
    intent = row.intent
    if intent is None or intent.state in (*UNDER_WAY, State.SUCCEEDED):
        return problems([*row.problems, *row.notes], row.job)
    if intent.state == State.UNCERTAIN:
        return [_("The answer was lost. It is not sent again before it is known whether the code was issued.")]
    if intent.reason == Reason.REFUSED:
        said = _refusal(intent)
        return [" ".join(filter(None, [said, intent.error_code and f"({intent.error_code})", intent.error_detail]))]
    return [joined([Reason(intent.reason).label, _("No code was issued.")])]


def _refusal(intent: Intent) -> str:
    """What a refusal means, as the environment's table of codes has it."""
    meaning = current_tenant().environment.catalogue.errors.meaning(intent.error_code)
    if meaning is not None and meaning.blame in _MEANT:
        return _MEANT[meaning.blame]()
    if intent.http_status in (400, 422):
        return _("The service found a value of this row invalid. No code was issued.")
    return _("The service refused this row. No code was issued.")


def _when(text: str) -> str:
    return f"{local(datetime.fromisoformat(text)):%Y-%m-%d %H:%M}"
