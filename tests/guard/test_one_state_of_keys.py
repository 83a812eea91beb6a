"""A key, a key box and a camera have one state each: every page, plan and report says the same at one moment."""

import io
from datetime import timedelta
from types import SimpleNamespace

import pytest
from PIL import Image

from portal.base.timers.clock import database_now
from portal.domain.cameras.models import Camera, Picture
from portal.domain.people.models import Guest
from portal.domain.places.models import PassController
from portal.plans.models import FloorPlan, Placed, Placement
from portal.reports import activity_reports
from tenants.scope import tenant_scope
from tests.receptionist.desk import visit
from tests.support.keys import key_box, reads, tells
from tests.support.log import loaded
from tests.support.one_state import Kept, said_on

KEY, BOX, CAMERA = "01 正面玄関 予備", "総務キーボックス", "通用口カメラ"
HOUR = timedelta(hours=1)


def all_say(place, pages, name):
    """Return the state that each page shows for the named thing."""
    client = place.client()
    return {
        page: said_on(page, client.get(f"/t/{place.tenant.slug}/{rest}").content.decode(), name)
        for page, rest in pages.items()
    }


def plan_with(place, kind, identifier):
    """Create a floor plan with this thing on it, and return its address."""
    with tenant_scope(place.tenant):
        plan = FloorPlan.objects.create(name="1F", content=b"-", mark="m", width=8, height=4, by=place.owner)
        Placement.objects.create(plan=plan, kind=kind, identifier=identifier, x=500, y=500)
    return f"plans/{plan.pk}/"


@pytest.fixture
def one(place):
    """Create a key box with a key that a guest may take."""
    key_box(place)
    loaded(place)
    known = visit(place, "山田 花子")
    detail = {"key_devices_list": [{"key_device_id": "K1", "units_no_list": ["01"]}]}
    with tenant_scope(place.tenant):
        Guest.objects.create(
            guest_id=known.guest_id, guest_name="山田 花子", name_key="山田 花子", detail=detail,
            use_date_start=known.use_date_start, use_date_end=known.use_date_end,
        )  # fmt: skip
    place.pages = {
        "keys": "keys/?state=in&state=out&state=overdue&state=unknown",
        "box of a key": "keys/K1/",
        "key": "keys/K1/01/",
        "guest": f"guests/{known.guest_id}/",
    }
    return place


def reported(place):
    """Return the state of the key in a report created now."""
    report = SimpleNamespace(tenant=place.tenant, until=database_now())
    with tenant_scope(place.tenant):
        lines = [cells for _sheet, cells in activity_reports.keys(report).lines]
    return next(cells[2] for cells in lines if cells[1] == "正面玄関 予備")


def taken(place, hours):
    tells(place, "01", "Key taken", database_now() - hours * HOUR)


def returned_though_taken(place):
    taken(place, 2)
    reads(place, u01="return")


def out_of_reach(place):
    taken(place, 1)
    reads(place, line="disconnected")


OF_A_KEY = {
    "Unknown": lambda one: None,
    "In the box": lambda one: reads(one, u01="return"),
    "Out": lambda one: taken(one, 1),
    "Overdue": lambda one: taken(one, 13),
    "Unknown: half": lambda one: reads(one, u01="half"),
    "Wrong key (Another key is in its place)": lambda one: reads(one, errors={"01": ["wrong_key"]}, u01="return"),
    "In the box (Releasing the key failed)": lambda one: reads(one, errors={"01": ["key_unlock_error"]}, u01="return"),
    "In the box (Key box and activity log don’t match)": returned_though_taken,
    "Out (Key box offline)": out_of_reach,
}


@pytest.mark.parametrize("state", OF_A_KEY)
def test_each_state_of_a_key_reads_the_same_on_every_page_and_in_the_report(one, state):
    OF_A_KEY[state](one)
    said = all_say(one, one.pages, KEY) | {"report": reported(one)}
    assert said == dict.fromkeys(said, state)


OF_A_BOX = {
    "Unknown": lambda one: None,
    "Connected": lambda one: reads(one, u01="return"),
    "Offline": lambda one: reads(one, line="disconnected"),
}


@pytest.mark.parametrize("state", OF_A_BOX)
def test_each_state_of_a_key_box_reads_the_same_on_every_page(one, state):
    OF_A_BOX[state](one)
    pages = {
        "keys": "keys/",
        "box": "keys/K1/",
        "key of a box": "keys/K1/01/",
        "plan": plan_with(one, Placed.KEY_BOX, "K1"),
    }
    said = all_say(one, pages, BOX)
    assert said == dict.fromkeys(said, state)


