"""Cameras and evidence: the calls of a camera wall, and an incident of 200 records and 50 clips."""

import contextlib
import time
from datetime import timedelta

import psycopg
from django.db.models import F
from django.utils import timezone

from bench.figures import Figure
from bench.ground import Ground, say
from portal.base.timers.celery_app import enqueue
from portal.domain.cameras import refreshing
from portal.domain.cameras.models import Camera, Picture
from portal.domain.history import partitions
from portal.domain.history.models import History
from portal.evidence import actions
from portal.evidence.items import item_of_record, item_of_video
from portal.evidence.models import Export, Item
from tests.support.door_boards import until_quiet
from tests.support.evidence import at_cameras
from tests.support.house import together
from tests.support.memory import Memory
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

CAMERAS, VIEWERS = 40, 20
RECORDS, CLIPS = 200, 50
_PATIENCE = 600.0
_MORE = """
INSERT INTO service_camera (tenant_id, camera_id, name, scene, is_connected)
SELECT %s, 'more-' || number, 'Camera ' || number, 'corridor', true FROM generate_series(1, %s) number
"""


def wall(ground: Ground) -> list[Figure]:
    """Count the device calls of an hour in which a wall of forty cameras is open, for one viewer and for twenty."""
    say("an hour of a wall of cameras, twice, in minutes that pass quickly")
    calls = {}
    for viewers in (1, VIEWERS):
        with ground.house.stage() as stage:
            calls[viewers] = _hour(stage.customer(), viewers)
    note = "pictures and status together; a round of forty takes as long as a quarter of the device calls allows"
    return [Figure(f"calls an hour of a wall of {CAMERAS} cameras, {VIEWERS} viewers", str(calls[VIEWERS]),
                   f"one viewer {calls[1]}", calls[VIEWERS] / calls[1], ("<=", 1), ground.sizes.again("wall"),
                   note)]  # fmt: skip


def _hour(customer: Customer, viewers: int) -> int:
    """Return the device calls of an hour in which so many people have the wall open."""
    with_cameras(customer, CAMERAS)
    before = _calls(customer)
    with contextlib.ExitStack() as stack:
        person = customer.staff("facility manager")
        browsers = [stack.enter_context(customer.browser(person)) for _ in range(viewers)]
        for _minute in range(60):
            together(lambda viewer: browsers[viewer].get(customer.url("cameras/")), viewers)
            enqueue(refreshing.READ_IN_SIGHT, [(customer.tenant.pk,)])
            until_quiet(lambda: _calls(customer))
            _a_minute_later(customer)
    return _calls(customer) - before


def with_cameras(customer: Customer, count: int) -> list[str]:
    """Add so many cameras to the service's tenant, enter them, and return their IDs, the added ones last."""
    sandbox, tenant_id = customer.house.sandbox, customer.service.tenant_id
    known = [each["camera_id"] for each in sandbox.look("cameras", tenant_id=tenant_id)["cameras"]]
    more = [f"more-{number}" for number in range(1, count - len(known) + 1)]
    with psycopg.connect(sandbox.database_url, autocommit=True) as service:
        service.execute(_MORE, [tenant_id, len(more)])
    with customer.scope():
        Camera.objects.bulk_create(Camera(camera_id=name, name=name) for name in (*known, *more))
    return [*known, *more]


def _calls(customer: Customer) -> int:
    return len(customer.calls(30)) + len(customer.calls(32))


def _a_minute_later(customer: Customer) -> None:
    """Move the times of all readings and looks back by a minute."""
    minute = timedelta(minutes=1)
    with customer.scope():
        Picture.objects.update(requested_at=F("requested_at") - minute, taken_at=F("taken_at") - minute)
        Camera.objects.update(status_at=F("status_at") - minute, looked_at=F("looked_at") - minute)


def incident(ground: Ground) -> list[Figure]:
    """Measure an incident of 200 records and 50 clips: seconds until all are stored and exported, and the memory."""
    say(f"an incident of {RECORDS} records and {CLIPS} clips")
    again = ground.sizes.again("evidence")
    with ground.house.stage() as stage:
        customer, clips = _with_records(stage)
        asker = customer.asker("facility manager")
        with customer.scope():
            made = actions.open_incident(title="Bench", began_at=timezone.now(), ended_at=None, by=asker)
            records = list(History.objects.order_by("at"))
            items = [*map(item_of_record, records), *map(item_of_video, records[:clips])]
        memory, began = Memory(ground.house.steady), time.perf_counter()
        with customer.scope():
            actions.add_items(incident=made, items=items, by=asker)
            waiting = Item.objects.filter(media=Item.Media.WANTED)
            until(lambda: not waiting.exists(), _PATIENCE, saying="all clips are stored", pause=0.1)
            stored, began_again = time.perf_counter() - began, time.perf_counter()
            export = actions.request_export(incident=made, by=asker)
            until(lambda: Export.objects.get(pk=export.pk).file_id, _PATIENCE, saying="the export is there", pause=0.1)
            exported = time.perf_counter() - began_again
            found = Export.objects.select_related("file").get(pk=export.pk)
            bytes_of_clips = sum(each.file.size for each in Item.objects.exclude(file=None).select_related("file"))
            count = Item.objects.filter(media=Item.Media.STORED).count()
    size = f"{bytes_of_clips / 1e6:,.0f} MB of video, ZIP {found.file.size / 1e6:,.0f} MB" if found.file else ""
    return [
        Figure(f"{count} clips of {clips} asked for and stored", f"{stored:.1f} s", size, command=again),
        Figure(f"export of {len(records)} records and {count} clips", f"{exported:.1f} s", "", command=again),
        Figure("the worker's memory grows by", f"{memory.growth / 1024:.0f} MB", "", memory.growth / 1024, ("<=", 100),
               again),
    ]  # fmt: skip


def _with_records(stage: Stage) -> tuple[Customer, int]:
    """Return a customer with so many records, the first of which have video, and how many of these there are."""
    customer = stage.customer(members=300, behaviour={"video_lag_seconds": 0})
    tenant_id = customer.service.tenant_id
    filmed = [each for each, _camera_id in at_cameras(stage.house.sandbox, tenant_id)][:CLIPS]
    records = stage.house.sandbox.look("histories", tenant_id=tenant_id)["histories"]
    others = [each for each in records if each not in filmed][: RECORDS - len(filmed)]
    at = timezone.now() - timedelta(hours=1)
    with customer.scope():
        partitions.ensure_partitions([at])
        History.objects.bulk_create(
            History(
                history_id=each["history_id"],
                at=at + timedelta(seconds=number),
                device_id=(each["device"] or {}).get("id", ""),
                member_name="佐藤 太郎",
            )
            for number, each in enumerate([*filmed, *others])
        )
    return customer, len(filmed)
