"""Texts about the state of notifications for the connection page."""

from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from portal.base.ui.times import clock_tag, time_tag
from portal.domain.mirror.kinds import READ_INTERVALS, MirrorKind
from portal.domain.mirror.models import MirrorState
from portal.webhooks.models import Webhook

Working = Webhook.Working

_HOUR = 3600


@dataclass(frozen=True)
class WebhookStatus:
    """The first lines of the panel: a chip with sentences."""

    chip: str
    word: str
    sentences: tuple[str, ...] = ()


def status_of(row: Webhook) -> WebhookStatus:
    """Return the status of notifications for a tenant's webhook."""
    if not row.is_on:
        return WebhookStatus("stopped", pgettext("webhook", "Off"), (_polling_text(),))
    match row.working:
        case Working.WORKING:
            said = _without_empty(
                _since_text(row), _last_message_text(row), _saved_calls_text(), _unnamed_text(row), _missed_text(row)
            )
            return WebhookStatus("connected", _("Working"), said)
        case Working.SILENT:
            return WebhookStatus(
                "offline", _("Silent"), _without_empty(_silence_text(row), _polling_text(), _missed_text(row))
            )
        case Working.LOSSY:
            return WebhookStatus(
                "offline",
                _("Losing notifications"),
                _without_empty(_last_message_text(row), _missed_text(row), _polling_text()),
            )
        case _:
            return WebhookStatus("waiting", _("Waiting for the first notification"), (_polling_text(),))


def log_status(working: str, every: int | None) -> WebhookStatus:
    """Return how the log gets new records, if it is read every `every` seconds (None: it cannot be read)."""
    if working == Working.WORKING and every and every > READ_INTERVALS[MirrorKind.HISTORIES]:
        return WebhookStatus("connected", _("Notified at once"))
    checked = (_interval_text(every),) if every else ()
    match working:
        case Working.OFF:
            return WebhookStatus("", "", checked)
        case Working.WORKING:
            return WebhookStatus("connected", _("Notified at once of some categories"), checked)
        case Working.SILENT:
            return WebhookStatus("offline", _("Notifications silent"), checked)
        case Working.LOSSY:
            return WebhookStatus("offline", _("Losing notifications"), checked)
        case _:
            return WebhookStatus("waiting", _("Waiting for the first notification"), checked)


def _without_empty(*sentences: str) -> tuple[str, ...]:
    return tuple(each for each in sentences if each)


def _since_text(row: Webhook) -> str:
    return format_html(_("Since {at}."), at=time_tag(row.working_at)) if row.working_at else ""


def _last_message_text(row: Webhook) -> str:
    return format_html(_("Last notification {at}."), at=clock_tag(row.heard_at)) if row.heard_at else ""


def _silence_text(row: Webhook) -> str:
    words = _("No notification since {at}, which is longer than usual here.")
    return format_html(words, at=time_tag(row.heard_at)) if row.heard_at else ""


def _polling_text() -> str:
    return _interval_text(READ_INTERVALS[MirrorKind.HISTORIES])


def _interval_text(every: int) -> str:
    minutes = every // 60
    return ngettext("The log is checked every minute.", "The log is checked every %(n)d minutes.", minutes) % {
        "n": minutes
    }


def _saved_calls_text() -> str:
    """Return a text about how many API calls per hour notifications save."""
    every = MirrorState.objects.filter(kind=MirrorKind.HISTORIES).values_list("every", flat=True).first()
    usual = _HOUR // READ_INTERVALS[MirrorKind.HISTORIES]
    saved = usual - round(_HOUR / every) if every else 0
    if saved <= 0:
        return ""
    return _("Saves about %(saved)d of %(usual)d API calls an hour for the log.") % {"saved": saved, "usual": usual}


def _unnamed_text(row: Webhook) -> str:
    words = _("Notifications do not name their record, so missing notifications cannot be detected.")
    return words if row.names_no_record else ""


def _missed_text(row: Webhook) -> str:
    if not row.missed or not row.missed_at:
        return ""
    words = ngettext(
        "{n} record came without a notification, last {at}.",
        "{n} records came without a notification, last {at}.",
        row.missed,
    )
    return format_html(words, n=row.missed, at=time_tag(row.missed_at))
