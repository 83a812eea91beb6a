"""Format times: Asia/Tokyo, `2026-11-21 09:41`, relative times only as a hint."""

from datetime import UTC, date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.moments import read_moment

TOKYO = ZoneInfo("Asia/Tokyo")
_NEAR = 60


def local(moment: datetime) -> datetime:
    """Return `moment` in the service's time zone (+09:00); a naive one is taken as UTC.

    In the first and last hours of the calendar a conversion is impossible; the clock time is kept then.
    """
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(TOKYO)
    except OverflowError:
        return moment.replace(tzinfo=TOKYO)


def local_or_none(moment: datetime | None) -> datetime | None:
    """Return `moment` in the service's time zone, as files have it; None stays None."""
    return local(moment) if moment is not None else None


def today() -> date:
    """Return today's date in the service's time zone."""
    return local(timezone.now()).date()


def moment_text(moment: datetime | None) -> str:
    """Return `2026-11-21 09:41`; "" for None."""
    return f"{local(moment):%Y-%m-%d %H:%M}" if moment else ""


def parse_moment(text: str) -> datetime | None:
    """Return the time in a URL or form: `2026-11-21T09:41`, in the service's time zone unless it has another.

    None for other texts, and for times so near the calendar's ends that calculations would fail.
    """
    found = read_moment(text)
    return local(found) if found is not None else None


def weekday_text(day: date, form: str) -> str:
    """Return a day with its weekday, in the brackets of the reader's language."""
    values = {"day": date_format(day, form), "weekday": date_format(day, "D")}
    return _("%(day)s (%(weekday)s)") % values


def time_tag(moment: datetime | date | None, *, seconds: bool = False) -> SafeString | str:
    """Return `2026-11-21 09:41` in a `<time>`; a date without the clock; "" for None."""
    if moment is None or moment == "":
        return ""
    if not isinstance(moment, datetime):
        return mark_safe('<time datetime="{0}">{0}</time>'.format(moment.isoformat()))  # noqa: S308
    return _cached_time_tag(moment, 19 if seconds else 16)


@lru_cache(maxsize=4096)
def _cached_time_tag(moment: datetime, end: int) -> SafeString:
    """Return a cached tag: lists show the same times in many rows."""
    return _draw_tag(local(moment), 0, end)


def clock_tag(moment: datetime | None) -> SafeString | str:
    """Return `09:41:07` for today, with the date before it on other days."""
    if moment is None or moment == "":
        return ""
    local_time = local(moment)
    return _draw_tag(local_time, 11, 19) if local_time.date() == today() else _draw_tag(local_time, 0, 16)


def _draw_tag(local_time: datetime, begin: int, end: int) -> SafeString:
    """Return the tag that shows a slice of the time's ISO text, which needs no escaping."""
    iso = local_time.isoformat(timespec="seconds")
    return mark_safe(f'<time datetime="{iso}">{iso[begin:end].replace("T", " ")}</time>')  # noqa: S308


def duration_words(minutes: int) -> str:
    """Return a duration in words: `6 h 05 min`."""
    return _("%(hours)d h %(minutes)02d min") % {"hours": minutes // 60, "minutes": minutes % 60}


def duration_estimate(seconds: float) -> str:
    """Return an estimated duration: `less than a minute`, `about 3 minutes`, `about 2 hours`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute")
    if minutes < 120:
        return ngettext("about %(n)d minute", "about %(n)d minutes", minutes) % {"n": minutes}
    return ngettext("about %(n)d hour", "about %(n)d hours", round(minutes / 60)) % {"n": round(minutes / 60)}


def relative_words(moment: datetime | None) -> str:
    """Return a hint beside a time: `just now`, `5 min ago`, `3 h ago`, `2 days ago`; `in 5 min` for the future."""
    if moment is None or moment == "":
        return ""
    seconds = int((timezone.now() - moment).total_seconds())
    text = _span_words(abs(seconds))
    if not text:
        return _("just now")
    return _("%(span)s ago") % {"span": text} if seconds > 0 else _("in %(span)s") % {"span": text}


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
