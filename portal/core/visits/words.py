"""What the desk calls where visits stand, and when they are."""

from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.ui.times import local
from portal.core.visits.days import Day
from portal.core.visits.standing import Standing

# In the order of the desk: what needs somebody first.
LABELS: dict[Standing, Promise] = {
    Standing.OVERDUE: _("Overdue"),
    Standing.EXPECTED: _("Expected"),
    Standing.HERE: pgettext_lazy("guests", "Here"),
    Standing.ASKED: _("Being issued"),
    Standing.LEFT: pgettext_lazy("guests", "Left"),
    Standing.NOT_COME: _("No-show"),
    Standing.CUT: _("Deactivated"),
    Standing.NOT_ISSUED: _("Not issued"),
}
HINTS: dict[Standing, Promise] = {
    Standing.OVERDUE: _("Still on site after the end time"),
    Standing.ASKED: _("Code not yet confirmed by the service"),
    Standing.NOT_ISSUED: _("No code: refused or stopped"),
}
ICONS: dict[Standing, str] = {
    Standing.OVERDUE: "alert-triangle",
    Standing.EXPECTED: "clock",
    Standing.HERE: "user-check",
    Standing.ASKED: "loader",
    Standing.LEFT: "logout",
    Standing.NOT_COME: "user-off",
    Standing.CUT: "cut",
    Standing.NOT_ISSUED: "ban",
}


def clock(moment: datetime | None, day: Day) -> str:
    """`09:41` on the day shown, `11-20 09:41` on another, with the year when that differs, too."""
    if moment is None:
        return ""
    there = local(moment)
    if there.date() == day.date:
        return f"{there:%H:%M}"
    return f"{there:%m-%d %H:%M}" if there.year == day.date.year else f"{there:%Y-%m-%d %H:%M}"
