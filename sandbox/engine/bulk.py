"""The bulk queue: per tenant, in the order of submission, at a fixed pace (specification: States)."""

import math
from datetime import datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, DurationField, F, Func, IntegerField, QuerySet
from django.db.models.functions import Coalesce

from sandbox.behaviour import Behaviour
from sandbox.errors import ApiError, not_found
from sandbox.service.models import BulkRequest, Member, Tenant

from .members import MemberBatch, lock_members


def submit(tenant: Tenant, tag: str, members: list[dict[str, Any]], behaviour: Behaviour, at: datetime) -> BulkRequest:
    """Accept a request and return it. Its pace, and whether it fails half-way, are fixed now."""
    # Under the lock, identifiers have the order of arrival.
    with lock_members(tenant):
        request = BulkRequest.objects.create(
            tenant=tenant,
            at=at,
            tag=tag,
            members=members,
            seconds_per_member=behaviour.bulk_seconds_per_member,
            fail_after=behaviour.bulk_fail_after,
        )
        advance(tenant, at)
    return request


def due(tenant: Tenant, now: datetime) -> QuerySet[BulkRequest]:
    """Return the requests that are not finished, in the order of submission."""
    return BulkRequest.objects.filter(tenant=tenant, finished_at=None).order_by("id")


def next_due_times() -> QuerySet[BulkRequest, tuple[str, datetime]]:
    """Return each tenant that has an unfinished request, and the time at which its next member is processed."""
    done = Func(F("results"), function="jsonb_array_length", output_field=IntegerField())
    seconds = (done + 1) * F("seconds_per_member")
    taken = Func(seconds, template="make_interval(secs => %(expressions)s)", output_field=DurationField())
    first = BulkRequest.objects.filter(finished_at=None).order_by("tenant_id", "id").distinct("tenant_id")
    return first.values_list("tenant_id", Coalesce(F("started_at") + taken, F("at"), output_field=DateTimeField()))


def advance(tenant: Tenant, now: datetime) -> None:
    """Process every member that is due by `now`. Use inside `lock_members`."""
    free_at: datetime | None = None
    for request in due(tenant, now):
        if request.started_at is None:
            request.started_at = max(request.at, free_at or _free_at(request))
        if request.started_at > now:
            return
        _process(tenant, request, now)
        request.save()
        if request.finished_at is None:
            return
        free_at = request.finished_at


def _free_at(request: BulkRequest) -> datetime:
    """Return when the request before this one ended: this one starts at that time, independent of the call."""
    earlier = BulkRequest.objects.filter(tenant_id=request.tenant_id, id__lt=request.pk).order_by("-id").first()
    return earlier.finished_at if earlier and earlier.finished_at else request.at


def _process(tenant: Tenant, request: BulkRequest, now: datetime) -> None:
    assert request.started_at is not None  # noqa: S101 - for the type checker: the caller set it
    end = len(request.members)
    fails = request.fail_after is not None and request.fail_after < end
    if fails:
        end = request.fail_after or 0
    done = len(request.results)
    reached = end
    if pace := request.seconds_per_member:
        reached = min(end, math.floor((now - request.started_at).total_seconds() / pace))
    if reached > done:
        request.results += _apply(tenant, request.tag, request.members[done:reached])
    request.status = "progress"
    if len(request.results) >= end:
        failed = any(item["status"] == "failed" for item in request.results)
        request.status = "failed" if fails else "completed_with_errors" if failed else "completed"
        request.finished_at = request.started_at + timedelta(seconds=end * pace)


def _apply(tenant: Tenant, tag: str, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Apply the bodies one after another. Return the outcome of each, in order."""
    batch = MemberBatch(tenant, bodies)
    wanted = [body["member_id"] for body in bodies if "member_id" in body]
    rows = Member.objects.select_related("group").filter(tenant=tenant, member_id__in=wanted)
    present = {member.member_id: member for member in rows}
    results = []
    for body in bodies:
        try:
            member = _apply_one(batch, tag, body, present)
        except ApiError as error:
            name = body.get("member_name") or _name(present.get(body.get("member_id", "")))
            results.append({"member_name": name, "status": "failed", "error": error.as_bulk_error()})
        else:
            results.append({"member_id": member.member_id, "member_name": _name(member), "status": "succeeded"})
    batch.save()
    return results


def _apply_one(batch: MemberBatch, tag: str, body: dict[str, Any], present: dict[str, Member]) -> Member:
    if tag == "create":
        return batch.create(body)
    member = present.get(body["member_id"])
    if member is None:
        raise not_found("member_id")
    if tag == "delete":
        batch.delete(member)
        return present.pop(member.member_id)
    return batch.update(member, {name: value for name, value in body.items() if name != "member_id"})


def _name(member: Member | None) -> str:
    return str(member.listed["member_name"]) if member else ""
