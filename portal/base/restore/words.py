"""Texts about the marked rows of a restored tenant."""

from collections.abc import Callable, Iterator

from django.utils.translation import ngettext

from portal.base.restore.models import Restored

_MARKED: dict[str, Callable[[int], str]] = {
    "requests": lambda n: ngettext(
        "%(n)d request may have been sent before. It is uncertain until a later check or a person decides.",
        "%(n)d requests may have been sent before. They are uncertain until a later check or a person decides.",
        n,
    ),
    "jobs": lambda n: ngettext(
        "%(n)d job was stopped. Its open rows are uncertain.",
        "%(n)d jobs were stopped. Their open rows are uncertain.",
        n,
    ),
    "alerts": lambda n: ngettext(
        "%(n)d alert message was not sent. It may have been sent before.",
        "%(n)d alert messages were not sent. They may have been sent before.",
        n,
    ),
    "reports": lambda n: ngettext(
        "%(n)d scheduled report was skipped. You can send it from the report's page.",
        "%(n)d scheduled reports were skipped. You can send them from the report's page.",
        n,
    ),
    "reminders": lambda n: ngettext(
        "%(n)d access review reminder was not sent. It may have been sent before.",
        "%(n)d access review reminders were not sent. They may have been sent before.",
        n,
    ),
}
_WAITING: dict[str, Callable[[int], str]] = {
    "holds": lambda n: ngettext(
        "%(n)d door that was held unlocked would be locked again.",
        "%(n)d doors that were held unlocked would be locked again.",
        n,
    ),
    "lockdowns": lambda n: ngettext(
        "%(n)d lockdown or evacuation would go on.",
        "%(n)d lockdowns or evacuations would go on.",
        n,
    ),
    "codes": lambda n: ngettext(
        "%(n)d guest code would be ended. It may still open doors.",
        "%(n)d guest codes would be ended. They may still open doors.",
        n,
    ),
}


def marked_texts(row: Restored) -> Iterator[str]:
    """Yield a sentence for each kind of rows that a person or a later check decides."""
    for name, words in _MARKED.items():
        if n := row.counts.get(name, 0):
            yield words(n) % {"n": n}


def waiting_texts(row: Restored) -> Iterator[str]:
    """Yield a sentence for each kind of rows that continue after the release."""
    for name, words in _WAITING.items():
        if n := len(row.waiting.get(name, ())):
            yield words(n) % {"n": n}
