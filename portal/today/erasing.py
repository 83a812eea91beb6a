"""Erase guests' personal data when the tenant's retention after the end of a visit has passed.

The visit itself is kept with its hours, arrival, departure and way of issue, and months still count it. Guests who are
still here, or whose code may still open doors, are not erased. The audit log never has names of guests, because nothing
can be deleted from it (docs/decisions/0009).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Min, Q, QuerySet

from portal.base.timers.clock import database_now
from portal.domain.history import search as histories
from portal.domain.intents import actions
from portal.domain.intents.models import Intent, target_of
from portal.domain.people.models import Guest
from portal.domain.visits import checking_in, queries
from portal.domain.visits.days import Day
from portal.domain.visits.models import CodeLink, DeskAction, DeskSettings, Visit
from tenants import audit
from tenants.models import Tenant
from tenants.sentences import coded_sentence

log = structlog.get_logger(__name__)

ERASE = "portal.today.erase"  # the task of a tenant
INTERVAL = timedelta(hours=23)
_BATCH_SIZE = 2000
_listeners: list[Callable[[datetime], None]] = []


def due_visits(now: datetime) -> QuerySet[Visit]:
    """Return old visits of all tenants that were not checked today. Call it inside `across_tenants`."""
    done = DeskSettings.objects_across_tenants.filter(erased_through__gt=now - INTERVAL).values("tenant_id")
    old = Visit.objects_across_tenants.filter(erased_at__isnull=True, use_date_end__lt=now)
    return old.exclude(tenant_id__in=done)


def subscribe(listener: Callable[[datetime], None]) -> None:
    """Call `listener(before)` in the transaction and tenant scope of each erasure. Register at startup.

    For modules that store guests' data elsewhere, about visits that ended before that moment.
    """
    if listener not in _listeners:
        _listeners.append(listener)


def old_visits(before: datetime) -> QuerySet[Visit]:
    """Return visits whose data is due: ended before, the guest not here, and no code that may still open doors."""
    old = Visit.objects.filter(use_date_end__lt=before, erased_at__isnull=True)
    return old.exclude(queries.PRESENT).exclude(queries.UNCONFIRMED)


def retention_figures() -> dict[str, Any]:
    """Return how many visits have names, the end of the oldest, and how many the next run erases."""
    named = Visit.objects.filter(erased_at__isnull=True)
    due = old_visits(_erase_before(queries.desk_settings(), database_now()))
    return {"named": named.count(), "oldest": named.aggregate(end=Min("use_date_end"))["end"], "due": due.count()}


def _erase_before(settings: DeskSettings, now: datetime) -> datetime:
    """Return the moment before which a visit must have ended to be erased."""
    return now - timedelta(days=settings.keep_days)


def erase(tenant: Tenant, now: datetime | None = None) -> int:
    """Erase old data of the tenant in scope, once a day. Return the number of visits."""
    now = now or database_now()
    with transaction.atomic():
        settings = _claim(now)
        if settings is None:
            return 0
        before = _erase_before(settings, now)
        total = 0
        while ids := list(old_visits(before).order_by("pk").values_list("pk", flat=True)[:_BATCH_SIZE]):
            _erase(ids, now)
            total += len(ids)
        for forget in _listeners:
            forget(before)
        DeskAction.objects.filter(at__lt=now - INTERVAL).delete()
        if total:
            audit.record(
                tenant=tenant,
                by=None,
                by_label=audit.PORTAL_ACTOR,
                action="guests.erased",
                target="guests",
                summary=coded_sentence("guests.erased", n=total),
                after={"visits": total, "older_than_days": settings.keep_days},
            )
    if total:
        log.info("guests_erased", tenant_id=tenant.pk, visits=total)
    return total


def _claim(now: datetime) -> DeskSettings | None:
    """Return the tenant's settings if they were not claimed today yet, and claim them; else None."""
    DeskSettings.objects.bulk_create([DeskSettings()], ignore_conflicts=True)
    due = Q(erased_through__isnull=True) | Q(erased_through__lte=now - INTERVAL)
    claimed = DeskSettings.objects.filter(due).update(erased_through=now)
    return queries.desk_settings() if claimed else None


def _erase(ids: list[int], now: datetime) -> None:
    """Erase these visits with a few statements. Listeners erase their data in the same transaction."""
    visits = Visit.objects.filter(pk__in=ids)
    guest_ids = [one for one in visits.values_list("guest_id", flat=True) if one is not None]
    targets = [target_of("guest", one) for one in guest_ids]
    condition = Q(pk__in=visits.exclude(intent=None).values("intent_id")) | Q(target__in=targets)
    actions.erase(Intent.objects.filter(condition, operation__in=("create_guest", "update_guest")))
    Guest.objects.filter(guest_id__in=guest_ids).delete()
    histories.anonymise_people(guest_ids)
    CodeLink.objects.filter(visit__in=ids).delete()
    visits.update(
        guest_name="", name_key="", company="", host_member_id="", host_name="", host_key="", party=None, erased_at=now
    )


def open_visits() -> list[QuerySet[Visit]]:
    """Return visits of all tenants that are open since before today, only because of a code's use."""
    return [
        Visit.objects_across_tenants.filter(queries.PRESENT, checking_in.UNMARKED, arrived_at__lt=Day.today().start)
    ]


def end_day(tenant: Tenant) -> None:
    """Set the departure of visits that are open since before today, only because of a code's use."""
    checking_in.check_out_unseen(Day.today())
