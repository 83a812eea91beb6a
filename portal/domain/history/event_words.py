"""The events of log records in words: one sentence for lists, pages, mails and files, in the reader's language.

The service's texts are mapped to events by the environment's catalogue (`accessapi.log_events`). A text without a known
event is kept and shown in code type.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import override, pgettext, pgettext_lazy

from accessapi.log_events import LogEvent, RemoteCommand
from portal.base.ui.value_words import HtmlText, service_word
from portal.domain.history.models import History
from tenants.models import current_tenant

EVENT_TEXTS: Mapping[LogEvent, Promise] = {
    LogEvent.FORCED_OPEN: pgettext_lazy("log event", "Door forced open"),
    LogEvent.LEFT_OPEN: pgettext_lazy("log event", "Left open"),
    LogEvent.HELD: pgettext_lazy("log event", "Held unlocked remotely"),
    LogEvent.POWER_CUT: pgettext_lazy("log event", "Power cut"),
    LogEvent.LOST: pgettext_lazy("log event", "Connection lost"),
    LogEvent.KEY_WRONG: pgettext_lazy("log event", "Wrong key inserted"),
    LogEvent.KEY_TAKEN: pgettext_lazy("log event", "Key taken"),
    LogEvent.KEY_RETURNED: pgettext_lazy("log event", "Key returned"),
    LogEvent.TEMPORARY_KEYS: pgettext_lazy("log event", "Temporary keys"),
    LogEvent.NO_RIGHT: pgettext_lazy("log event", "Refused: no access right"),
    LogEvent.NEVER: pgettext_lazy("log event", "Refused: access set to “never”"),
    LogEvent.OUTSIDE_HOURS: pgettext_lazy("log event", "Refused: outside the scheduled hours"),
    LogEvent.USE_NOT_BEGUN: pgettext_lazy("log event", "Refused: use period not started"),
    LogEvent.USE_OVER: pgettext_lazy("log event", "Refused: use period over"),
    LogEvent.UNKNOWN_CARD: pgettext_lazy("log event", "Refused: unknown card"),
    LogEvent.UNKNOWN_CODE: pgettext_lazy("log event", "Refused: unknown QR code"),
    LogEvent.UNKNOWN_FACE: pgettext_lazy("log event", "Refused: unknown face"),
    LogEvent.CODE_NEEDED: pgettext_lazy("log event", "Refused: one-time code needed"),
    LogEvent.CODE_WRONG: pgettext_lazy("log event", "Refused: one-time code wrong or expired"),
    LogEvent.FACE_TOO_NEW: pgettext_lazy("log event", "Refused: face registered just before"),
    LogEvent.KEY_RESTRICTED: pgettext_lazy("log event", "Refused: key not in normal use"),
    LogEvent.FACTOR_MISSING: pgettext_lazy("log event", "Refused: second factor missing"),
    LogEvent.NO_GUEST_KEYS: pgettext_lazy("log event", "Refused: no keys for guests"),
    LogEvent.ENTRY: pgettext_lazy("log event", "Entry"),
    LogEvent.EXIT: pgettext_lazy("log event", "Exit"),
}


class _CommandTexts(NamedTuple):
    """A remote command that was done: without and with the address of who sent it, and its name for a failure."""

    done: Promise
    done_by: Promise
    name: Promise


_KEY_RELEASE, _KEY_LOCK = "key unlock", "key lock"
_COMMAND_TEXTS: Mapping[str, _CommandTexts] = {
    "unlock": _CommandTexts(
        pgettext_lazy("log event", "Unlocked remotely"),
        pgettext_lazy("log event", "Unlocked from the portal by %(by)s"),
        pgettext_lazy("log event", "unlock"),
    ),
    "cont_unlock": _CommandTexts(
        EVENT_TEXTS[LogEvent.HELD],
        pgettext_lazy("log event", "Held unlocked from the portal by %(by)s"),
        pgettext_lazy("log event", "hold unlocked"),
    ),
    "lock": _CommandTexts(
        pgettext_lazy("log event", "Locked remotely"),
        pgettext_lazy("log event", "Locked from the portal by %(by)s"),
        pgettext_lazy("log event", "lock"),
    ),
    "in_unlock": _CommandTexts(
        pgettext_lazy("log event", "Entry side unlocked remotely"),
        pgettext_lazy("log event", "Entry side unlocked from the portal by %(by)s"),
        pgettext_lazy("log event", "unlock the entry side"),
    ),
    "out_unlock": _CommandTexts(
        pgettext_lazy("log event", "Exit side unlocked remotely"),
        pgettext_lazy("log event", "Exit side unlocked from the portal by %(by)s"),
        pgettext_lazy("log event", "unlock the exit side"),
    ),
    _KEY_RELEASE: _CommandTexts(
        pgettext_lazy("log event", "Key released remotely"),
        pgettext_lazy("log event", "Key released from the portal by %(by)s"),
        pgettext_lazy("log event", "release the key"),
    ),
    _KEY_LOCK: _CommandTexts(
        pgettext_lazy("log event", "Key locked remotely"),
        pgettext_lazy("log event", "Key locked from the portal by %(by)s"),
        pgettext_lazy("log event", "lock the key"),
    ),
}


_VALUES = ("content", "category", "member_label", "member_id", "member_name", "units")


def event_text(record: History) -> str:
    """Return the event of a record as a sentence. A text without a known event is in code type on a page."""
    return event_text_of(_values_of(record))


def event_text_of(values: Mapping[str, Any]) -> str:
    """Return the event of a record as a sentence, from its values: content, category, label, person and keys."""
    return _known_event_of(values) or _unknown_event_of(values)


def has_known_event(record: History) -> bool:
    """Return whether the record's text has a known event, so that the service's text is an addition."""
    return bool(_known_event_of(_values_of(record)))


def _values_of(record: History) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _VALUES}


def search_words_of(values: Mapping[str, Any]) -> list[str]:
    """Return the event's sentence in each language of the portal, so that records are found by the words shown."""
    found = []
    for language in ("en", "ja"):
        with override(language):
            found.append(_known_event_of(values))
    return [text for text in found if text]


