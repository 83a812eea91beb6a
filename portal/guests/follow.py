"""What follows when a guest's creation or change comes to something: visits and mirror learn of it together."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from portal.core.intents import handlers
from portal.core.intents.models import Intent, target_of
from portal.core.intents.states import State
from portal.core.jobs import singly
from portal.core.mirror import hooks, own_guests, schedule
from portal.core.mirror.folding import fold
from portal.core.mirror.kinds import Kind
from portal.core.timers.clock import ClockTime, database_now
from portal.core.visits import presence, standing
from portal.core.visits.models import CodeLink, Stage, Visit
from portal.guests import cutting
from tenants.models import Tenant

# Two lists of guests have been read by then.
_LONG_ENOUGH = timedelta(minutes=15)


def created(intent: Intent) -> None:
    """The visit learns its guest's id, and everybody its name. What surely failed may be asked for again."""
    singly.finished(intent)
    visit = Visit.objects.filter(intent=intent).first()
    if intent.state == State.UNCERTAIN:
        return
    if intent.state != State.SUCCEEDED:
        if visit is not None:
            Visit.objects.filter(pk=visit.pk).update(stage=Stage.NOT_ISSUED, cut_due_at=None)
        return
    guest_id = str(intent.result.get("guest_id") or (intent.result.get("evidence") or {}).get("guest_id") or "")
    if not guest_id:  # a person said so: only the list can tell which guest it is (see `adopt`)
        schedule.ask(intent.tenant, Kind.GUESTS, by=None)
        return
    intent.target = target_of("guest", guest_id)
    Intent.objects.filter(pk=intent.pk).update(target=intent.target)
    own_guests.guest_written(intent.tenant, guest_id, intent.body, created=True)
    if visit is not None:
        name_guest(visit, guest_id)


def name_guest(visit: Visit, guest_id: str) -> None:
    """Tie a visit to the service's guest. A list that was read meanwhile may have made a visit of it: that one ends,
    and what the desk wrote on it moves along.
    """
    other = Visit.objects.filter(guest_id=guest_id).exclude(pk=visit.pk).first()
    values: dict[str, Any] = {"stage": Stage.ISSUED, "guest_id": guest_id, "gone_at": None}
    if other is not None:
        for name in ("arrived_at", "arrived_by", "left_at", "left_by", "suggested_arrival_at", "suggested_leave_at"):
            if getattr(other, name) and not getattr(visit, name):
                values[name] = getattr(other, name)
        other.links.update(visit=visit)
        other.delete()
    if visit.is_cut:  # somebody asked for its end while nobody knew whether there was a code
        values["cut_due_at"] = database_now()
    Visit.objects.filter(pk=visit.pk).update(**values)
    presence.arrive_with_code(visit)


def updated(intent: Intent) -> None:
    """What the service took is how it is now. A guest that is not there any more opens nothing."""
    guest_id = intent.path["guest_id"]
    if intent.state == State.FAILED and intent.http_status == 404:
        own_guests.guest_gone(intent.tenant, guest_id)
        Visit.objects.filter(guest_id=guest_id, gone_at__isnull=True).update(gone_at=database_now())
    if intent.state == State.SUCCEEDED:
        own_guests.guest_written(intent.tenant, guest_id, intent.body)
        Visit.objects.filter(guest_id=guest_id).update(**_columns(intent.body))
        cutting.withdraw(intent)
        if "qrcode_data" in intent.body:  # whoever holds a link to the old code must not be shown the new one
            Visit.objects.filter(guest_id=guest_id).update(email_used=False)  # what was mailed opens nothing any more
            given = CodeLink.objects.filter(
                visit__guest_id=guest_id, revoked_at=None, created_at__lte=intent.created_at
            )
            given.update(revoked_at=ClockTime())
    if intent.state != State.UNCERTAIN:
        cutting.look_soon(guest_id)


def _columns(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: datetime.fromisoformat(body[name]) for name in ("use_date_start", "use_date_end") if name in body
    }
    if "guest_name" in body:
        found |= {"guest_name": body["guest_name"], "name_key": fold(body["guest_name"])}
    return found or {"guest_id": F("guest_id")}


def take_over(tenant: Tenant) -> None:
    """After each complete list of guests."""
    standing.take_over(tenant)
    adopt(tenant)
    cutting.noticed()


def adopt(tenant: Tenant) -> None:
    """Creations that a person declared applied find their guest: the only one of that name and those hours that no
    intent of ours made. Where lists go on to show none, or several, the visit ends: there is no code, or each of them
    stands on the desk as a visit of its own.
    """
    waiting = Visit.objects.filter(stage=Stage.ASKED, intent__state=State.SUCCEEDED)
    given_up = database_now() - _LONG_ENOUGH
    for visit in waiting.select_related("intent")[:50]:
        known = (visit.intent.snapshot or {}).get("known", []) if visit.intent else []
        alike = Visit.objects.filter(
            stage=Stage.ISSUED,
            intent__isnull=True,
            name_key=visit.name_key,
            use_date_start=visit.use_date_start,
            use_date_end=visit.use_date_end,
        ).exclude(guest_id__in=known)
        found = list(alike[:2])
        if len(found) == 1:
            name_guest(visit, str(found[0].guest_id))
        elif visit.intent and visit.intent.finished_at and visit.intent.finished_at < given_up:
            Visit.objects.filter(pk=visit.pk).update(stage=Stage.NOT_ISSUED, cut_due_at=None)


def register() -> None:
    from portal.guests import looking

    handlers.register("create_guest", finished=created, reconcile=looking.for_created)
    handlers.register("update_guest", finished=updated, reconcile=looking.at_updated)
    hooks.after(Kind.GUESTS, take_over)
