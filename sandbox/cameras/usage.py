"""Seconds of video that a tenant fetched in the current period, counted with one atomic statement."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import connection

from sandbox.behaviour import Behaviour
from sandbox.errors import USAGE_REACHED, ApiError
from sandbox.service.models import CameraUse, Tenant

Kind = Literal["streamed", "downloaded"]
_WORDS = {"streamed": "streaming", "downloaded": "downloads"}
# Concurrent fetches queue on the row. After the limit is reached, the statement changes nothing and returns nothing.
_COUNT_SECONDS = """
INSERT INTO service_camerause AS u (tenant_id, since, streamed, downloaded)
SELECT %(tenant)s, %(since)s, %(streamed)s, %(downloaded)s WHERE %(limit)s > 0
ON CONFLICT (tenant_id, since) DO UPDATE SET
    streamed = u.streamed + EXCLUDED.streamed, downloaded = u.downloaded + EXCLUDED.downloaded
WHERE u.{kind} < %(limit)s
RETURNING 1
"""


@dataclass(frozen=True)
class VideoUsage:
    """Seconds fetched in the period that began at `since`."""

    since: datetime
    until: datetime
    streamed: float
    downloaded: float


def period_of(now: datetime) -> tuple[datetime, datetime]:
    """Return the first and the last second of the calendar month, in the zone of `now`."""
    since = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return since, (since + timedelta(days=32)).replace(day=1) - timedelta(seconds=1)


def current_usage(tenant: Tenant, now: datetime) -> VideoUsage:
    """Return the tenant's current usage."""
    since, until = period_of(now)
    row = CameraUse.objects.filter(tenant=tenant, since=since).first()
    return VideoUsage(since, until, row.streamed if row else 0.0, row.downloaded if row else 0.0)


def check_limit(tenant: Tenant, kind: Kind, behaviour: Behaviour, now: datetime) -> None:
    """Raise ApiError if the limit of the period is reached."""
    if getattr(current_usage(tenant, now), kind) >= _limit(kind, behaviour):
        raise _limit_error(kind)


def count_seconds(tenant_id: str, kind: Kind, seconds: float, behaviour: Behaviour, now: datetime) -> None:
    """Count the fetched seconds; correct for any number of threads and processes.

    Raises ApiError, without counting, if the limit was reached before.
    """
    values: dict[str, Any] = {"tenant": tenant_id, "since": period_of(now)[0], "limit": _limit(kind, behaviour)}
    values |= {"streamed": 0.0, "downloaded": 0.0} | {kind: seconds}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_SECONDS.format(kind=kind), values)
        if cursor.fetchone() is None:
            raise _limit_error(kind)


def _limit(kind: Kind, behaviour: Behaviour) -> float:
    return behaviour.streaming_limit if kind == "streamed" else behaviour.download_limit


def _limit_error(kind: Kind) -> ApiError:
    return ApiError(403, USAGE_REACHED, f"the limit of {_WORDS[kind]} of this period is reached")
