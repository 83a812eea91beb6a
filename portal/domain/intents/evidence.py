"""Word what was read from the service to resolve an uncertain intent (`Finding.evidence`)."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import pgettext_lazy

from accessapi.moments import read_moment
from portal.base.ui.outcome_lines import Text
from portal.base.ui.times import time_tag
from portal.base.ui.value_words import join_values, service_word
from tenants.audit_log.changes import LabelOf, field_label

_LABELS: dict[str, Promise] = {
    "read": pgettext_lazy("request check", "Checked"),
    "read_until": pgettext_lazy("request check", "List loaded until"),
    "readings": pgettext_lazy("request check", "Number of checks"),
    "first seen missing": pgettext_lazy("request check", "First not found"),
    "member_id": pgettext_lazy("request check", "Member ID"),
    "membergroup_id": pgettext_lazy("request check", "Group ID"),
    "guest_id": pgettext_lazy("request check", "Guest ID"),
    "may be": pgettext_lazy("request check", "Possible matches"),
    "member": pgettext_lazy("request check", "Member"),
    "guest": pgettext_lazy("request check", "Guest"),
    "differs": pgettext_lazy("request check", "Differs from the request"),
    "face": pgettext_lazy("request check", "Face"),
    "logs": pgettext_lazy("request check", "Matching log records"),
    "lock": pgettext_lazy("request check", "Lock"),
    "door": pgettext_lazy("request check", "Door"),
    "membergroup_name": pgettext_lazy("request check", "Current name"),
    "groups_of_this_name": pgettext_lazy("request check", "Groups with this name"),
    "guests of this name": pgettext_lazy("request check", "Guests with this name"),
    "found": pgettext_lazy("request check", "Found"),
    "unclear": pgettext_lazy("request check", "Still unclear"),
}
_VALUES: dict[str, Promise] = {
    "not there": pgettext_lazy("request check", "Not found"),
    "still there": pgettext_lazy("request check", "Still there"),
    "registered": pgettext_lazy("request check", "Registered"),
    "none": pgettext_lazy("request check", "None"),
}


def describe(evidence: Mapping[str, Any], label_of: LabelOf | None) -> list[tuple[Text, Text]]:
    """Return each label with its value. `label_of` returns the labels of the target's fields."""
    return [
        (str(_LABELS[name]) if name in _LABELS else field_label(name, label_of), _value(name, str(value), label_of))
        for name, value in evidence.items()
    ]


def _value(name: str, value: str, label_of: LabelOf | None) -> Text:
    if name == "differs":
        return join_values(field_label(each, label_of) for each in value.split(", "))
    word = _WORDERS.get(name)
    return word(value) if word is not None and value else value


def _moment(value: str) -> Text:
    found = read_moment(value)
    return time_tag(found, seconds=True) if found is not None else value


def _identifiers(value: str) -> Text:
    return join_values(format_html("<code>{}</code>", each) for each in value.split(", "))


def _locks(value: str) -> Text:
    """Word the lock of a door, or the locks of keys: `01 lock, 02 unlock`."""
    return join_values(_lock(*each.rpartition(" ")[::2]) for each in value.split(", "))


def _lock(number: str, value: str) -> Text:
    word = service_word("lock", value)
    return format_html("{} {}", number, word) if number else word


def _known(value: str) -> Text:
    return str(_VALUES.get(value, value))


_WORDERS: dict[str, Callable[[str], Text]] = {
    **dict.fromkeys(("read", "read_until", "first seen missing"), _moment),
    **dict.fromkeys(("member_id", "membergroup_id", "guest_id", "may be"), _identifiers),
    **dict.fromkeys(("member", "guest", "face"), _known),
    "lock": _locks,
    "door": lambda value: service_word("leaf", value),
}
