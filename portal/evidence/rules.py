"""The actions that each state of an incident refuses, and the lock for every action.

On legal hold, an incident can only grow: items and holds can be added, and missing video is saved. Nothing can be
removed, changed, closed or deleted. The database refuses it too (migration 0002), for code that does not use this
module.
"""

from typing import Literal, get_args

from portal.evidence.models import Incident

IncidentAction = Literal["edit", "add", "fetch", "remove", "close", "reopen", "hold", "end_hold", "export", "delete"]

# The states that refuse an action; the first one that applies is the reason shown.
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
    """The error for a refused action; nothing was changed. The text is a key of `REFUSAL_TEXTS` in the views."""


def refusing_state(incident: Incident, act: IncidentAction) -> str:
    """Return the state of an incident that refuses an action, "" if none does."""
    states = {
        "held": incident.is_held,
        "closed": not incident.is_open,
        "settled": not incident.is_collecting,
        "open": incident.is_open,
        "reopened": incident.is_open,
    }
    return next((each for each in _REFUSED_BY[act] if states[each]), "")


def allowed_actions(incident: Incident) -> set[IncidentAction]:
    """Return the actions that an incident's state allows."""
    return {act for act in get_args(IncidentAction) if not refusing_state(incident, act)}


def lock_incident(incident_id: int, act: IncidentAction) -> Incident:
    """Lock an incident for this action until the transaction ends, and return its current row.

    Raises NotDone if its state refuses the action or it was deleted.
    """
    row = Incident.objects.select_for_update(no_key=act != "delete").filter(pk=incident_id).first()
    if row is None:
        raise NotDone("deleted")
    if why := refusing_state(row, act):
        raise NotDone(why)
    return row