@pytest.fixture
def seen(place):
    """Create the camera of an intercom at a door, on a plan."""
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D", device_name="倉庫 入口")
        Camera.objects.create(camera_id="C", name=CAMERA, doors=["D"], is_intercom=True)
        Camera.objects.create(camera_id="C2", name="別のカメラ", is_intercom=True)
    place.pages = {
        "wall": "cameras/",
        "camera": "cameras/C/",
        "door of a camera": "devices/D/",
        "intercoms": "intercom/",
        "intercom of a camera": "intercom/C/",
        "plan": plan_with(place, Placed.CAMERA, "C"),
    }
    return place


def told(place, *, ago=0.0, **values):
    """Store a status that the service reported so many minutes ago."""
    with tenant_scope(place.tenant):
        Camera.objects.filter(camera_id="C").update(status_at=database_now() - timedelta(minutes=ago), **values)


def picture(place, *, ago=0.0, trouble=""):
    """Store a picture that is so many minutes old. A newer request for one was refused with `trouble`."""
    made = io.BytesIO()
    Image.new("RGB", (8, 4)).save(made, "PNG")
    with tenant_scope(place.tenant):
        at = database_now() - timedelta(minutes=ago)
        camera = Camera.objects.get(camera_id="C")
        content = {"content": made.getvalue(), "mark": "m", "taken_at": at, "requested_at": database_now()}
        Picture.objects.create(camera=camera, trouble=trouble, **content)


OF_A_CAMERA = {
    "nothing learned": ("Unknown", lambda one: None),
    "connected": ("Connected", lambda one: told(one, is_connected=True)),
    "offline": ("Offline", lambda one: told(one, is_connected=False)),
    "not known to the service": ("Unknown", lambda one: told(one, is_missing=True)),
    "a picture": ("Connected", picture),
    "a picture after it was offline": ("Connected", lambda one: (told(one, is_connected=False, ago=5), picture(one))),
    "offline after a picture": ("Offline", lambda one: (picture(one, ago=5), told(one, is_connected=False))),
    "an old picture and none since": ("Unknown", lambda one: picture(one, ago=5, trouble="none")),
    "no call left for a newer picture": ("Connected", lambda one: picture(one, ago=5, trouble="no_budget")),
}


@pytest.mark.parametrize("case", OF_A_CAMERA)
def test_each_state_of_a_camera_reads_the_same_on_every_page(seen, case):
    state, happens = OF_A_CAMERA[case]
    happens(seen)
    said = all_say(seen, seen.pages, CAMERA)
    assert said == dict.fromkeys(said, state)


@pytest.mark.django_db(transaction=True)  # a browser: open pages refresh automatically
def test_pages_of_a_key_and_its_box_that_stay_open_say_the_same_after_every_change(one, open_page):
    page = open_page(one.client())
    of_key = Kept(page, {name: f"/t/{one.tenant.slug}/{one.pages[name]}" for name in ("keys", "box of a key", "key")})
    boxes = {"keys": "keys/", "box": "keys/K1/", "key of a box": "keys/K1/01/", "plan": plan_with(one, "key_box", "K1")}
    of_box = Kept(page, {name: f"/t/{one.tenant.slug}/{rest}" for name, rest in boxes.items()})
    of_key.look()
    of_key.come_to_say(KEY, "Unknown")
    taken(one, 1)
    of_key.look()
    of_key.come_to_say(KEY, "Out")
    taken(one, 0)
    tells(one, "01", "Key returned", database_now())
    of_key.look()
    of_key.come_to_say(KEY, "In the box")
    tells(one, "01", "Key taken", database_now() + HOUR / 60)
    reads(one, u01="return")
    of_key.look()
    of_key.come_to_say(KEY, "In the box (Key box and activity log don’t match)")
    of_box.look()
    of_box.come_to_say(BOX, "Connected")
    reads(one, line="disconnected")
    of_key.look()
    of_key.come_to_say(KEY, "In the box (Key box and activity log don’t match, Key box offline)")
    of_box.look()
    of_box.come_to_say(BOX, "Offline")


@pytest.mark.django_db(transaction=True)  # a browser: open pages refresh automatically
def test_pages_of_a_camera_that_stay_open_say_the_same_after_every_change(seen, open_page):
    kept = Kept(open_page(seen.client()), {name: f"/t/{seen.tenant.slug}/{rest}" for name, rest in seen.pages.items()})
    kept.look()
    kept.come_to_say(CAMERA, "Unknown")
    told(seen, is_connected=True)
    kept.look()
    kept.come_to_say(CAMERA, "Connected")
    told(seen, is_connected=False)
    kept.look()
    kept.come_to_say(CAMERA, "Offline")
    told(seen, is_missing=True)
    kept.look()
    kept.come_to_say(CAMERA, "Unknown")
