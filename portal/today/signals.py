"""Register the app's parts that other apps run or show, and derive arrivals and departures from the log.

A code's first use is an arrival, the last use at an exit a departure. Only records of the categories for using doors
count. An exit is a door with that direction in the service, or a door into an outside area. Departures are only
suggested; a later use at another door removes the suggestion.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy, pgettext_lazy

from portal.base.timers import celery_app, rounds
from portal.base.timers.clock import database_now
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.intents import form_handling
from portal.domain.places.queries import directions_by_door, exit_doors, use_categories
from portal.domain.safety import rules
from portal.domain.sync import freshness
from portal.domain.visits import queries
from portal.domain.visits.days import Day
from portal.domain.visits.models import Visit
from portal.today import actions, erasing
from tenants import audit
from tenants.models import Tenant, current_tenant
from tenants.roles import Permission
from tenants.sentences import coded_sentence, register_actors, register_sentences, register_targets

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


nav.register(NavEntry("building", _("On site"), "users", "guests:building", Permission.BUILDING_VIEW))
# Receptionists have access only to these pages. So shared pages of the tenant are also available here.
nav.register_address("find", Permission.GUESTS_VIEW, "guests:find")
nav.register_address("banners", Permission.GUESTS_VIEW, "guests:banners")
freshness.register_footer("guests", MirrorKind.GUESTS, refresh_url_name="guests:refresh")
form_handling.mount_pages(Permission.GUESTS_DESK, "guests:request_")
rules.register(actions.RULE)
rounds.register(
    "open_visits",
    rounds.tenant_steps(erasing.open_visits, erasing.end_day),
    every=1800.0,
    queue="bulk",
    seconds=60,
)
celery_app.declare(erasing.ERASE, lambda: erasing.erase(current_tenant()), queue="bulk", seconds=280)
rounds.register(
    "guests_to_be_forgotten",
    rounds.enqueue_steps(erasing.ERASE, lambda: [erasing.due_visits(database_now())], expires=600),
    every=1800.0,
    queue="bulk",
)
events.subscribe(MirrorKind.HISTORIES, on_histories)
events.subscribe(MirrorKind.GUESTS, on_guests)


register_sentences(
    {
        "guest.arrived_by_code": _("Checked in by using the code: %(guest)s"),
        "guests.building_exported": ngettext_lazy(
            "List of %(n)s person in the building exported as %(kind)s",
            "List of %(n)s people in the building exported as %(kind)s",
            "n",
        ),
        "guests.month_exported": ngettext_lazy(
            "%(n)s visit of %(month)s exported as %(kind)s", "%(n)s visits of %(month)s exported as %(kind)s", "n"
        ),
        "guests.erased": ngettext_lazy(
            "Personal data of %(n)s past visit deleted", "Personal data of %(n)s past visits deleted", "n"
        ),
        "desk.settings": _("Desk settings changed"),
        "safety_rule.guest_retention": pgettext_lazy("safety rule", "Desk settings"),
    }
)
register_targets({"desk": _("Desk"), "guests": _("Guests")})
register_actors({"histories": _("The portal")})  # read from the service's log
