"""Pictures and video: their addresses are secret, and evidence of them is complete even if workers are killed."""

import re
import time
from datetime import timedelta

import psycopg
import pytest
from django.utils import timezone

from portal.base.storage.models import StoredFile
from portal.base.timers.clock import database_now
from portal.domain.cameras import clips, pictures, playback, usage
from portal.domain.cameras.models import Camera, CameraUsage, Clip, Picture, Viewing
from portal.domain.history import partitions
from portal.domain.history.models import History
from portal.evidence import fetching
from portal.evidence.models import Item
from tenants.connections.service_clients import current_connection
from tests.promises.test_secrets_stay_secret import everywhere, forms_of
from tests.support.browser import Browser
from tests.support.cameras import used
from tests.support.evidence import at_cameras, when
from tests.support.house import House, together
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

_ADDRESS = re.compile(r'(?:src|data-address)="(https?://[^"]+)"')
# Every media address that the sandbox returns contains this, also those of pictures, which no page or table stores.
_PLACE = "files/cameras/"


@pytest.fixture
def customer(stage: Stage) -> Customer:
    """Return a customer with a camera at a door, and three records of the service's log at that door."""
    found = stage.customer(members=30)
    there = at_cameras(stage.house.sandbox, found.service.tenant_id)[:3]
    assert there
    at = timezone.now() - timedelta(hours=1)
    with found.scope():
        partitions.ensure_partitions([at])
        for number, (each, camera_id) in enumerate(there):
            named = {"name": "通用口", "doors": [each["device"]["id"]]}
            Camera.objects.get_or_create(camera_id=camera_id, defaults=named)
            told_at = at + timedelta(seconds=number)
            History.objects.create(history_id=each["history_id"], at=told_at, device_id=each["device"]["id"])
    return found


def collect(customer: Customer, browser: Browser) -> None:
    """Create an incident and add all records with their video; wait until workers have loaded it."""
    at = when(timezone.now() - timedelta(hours=1))
    browser.post(browser.form(customer.url("evidence/new/"), having="title").action, {"title": "X", "began_at": at})
    form = browser.form(customer.url("evidence/1/records/"), action="records")
    with customer.scope():
        ids = list(History.objects.values_list("history_id", flat=True))
    browser.post(form.action, form.values | {"record": ids})


def stored(customer: Customer) -> bool:
    with customer.scope():
        clips = list(Item.objects.filter(kind="clip").values_list("media", flat=True))
    return len(clips) == 3 and set(clips) == {"stored"}


def secrets_of(customer: Customer, browser: Browser) -> list[str]:
    """Play everything once, as a manager does; return the addresses that the service returned, without the host."""
    told = []
    with customer.scope():
        camera, records = Camera.objects.first(), list(History.objects.all())
    assert camera is not None
    page = customer.url(f"cameras/{camera.camera_id}/")
    live = browser.post(browser.form(page, action="live").action)
    told += _ADDRESS.findall(browser.get(live.headers["Location"]).text)
    past = {"at": when(timezone.now() - timedelta(minutes=30))}
    form = browser.form(page, action="recording")
    recording = browser.post(form.action, form.values | past)
    told += _ADDRESS.findall(browser.get(recording.headers["Location"]).text)
    assert len(told) == 2
    picture = browser.post(f"{page}picture-at/", form.values | past)
    assert "/picture/" in browser.get(picture.headers["Location"]).text
    browser.get(customer.url("cameras/"))
    until(lambda: pictures_of(customer) >= 2, 30, saying="the latest picture and that of a moment are there")
    for record in records:
        clip = customer.url(f"cameras/clips/{record.history_id}/")
        browser.post(clip)
        told += _ADDRESS.findall(browser.get(clip).text)
    with customer.scope():
        told += [each.address for each in [*Viewing.objects.all(), *Clip.objects.all()] if each.address]
    return sorted({address.partition("//")[2].partition("/")[2] for address in told})


def pictures_of(customer: Customer) -> int:
    with customer.scope():
        return Picture.objects.exclude(mark="").count()


def test_no_address_of_video_is_left_anywhere(house: House, customer: Customer) -> None:
    with customer.browser("facility manager") as browser:
        collect(customer, browser)
        secrets = secrets_of(customer, browser)
        until(lambda: stored(customer), saying="the video is in the store")
    assert len(secrets) >= 5
    assert all(_PLACE in secret for secret in secrets)
    plays = f"page {customer.url('cameras/clips/')}"
    hits = [
        f"{secret} in {where}"
        for where, text in everywhere(house, customer)
        if not where.startswith(plays)
        for secret in [*secrets, _PLACE]
        if any(form in text for form in forms_of(secret))
    ]
    assert not hits, "\n".join(hits)


