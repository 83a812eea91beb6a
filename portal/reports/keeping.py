"""Delete old reports: they are kept as long as the log. Files with guests' names are deleted with the guests' data."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from portal.base.timers.clock import ClockTime
from portal.evidence import store
from portal.evidence.models import StoredFile
from portal.reports.models import Report
from tenants import audit
from tenants.models import Tenant
from tenants.wording import coded_sentence

# As long as records of the log are kept.
RETENTION_DAYS = 400


def delete_guest_files(before: datetime) -> None:
    """Delete the files of reports that name guests whose visits ended before this time. Their figures are kept."""
    rows = Report.objects.filter(named_since__lt=before, files_deleted_at=None, made_at__isnull=False)
    files = _files(rows)
    rows.update(file=None, pdf=None, book=None, files_deleted_at=ClockTime())
    store.schedule_deletion(StoredFile.objects.filter(pk__in=files))


def delete_old_reports(tenant: Tenant) -> int:
    """Delete the tenant's old reports. Return their number."""
    with transaction.atomic():
        rows = Report.objects.filter(_is_old())
        files, count = _files(rows), rows.count()
        if count == 0:
            return 0
        rows.delete()
        store.schedule_deletion(StoredFile.objects.filter(pk__in=files))
        said = coded_sentence("report.deleted", n=count)
        audit.record(
            tenant=tenant, by=None, by_label=audit.PORTAL_ACTOR, action=said.code, target="report", summary=said,
            after={"older_than_days": RETENTION_DAYS},
        )  # fmt: skip
    return count


def _files(rows: QuerySet[Report]) -> list[int]:
    return [pk for each in rows.values_list("file", "pdf", "book") for pk in each if pk is not None]


def _is_old() -> Q:
    return Q(asked_at__lt=ClockTime() - timedelta(days=RETENTION_DAYS), due_at=None)


def old_reports() -> list[QuerySet[Report]]:
    """Return the old reports of all tenants."""
    return [Report.objects_across_tenants.filter(_is_old())]
