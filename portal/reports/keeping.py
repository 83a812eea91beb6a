"""How long reports are kept: as long as the log, and with their names no longer than the data of guests in them."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from portal.core.timers import rounds
from portal.core.timers.clock import ClockTime
from portal.evidence import store
from portal.evidence.models import StoredFile
from portal.reports.models import Report
from portal.today import erasing
from tenants import audit
from tenants.models import Tenant
from tenants.wording import say

#: Records of the log are kept for as long.
DAYS_KEPT = 400


def forget_guests(before: datetime) -> None:
    """Delete the files of reports with names of guests whose visits ended before; their figures stay."""
    rows = Report.objects.filter(named_since__lt=before, files_deleted_at=None, made_at__isnull=False)
    files = _files(rows)
    rows.update(file=None, pdf=None, book=None, files_deleted_at=ClockTime())
    store.delete_soon(StoredFile.objects.filter(pk__in=files))


def delete_old(tenant: Tenant) -> int:
    """Delete the tenant's reports whose time is over. Returns how many."""
    with transaction.atomic():
        rows = Report.objects.filter(_is_old())
        files, count = _files(rows), rows.count()
        if count == 0:
            return 0
        rows.delete()
        store.delete_soon(StoredFile.objects.filter(pk__in=files))
        said = say("report.deleted", n=count)
        audit.record(
            tenant=tenant, by=None, by_label=audit.PORTAL, action=said.code, target="report", summary=said,
            after={"older_than_days": DAYS_KEPT},
        )  # fmt: skip
    return count


def _files(rows: QuerySet[Report]) -> list[int]:
    return [pk for each in rows.values_list("file", "pdf", "book") for pk in each if pk is not None]


def _is_old() -> Q:
    return Q(asked_at__lt=ClockTime() - timedelta(days=DAYS_KEPT), due_at=None)


def _old() -> list[QuerySet[Report]]:
    return [Report.objects_across_tenants.filter(_is_old())]


def register() -> None:
    erasing.also(forget_guests)
    rounds.register("old_reports", rounds.of_tenants(_old, delete_old), every=3600.0, queue="bulk")