def kill(house: House) -> None:
    for worker in (house.urgent, house.steady):
        worker.kill()


@pytest.mark.parametrize("step", ["before the item refers to its file", "while nobody has begun"])
def test_a_killed_worker_leaves_each_video_stored_once(house: House, customer: Customer, step: str) -> None:
    with customer.browser("facility manager") as browser:
        if step == "while nobody has begun":
            kill(house)
            collect(customer, browser)
        else:
            with psycopg.connect(house.owner_url) as direct:
                collect(customer, browser)
                direct.execute("LOCK TABLE tenants_auditentry IN SHARE MODE")
                until(lambda: waits_to_be_kept(customer), saying="a file is written and nobody refers to it")
                kill(house)
        house.mend()
        house.sql("UPDATE evidence_item SET due_at = now() WHERE due_at IS NOT NULL")
        until(lambda: stored(customer), 90, saying="each video is stored", pause=0.25)
    with customer.scope():
        kept = StoredFile.objects.filter(delete_at=None)
        assert kept.count() == 3
        assert not StoredFile.objects.filter(delete_at__isnull=False).exclude(
            delete_at__lt=timezone.now() + timedelta(hours=3)
        )


def test_workers_that_are_rung_for_the_same_video_download_it_once(house: House, customer: Customer) -> None:
    with customer.browser("facility manager") as browser:
        kill(house)
        collect(customer, browser)
    with customer.scope():
        video = Item.objects.filter(kind="clip").earliest("pk")

    def work(_number: int) -> None:
        with customer.scope():
            fetching.fetch(video.pk)

    together(work, 6)
    with customer.scope():
        assert Clip.objects.get(history_id=video.reference).shown == 1
        assert StoredFile.objects.count() == 1
    house.mend()
    until(lambda: stored(customer), 90, saying="each video is stored", pause=0.25)


def waits_to_be_kept(customer: Customer) -> bool:
    with customer.scope():
        return StoredFile.objects.exclude(sha256="").filter(delete_at__isnull=False).exists()


@pytest.mark.quick
@pytest.mark.parametrize("apart", [0, 0.02], ids=["at once", "while it is fetched"])
def test_people_who_ask_for_the_same_moment_share_a_call(house: House, customer: Customer, apart: float) -> None:
    at = (timezone.now() - timedelta(minutes=10)).replace(microsecond=0)
    with customer.scope():
        camera = Camera.objects.earliest("pk")

    def ask(number: int) -> str:
        time.sleep(number * apart)
        with customer.scope():
            return pictures.picture_of_moment(current_connection(), camera, at).mark

    marks = together(ask, 8)
    assert len(set(marks)) == 1
    assert marks[0]
    assert len(house.sandbox.calls(customer.service.tenant_id, 30)) == 1


@pytest.mark.quick
def test_the_limits_are_never_exceeded_by_people_who_ask_at_once(house: House, customer: Customer) -> None:
    """Leave room for three live views and four clips, besides the share reserved for incidents."""
    usual = 1 - usage.INCIDENT_SHARE
    with customer.scope():
        limits = {
            "streaming_limit": 3 * usage.LIVE_SECONDS / usual,
            "download_limit": 4 * usage.CLIP_SECONDS / usual,
        }
        CameraUsage.objects.create(**used(customer.tenant, streaming_total=0, download_total=0, **limits))
        camera, record = Camera.objects.earliest("pk"), History.objects.earliest("pk")
        clip = Clip.objects.create(
            history_id=record.history_id, at=record.at, state="ready", answered_at=database_now()
        )
    asker = customer.asker("facility manager")

    def look(_number: int) -> bool:
        with customer.scope():
            try:
                playback.play_live(current_connection(), camera, by=asker)
            except playback.VideoUnavailable:
                return False
        return True

    def download(_number: int) -> bool:
        with customer.scope():
            return clips.count_download(clip, incident=False)

    assert sum(together(look, 12)) == 3
    assert sum(together(download, 12)) == 4
    with customer.scope():
        known = usage.current_usage()
    assert known.streaming.used <= limits["streaming_limit"] * usual + 1e-6
    assert known.downloads.used <= limits["download_limit"] * usual + 1e-6
