"""What people read: what came of rows in plain sentences, changes as old and new, secrets masked."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accessapi.meanings import Blame, Meaning
from portal.core.jobs import kinds
from portal.core.jobs.models import Job, Row
from portal.core.jobs.present import HIDDEN
from portal.core.jobs.states import Action, RowState
from portal.core.ui.times import local
from tenants.scope import current_tenant

Facts = Mapping[str, Any]

LABELS: dict[str, str | Promise] = {
    "member_name": gettext_lazy("Name"),
    "member_code": gettext_lazy("Member code"),
    "membergroup_id": gettext_lazy("Group"),
    "card_data": gettext_lazy("Card"),
    "qrcode": gettext_lazy("QR code"),
    "use_date_start": gettext_lazy("Use from"),
    "use_date_end": gettext_lazy("Use until"),
    "devices_pass": gettext_lazy("Areas"),
    "keys_pass": gettext_lazy("Keys"),
    "privilege": gettext_lazy("Privileges"),
}

_ROWS: dict[str, Callable[[Facts], str]] = {
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
    "retried_elsewhere": lambda f: _("Another job has sent this row again already."),
    "hidden": lambda f: _(
        "The answer was lost, and lists do not show such a change. Open the member, then decide here whether it "
        "was applied."
    ),
    "already": lambda f: _("It was so already. Nothing was sent."),
    "meanwhile": lambda f: _("It was changed meanwhile by somebody else, so that it was left as it is."),
    "gone": lambda f: _("The service no longer knows this member."),
    "unreadable": lambda f: _("The member's rights could not be read, so that nothing was sent."),
}

_INVALID = "40002"  # specified


def described(word: str, facts: Facts, own: Mapping[str, Callable[[Facts], str]] | None = None) -> str:
    """A reason in a sentence. A word that nobody described is shown as it is."""
    said = (own or {}).get(word) or _ROWS.get(word)
    return said(facts) if said else word


def problems(found: Iterable[Any], job: Job) -> list[str]:
    """What is to be said about a row, [[field, word, {facts}], …] in sentences."""
    kind = kinds.of(job)
    said = []
    for field, word, facts in found:
        text = described(word, facts, kind.words)
        said.append(f"{kind.label(field) or label(field)}: {text}" if field else text)
    return said


def of_code(code: str) -> str:
    """The service's code in a human sentence, as the tenant's environment describes it."""
    if code == _INVALID:
        return _("The service found a value of this row invalid. Nothing of it was applied.")
    meaning = current_tenant().environment.catalogue.errors.meaning(code)
    if meaning == Meaning(Blame.DUPLICATE, ("card",)):
        return _("The card is registered to another member. Nothing of this row was applied.")
    return _("The service refused this row. Nothing of it was applied.")


def reasons(row: Row, job: Job) -> list[str]:
    """Everything that is to be said about what came of a row, the service's code and words among it."""
    said = problems(row.problems, job)
    if row.state == RowState.FAILED and (row.code or row.detail):
        words = row.detail or ""
        said.append(" ".join(filter(None, [of_code(row.code), row.code and f"({row.code})", words])))
    elif row.state == RowState.FAILED and not said:
        said.append(of_code(""))
    return said


def label(field: str) -> str:
    return str(LABELS.get(field, field))


def shown(field: str, value: Any, groups: Mapping[str, str]) -> str:
    """A value as pages show it: secrets masked, groups by name, moments without their offset."""
    if value in (None, "", {}):
        return _("no end") if field == "use_date_end" else ""
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


def changes(row: Row, groups: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(field, old, new) of a row to be changed; old is empty for a new one."""
    content = row.content
    old, body = content.get("old", {}), content.get("body", {})
    skip = {"member_name", "member_code", *HIDDEN} if row.action == Action.CREATE else set()
    rights = [(_("Access rights"), "", _("set"))] if skip & HIDDEN & body.keys() else []
    return rights + [
        (label(name), shown(name, old.get(name), groups), shown(name, value, groups))
        for name, value in body.items()
        if name not in skip
    ]


def known(row: Row, groups: Mapping[str, str]) -> list[tuple[str, str]]:
    """(field, value) of a member to be deleted, besides name and code."""
    old = row.content.get("old", {})
    return [(label(name), shown(name, old[name], groups)) for name in ("membergroup_id", "use_date_end") if name in old]


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
