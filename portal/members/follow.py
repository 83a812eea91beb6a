"""What follows when a member's creation, change or deletion comes to something."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from accessapi.errors import NotFound
from accessapi.resources import write_moment
from portal.core.budget.priorities import Priority
from portal.core.intents import evidence, handlers
from portal.core.intents.handlers import Finding
from portal.core.intents.models import Intent, target_of
from portal.core.intents.states import State
from portal.core.mirror import own, reading, schedule
from portal.core.mirror.fields.members import MEMBER, RIGHTS
from portal.core.mirror.kinds import Kind
from portal.core.rights import digests
from portal.core.timers.clock import database_now
from portal.members import following, portraits, sightings
from tenants.connections.service import current_connection

# When to see whether the list has been read meanwhile.
_NEXT_READING = timedelta(seconds=3)


def created(intent: Intent) -> None:
    """The mirror learns the new member, and the intent its name."""
    if intent.state != State.SUCCEEDED:
        return
    member_id = str(intent.result.get("member_id") or (intent.result.get("evidence") or {}).get("member_id") or "")
    if not member_id:  # a person said so: only the list can tell which member it is
        schedule.ask(intent.tenant, Kind.MEMBERS, by=None)
        return
    own.member_written(intent.tenant, member_id, intent.body, created=True)
    intent.target = target_of("member", member_id)
    Intent.objects.filter(pk=intent.pk).update(target=intent.target)


def updated(intent: Intent) -> None:
    if intent.state == State.SUCCEEDED:
        own.member_written(intent.tenant, intent.path["member_id"], intent.body)


def deleted(intent: Intent) -> None:
    """Gone, or not there in the first place."""
    if intent.state == State.SUCCEEDED or (intent.state == State.FAILED and intent.http_status == 404):
        own.member_deleted(intent.tenant, intent.path["member_id"])
        portraits.forget([intent.path["member_id"]])


def look_for_created(intent: Intent) -> Finding:
    """Wait for a reading of the list that began since, and look for a member that was not there before.

    The mirror's own reading is used: it costs one call for each thousand members, and serves everybody who waits.
    """
    body, known = intent.body, (intent.snapshot or {}).get("known", [])
    since = evidence.useful_from(intent)
    at = schedule.read_since(intent.tenant, Kind.MEMBERS, since)
    if at is None:
        return Finding(None, intent.result.get("evidence") or {}, again_at=max(since, database_now()) + _NEXT_READING)
    seen, told = sightings.look(body, known), {"read": write_moment(at)}
    if len(seen.marked) == 1 and sightings.is_surely(seen.marked[0], body):
        return Finding(True, {**told, "member_id": seen.marked[0].member_id})
    if seen.marked or seen.namesakes:
        alike = [member.member_id for member in (*seen.marked, *seen.namesakes)]
        return Finding(None, {**told, "may be": ", ".join(alike[:10])})
    return evidence.missing(intent, at, told)


def look_at_updated(intent: Intent) -> Finding:
    """Read the member once and compare every field that was sent."""
    at = database_now()
    try:
        member = reading.read_member(current_connection(), intent.path["member_id"], Priority.PEOPLE, alone=True)
    except NotFound:
        return Finding(False, {"read": write_moment(at), "member": "not there"})
    told = member.model_dump(mode="python")
    differs = sorted(name for name, wanted in intent.body.items() if not _agrees(name, wanted, told.get(name)))
    if not differs:
        return Finding(True, {"read": write_moment(at)})
    return evidence.missing(intent, at, {"read": write_moment(at), "differs": ", ".join(differs)})


def look_at_deleted(intent: Intent) -> Finding:
    """A member that cannot be read any more is deleted."""
    at = database_now()
    try:
        reading.read_member(current_connection(), intent.path["member_id"], Priority.PEOPLE, alone=True)
    except NotFound:
        return Finding(True, {"read": write_moment(at), "member": "not there"})
    return evidence.missing(intent, at, {"read": write_moment(at), "member": "still there"})


def _agrees(name: str, wanted: Any, told: Any) -> bool:
    return digests.agrees(name, wanted, told) if name in RIGHTS else MEMBER.same(name, wanted, told)


def register() -> None:
    known: dict[str, tuple[Callable[[Intent], None], Callable[[Intent], Finding]]] = {
        "create_member": (created, look_for_created),
        "update_member": (updated, look_at_updated),
        "delete_member": (deleted, look_at_deleted),
    }
    for operation, (finished, reconcile) in known.items():
        handlers.register(operation, finished=finished, reconcile=reconcile)
    following.register()
