"""Cameras in a browser: video plays under the page’s policy, a line shows the day, a phone shows pictures first."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from portal.domain.cameras.models import Camera
from portal.domain.history.models import History
from portal.domain.places.models import PassController
from tenants.scope import tenant_scope
from tests.support.waiting import until

LONG = "東京本社ビル北館三階会議室エリア西側通用口"


@pytest.fixture
def camera(place):
    """Return a working camera at a door, with a record of an hour ago."""
    theirs = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"]
    told = next(each for each in theirs if each["is_connected"])
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name=LONG)
        History.objects.create(history_id="h1", at=timezone.now() - timedelta(minutes=1), device_id="D1")
        return Camera.objects.create(camera_id=told["camera_id"], name=LONG, doors=["D1"])


@pytest.fixture
def opened(place, open_page):
    def at(path, **options):
        return open_page(place.client(place.staff("facility manager")), f"/t/{place.tenant.slug}/{path}", **options)

    return at


def test_video_plays_on_a_click_and_says_how_long(opened, camera):
    page = opened(f"cameras/{camera.camera_id}/")
    page.get_by_role("button", name="Watch live").click()
    video = page.locator("#video video")
    until(lambda: video.evaluate("each => each.currentTime") > 0, 30, saying="the video plays")
    expect(page.locator("[data-left]")).to_have_text(re.compile("^[0-4]:[0-5][0-9]$"))
    page.get_by_role("button", name="Stop live video").click()
    expect(page.get_by_role("button", name="Watch live")).to_be_visible()


def test_a_moment_is_chosen_between_the_records_of_a_day(opened, camera):
    page = opened(f"cameras/{camera.camera_id}/")
    page.locator(".camera-line").scroll_into_view_if_needed()
    ground = page.locator(".camera-line .ground").bounding_box()
    page.mouse.click(ground["x"] + ground["width"] * 0.26, ground["y"] + ground["height"] / 2)
    expect(page.locator("#at")).to_have_value(re.compile("T06:1"))
    page.locator(".camera-line a:has(.spot)").first.click()
    expect(page.locator(".camera-line .chosen")).to_have_count(1)


def test_on_a_phone_pictures_come_before_recordings_and_commands(opened, camera):
    page = opened(f"cameras/{camera.camera_id}/", width=390)
    tops = [page.locator(each).bounding_box()["y"] for each in ("#video", "#camera-latest", "#day")]
    assert tops == sorted(tops)
    page.goto(page.url.replace(f"cameras/{camera.camera_id}", "devices/D1"))
    tops = [page.locator(each).bounding_box()["y"] for each in ("#door-cameras", "[name=control] >> nth=0")]
    assert tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
