"""Texts about rows for people: outcomes in plain sentences, changes as old and new values, secrets masked."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accessapi.meanings import RefusalCause, RefusalMeaning
from portal.base.ui.times import local
from portal.base.ui.value_words import add_brackets, add_label, join_sentences
from portal.domain.jobs import kinds
from portal.domain.jobs.models import Action, Job, Row, RowState
from portal.domain.people.member_fields import CODE, END, GROUP, MEMBER, NAME, RIGHTS_NAMES
from tenants.models import current_tenant

Facts = Mapping[str, Any]

_REASON_TEXTS: dict[str, Callable[[Facts], str]] = {
    "appeared": lambda f: _("not sent: a member with this code was added in the meantime"),
    "whole_request": lambda f: _(
        "Nothing was applied: the service refused the whole request. Check the rows and retry them."
    ),
    "found": lambda f: _("The response was lost. The list loaded at %(at)s shows that it was applied.") % _read_at(f),
    "absent": lambda f: (
        _("The response was lost. The list loaded at %(at)s shows that it was not applied. You can retry it.")
        % _read_at(f)
    ),
    "unclear": lambda f: (
        _(
            "The response was lost, and the list loaded at %(at)s does not show whether it was "
            "applied. Check the member, then record it here."
        )
        % _read_at(f)
    ),
    "decided_yes": lambda f: _("Recorded by staff as applied."),
    "decided_no": lambda f: _("Recorded by staff as not applied."),
    "retried_elsewhere": lambda f: _("Another job already retried this row."),
    "hidden": lambda f: _(
        "The response was lost, and lists do not show this kind of change. Open the member, "
        "then record here whether it was applied."
    ),
    "restored": lambda f: _(
        "The portal's data was restored from a backup. This row may have been sent before. Check, then record it here."
    ),
    "already": lambda f: _("Already up to date. Nothing was sent."),
    "meanwhile": lambda f: _("Skipped: changed by someone else in the meantime."),
    "gone": lambda f: _("This member no longer exists in the service."),
    "unreadable": lambda f: _("Nothing was sent: the member's rights could not be loaded. Try again later."),
}

_INVALID = "40002"  # specified


def text_of(word: str, facts: Facts, own: Mapping[str, Callable[[Facts], str]] | None = None) -> str:
    """Return a reason as a sentence. An unknown code is returned unchanged."""
    describe = (own or {}).get(word) or _REASON_TEXTS.get(word)
    return describe(facts) if describe else word


def problem_texts(problems: Iterable[Any], job: Job, quoted: Mapping[str, str] | None = None) -> list[str]:
    """Return a row's problems, [[field, code, {facts}], …], as sentences. `quoted`: the refused texts by field."""
    kind = kinds.kind_of(job)
    texts = []
    for field, word, facts in problems:
        value = (quoted or {}).get(field)
        text = text_of(word, {**facts, "value": value} if value else facts, kind.reason_texts)
        texts.append(add_label(text, kind.field_label(field) or MEMBER.label_of(field)) if field else text)
    return texts


def cleaned_texts(row: Row) -> list[str]:
    """Return the cells of the file that were cleaned, before and after; of a secret, only that it was."""
    kind, texts = kinds.kind_of(row.job), []
    for column, (before, after) in ((row.content or {}).get("cleaned") or {}).items():
        label = kind.field_label(column) or MEMBER.label_of(column)
        if column in _SECRET_COLUMNS:
            texts.append(_("%(field)s: cleaned") % {"field": label})
        else:
            values = {"field": label, "before": _visible(before), "after": after}
            texts.append(_("%(field)s: “%(before)s” cleaned to “%(after)s”") % values)
    return texts


_SECRET_COLUMNS = {column.name for column in MEMBER.sheet_columns if column.is_secret}


def _visible(text: str) -> str:
    """Return a text with its invisible characters as numbers: [U+200B]."""
    return "".join(one if one.isprintable() else f"[U+{ord(one):04X}]" for one in text)


def text_of_code(code: str) -> str:
    """Return the service's error code as a sentence, by the description in the tenant's environment."""
    if code == _INVALID:
        return _("This row was not applied: the service rejected a value. Correct it and retry.")
    meaning = current_tenant().environment.catalogue.errors.meaning(code)
    if meaning == RefusalMeaning(RefusalCause.DUPLICATE, ("card",)):
        return _("This row was not applied: the card belongs to another member. Check the card number.")
    return _("This row was not applied: the service refused it. Check its values and retry.")


def describe_row(row: Row, job: Job) -> list[str]:
    """Return all texts about a row's outcome, with the service's code and message."""
    if (own := kinds.kind_of(job).describe_row) is not None:
        row.job = job
        return own(row)
    texts = problem_texts(row.problems, job, (row.content or {}).get("quoted"))
    if row.state == RowState.FAILED and (row.code or row.detail):
        text = row.detail or ""
        texts.append(join_sentences([text_of_code(row.code), row.code and add_brackets(row.code), text]))
    elif row.state == RowState.FAILED and not texts:
        texts.append(text_of_code(""))
    return texts


def field_changes(row: Row, groups: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return (field, old, new) of a row to be changed; old is empty for a new member."""
    content = row.content
    old, body = content.get("old", {}), content.get("body", {})
    skip = {NAME.name, CODE.name, *RIGHTS_NAMES} if row.action == Action.CREATE else set()
    rights = [(_("Access rights"), "", _("set"))] if skip & set(RIGHTS_NAMES) & body.keys() else []
    return rights + [
        (
            MEMBER.label_of(name),
            MEMBER.format_value(name, old.get(name), groups),
            MEMBER.format_value(name, value, groups),
        )
        for name, value in body.items()
        if name not in skip
    ]


def changes_of(row: Row) -> list[kinds.FieldChange]:
    """Return (field, old, new) of a row in words, with secrets masked. The row has its job and groups' names."""
    if row.content is None:  # the row was erased
        return []
    own = kinds.kind_of(row.job).changes
    return list(own(row) if own is not None else field_changes(row, row.group_names))


def known_values(row: Row, groups: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (field, value) of a member to be deleted, except name and code."""
    old = row.content.get("old", {})
    return [(str(each.label), each.format_value(old[each.name], groups)) for each in (GROUP, END) if each.name in old]


def _read_at(facts: Facts) -> dict[str, str]:
    try:
        return {"at": local(datetime.fromisoformat(facts["at"])).strftime("%Y-%m-%d %H:%M:%S")}
    except (KeyError, ValueError):
        return {"at": "?"}
