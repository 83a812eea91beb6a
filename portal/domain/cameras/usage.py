"""The period's limits of video (operation 29): used and reserved seconds, and the share for incidents.

Video flows from the service to the browser, not through the portal. So each viewing reserves a length before it begins,
which counts as used until the service's own total is newer. A share of each limit is reserved for incidents.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from accessapi.errors import ServiceError
from accessapi.resources.cameras import CameraUsage as ServiceUsage
from portal.base.timers.clock import database_now
from portal.domain.budget.priorities import Priority
from portal.domain.cameras.models import CameraUsage, Clip, Viewing
from portal.domain.sync.single_reads import call_shared
from tenants.models import Connection, current_tenant

INCIDENT_SHARE = 0.10
# After this time, the page of a live viewing asks whether the viewer is still there.
LIVE_SECONDS = 300
# The assumed length of a clip, because the service does not return it.
CLIP_SECONDS = 30
# The assumed validity of a clip's address, because the service does not return its end.
CLIP_VALID_FOR = timedelta(minutes=10)
_FRESH_FOR = timedelta(minutes=10)
# Used if nothing was loaded yet.
_NEVER_READ = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class VideoMeter:
    """Seconds of one kind of video in the period.

    `limit` is None if the service returned none, `per_view` belongs to a single viewing.
    """

    total: float
    reserved: float
    limit: float | None
    per_view: float

    @property
    def used(self) -> float:
        return self.total + self.reserved

    @property
    def reserved_for_incidents(self) -> float:
        """Return the seconds of the limit that are reserved for incidents."""
        return (self.limit or 0) * INCIDENT_SHARE

    @property
    def left(self) -> float | None:
        return None if self.limit is None else max(self.limit - self.used, 0)

    @property
    def percent(self) -> int:
        return min(round(100 * self.used / self.limit), 100) if self.limit else 0

    @property
    def is_used_up(self) -> bool:
        """Return True if there is no room for a viewing outside the share for incidents."""
        return not self.has_room(self.per_view, incident=False)

    @property
    def is_nearly_used_up(self) -> bool:
        """Return True if at most one more viewing fits outside the share for incidents."""
        return not self.has_room(2 * self.per_view, incident=False)

    def has_room(self, seconds: float, *, incident: bool) -> bool:
        """Return True if so many seconds more may be reserved."""
        return self.limit is None or self.used + seconds <= self.limit - (
            0 if incident else self.reserved_for_incidents
        )


@dataclass(frozen=True)
class Usage:
    streaming: VideoMeter
    downloads: VideoMeter
    since: datetime | None
    until: datetime | None
    read_at: datetime | None

    @property
    def is_known(self) -> bool:
        return self.read_at is not None and self.streaming.limit is not None


def current_usage() -> Usage:
    """Return the current tenant's usage as last loaded, with later reservations. One statement.

    Before the first load no limit is known, and there is no restriction.
    """
    row = _rows().first() or CameraUsage()
    unit = current_tenant().environment.catalogue.media.usage_seconds
    if row.until is not None and row.until < database_now():  # the total of an ended period does not apply to this one
        row.streaming_total, row.download_total = 0.0, 0.0
    apart, shown = (getattr(row, name, None) or 0 for name in ("apart", "shown"))
    return Usage(
        VideoMeter((row.streaming_total or 0) * unit, apart, _seconds(row.streaming_limit, unit), LIVE_SECONDS),
        VideoMeter(
            (row.download_total or 0) * unit, CLIP_SECONDS * shown, _seconds(row.download_limit, unit), CLIP_SECONDS
        ),
        row.since,
        row.until,
        row.read_at,
    )


def _rows() -> QuerySet[CameraUsage]:
    """Return the tenant's usage with reservations since it was loaded: `apart` in seconds, `shown` in clips."""
    read_at = Coalesce(OuterRef("read_at"), Value(_NEVER_READ))
    viewings = Viewing.objects.filter(tenant=OuterRef("tenant"), ends_at__gt=read_at)
    clips = Clip.objects.filter(tenant=OuterRef("tenant"), shown_at__gt=read_at - CLIP_VALID_FOR)
    return CameraUsage.objects.annotate(apart=_sum(viewings, "seconds"), shown=_sum(clips, "shown"))


def _sum(rows: QuerySet[Any], name: str) -> Subquery:
    return Subquery(rows.order_by().values("tenant").annotate(sum=Sum(name)).values("sum"))


def may_download(*, incident: bool) -> bool:
    """Return True if one more clip fits into this period; with `incident` also into the share for incidents."""
    return current_usage().downloads.has_room(CLIP_SECONDS, incident=incident)


def refresh_if_old(connection: Connection, priority: Priority) -> None:
    """Load the usage again if it is older than ten minutes. Raises ServiceError."""
    row = CameraUsage.objects.first()
    if row is not None and row.read_at is not None and row.read_at > database_now() - _FRESH_FOR:
        return
    requested_at = database_now()
    usage = ServiceUsage.model_validate(call_shared(connection, "camera_usage", {}, priority)[0])
    values = {
        "since": usage.since,
        "until": usage.until,
        "streaming_total": usage.tenant_streaming_total,
        "streaming_limit": usage.tenant_streaming_limit,
        "download_total": usage.tenant_download_total,
        "download_limit": usage.tenant_download_limit,
        "read_at": requested_at,
    }
    CameraUsage.objects.update_or_create(tenant=current_tenant(), defaults=values)


def refreshed_usage(connection: Connection) -> Usage:
    """Return the usage for a page, loaded again if it is old. If that fails, return the last known usage."""
    if connection.is_connected:
        try:
            refresh_if_old(connection, Priority.PEOPLE)
        except ServiceError:
            return current_usage()
    return current_usage()


def _seconds(limit: float | None, unit: float) -> float | None:
    return None if limit is None else limit * unit
