"""What the desk says after a step, and the way back."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.core.intents.record import Asker
from portal.core.visits import acts
from portal.core.visits.acts import Undone
from portal.core.visits.days import Day
from portal.core.visits.models import DeskAct, Visit


@dataclass(frozen=True)
class Notice:
    """A line above the board. `undo` says what the button takes back: empty for the very step that `text` tells of,
    None where there is nothing to take back.
    """

    text: str
    visit: Visit | None = None
    undo: str | None = None
    is_refusal: bool = False


def after(visit: Visit, by: Asker, day: Day) -> Notice:
    """How the visit stands after what was just done, and with it those of its party."""
    act = acts.last(by)
    mine = act is not None and visit.pk in _of(act)
    text = _stands(visit, day, len(act.changes) - 1 if act is not None and mine else 0)
    return Notice(text, visit, "" if mine else _told(act))


def undone(done: Undone | None, by: Asker, day: Day) -> Notice:
    """What was taken back, and what the next press would."""
    if done is None:
        return Notice(_("Nothing to undo."), is_refusal=True)
    more = _told(acts.last(by))
    if not done.visits:
        return Notice(_("Not undone: it was changed since."), undo=more, is_refusal=True)
    first = done.visits[0]
    return Notice(_stands(first, day, len(done.visits) - 1), first, more)


def _of(act: DeskAct) -> set[int]:
    return {visit_id for visit_id, _before, _after in act.changes}


def _stands(visit: Visit, day: Day, others: int) -> str:
    facts = {"name": str(visit), "n": others}
    if visit.left_at is not None:
        text = _("%(name)s and %(n)d more: left at %(time)s.") if others else _("%(name)s left at %(time)s.")
        return text % {**facts, "time": day.clock(visit.left_at)}
    if visit.arrived_at is not None:
        text = (
            _("%(name)s and %(n)d more: on site since %(time)s.") if others else _("%(name)s on site since %(time)s.")
        )
        return text % {**facts, "time": day.clock(visit.arrived_at)}
    text = _("%(name)s and %(n)d more: not checked in.") if others else _("%(name)s is not checked in.")
    return text % facts


def _told(act: DeskAct | None) -> str | None:
    """Whom an act was about, for the button that takes it back."""
    if act is None:
        return None
    visit = Visit.objects.filter(pk=act.changes[0][0]).first()
    return str(visit) if visit is not None else ""
