"""Figures of areas, printed by `make soak`: the calls of an edit against the fewest possible, and pages at scale."""

import statistics
import time

import pytest
from django.db import connection
from django.utils import timezone

from accessapi.permissions import always, by_schedule, weekly
from portal.areas import access_counts
from portal.areas.models import EVERYWHERE, KNOWN, Pass
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, State
from portal.domain.intents.sending import send
from portal.domain.jobs import tasks
from portal.domain.jobs.models import JobState, RowState
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from tests.support.areas import AreasDesk
from tests.support.databases import as_owner

pytestmark = [pytest.mark.soak, pytest.mark.django_db(transaction=True)]
READ, BULK, POLL = 5, 14, 34
LARGE, SMALL = 200_000, 2_000


def test_an_edit_of_300_members_uses_hardly_more_calls_than_it_must(make):
    desk = AreasDesk(make(members=300))
    unknown, known = desk.people[:100], desk.people[100:300]
    with desk.scope():
        told = {"devices_pass": None, "keys_pass": None, "privilege": None}
        for member in known:
            answer = desk.at_service(member.member_id)
            told = {name: answer.get(name) for name in ("devices_pass", "keys_pass", "privilege")}
            Member.objects.filter(pk=member.pk).update(rights=told, rights_read_at=timezone.now())
        access_counts.update_grants(desk.place.tenant, Member.objects.all())
    before = {each: len(desk.place.calls(each)) for each in (READ, BULK, POLL)}
    job = desk.prepared("grant", desk.people[:300], trust="1440")
    desk.post(f"edits/{job.pk}/start/", {})
    end = time.monotonic() + 600
    while desk.job(job.pk).state == JobState.RUNNING and time.monotonic() < end:
        with desk.scope():
            tasks.advance_job(job.pk)
            # Requests are followed at the engine's own pace, not at the test's.
            for intent in Intent.objects.filter(target=f"change:{job.pk}", due_at__lte=timezone.now()):
                (send if intent.state == State.QUEUED else tracking.poll)(intent)
        time.sleep(0.1)
    rows = list(desk.rows(job).values())
    used = {each: len(desk.place.calls(each)) - before[each] for each in before}
    changed = sum(row.state == RowState.SUCCEEDED and row.part_id is not None for row in rows)
    fewest = len(unknown) + -(-changed // 1000) + 1
    print(
        f"\narea edit over 300 members, 100 of unknown rights: {used[READ]} reads + {used[BULK]} requests + "
        f"{used[POLL]} polls = {sum(used.values())} calls; fewest possible {fewest}; {changed} rows were sent"
    )
    assert desk.job(job.pk).state == JobState.DONE
    assert {row.state for row in rows} == {RowState.SUCCEEDED}
    assert (used[READ], used[BULK]) == (len(unknown), 1)
    assert sum(used.values()) <= fewest + 8


_MEMBERS = """
INSERT INTO people_member (tenant_id, member_id, member_name, member_code, membergroup_id, membergroup_name, name_key,
  code_key, group_key, has_card, has_qr, has_face, use_end_key, account_type, extra, rights_read_at)
SELECT %(tenant)s, 's' || n, 'Member ' || n, 'C' || n, '', '', md5(n::text), 'c' || n, '', true, false, false,
  1152921504606846976, '', '{}', now() FROM generate_series(1, %(n)s) n
"""
_GRANTS = """
INSERT INTO areas_grant (tenant_id, member_id, area_id, held_id)
SELECT DISTINCT ON (m.id, a.area_id) %(tenant)s, m.id, a.area_id, p.id
FROM people_member m CROSS JOIN generate_series(1, 10) k
JOIN (SELECT area_id, row_number() OVER (ORDER BY id) r FROM places_area WHERE tenant_id = %(tenant)s) a
  ON a.r = 1 + (hashint8(m.id * 31 + k) & 2147483647) %% 80
JOIN (SELECT id, row_number() OVER (ORDER BY id) r FROM areas_pass WHERE tenant_id = %(tenant)s) p
  ON p.r = 1 + (hashint8(m.id * 17 + k) & 2147483647) %% 3
WHERE m.tenant_id = %(tenant)s
"""
_OTHERS = """
INSERT INTO areas_grant (tenant_id, member_id, area_id, held_id)
SELECT %(tenant)s, id, %(area)s, %(held)s FROM people_member
WHERE tenant_id = %(tenant)s AND (id %% %(every)s = 0)
"""


def furnished(place, members):
    """Create a tenant with 80 areas, so many members, ten grants each and one in twenty with a right to every area."""
    desk = AreasDesk(place)
    with desk.scope():
        Member.objects.all()._raw_delete("default")
        missing = 80 - Area.objects.count()
        Area.objects.bulk_create(Area(area_id=f"x{n}", area_name=f"Area {n:02d}") for n in range(missing))
        week = [
            always(),
            by_schedule(weekly("08:00:00", "19:00:00", "Monday")),
            by_schedule(weekly("00:00:00", "23:59:59")),
        ]
        for body in week:
            Pass.objects.update_or_create(
                digest=access_counts.pass_digest(body), defaults={"body": body, "kind": access_counts.pass_kind(body)}
            )
        anywhere = Pass.objects.get(digest=access_counts.pass_digest(always()))
        values = {"tenant": place.tenant.pk, "n": members}
        with connection.cursor() as cursor:
            cursor.execute(_MEMBERS, values)
            cursor.execute(_GRANTS, values)
            for area, every in ((EVERYWHERE, 20), (KNOWN, 1)):
                cursor.execute(_OTHERS, {**values, "area": area, "held": anywhere.pk, "every": every})
    with as_owner() as owner:
        owner.execute("ANALYZE people_member, areas_grant, areas_tally")
    return desk


def milliseconds(desk, path, times=5):
    took = []
    for _turn in range(times):
        began = time.perf_counter()
        assert desk.client.get(path).status_code == 200
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took)


def test_areas_are_as_quick_at_200_000_members_as_at_2_000(make):
    """Print medians; only unlimited growth fails."""
    desks = {size: furnished(make(members=1), size) for size in (SMALL, LARGE)}
    asked = {
        "list of areas": lambda desk: desk.areas_url,
        "an area": lambda desk: desk.at(),
        "… who may enter now": lambda desk: desk.at("?entry=yes"),
        "… by a schedule": lambda desk: desk.at("?hours=schedule"),
        "… page 2": lambda desk: desk.at("?size=50&sort=code_key"),
        "choose members": lambda desk: desk.at("members/"),
    }
    for name, path in asked.items():
        small, large = (milliseconds(desks[size], path(desks[size])) for size in (SMALL, LARGE))
        print(f"\n{name}: {small:.0f} ms at {SMALL:,} members, {large:.0f} ms at {LARGE:,}", end="")
        assert large < 20 * small + 1000, name