def _known_event_of(values: Mapping[str, Any]) -> str:
    states = current_tenant().environment.catalogue.states
    text = values["content"] or values["member_label"] or ""
    if command := states.remote_command_of(text):
        return _command_text(command, has_keys=bool(values["units"]))
    event = states.log_event_of(text)
    if event is None and values["units"]:  # the label may hold the event of a key although there is content
        event = states.log_event_of(values["member_label"] or "")
    return str(EVENT_TEXTS[event]) if event else ""


def _unknown_event_of(values: Mapping[str, Any]) -> str:
    text = values["content"] or values["member_label"]
    if not text:
        return service_word("category", values["category"]) or "–"
    refused = current_tenant().environment.catalogue.records.refused
    if values["category"] in refused and (values["member_id"] or values["member_name"]):
        sentence = pgettext("log event", "Refused: %(reason)s")
        return HtmlText(
            sentence % {"reason": text}, format_html(sentence.replace("%(reason)s", "<code>{}</code>"), text)
        )
    return HtmlText(text, format_html("<code>{}</code>", text))


def _command_text(command: RemoteCommand, *, has_keys: bool) -> str:
    control = command.control.lower()
    texts = _COMMAND_TEXTS.get(f"key {control}" if has_keys else control) or _COMMAND_TEXTS[control]
    if command.has_failed and command.by:
        failed = pgettext("log event", "Command from %(by)s failed: %(command)s")
        return failed % {"command": texts.name, "by": command.by}
    if command.has_failed:
        return pgettext("log event", "Remote command failed: %(command)s") % {"command": texts.name}
    return str(texts.done_by) % {"by": command.by} if command.by else str(texts.done)
