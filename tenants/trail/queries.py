"""Reading the audit trail, newest first, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.core.signing import BadSignature, Signer
from django.db.models import Q
from django.utils import timezone

from tenants.models import AuditEntry

PAGE = 50
_signer = Signer(salt="tenants.trail.cursor")


@dataclass(frozen=True)
class Wanted:
    """What to show. `action` is a prefix ("connection" or "connection.reissue")."""

    action: str = ""
    person: str = ""
    target: str = ""
    since: date | None = None
    until: date | None = None
    support_only: bool = False


@dataclass(frozen=True)
class Page:
    """Up to 50 entries, and the cursor of the next page, if there is one."""

    entries: list[AuditEntry]
    next: str


def page(wanted: Wanted, cursor: str = "") -> Page:
    """Entries of the entered tenant older than the cursor. A cursor that is not ours starts anew."""
    rows = AuditEntry.objects.select_related("by", "support_session").order_by("-at", "-pk")
    if wanted.action:
        rows = rows.filter(action__startswith=wanted.action)
    if wanted.person:
        rows = rows.filter(Q(by__email__icontains=wanted.person) | Q(by_label__icontains=wanted.person))
    if wanted.target:
        rows = rows.filter(target__startswith=wanted.target)
    if wanted.since:
        rows = rows.filter(at__gte=_midnight(wanted.since))
    if wanted.until:
        rows = rows.filter(at__lt=_midnight(wanted.until) + timedelta(days=1))
    if wanted.support_only:
        rows = rows.exclude(support_session=None)
    at, pk = _read(cursor)
    if at is not None:
        rows = rows.filter(Q(at__lt=at) | Q(at=at, pk__lt=pk))
    entries = list(rows[: PAGE + 1])
    more = len(entries) > PAGE
    entries = entries[:PAGE]
    return Page(entries, _write(entries[-1]) if more else "")


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _write(entry: AuditEntry) -> str:
    return _signer.sign(f"{entry.at.isoformat()}/{entry.pk}")


def _read(cursor: str) -> tuple[datetime | None, int]:
    try:
        at, _, pk = _signer.unsign(cursor).partition("/")
    except BadSignature:
        return None, 0
    return datetime.fromisoformat(at), int(pk)
