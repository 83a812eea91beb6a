"""Keep the pictures of cameras on open pages recent, with calls that all viewers share.

A page with pictures reports every few seconds which cameras it shows. Those are loaded again in calls of ten. They
use at most a quarter of the hour's device calls, and none while half of them are used. Other cameras cost no calls.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accessapi.errors import NotFound, ServiceError
from accessapi.limits import SNAPSHOT_CAMERAS_MAX
from accessapi.operations import CallClass
from portal.base.timers import rounds
from portal.base.timers.celery_app import enqueue, enqueue_after_commit
from portal.base.timers.clock import ClockTime
from portal.domain.budget import ledger
from portal.domain.budget.priorities import MAX_SHARE_FOR_SYNC, Priority
from portal.domain.cameras import pictures
from portal.domain.cameras.models import Camera, Clip, Picture, Viewing
from portal.domain.sync import freshness
from tenants.connections.service_clients import current_connection
from tenants.models import Connection
from tenants.scope import across_tenants, current_tenant_id

READ_IN_SIGHT = "portal.domain.cameras.read_in_sight"
# An open page reports every five seconds; less often if many pages are open.
_IN_SIGHT_FOR, _WRITTEN_EVERY = timedelta(seconds=60), timedelta(seconds=20)
# The shortest time between two rounds, and the maximum age of the status of a camera without a picture.
_SOONEST, _STATUS_FOR = timedelta(seconds=60), timedelta(minutes=10)
_STATUSES_AT_ONCE = 5
# How long cameras are not requested after the service refused them.
_REFUSED_FOR = timedelta(minutes=15)
_VIEWINGS_FOR = timedelta(days=40)


def mark_in_sight(cameras: Iterable[Camera]) -> None:
    """Record that an open page shows these cameras. Load those at once that no page showed before."""
    ages = {camera.pk: _age_of(camera.looked_at) for camera in cameras}
    stale = [pk for pk, age in ages.items() if age > _WRITTEN_EVERY]
    if not stale:
        return
    if max(ages.values()) > _IN_SIGHT_FOR:
        enqueue_after_commit(READ_IN_SIGHT, current_tenant_id())
    Camera.objects.filter(pk__in=stale).update(looked_at=ClockTime())


def _age_of(looked_at: datetime | None) -> timedelta:
    """Return how long ago that was. The machine's clock is used: it only decides what is written again."""
    return timedelta.max if looked_at is None else timezone.now() - looked_at


def rows_in_sight() -> list[QuerySet[Camera]]:
    """Return the cameras on open pages, of all connected tenants."""
    return [_in_sight(Camera.objects_across_tenants.filter(tenant_id__in=Connection.connected_tenants()))]


def check_due() -> None:
    with across_tenants("the watch looks for cameras in sight of every tenant"):
        found = list(rows_in_sight()[0].values_list("tenant_id", flat=True).distinct())
    enqueue(READ_IN_SIGHT, [(tenant_id,) for tenant_id in found])


def read_in_sight() -> int:
    """Load pictures and statuses that are due for the tenant's cameras on open pages. Return the number of calls."""
    connection = current_connection()
    if not connection.is_connected:
        return 0
    hour = ledger.read_gauge(connection, CallClass.DEVICE)
    if not hour.may_call(Priority.WATCHED):
        return 0
    if freshness.is_operation_refused(connection, "camera_snapshots"):
        return _try_again(connection)
    return _read_statuses(connection) + _read_pictures(connection, hour.limit)


def _try_again(connection: Connection) -> int:
    """Request one picture now and then to check whether cameras are still refused."""
    camera = _in_sight(Camera.objects.filter(is_missing=False)).order_by("pk").first()
    recent = Picture.objects.filter(at=None, requested_at__gt=ClockTime() - _REFUSED_FOR)
    if camera is None or recent.exists():
        return 0
    try:
        pictures.read(connection, [camera], Priority.SYNC)
    except ServiceError as error:
        pictures.save_trouble([camera], error)
    return 1


def round_duration(cameras: int, limit: int) -> timedelta:
    """Return how long a round of so many cameras lasts, with `limit` device calls an hour."""
    calls = math.ceil(cameras / SNAPSHOT_CAMERAS_MAX)
    return max(_SOONEST, timedelta(seconds=calls * 3600 / max(limit * MAX_SHARE_FOR_SYNC, 1)))


def delete_old(after: int) -> Iterator[int]:
    """Delete pictures of moments after a day, viewings that no period counts any more, and expired addresses."""
    yield from rounds.delete_steps(_old_rows)(after)
    yield after
    now = ClockTime()
    with across_tenants("what rests of pictures and looks is forgotten alike for every tenant"):
        addressed = Viewing.objects_across_tenants.filter(address__isnull=False)
        addressed.filter(ends_at__lt=now, expires_at__lt=now).update(address=None)
        clips = Clip.objects_across_tenants.filter(address__isnull=False)
        clips.filter(answered_at__lt=now - pictures.MOMENTS_RETENTION).update(address=None)


def _old_rows() -> list[QuerySet[Any]]:
    now = ClockTime()
    return [
        Picture.objects_across_tenants.filter(at__isnull=False, requested_at__lt=now - pictures.MOMENTS_RETENTION),
        Viewing.objects_across_tenants.filter(ends_at__lt=now - _VIEWINGS_FOR),
        Clip.objects_across_tenants.filter(shown_at__lt=now - _VIEWINGS_FOR),
    ]


def _read_statuses(connection: Connection) -> int:
    """Load single statuses where pictures give none: of at most five cameras that are due.

    These are suspects of a group that was refused as a whole, and cameras that gave no picture or were offline some
    time ago.
    """
    old = Q(status_at__isnull=True) | Q(status_at__lt=ClockTime() - _STATUS_FOR)
    blind = Exists(Picture.objects.filter(camera=OuterRef("pk"), at=None, trouble="none"))
    condition = Q(is_suspect=True) | (old & (Q(is_connected=False) | Q(blind)))
    due = _in_sight(Camera.objects.filter(is_missing=False)).filter(condition).order_by("-is_suspect", "pk")
    read = 0
    for camera in due[:_STATUSES_AT_ONCE]:
        try:
            pictures.read_status(connection, camera, Priority.WATCHED)
        except ServiceError as error:
            pictures.save_trouble([camera], error)
            break
        read += 1
    return read


def _read_pictures(connection: Connection, limit: int) -> int:
    cameras = _in_sight(Camera.objects.filter(is_missing=False, is_suspect=False))
    old = ClockTime() - round_duration(cameras.count(), limit)
    recent = Picture.objects.filter(camera=OuterRef("pk"), at=None, requested_at__gte=old)
    due = list(cameras.filter(~Exists(recent)).order_by("pk"))
    calls = 0
    for group in _grouped(due):
        try:
            pictures.read(connection, group, Priority.WATCHED)
        except NotFound:  # one of them does not exist: each is requested separately
            Camera.objects.filter(pk__in=[camera.pk for camera in group]).update(is_suspect=True)
        except ServiceError as error:
            pictures.save_trouble(group, error)
            break
        calls += 1
    return calls


def _grouped(cameras: Sequence[Camera]) -> list[Sequence[Camera]]:
    return [cameras[at : at + SNAPSHOT_CAMERAS_MAX] for at in range(0, len(cameras), SNAPSHOT_CAMERAS_MAX)]


def _in_sight(rows: QuerySet[Camera]) -> QuerySet[Camera]:
    return rows.filter(looked_at__gt=ClockTime() - _IN_SIGHT_FOR)
