"""What the state of an incident refuses, and the lock under which everything is done to an incident.

On legal hold an incident only grows: things are added, missing video is saved, further holds are added. Nothing is
removed, changed, closed or deleted. The database refuses it too (migration 0002), for code that does not come by here.
"""

from typing import Literal, get_args

from portal.evidence.models import Incident

IncidentAction = Literal["edit", "add", "fetch", "remove", "close", "reopen", "hold", "end_hold", "export", "delete"]

# The states that refuse an act; the first one that applies is the reason that is given.
_REFUSED_BY: dict[IncidentAction, tuple[str, ...]] = {
    "edit": ("held", "closed"),
    "add": ("closed",),
    "fetch": ("settled",),
    "remove": ("held", "closed"),
    "close": ("held", "closed"),
    "reopen": ("reopened",),
    "hold": (),
    "end_hold": (),
    "export": (),
    "delete": ("held", "open"),
}


class NotDone(ValueError):
    """Nothing was changed; the text is one of TROUBLES of the views."""


def refusing_state(incident: Incident, act: IncidentAction) -> str:
    """Return which state of an incident refuses an act, "" where none does."""
    states = {
        "held": incident.is_held,
        "closed": not incident.is_open,
        "settled": not incident.is_collecting,
        "open": incident.is_open,
        "reopened": incident.is_open,
    }
    return next((each for each in _REFUSED_BY[act] if states[each]), "")


def allowed_actions(incident: Incident) -> set[IncidentAction]:
    """Return what the state of an incident allows."""
    return {act for act in get_args(IncidentAction) if not refusing_state(incident, act)}


def lock(incident_id: int, act: IncidentAction) -> Incident:
    """Lock an incident for this act until the transaction ends, and return it as it is then.

    Raises NotDone where its state refuses the act, and where it was deleted.
    """
    row = Incident.objects.select_for_update(no_key=act != "delete").filter(pk=incident_id).first()
    if row is None:
        raise NotDone("deleted")
    if why := refusing_state(row, act):
        raise NotDone(why)
    return row
