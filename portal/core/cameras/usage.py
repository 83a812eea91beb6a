"""The period's limits of video (operation 29): what is used, what is set apart, and who may have the last of it.

Video flows from the service to the browser, past the portal. So each look is given a length before it begins, which
counts as used until the service's own total is newer. A share of every limit is kept for incidents.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from accessapi.errors import ServiceError
from accessapi.resources.cameras import CameraUsage as Told
from portal.core.budget.priorities import Priority
from portal.core.cameras.models import CameraUsage, Clip, Viewing
from portal.core.mirror.single_reads import call_shared
from portal.core.timers.clock import database_now
from tenants.models import Connection, current_tenant

INCIDENT_SHARE = 0.10
# A live look lasts so long before the page asks again whether somebody is still there.
LIVE_SECONDS = 300
# What a record's clip is taken to be long, of which nobody tells the length.
CLIP_SECONDS = 30
# How long a clip's address is taken for good: the service says nothing of its end.
CLIP_VALID_FOR = timedelta(minutes=10)
_FRESH_FOR = timedelta(minutes=10)
# Before anything was read.
_NEVER_READ = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class VideoMeter:
    """Seconds of one kind of video in the period: `limit` None where the service told none, `one` of a single look."""

    total: float
    reserved: float
    limit: float | None
    per_view: float

    @property
    def used(self) -> float:
        return self.total + self.reserved

    @property
    def reserved_for_incidents(self) -> float:
        """Seconds of the limit that are for incidents alone."""
        return (self.limit or 0) * INCIDENT_SHARE

    @property
    def left(self) -> float | None:
        return None if self.limit is None else max(self.limit - self.used, 0)

    @property
    def percent(self) -> int:
        return min(round(100 * self.used / self.limit), 100) if self.limit else 0

    @property
    def is_used_up(self) -> bool:
        """Whether besides the share for incidents not even one look is left."""
        return not self.has_room(self.per_view, incident=False)

    @property
    def is_nearly_used_up(self) -> bool:
        """Whether this look or the next uses the last that is left besides the share for incidents."""
        return not self.has_room(2 * self.per_view, incident=False)

    def has_room(self, seconds: float, *, incident: bool) -> bool:
        """Whether so many seconds more may be set apart."""
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
    """Return the usage of the tenant in scope as last read, with what is set apart since. One statement.

    Before anything was read no limit is known, and nothing is counted against it.
    """
    row = _rows().first() or CameraUsage()
    unit = current_tenant().environment.catalogue.media.usage_seconds
    if row.until is not None and row.until < database_now():  # a period that is over says nothing of this one
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
    """The tenant's usage with what was set apart since it was read: `reserved` in seconds, `shown` in clips."""
    read_at = Coalesce(OuterRef("read_at"), Value(_NEVER_READ))
    viewings = Viewing.objects.filter(tenant=OuterRef("tenant"), ends_at__gt=read_at)
    clips = Clip.objects.filter(tenant=OuterRef("tenant"), shown_at__gt=read_at - CLIP_VALID_FOR)
    return CameraUsage.objects.annotate(apart=_sum(viewings, "seconds"), shown=_sum(clips, "shown"))


def _sum(rows: QuerySet[Any], name: str) -> Subquery:
    return Subquery(rows.order_by().values("tenant").annotate(sum=Sum(name)).values("sum"))


def may_download(*, incident: bool) -> bool:
    """Whether one clip more may be downloaded in this period; with `incident` also from the share kept for those."""
    return current_usage().downloads.has_room(CLIP_SECONDS, incident=incident)


def refresh_if_old(connection: Connection, priority: Priority) -> None:
    """Read the usage again when what is known of it is older than ten minutes. Raises the error tree."""
    row = CameraUsage.objects.first()
    if row is not None and row.read_at is not None and row.read_at > database_now() - _FRESH_FOR:
        return
    asked_at = database_now()
    told = Told.model_validate(call_shared(connection, "camera_usage", {}, priority)[0])
    said = {
        "since": told.since,
        "until": told.until,
        "streaming_total": told.tenant_streaming_total,
        "streaming_limit": told.tenant_streaming_limit,
        "download_total": told.tenant_download_total,
        "download_limit": told.tenant_download_limit,
        "read_at": asked_at,
    }
    CameraUsage.objects.update_or_create(tenant=current_tenant(), defaults=said)


def refreshed_usage(connection: Connection) -> Usage:
    """Return the usage, read again where that is due and works: for a page, which shows what is known otherwise."""
    if connection.is_connected:
        try:
            refresh_if_old(connection, Priority.PEOPLE)
        except ServiceError:
            return current_usage()
    return current_usage()


def _seconds(limit: float | None, unit: float) -> float | None:
    return None if limit is None else limit * unit
