"""Check guests in and out, and undo presses at the desk. Presence is the portal's own record.

Each step locks one row, checks it again and writes it with an audit row. A step that was taken already changes nothing,
so a second click, or a second receptionist, does no harm.

An action stores the presence of each of its visits before and after. Undoing it restores the former values, except for
visits that another person or the activity log changed since.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from portal.domain.intents.recording import Requester
from portal.domain.visits.days import Day
from portal.domain.visits.models import By, DeskAction, Visit
from portal.domain.visits.queries import PRESENT
from portal.domain.visits.visit_status import MAY_CHECK_IN, VisitStatus, status_of
from tenants import audit
from tenants.sentences import coded_sentence

PRESENCE_COLUMNS = ("arrived_at", "arrived_by", "left_at", "left_by")
# A working day. Older mistakes are corrected on the guest's page.
_UNDO_WITHIN = timedelta(hours=12)


@dataclass(frozen=True)
class PresenceChange:
    """One visit's presence before and after an action."""

    visit_id: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True)
class UndoResult:
    """The result of an undone action: the restored visits, and how many visits had changed since."""

    visits: list[Visit]
    changed_since: int


def write_presence(row: Visit, values: Mapping[str, Any]) -> PresenceChange:
    """Write these values of presence into a locked visit and return the change."""
    before = {name: getattr(row, name) for name in PRESENCE_COLUMNS}
    if values:
        Visit.objects.filter(pk=row.pk).update(**values)
    return PresenceChange(row.pk, before, before | dict(values))


def save_action(by: Requester, changes: Sequence[PresenceChange]) -> None:
    """Save an action. Call it in the action's transaction."""
    changed = [[each.visit_id, _presence_json(each.before), _presence_json(each.after)] for each in changes]
    DeskAction.objects.create(tenant=by.tenant, by=by.user, changes=changed)


def last_action(by: Requester) -> DeskAction | None:
    """Return this person's newest action that is not undone, or None."""
    mine = DeskAction.objects.filter(by=by.user, undone_at__isnull=True, at__gt=timezone.now() - _UNDO_WITHIN)
    return mine.order_by("-pk").first()


def undo_last_action(by: Requester) -> UndoResult | None:
    """Undo the newest action of this person, with one audit row. Return None if there is none."""
    with transaction.atomic():
        newest = last_action(by)
        rows = DeskAction.objects.select_for_update(of=("self",)).filter(undone_at=None)
        action = rows.filter(pk=newest.pk).first() if newest is not None else None
        if action is None:
            return None
        back = [visit_id for visit_id, before, after in action.changes if _restore(visit_id, before, after)]
        action.undone_at = timezone.now()
        action.save(update_fields=["undone_at"])
        if back:
            audit.record(
                **by.audit_author,
                action="guest.undone",
                target=f"visit:{back[0]}",
                summary=coded_sentence("guest.undone"),
                before=action.changes[0][2],
                after=action.changes[0][1] | ({"visits": back} if len(back) > 1 else {}),
            )
    return UndoResult(list(Visit.objects.filter(pk__in=back).order_by("pk")), len(action.changes) - len(back))


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


# No one checked these guests in explicitly.
UNMARKED = Q(arrived_by__in=[By.HISTORY, By.ISSUE])


class NotPossible(Exception):
    """The step does not fit the status of the visit. The text gives the reason for a person; nothing was changed."""


def check_in(*, visit: Visit, by: Requester, use_suggested_time: bool = False, whole_party: bool = False) -> bool:
    """Record an arrival now, or at the first use of the code with `use_suggested_time`.

    `whole_party` also checks in everyone of the party who has not arrived. Return False if it was recorded already.
    """

    now = timezone.now()

    def step(row: Visit) -> dict[str, Any] | None:
        status = status_of(row, now)
        if status not in MAY_CHECK_IN:
            if row.arrived_at is not None:
                return None
            raise NotPossible(_("This code was not issued or was deactivated. Issue a new one first."))
        at = (
            row.suggested_arrival_at
            if use_suggested_time and _is_after(row.suggested_arrival_at, row.left_at)
            else None
        )
        came = {"arrived_at": at or now, "arrived_by": By.HISTORY if at else By.DESK}
        return came if row.left_at is None else came | {"left_at": None, "left_by": ""}

    return _step(visit, by, "guest.arrived", step, whole_party=whole_party)


def check_in_with_code(visit: Visit) -> None:
    """Check in a walk-in as of the request for the code. Call it in the transaction of the service's answer."""
    row = Visit.objects.select_related("intent__tenant", "intent__by", "intent__support_session").get(pk=visit.pk)
    if not row.arrives or row.arrived_at is not None or row.intent is None or status_of(row) != VisitStatus.EXPECTED:
        return
    came = {"arrived_at": row.created_at, "arrived_by": By.ISSUE}
    by = Requester(row.intent.tenant, row.intent.by, row.intent.support_session)
    _step(row, by, "guest.arrived", lambda _row: came)


