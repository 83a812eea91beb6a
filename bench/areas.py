"""The list of areas and the page of one area, with many members whose rights are loaded."""

from urllib.parse import quote

from django.db import connection
from django.utils import timezone

from accessapi.permissions import always, by_schedule, weekly
from bench.beside import LARGE
from bench.figures import Figure
from bench.ground import SMALL, Ground, say
from bench.pages import ADMIN, beside, interleaved
from portal.areas import access_counts
from portal.areas.models import EVERYWHERE, KNOWN, Pass
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tests.support.databases import as_owner

AREAS = 80
_PASSES = (always(), by_schedule(weekly("08:00:00", "19:00:00", "Monday")), by_schedule(weekly("00:00:00", "23:59:59")))
# Ten rights for each member, spread over the areas; one in twenty has access to every area.
_GRANTS = """
INSERT INTO areas_grant (tenant_id, member_id, area_id, held_id)
SELECT DISTINCT ON (m.id, n) %(tenant)s, m.id, 'x' || n, p.id
FROM people_member m CROSS JOIN generate_series(1, 10) k
CROSS JOIN LATERAL (SELECT (hashint8(m.id * 31 + k) & 2147483647) %% %(areas)s AS n) a
JOIN (SELECT id, row_number() OVER (ORDER BY id) r FROM areas_pass WHERE tenant_id = %(tenant)s) p
  ON p.r = 1 + (hashint8(m.id * 17 + k) & 2147483647) %% 3
WHERE m.tenant_id = %(tenant)s
"""
_OF_ALL = """
INSERT INTO areas_grant (tenant_id, member_id, area_id, held_id)
SELECT %(tenant)s, id, %(area)s, %(held)s FROM people_member WHERE tenant_id = %(tenant)s AND id %% %(every)s = 0
"""


def pages(ground: Ground) -> list[Figure]:
    """Measure the list of areas and an area's page with many members, against few and against the admin's list."""
    say("rights of all members, by area")
    furnished(ground)
    sizes = ground.sizes
    again = sizes.again("areas", members=sizes.members, small=sizes.small)
    found, one = [], f"areas/{quote('x7')}/"
    for page in ("areas/", one, f"{one}?hours=schedule", f"{one}?entry=yes", f"{one}?sort=code_key"):
        times = interleaved(ground, f"/t/{LARGE}/{page}", f"/t/{SMALL}/{page}", share=0.5)
        found.append(beside(f"{page} {sizes.members:,} beside {sizes.small:,}", times, 0.5, 1.3, again))
    times = interleaved(ground, f"/t/{LARGE}/{one}", ADMIN, share=0.5)
    return [*found, beside("an area's page beside the admin's members, p50", times, 0.5, 1.0, again)]


def furnished(ground: Ground) -> None:
    """Create rights for the members of the large and the small tenant, once."""
    assert ground.large is not None and ground.small is not None  # noqa: PT018 - furnish_lists creates them
    if not ground.has_rights:
        ground.has_rights = True
        for tenant in (ground.large, ground.small):
            _furnish(tenant)


def _furnish(tenant: Tenant) -> None:
    with tenant_scope(tenant), connection.cursor() as cursor:
        Area.objects.bulk_create(Area(area_id=f"x{n}", area_name=f"Area {n:02d}") for n in range(AREAS))
        for body in _PASSES:
            Pass.objects.create(digest=access_counts.pass_digest(body), body=body, kind=access_counts.pass_kind(body))
        Member.objects.update(rights_read_at=timezone.now())
        cursor.execute(_GRANTS, {"tenant": tenant.pk, "areas": AREAS})
        held = Pass.objects.get(digest=access_counts.pass_digest(always())).pk
        for area, every in ((EVERYWHERE, 20), (KNOWN, 1)):
            cursor.execute(_OF_ALL, {"tenant": tenant.pk, "area": area, "held": held, "every": every})
    with as_owner() as owner:
        owner.execute("VACUUM ANALYZE people_member, areas_grant, areas_tally")
