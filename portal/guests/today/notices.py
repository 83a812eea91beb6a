"""What the desk says after a step, and the way back."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.guests.models import Visit
from portal.guests.today import words
from portal.guests.today.days import Day


@dataclass(frozen=True)
class Notice:
    """A line above the board. `undo` is the step that takes it back."""

    text: str
    visit: Visit | None = None
    undo: str = ""
    is_refusal: bool = False


def notice_of(visit: Visit, day: Day) -> Notice:
    """How the visit stands after what was just done."""
    name = str(visit)
    if visit.left_at is not None:
        return Notice(
            _("%(name)s left at %(time)s.") % {"name": name, "time": words.clock(visit.left_at, day)}, visit, "back"
        )
    if visit.arrived_at is not None:
        said = _("%(name)s is here since %(time)s.") % {"name": name, "time": words.clock(visit.arrived_at, day)}
        return Notice(said, visit, "not-arrived")
    return Notice(_("%(name)s has not arrived.") % {"name": name}, visit)
