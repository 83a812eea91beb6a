"""Undo a person's presses at the desk, the newest first.

An act stores the presence of each of its visits before and after. Undoing it restores the former values, except for
visits that another person or the activity log changed since.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from portal.domain.intents.recording import Requester
from portal.domain.visits.models import DeskAct, Visit
from tenants import audit
from tenants.wording import coded_sentence

PRESENCE_COLUMNS = ("arrived_at", "arrived_by", "left_at", "left_by")
# A working day. Older mistakes are corrected on the guest's page.
_UNDO_WITHIN = timedelta(hours=12)


@dataclass(frozen=True)
class PresenceChange:
    """One visit's presence before and after an act."""

    visit_id: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True)
class UndoResult:
    """The result of an undone act: the restored visits, and how many visits had changed since."""

    visits: list[Visit]
    changed_since: int


def write_presence(row: Visit, values: Mapping[str, Any]) -> PresenceChange:
    """Write these values of presence into a locked visit and return the change."""
    before = {name: getattr(row, name) for name in PRESENCE_COLUMNS}
    if values:
        Visit.objects.filter(pk=row.pk).update(**values)
    return PresenceChange(row.pk, before, before | dict(values))


def save_act(by: Requester, changes: Sequence[PresenceChange]) -> None:
    """Save an act. Call it in the act's transaction."""
    told = [[each.visit_id, _presence_json(each.before), _presence_json(each.after)] for each in changes]
    DeskAct.objects.create(tenant=by.tenant, by=by.user, changes=told)


def last_act(by: Requester) -> DeskAct | None:
    """Return this person's newest act that is not undone, or None."""
    mine = DeskAct.objects.filter(by=by.user, undone_at__isnull=True, at__gt=timezone.now() - _UNDO_WITHIN)
    return mine.order_by("-pk").first()


def undo_last_act(by: Requester) -> UndoResult | None:
    """Undo the newest act of this person, with one audit row. Return None if there is none."""
    with transaction.atomic():
        newest = last_act(by)
        acts = DeskAct.objects.select_for_update(of=("self",)).filter(undone_at=None)
        act = acts.filter(pk=newest.pk).first() if newest is not None else None
        if act is None:
            return None
        back = [visit_id for visit_id, before, after in act.changes if _restore(visit_id, before, after)]
        act.undone_at = timezone.now()
        act.save(update_fields=["undone_at"])
        if back:
            audit.record(
                **by.audit_author,
                action="guest.undone",
                target=f"visit:{back[0]}",
                summary=coded_sentence("guest.undone"),
                before=act.changes[0][2],
                after=act.changes[0][1] | ({"visits": back} if len(back) > 1 else {}),
            )
    return UndoResult(list(Visit.objects.filter(pk__in=back).order_by("pk")), len(act.changes) - len(back))


def _restore(visit_id: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    row = Visit.objects.select_for_update(of=("self",)).filter(pk=visit_id, erased_at__isnull=True).first()
    if row is None or _presence_json({name: getattr(row, name) for name in PRESENCE_COLUMNS}) != after:
        return False
    moments = {name: parse_datetime(before[name]) if before[name] else None for name in ("arrived_at", "left_at")}
    Visit.objects.filter(pk=visit_id).update(**{**before, **moments})
    return True


def _presence_json(values: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: _plain_value(values[name]) for name in PRESENCE_COLUMNS}


def _plain_value(value: Any) -> str | None:
    if isinstance(value, datetime):
        return value.astimezone(timezone.get_default_timezone()).isoformat()
    return None if value is None else str(value)
