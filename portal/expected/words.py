"""Texts about lists of expected guests: problems of files and rows, and results of rows."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accessapi.meanings import RefusalCause
from portal.base.files.file_limits import fault_text
from portal.base.ui.chips import Chip
from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences
from portal.domain.intents.models import Intent
from portal.domain.intents.states import UNDER_WAY, Reason, State
from portal.domain.jobs import lists
from portal.domain.jobs.models import Row
from portal.domain.jobs.words import problem_texts
from portal.expected.row_parsing import BY_NAME
from tenants.models import current_tenant

Facts = Mapping[str, Any]

PROBLEM_TEXTS: dict[str, Callable[[Facts], str]] = {
    "missing": lambda f: _("required"),
    "string_too_long": lambda f: _("more than %(max_length)d characters") % f,
    "string_too_short": lambda f: _("cannot be empty"),
    "controls": lambda f: _("contains a line break or control character"),
    "digits_lost": lambda f: _(
        "digits lost: spreadsheets keep only 15 digits of a number. Format the column as text and enter it again"
    ),
    "moment": lambda f: _("time not recognised: use 2026-12-01 13:00"),
    "time_alone": lambda f: _("date missing: use 2026-12-01 13:00, or add a date column"),
    "date": lambda f: _("date not recognised: use 2026-12-01"),
    "ends_before": lambda f: _("the end is before the start"),
    "over": lambda f: _("this time has passed"),
    "email": lambda f: _("not an e-mail address"),
    "no_such_preset": lambda f: _("no preset with this name"),
    "unsent_remarks": lambda f: _("not used: remarks are only sent with the service's e-mail"),
    "double_guest": lambda f: (
        _("a guest with this name already has a code for this time, until %(until)s")
        % {"until": _moment_text(f["until"])}
    ),
    "double_line": lambda f: _("same name and overlapping time as line %(line)d") % f,
    "appeared": lambda f: _("not requested: a code with this name and time was issued in the meantime"),
    "waits": lambda f: _("waiting to see whether an earlier code with this name was issued"),
}

_REFUSAL_TEXTS: dict[RefusalCause, Callable[[], str]] = {
    RefusalCause.SCOPE: lambda: _("The connection has no permission for this. No code was issued."),
    RefusalCause.CONTRACT: lambda: _("The contract with the service does not include this. No code was issued."),
    RefusalCause.SETTING: lambda: _("The key box does not allow keys for guests. No code was issued."),
    RefusalCause.DUPLICATE: lambda: _("The code was already in use. No code was issued. You can try again."),
}


def file_error_text(word: str, facts: Facts) -> str:
    """Return why a file cannot be used, and that nothing was saved."""
    if word == "no_names":
        said = _("No name column found. Use the heading “Name” or “氏名”.")
    elif word == "rows":
        said = _("The file has more than %(n)d rows. Each row uses one of the hour's 720 API calls. Split the file.")
        said %= {"n": facts["most"]}
    else:
        said = fault_text(word, facts)
    return join_sentences([said, _("Nothing was kept or sent.")])


def column_label(field: str) -> str:
    """Return a column's label; empty if the field is not a column."""
    known = BY_NAME.get(field)
    return str(known.label) if known else ""


def outcome_chip(row: Row) -> Chip:
    """Return the result of a row in one word."""
    return Chip(_OF_INTENT[State(row.intent.state)]) if row.intent is not None else lists.outcome_chip(row)


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


def row_reasons(row: Row) -> list[str]:
    """Return the details of a row's result, including the service's code and words."""
    intent = row.intent
    if intent is None or intent.state in (*UNDER_WAY, State.SUCCEEDED):
        return problem_texts([*row.problems, *row.notes], row.job)
    if intent.state == State.UNCERTAIN:
        return [_("The response was lost. It will not be sent again until it is known whether the code was issued.")]
    if intent.reason == Reason.REFUSED:
        said = _refusal(intent)
        return [" ".join(filter(None, [said, intent.error_code and f"({intent.error_code})", intent.error_detail]))]
    return [join_sentences([Reason(intent.reason).label, _("No code was issued.")])]


def _refusal(intent: Intent) -> str:
    """Return the meaning of a refusal from the environment's table of error codes."""
    meaning = current_tenant().environment.catalogue.errors.meaning(intent.error_code)
    if meaning is not None and meaning.cause in _REFUSAL_TEXTS:
        return _REFUSAL_TEXTS[meaning.cause]()
    if intent.http_status in (400, 422):
        return _("The service rejected a value in this row. No code was issued.")
    return _("The service refused this row. No code was issued.")


def _moment_text(text: str) -> str:
    return f"{local(datetime.fromisoformat(text)):%Y-%m-%d %H:%M}"
