"""How times are written: Asia/Tokyo, `2026-11-21 09:41`, relative only as a hint."""

from datetime import UTC, date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.moments import read_moment

TOKYO = ZoneInfo("Asia/Tokyo")
_NEAR = 60


def local(moment: datetime) -> datetime:
    """`moment` on the clock of the service, whose offset is fixed at +09:00; a naive one is taken as UTC.

    Of the calendar's first and last hours the clock stays as it is: pages show them, whatever they are.
    """
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(TOKYO)
    except OverflowError:
        return moment.replace(tzinfo=TOKYO)


def parse_moment(text: str) -> datetime | None:
    """A moment as addresses and forms give it: `2026-11-21T09:41`, on the service's clock unless it says another.

    None for what is no moment, or one so far away that reckoning with it could leave the calendar.
    """
    found = read_moment(text)
    return local(found) if found is not None else None


def time_tag(moment: datetime | date | None, *, seconds: bool = False) -> SafeString | str:
    """`2026-11-21 09:41` in a `<time>`; a date alone without the clock; nothing for None."""
    if moment is None or moment == "":
        return ""
    if not isinstance(moment, datetime):
        return mark_safe('<time datetime="{0}">{0}</time>'.format(moment.isoformat()))  # noqa: S308
    return _cached_time_tag(moment, 19 if seconds else 16)


@lru_cache(maxsize=4096)
def _cached_time_tag(moment: datetime, end: int) -> SafeString:
    """The same ends of use stand in row after row."""
    return _draw_tag(local(moment), 0, end)


def clock_tag(moment: datetime | None) -> SafeString | str:
    """`09:41:07` today, with the date before it on another day."""
    if moment is None or moment == "":
        return ""
    there = local(moment)
    today = there.date() == local(timezone.now()).date()
    return _draw_tag(there, 11, 19) if today else _draw_tag(there, 0, 16)


def _draw_tag(there: datetime, begin: int, end: int) -> SafeString:
    """The moment, shown from one place of its ISO text to another: nothing to escape."""
    iso = there.isoformat(timespec="seconds")
    return mark_safe(f'<time datetime="{iso}">{iso[begin:end].replace("T", " ")}</time>')  # noqa: S308


def duration_words(minutes: int) -> str:
    """A length of time as people say it: `6 h 05 min`."""
    return _("%(hours)d h %(minutes)02d min") % {"hours": minutes // 60, "minutes": minutes % 60}


def relative_words(moment: datetime | None) -> str:
    """A hint beside a time: `just now`, `5 min ago`, `3 h ago`, `2 days ago`; `in 5 min` for the future."""
    if moment is None or moment == "":
        return ""
    seconds = int((timezone.now() - moment).total_seconds())
    words = _span_words(abs(seconds))
    if not words:
        return _("just now")
    return _("%(span)s ago") % {"span": words} if seconds > 0 else _("in %(span)s") % {"span": words}


def _span_words(seconds: int) -> str:
    if seconds < _NEAR:
        return ""
    minutes = seconds // 60
    if minutes < 60:
        return ngettext("%(n)d min", "%(n)d min", minutes) % {"n": minutes}
    if minutes < 48 * 60:
        return ngettext("%(n)d h", "%(n)d h", minutes // 60) % {"n": minutes // 60}
    days = minutes // (24 * 60)
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
