"""Reports over a year of a long log: seconds, memory and files, compared with a plain count of the same rows."""

import json
import subprocess
from typing import Any

from django.db import connection

from bench import areas, records
from bench.figures import Figure, ms, percentile
from bench.ground import Ground, child_environment, say
from bench.logs import laid
from portal.domain.places.models import Area
from stack.paths import PYTHON, ROOT
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tests.support.databases import as_owner

#: The reports: the name, the kind, and the chosen area.
REPORTS = (
    ("who entered, all doors", "entered", ""),
    ("who entered, an area of 20 doors", "entered", records.AREA),
    ("365 days at a glance", "week", ""),
    ("unused credentials and rights", "unused", ""),
)
_DOORS_OF_AREA, _OPENED = 5, 5
# Two thousand members have records in the log.
_PEOPLE = """
WITH two AS (
    SELECT id, row_number() OVER (ORDER BY id) - 1 AS number FROM people_member
    WHERE tenant_id = %(tenant)s AND member_id LIKE 'm%%' LIMIT 2000
)
UPDATE people_member m SET member_id = 'p' || lpad(two.number::text, 6, '0'), last_seen_at = now() FROM two
WHERE m.id = two.id AND 'p' || lpad(two.number::text, 6, '0') <> %(person)s
"""


def year(ground: Ground) -> list[Figure]:
    """Create each report over the last year of the large log, and write it as PDF and as XLSX."""
    large, _small = laid(ground)
    areas.furnished(ground)
    _furnish(large)
    return [figure for name, kind, area in REPORTS for figure in _figures(ground, large, name, kind, area)]


def _figures(ground: Ground, tenant: Tenant, name: str, kind: str, area: str) -> list[Figure]:
    say(f"a year's report: {name}")
    sizes, results = ground.sizes, _child(ground, kind, area, tenant)
    again = sizes.again("yearreport", records=sizes.records, members=sizes.members)
    plain = f"a plain count of {results['rows']:,} records {results['plain']:.1f} s"
    lines = f"{results['lines']:,} lines with PDF and XLSX"
    page = f"/t/{tenant.slug}/reports/{results['id']}/"
    opened = percentile([ground.http().get(page)[0] for _ in range(_OPENED)], 0.5)
    return [
        Figure(f"{name}, found", f"{results['found']:.1f} s", plain, results["found"] / results["plain"], None, again),
        Figure(f"{name}, made by a worker, seconds", f"{results['made']:.1f} s", lines, results["made"],
               ("<=", 60), again),
        Figure(f"{name}, the worker's memory grows by", f"{results['made_memory']:.0f} MB", "", results["made_memory"],
               ("<=", 100), again),
        Figure(f"{name}, its page", ms(opened), "", None, None, again),
        *(_file(f"{name}, as {form.upper()}", form, results, again) for form in ("pdf", "xlsx")),
    ]  # fmt: skip


def _file(name: str, form: str, results: dict[str, Any], again: str) -> Figure:
    beside = f"{results[f'{form}_size']:.1f} MB, memory {results[f'{form}_memory']:+.0f} MB"
    return Figure(name, f"{results[form]:.1f} s", beside, command=again)


def _furnish(tenant: Tenant) -> None:
    """Give the log's IDs to the members, and give areas the log's doors: each door is in two."""
    with tenant_scope(tenant), connection.cursor() as cursor:
        cursor.execute(_PEOPLE, {"tenant": tenant.pk, "person": records.PERSON})
        listed = list(Area.objects.exclude(area_id=records.AREA).order_by("pk"))
        for number, area in enumerate(listed):
            doors = (f"d{(number * _DOORS_OF_AREA + each) % records.DOORS:03}" for each in range(_DOORS_OF_AREA))
            area.devices_list = [{"device_id": door, "in_out": "in"} for door in doors]
        Area.objects.bulk_update(listed, ["devices_list"])
    with as_owner() as owner:
        owner.execute("ANALYZE people_member, places_area")


def _child(ground: Ground, kind: str, area: str, tenant: Tenant) -> dict[str, Any]:
    """Run a separate process, so that its memory can be measured alone."""
    assert ground.user is not None
    command = [PYTHON, "-m", "bench.making", kind, area, str(tenant.pk), str(ground.user.pk)]
    done = subprocess.run(
        command, cwd=ROOT, env=child_environment(ground.house), stdout=subprocess.PIPE, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