def check_out(*, visit: Visit, by: Requester, use_suggested_time: bool = False) -> bool:
    """Record a departure now, or at the last use of the code with `use_suggested_time`.

    Return False if it was recorded already.
    """

    def step(row: Visit) -> dict[str, Any] | None:
        if row.left_at is not None:
            return None
        if row.arrived_at is None:
            raise NotPossible(_("No one has checked in for this visit yet."))
        at = (
            row.suggested_leave_at if use_suggested_time and _is_after(row.suggested_leave_at, row.arrived_at) else None
        )
        return {"left_at": at or timezone.now(), "left_by": By.HISTORY if at else By.DESK}

    return _step(visit, by, "guest.left", step)


def undo_check_out(*, visit: Visit, by: Requester) -> bool:
    """Undo a check-out. Return False if the guest had not left."""

    def step(row: Visit) -> dict[str, Any] | None:
        return None if row.left_at is None else {"left_at": None, "left_by": ""}

    return _step(visit, by, "guest.back", step)


def undo_check_in(*, visit: Visit, by: Requester) -> bool:
    """Undo a check-in. Return False if the guest has not arrived, or has left since."""

    def step(row: Visit) -> dict[str, Any] | None:
        if row.arrived_at is None or row.left_at is not None:
            return None
        return {"arrived_at": None, "arrived_by": ""}

    return _step(visit, by, "guest.arrival_undone", step)


def check_out_overdue(*, by: Requester) -> int:
    """Check out everyone who is still marked as present although their visit ended before today. Return their number.

    The departure is the last use of the code if that was after the end, otherwise the end. Write one audit row for all.
    """
    overdue = Visit.objects.filter(PRESENT, use_date_end__lt=Day.today().start, erased_at__isnull=True)
    with transaction.atomic():
        ids = list(overdue.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))
        left = Greatest(F("arrived_at"), F("use_date_end"), F("last_use_at"))
        Visit.objects.filter(pk__in=ids).update(left_at=left, left_by=By.DESK)
        if ids:
            audit.record(
                **by.audit_author,
                action="guests.closed",
                target="guests",
                summary=coded_sentence("guests.closed", n=len(ids)),
                after={"visits": ids[:500], "number": len(ids)},
            )
    return len(ids)


def _is_after(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one >= other)


def check_out_unseen(day: Day) -> int:
    """Check out guests who were checked in without a press at the desk and did not use their code since `day` began.

    The departure is the last use of the code. Walk-ins who got a code at the desk are checked out only after its end.
    Without this, such guests would stay present for ever. A later use of the code marks them as present again.
    """
    before = Visit.objects.filter(UNMARKED, PRESENT, arrived_at__lt=day.start, erased_at__isnull=True)
    before = before.exclude(arrived_by=By.ISSUE, use_date_end__gte=day.start)
    quiet = before.filter(Q(last_use_at__isnull=True) | Q(last_use_at__lt=day.start))
    return quiet.update(left_at=Greatest("arrived_at", "last_use_at"), left_by=By.HISTORY)


def _step(
    visit: Visit,
    by: Requester,
    action: str,
    step: Callable[[Visit], dict[str, Any] | None],
    *,
    whole_party: bool = False,
) -> bool:
    """Apply a step to one visit, or with `whole_party` to all of its party that it fits, with one audit row.

    Raises NotPossible for an erased visit, because its guest is unknown.
    """
    with transaction.atomic():
        rows = _lock_visits(visit, whole_party)
        row = rows.pop(visit.pk)
        if row.erased_at is not None:
            raise NotPossible(_("Nothing was changed: this visit's personal data was deleted. Create a new visit."))
        values = step(row)
        if values is None:
            return False
        taken = [write_presence(row, values)]
        for other in rows.values():
            if status_of(other) in MAY_CHECK_IN and other.erased_at is None:
                taken.append(write_presence(other, step(other) or {}))
        save_action(by, taken)
        more = {"visits": [change.visit_id for change in taken]} if len(taken) > 1 else {}
        audit.record(
            **by.audit_author,
            action=action,
            target=f"visit:{row.pk}" if not more else f"party:{row.party}",
            summary=coded_sentence(action),
            before={name: _audit_value(value) for name, value in taken[0].before.items() if name in values},
            after={name: _audit_value(value) for name, value in values.items()} | more,
        )
    return True


def _lock_visits(visit: Visit, together: bool) -> dict[int, Visit]:
    rows = Visit.objects.select_for_update(of=("self",)).order_by("pk")
    mine = Q(pk=visit.pk) | (Q(party=visit.party) if together and visit.party is not None else Q(pk=None))
    return {row.pk: row for row in rows.filter(mine)}


def _audit_value(value: Any) -> str | None:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else str(value) if value else None
