"""The index of members' rights by area. It is updated in the same transaction in which the mirror saves rights."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import connection as database

from accessapi.permissions import always, never, normalise_devices
from accessapi.permissions.passes import sort_key
from portal.areas.models import EVERYWHERE, KNOWN, Grant, Pass
from portal.domain.mirror.models import Member
from tenants.models import Tenant
from tenants.scope import tenant_scope

_BATCH = 5000


def update_grants(tenant: Tenant, members: Iterable[Member]) -> None:
    """Update the grants of members whose rights were just saved. Unchanged grants are not written."""
    told = {member.pk: list(passes_by_area(member.rights)) for member in members if member.rights is not None}
    if not told:
        return
    with tenant_scope(tenant):
        ids = _pass_ids(tenant, {pass_digest(body): body for each in told.values() for _area, body in each})
        wanted = {(pk, area, ids[pass_digest(body)]) for pk, each in told.items() for area, body in each}
        rows = Grant.objects.filter(member_id__in=told).values_list("member_id", "area_id", "held_id", "pk")
        there = {(member, area, held): pk for member, area, held, pk in rows}
        gone = [pk for key, pk in there.items() if key not in wanted]
        if gone:
            Grant.objects.filter(pk__in=gone).delete()
        fresh = [Grant(tenant=tenant, member_id=m, area_id=a, held_id=h) for m, a, h in sorted(wanted - there.keys())]
        Grant.objects.bulk_create(fresh, ignore_conflicts=True, batch_size=_BATCH)


def passes_by_area(rights: Any) -> Iterator[tuple[str, Any]]:
    """Yield (area ID, pass) for each area in the rights; EVERYWHERE as the ID for all areas, and KNOWN always."""
    yield KNOWN, never()
    devices = rights.get("devices_pass") if isinstance(rights, dict) else None
    normal = normalise_devices(devices)
    mode = normal.get("default_mode")
    if mode == "deny_all":
        return
    if mode == "allow_all":
        yield EVERYWHERE, always()
    elif mode == "option" and isinstance(normal.get("areas_list"), list):
        seen = set()
        for entry in normal["areas_list"]:
            area = entry.get("area_id") if isinstance(entry, dict) else None
            if isinstance(area, str) and area and (key := (area, sort_key(entry.get("pass")))) not in seen:
                seen.add(key)
                yield area, entry.get("pass")
    else:
        yield EVERYWHERE, {"default_mode": mode}


def pass_kind(body: Any) -> Pass.Kind:
    """Return the kind of a pass, regardless of the time."""
    effect = body.get("effect") if isinstance(body, dict) else None
    if effect == "allow_all":
        return Pass.Kind.ALWAYS
    if effect == "deny_all":
        return Pass.Kind.NEVER
    if effect == "allow" and isinstance(body.get("schedule"), list):
        return Pass.Kind.SCHEDULE
    return Pass.Kind.UNKNOWN


def pass_digest(body: Any) -> str:
    """Return a digest that is equal for passes with the same content."""
    return hashlib.sha256(sort_key(body).encode()).hexdigest()[:32]


def compact_tallies(tenant: Tenant) -> None:
    """Merge the tallies. Unused passes stay, because another process may be about to use them."""
    with tenant_scope(tenant), database.cursor() as cursor:
        cursor.execute(_COMPACT, {"tenant": tenant.pk})


def _pass_ids(tenant: Tenant, bodies: dict[str, Any]) -> dict[str, int]:
    rows = Pass.objects.filter(digest__in=bodies)
    known = dict(rows.values_list("digest", "pk"))
    if fresh := bodies.keys() - known.keys():
        new = [
            Pass(tenant=tenant, digest=digest, body=bodies[digest], kind=pass_kind(bodies[digest])) for digest in fresh
        ]
        Pass.objects.bulk_create(sorted(new, key=lambda one: one.digest), ignore_conflicts=True)
        known = dict(rows.all().values_list("digest", "pk"))
    return known


_COMPACT = """
WITH taken AS (DELETE FROM areas_tally WHERE tenant_id = %(tenant)s RETURNING area_id, held_id, members)
INSERT INTO areas_tally (tenant_id, area_id, held_id, members)
SELECT %(tenant)s, area_id, held_id, sum(members) FROM taken GROUP BY area_id, held_id HAVING sum(members) <> 0
"""
