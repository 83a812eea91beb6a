"""The end of a hold: the choices in the form, and the time that results."""

from datetime import datetime, timedelta

from django.db.models import TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.timers.clock import database_now
from portal.base.ui import times
from portal.domain.intents.nonces import NotSubmitted

LONGEST_HOLD = timedelta(hours=24)
_EVENING_HOUR = 18


class HoldEnd(TextChoices):
    QUARTER = "15", gettext_lazy("For 15 minutes")
    HOUR = "60", gettext_lazy("For 1 hour")
    LONG = "240", gettext_lazy("For 4 hours")
    EVENING = "evening", gettext_lazy("Until 18:00 today")
    MOMENT = "moment", gettext_lazy("Until the time below")
    NEVER = "open", gettext_lazy("Until somebody locks it")


def available_ends() -> list[HoldEnd]:
    """Return the ends that can be chosen now. 18:00 is only offered before that time."""
    return [end for end in HoldEnd if end is not HoldEnd.EVENING or _evening(database_now()) > database_now()]


def chosen_end(end: str, moment: str) -> datetime | None:
    """Return the chosen end; None for no end. Raises NotSubmitted for an invalid choice.

    Minutes count from now, so a command that waited for confirmation is held for the full time.
    """
    now = database_now()
    if end not in HoldEnd.values:
        raise NotSubmitted(_("Choose how long to hold the door unlocked. Nothing was sent."))
    if end == HoldEnd.NEVER:
        return None
    until = _end_of(HoldEnd(end), moment, now)
    if until is None or not now < until <= now + LONGEST_HOLD:
        raise NotSubmitted(_("Enter a time within the next 24 hours. Nothing was sent."))
    return until


def _end_of(end: HoldEnd, moment: str, now: datetime) -> datetime | None:
    if end is HoldEnd.MOMENT:
        return times.parse_moment(moment)
    return _evening(now) if end is HoldEnd.EVENING else now + timedelta(minutes=int(end.value))


def _evening(now: datetime) -> datetime:
    return times.local(now).replace(hour=_EVENING_HOUR, minute=0, second=0, microsecond=0)
