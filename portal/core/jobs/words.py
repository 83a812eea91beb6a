"""What people read: what came of rows in plain sentences, changes as old and new, secrets masked."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accessapi.meanings import Blame, Meaning
from portal.core.jobs import kinds
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action, RowState
from portal.core.mirror.fields.members import CODE, END, GROUP, MEMBER, NAME, RIGHTS
from portal.core.ui.times import local
from tenants.models import current_tenant

Facts = Mapping[str, Any]

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
        said.append(f"{kind.label(field) or MEMBER.label(field)}: {text}" if field else text)
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
    if (own := kinds.of(job).reasons) is not None:
        row.job = job
        return own(row)
    said = problems(row.problems, job)
    if row.state == RowState.FAILED and (row.code or row.detail):
        words = row.detail or ""
        said.append(" ".join(filter(None, [of_code(row.code), row.code and f"({row.code})", words])))
    elif row.state == RowState.FAILED and not said:
        said.append(of_code(""))
    return said


def changes(row: Row, groups: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(field, old, new) of a row to be changed; old is empty for a new one."""
    content = row.content
    old, body = content.get("old", {}), content.get("body", {})
    skip = {NAME.name, CODE.name, *RIGHTS} if row.action == Action.CREATE else set()
    rights = [(_("Access rights"), "", _("set"))] if skip & set(RIGHTS) & body.keys() else []
    return rights + [
        (MEMBER.label(name), MEMBER.drawn(name, old.get(name), groups), MEMBER.drawn(name, value, groups))
        for name, value in body.items()
        if name not in skip
    ]


def known(row: Row, groups: Mapping[str, str]) -> list[tuple[str, str]]:
    """(field, value) of a member to be deleted, besides name and code."""
    old = row.content.get("old", {})
    return [(str(each.label), each.drawn(old[each.name], groups)) for each in (GROUP, END) if each.name in old]


def _read_at(facts: Facts) -> dict[str, str]:
    try:
        return {"at": local(datetime.fromisoformat(facts["at"])).strftime("%Y-%m-%d %H:%M:%S")}
    except (KeyError, ValueError):
        return {"at": "?"}
