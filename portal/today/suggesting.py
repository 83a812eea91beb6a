"""Derive arrivals and departures from the log: a code's first use is an arrival, the last use at an exit a departure.

Only records of the categories for using doors count. An exit is a door with that direction in the service, or a door
into an outside area. Departures are only suggested; a later use at another door removes the suggestion.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from portal.domain.mirror.door_areas import directions_by_door, exit_doors, use_categories
from portal.domain.mirror.models import History
from portal.domain.visits import queries
from portal.domain.visits.days import Day
from portal.domain.visits.models import Visit
from tenants import audit
from tenants.models import Tenant
from tenants.wording import coded_sentence

AUDIT_LABEL = "histories"

# One statement for all guests. Arrivals are set automatically only with the first suggestion, and on a later day of a
# visit after an earlier departure: so arrivals that the desk has undone are not set again. If all uses were before
# today, the last one is the departure, because the first sync loads a week of histories.
_UPDATE = """
WITH used AS (
    SELECT member_id, coalesce(min(at) FILTER (WHERE at >= %(today)s), min(at)) AS first, max(at) AS last,
           (array_agg(device_name ORDER BY at < %(today)s, at, id))[1] AS first_place,
           (array_agg(device_name ORDER BY at DESC, id DESC))[1] AS last_place,
           (array_agg(device_id ORDER BY at DESC, id DESC))[1] AS last_device
      FROM {history} WHERE tenant_id = %(tenant)s AND category = ANY(%(used)s)
       AND member_id = ANY(%(guests)s) AND member_id <> '' -- said for the partial index, which many guests do not prove
     GROUP BY member_id
), changed AS (
    SELECT v.id, used.*, used.last < %(today)s AS is_old,
           v.left_at IS NULL AND v.arrived_at IS NULL AND v.suggested_arrival_at IS NULL
           OR v.left_at < least(%(today)s, used.first) AND used.last >= %(today)s
              AND v.use_date_end >= %(today)s AS is_new,
           CASE WHEN used.last > used.first AND used.last_device = ANY(%(exits)s) THEN used.last END AS leave
      FROM {visit} AS v JOIN used ON used.member_id = v.guest_id
     WHERE v.tenant_id = %(tenant)s AND v.erased_at IS NULL
       AND (v.suggested_arrival_at, v.last_use_at) IS DISTINCT FROM (used.first, used.last)
     ORDER BY v.id FOR UPDATE OF v
)
UPDATE {visit} AS v
   SET suggested_arrival_at = changed.first, first_use_place = changed.first_place,
       last_use_at = changed.last, last_use_place = changed.last_place, suggested_leave_at = changed.leave,
       arrived_at = CASE WHEN changed.is_new AND %(arrives)s THEN changed.first ELSE v.arrived_at END,
       arrived_by = CASE WHEN changed.is_new AND %(arrives)s THEN 'history' ELSE v.arrived_by END,
       left_at = CASE WHEN changed.is_new AND %(arrives)s THEN CASE WHEN changed.is_old THEN changed.last END
                      ELSE v.left_at END,
       left_by = CASE WHEN changed.is_new AND %(arrives)s THEN CASE WHEN changed.is_old THEN 'history' ELSE '' END
                      ELSE v.left_by END
  FROM changed WHERE v.id = changed.id
RETURNING v.id, changed.is_new AND %(arrives)s, changed.first
"""


def on_histories(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Update suggestions for new records.

    This is a listener of the mirror, in the transaction that saves the records.
    """
    categories = tenant.environment.catalogue.records.used
    update_suggestions(tenant, {row.member_id for row in histories if row.member_id and row.category in categories})


def on_guests(tenant: Tenant) -> None:
    """Update suggestions after a new list of guests: records from before their visit was known now count."""
    waiting = Visit.objects.filter(guest_id__isnull=False, last_use_at__isnull=True, erased_at__isnull=True)
    update_suggestions(
        tenant, {str(visit.guest_id) for visit in waiting.filter(gone_at__isnull=True).only("tenant_id", "guest_id")}
    )


def update_suggestions(tenant: Tenant, guest_ids: set[str]) -> None:
    """Update the suggestions of these guests' visits from the mirrored histories."""
    if not guest_ids:
        return
    names = {"visit": Visit._meta.db_table, "history": History._meta.db_table}
    values: dict[str, Any] = {
        "tenant": tenant.pk,
        "used": use_categories(),
        "guests": sorted(guest_ids),
        "exits": sorted(exit_doors(directions_by_door())),
        "today": Day.today().start,
        "arrives": queries.desk_settings().arrives_by_history,
    }
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE.format(**names), values)
        arrived = [(visit_id, first) for visit_id, is_arrival, first in cursor.fetchall() if is_arrival]
    for visit_id, first in arrived:
        audit.record(
            tenant=tenant,
            by=None,
            by_label=AUDIT_LABEL,
            action="guest.arrived",
            target=f"visit:{visit_id}",
            summary=coded_sentence("guest.arrived_by_code"),
            after={"arrived_at": first.isoformat(timespec="seconds"), "arrived_by": "history"},
        )
