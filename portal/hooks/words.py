"""How notifications stand, in words for whoever looks at the connection's page."""

from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from portal.core.mirror.kinds import EVERY, Kind
from portal.core.mirror.models import MirrorState
from portal.core.ui.times import clock, stamp
from portal.hooks.models import Webhook

Working = Webhook.Working

_HOUR = 3600


@dataclass(frozen=True)
class Standing:
    """What the panel says first: a chip, and sentences beside it."""

    chip: str
    word: str
    sentences: tuple[str, ...] = ()


def standing_of(row: Webhook) -> Standing:
    """Return how notifications stand for a tenant's webhook."""
    if not row.is_on:
        return Standing("stopped", pgettext("webhook", "Off"), (_polled(),))
    match row.working:
        case Working.WORKING:
            said = _filled(_since(row), _last(row), _saved(), _unnamed(row), _missed(row))
            return Standing("connected", _("Working"), said)
        case Working.SILENT:
            return Standing("offline", _("Silent"), _filled(_silent(row), _polled(), _missed(row)))
        case Working.LOSSY:
            return Standing("offline", _("Losing notifications"), _filled(_last(row), _missed(row), _polled()))
        case _:
            return Standing("waiting", _("Waiting for the first notification"), (_polled(),))


def of_the_log(working: str, every: int | None) -> Standing:
    """Return how the log learns of new records, when it is read every so many seconds (None: it cannot be read)."""
    if working == Working.WORKING and every and every > EVERY[Kind.HISTORIES]:
        return Standing("connected", _("Notified at once"))
    checked = (_checked(every),) if every else ()
    match working:
        case Working.OFF:
            return Standing("", "", checked)
        case Working.WORKING:
            return Standing("connected", _("Notified at once of some categories"), checked)
        case Working.SILENT:
            return Standing("offline", _("Notifications silent"), checked)
        case Working.LOSSY:
            return Standing("offline", _("Losing notifications"), checked)
        case _:
            return Standing("waiting", _("Waiting for the first notification"), checked)


def _filled(*sentences: str) -> tuple[str, ...]:
    return tuple(each for each in sentences if each)


def _since(row: Webhook) -> str:
    return format_html(_("Since {at}."), at=stamp(row.working_at)) if row.working_at else ""


def _last(row: Webhook) -> str:
    return format_html(_("Last notification {at}."), at=clock(row.heard_at)) if row.heard_at else ""


def _silent(row: Webhook) -> str:
    words = _("No notification since {at}, which is longer than usual here.")
    return format_html(words, at=stamp(row.heard_at)) if row.heard_at else ""


def _polled() -> str:
    return _checked(EVERY[Kind.HISTORIES])


def _checked(every: int) -> str:
    minutes = every // 60
    return ngettext("The log is checked every minute.", "The log is checked every %(n)d minutes.", minutes) % {
        "n": minutes
    }


def _saved() -> str:
    """Return how many calls an hour the log takes less than without notifications."""
    every = MirrorState.objects.filter(kind=Kind.HISTORIES).values_list("every", flat=True).first()
    usual = _HOUR // EVERY[Kind.HISTORIES]
    saved = usual - round(_HOUR / every) if every else 0
    if saved <= 0:
        return ""
    return _("Saves about %(saved)d of %(usual)d API calls an hour for the log.") % {"saved": saved, "usual": usual}


def _unnamed(row: Webhook) -> str:
    words = _("Notifications do not name their record, so missing notifications cannot be detected.")
    return words if row.names_no_record else ""


def _missed(row: Webhook) -> str:
    if not row.missed or not row.missed_at:
        return ""
    words = ngettext(
        "{n} record came without a notification, last {at}.",
        "{n} records came without a notification, last {at}.",
        row.missed,
    )
    return format_html(words, n=row.missed, at=stamp(row.missed_at))
