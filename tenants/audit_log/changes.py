"""The changed fields of an audit log entry. Values that open a door are masked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from tenants.models import AuditEntry

Fields = list[tuple[str, str, str]]  # name, value before and value after of each field

SECRET_FIELDS = ("card_data", "qrcode", "qrcode_data", "data", "totp_seed", "secret_token", "face_data")
MASK = "••••"


@dataclass(frozen=True)
class RecordedChange:
    """A change that staff requested: the audit log entry, its fields, its job's page, and whether it can be undone.

    `result` is how it ended, unless it was done; `reasons` are the sentences about it.
    """

    entry: AuditEntry
    fields: Fields
    href: str = ""
    can_undo: bool = False
    result: str = ""
    reasons: Sequence[str] = ()


# Returns fields in the reader's words from the stored values of a target.
AddWords = Callable[[Mapping[str, Any]], Mapping[str, str]]
_words: dict[str, AddWords] = {}
LabelOf = Callable[[str], str]
_labels: dict[str, LabelOf] = {}


def register_words(kind: str, words: AddWords) -> None:
    """Register more fields for entries on targets of this kind. Apps call it at start."""
    _words[kind] = words


def register_labels(kind: str, label_of: LabelOf) -> None:
    """Register display names of the fields of this kind of target. `label_of` returns an unknown name unchanged."""
    _labels[kind] = label_of


def changed_fields(entry: AuditEntry) -> Fields:
    """Return (field, before, after) of each field that differs. A field that is missing on one side is empty there."""
    words = _words.get(entry.target.partition(":")[0])
    before, after = (_flatten(_with_words(values, words)) for values in (entry.before, entry.after))
    names = dict.fromkeys([*before, *after])
    return [(n, before.get(n, ""), after.get(n, "")) for n in names if before.get(n) != after.get(n)]


def labelled_changes(entry: AuditEntry) -> Fields:
    """Return `changed_fields` with display names; an empty list if the entry cannot be decrypted.

    A field without a display name is a program's: its name and its values are in code type.
    """
    if not entry.is_readable:
        return []
    label = labels_of(entry.target)
    return [
        (field_label(name, label), before, after)
        if label and label(name) != name
        else (_in_code(name), _in_code(before), _in_code(after))
        for name, before, after in changed_fields(entry)
    ]


def labels_of(target: str) -> LabelOf | None:
    """Return the display names of the fields of this target, if its kind has some."""
    return _labels.get(target.partition(":")[0])


def field_label(name: str, label: LabelOf | None) -> SafeString | str:
    """Return a field's display name, or the name in code type if it has none."""
    word = label(name) if label else name
    return _in_code(name) if word == name else word


def _in_code(text: str) -> SafeString:
    return format_html("<code>{}</code>", text) if text else SafeString()


def _with_words(values: Any, words: AddWords | None) -> Any:
    return {**values, **words(values)} if words is not None and isinstance(values, dict) else values


def _flatten(value: Any, name: str = "") -> dict[str, str]:
    if isinstance(value, dict) and not _is_secret(name):
        found: dict[str, str] = {}
        for key, item in value.items():
            found.update(_flatten(item, f"{name}.{key}" if name else str(key)))
        return found
    if value is None:
        return {name: ""} if name else {}
    if _is_secret(name):
        return {name: MASK}
    return {name or "value": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


def _is_secret(name: str) -> bool:
    return name.rpartition(".")[2] in SECRET_FIELDS
