"""The service's values in words of the reader's language.

The specification lists only a few values of most fields. A value without a word is shown unchanged, in code type.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tenants.connections.words import CONTRACTS

#: kind of field -> value -> word. Door values are those of `accessapi.doors` by default.
WORDS: dict[str, dict[str, str | Promise]] = {
    "contract": CONTRACTS,
    "leaf": {
        "open": pgettext_lazy("door", "Open"),
        "opened": pgettext_lazy("door", "Open"),
        "close": pgettext_lazy("door", "Closed"),
        "closed": pgettext_lazy("door", "Closed"),
    },
    "lock": {"lock": _("Locked"), "locked": _("Locked"), "unlock": _("Unlocked"), "unlocked": _("Unlocked")},
    "error": {
        "forced_open": _("Forced open"),
        "open_too_long": _("Left open"),
        "left_open": _("Left open"),
        "unlock_error": _("Unlocking failed"),
        "door_unlock_error": _("Unlocking failed"),
        "key_unlock_error": _("Releasing the key failed"),
    },
    "power": {"running": pgettext_lazy("power", "Running"), "stopped": pgettext_lazy("power", "Off")},
    "network": {"connected": _("Connected"), "disconnected": pgettext_lazy("network", "Disconnected")},
    "sync": {"synced": pgettext_lazy("device", "Synced"), "not_synced": pgettext_lazy("device", "Not synced")},
    "side": {"in": _("entry side"), "out": _("exit side")},
    "account": {"general": pgettext_lazy("account", "General")},
    "category": {
        "normal": pgettext_lazy("log", "Normal"),
        "operation": pgettext_lazy("log", "Operation"),
        "suspicious": pgettext_lazy("log", "Suspicious"),
        "warning": pgettext_lazy("log", "Warning"),
        "error": pgettext_lazy("log", "Error"),
        "emergency": pgettext_lazy("log", "Emergency"),
    },
    "credential": {
        "card": pgettext_lazy("log", "Card"),
        "qr": pgettext_lazy("log", "QR code"),
        "one_time": pgettext_lazy("log", "One-time code"),
        "face": pgettext_lazy("log", "Face"),
    },
    "person": {"member": _("Member"), "guest": _("Guest"), "unknown": pgettext_lazy("log", "Unknown person")},
    "record": {"occur": pgettext_lazy("log", "Occurred"), "restore": pgettext_lazy("log", "Over")},
    "request": {
        "pending": _("Waiting"),
        "progress": _("Under way"),
        "completed": _("Done"),
        "completed_with_errors": _("Done, with errors"),
        "succeeded": _("Done"),
        "failed": _("Failed"),
        "failed_registered": _("Failed: the face is registered already"),
        "timeout": _("Failed: no answer in time"),
    },
}


# No space is needed after these full-width characters.
_WIDE = ("。", "」", "）", "！", "？")


class HtmlText(str):
    """A text that is plain in files and `html` on a page."""

    html: SafeString

    def __new__(cls, text: str, html: SafeString) -> HtmlText:
        made = super().__new__(cls, text)
        made.html = html
        return made

    def __html__(self) -> SafeString:
        return self.html


def service_word(kind: str, value: str, raw: str = "") -> str:
    """Return the word for a value of this kind of field; else `raw` or the value, in code type on a page."""
    known = WORDS[kind].get(value)
    if known is not None:
        return str(known)
    text = raw or value
    return HtmlText(text, format_html("<code>{}</code>", text)) if text else ""


def join_values(values: Iterable[object]) -> str:
    """Return several values as a list in the reader's language."""
    found, between = list(values), _t(", ")
    return HtmlText(between.join(map(str, found)), format_html_join(between, "{}", ((each,) for each in found)))


def join_groups(values: Iterable[str]) -> str:
    """Return several texts, which may be lists, as one text in the reader's language: "Lobby, Dock; Server room"."""
    return _t("; ").join(values)


def add_brackets(value: object) -> str:
    """Return a text in the brackets of the reader's language."""
    text = _t("(%(names)s)")
    return HtmlText(text % {"names": value}, format_html(text.replace("%(names)s", "{}"), value))


def add_quotes(value: str) -> str:
    """Return a text in the quotation marks of the reader's language."""
    text = _t("“%(text)s”")
    return HtmlText(text % {"text": value}, format_html(text.replace("%(text)s", "{}"), value))


def add_label(value: object, label: object) -> str:
    """Return a value after its label, with the colon of the reader's language."""
    text = _t("%(label)s: %(value)s")
    drawn = format_html(text.replace("%(label)s", "{label}").replace("%(value)s", "{value}"), label=label, value=value)
    return HtmlText(text % {"label": label, "value": value}, drawn)


def add_side(name: str, side: str) -> str:
    """Return the name of a door or an area with the side of the door: "Lobby (entry side)"."""
    if not side:
        return name
    label, text = service_word("side", side), _t("{name} ({side})")
    return HtmlText(text.format(name=name, side=label), format_html(text, name=name, side=label))


def join_sentences(parts: Iterable[object]) -> str:
    """Join the non-empty parts, with a space unless the previous part ends with a full-width character."""
    found = list(filter(None, parts))
    text, drawn = "", SafeString()
    for part in found:
        between = "" if not text or text.endswith(_WIDE) else " "
        text += f"{between}{part}"
        drawn += SafeString(between) + conditional_escape(part if isinstance(part, HtmlText) else str(part))
    return HtmlText(text, drawn) if any(isinstance(each, HtmlText) for each in found) else text.strip()


def service_response(text: str) -> str:
    """Return the service's own text after our label; "" for none. It is in code type on a page."""
    if not text:
        return ""
    words = _t("Response from the service: “%(words)s”")
    in_code = format_html("<code>{}</code>", text)
    return HtmlText(words % {"words": text}, format_html(words.replace("%(words)s", "{}"), in_code))
