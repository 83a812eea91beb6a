"""A facility manager creates floor plans and places doors, key boxes and cameras on them; a guard watches them."""

import io
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from fpdf import FPDF
from PIL import Image

from accessapi.doors import DoorEvent
from portal.domain.places import door_states
from portal.domain.places.models import KeyBox, PassController
from portal.plans.models import FloorPlan, Placement
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.browser import Forms
from tests.support.images import huge_png
from tests.support.members import said

LONG = "東京本社ビル 北館 三階 会議室エリア 西側通用口"


def drawn(kind="PNG", size=(800, 400)):
    made = io.BytesIO()
    Image.new("RGB", size, "white").save(made, kind)
    return made.getvalue()


def paper():
    document = FPDF(unit="pt", format=(600, 300))
    document.add_page()
    document.rect(20, 20, 500, 200)
    return bytes(document.output())


@pytest.fixture
def house(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="正面入口")
        PassController.objects.create(device_id="D2", device_name=LONG)
        KeyBox.objects.create(key_device_id="K1", key_device_name="守衛室")
    return place


@pytest.fixture
def manager(house):
    return house.client(house.staff("facility manager"))


def at(place, name, *more):
    return reverse(f"plans:{name}", args=[place.tenant.slug, *more])


def upload(client, place, content, name="1 階", file="floor.png"):
    given = {"name": name, "image": SimpleUploadedFile(file, content)}
    return client.post(at(place, "new"), given, follow=True)


def the_plan(place):
    with tenant_scope(place.tenant):
        return FloorPlan.objects.get()


def placed(place):
    with tenant_scope(place.tenant):
        return [(row.kind, row.identifier, row.x, row.y) for row in Placement.objects.order_by("identifier")]


@pytest.fixture
def floor(house, manager):
    upload(manager, house, drawn())
    return the_plan(house)


def save(client, place, plan, **typed):
    return client.post(at(place, "edit", plan.pk), {"name": "1 階", "camera": "", **typed}, follow=True)


def fields(answer):
    """Return what the form of an answer would send unchanged."""
    page = Forms()
    page.feed(answer.content.decode())
    return next(form.values for form in page.found if "was" in form.values)


def opened(client, place, plan):
    """Return what the form sends about the plan as it was when the page was opened."""
    return {"was": fields(client.get(at(place, "edit", plan.pk)))["was"]}


WHERE = {"on:door:D1": "on", "x:door:D1": "25", "y:door:D1": "50.5"}


class TestUploading:
    @pytest.mark.parametrize("content", [drawn("PNG"), drawn("JPEG"), paper()], ids=["png", "jpeg", "pdf"])
    def test_a_drawing_is_kept_as_a_picture_of_the_same_shape(self, house, manager, content):
        answer = upload(manager, house, content)
        assert "Floor plan added." in said(answer)
        plan = the_plan(house)
        assert round(plan.width / plan.height, 2) == 2
        shown = manager.get(at(house, "picture", plan.pk, plan.mark))
        assert shown["Content-Type"] == "image/jpeg"
        assert Image.open(io.BytesIO(shown.content)).size == (plan.width, plan.height)

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"", "The file is empty."),
            (b"%PDF-1.7 nothing", "This PDF cannot be read."),
            (b"GIF89a" + bytes(50), "This is a GIF file."),
            (b"<svg onload='alert(1)'/>", "This is a SVG file."),
            (drawn("PNG")[:200], "damaged or incomplete"),
            (huge_png(), "megapixels"),
        ],
    )
    def test_what_is_no_drawing_is_refused_with_the_reason(self, house, manager, content, why):
        answer = upload(manager, house, content)
        assert why in unescape(answer.content.decode())
        assert 'value="1 階"' in answer.content.decode()
        with tenant_scope(house.tenant):
            assert not FloorPlan.objects.exists()

    def test_a_drawing_of_144_megapixels_inside_a_page_is_drawn_small(self, house, manager):
        heavy = FPDF(unit="pt", format=(600, 300))
        heavy.add_page()
        heavy.image(Image.new("L", (12_000, 12_000)), 0, 0, 600, 300)
        upload(manager, house, bytes(heavy.output()))
        assert the_plan(house).width <= 2400

    def test_a_page_that_asks_for_too_much_memory_ends_alone(self, house, manager, monkeypatch):
        monkeypatch.setattr("portal.plans.forms.MAX_MEGABYTES", 40)
        assert "This PDF cannot be read." in upload(manager, house, paper()).content.decode()
        assert manager.get(at(house, "index")).status_code == 200

    def test_two_plans_of_one_name_are_not_kept(self, house, manager, floor):
        assert (
            "Another floor plan has this name. Enter a different name."
            in upload(manager, house, drawn()).content.decode()
        )

    def test_a_new_drawing_leaves_everything_in_its_place(self, house, manager, floor):
        save(manager, house, floor, **WHERE)
        given = {"image": SimpleUploadedFile("new.png", drawn(size=(400, 400)))}
        answer = manager.post(at(house, "replace", floor.pk), given, follow=True)
        assert "Drawing replaced." in said(answer)
        assert the_plan(house).mark != floor.mark
        assert placed(house) == [("door", "D1", 250, 505)]


class TestPlacing:
    def test_doors_key_boxes_and_cameras_stand_where_they_were_put(self, house, manager, floor):
        boxes = {"on:key_box:K1": "on", "x:key_box:K1": "0", "y:key_box:K1": "100"}
        answer = save(manager, house, floor, **WHERE, **boxes, camera="CAM-7")
        assert "Floor plan saved." in said(answer)
        assert placed(house) == [("camera", "CAM-7", 500, 500), ("door", "D1", 250, 505), ("key_box", "K1", 0, 1000)]
        html = manager.get(at(house, "plan", floor.pk)).content.decode()
        assert 'transform="translate(250 252.5)"' in html
        assert "0 of 1 door" in html
        assert "CAM-7" in html

    @pytest.mark.parametrize("typed", ["", "left", "101", "-1", "nan", "1e400", "１２％"])
    def test_a_place_that_is_none_is_refused_and_what_was_typed_stays(self, house, manager, floor, typed):
        answer = save(manager, house, floor, **WHERE | {"x:door:D1": typed})
        html = unescape(answer.content.decode())
        assert "Enter numbers from 0 to 100." in html
        assert f'value="{typed}"' in html
        assert placed(house) == []

    def test_what_is_unticked_leaves_the_plan(self, house, manager, floor):
        save(manager, house, floor, **WHERE)
        save(manager, house, floor, **{"x:door:D1": "25", "y:door:D1": "50"})
        assert placed(house) == []

    def test_two_people_who_place_different_things_lose_nothing_of_each_other(self, house, manager, floor):
        save(manager, house, floor, **WHERE)
        mine, theirs = opened(manager, house, floor), opened(manager, house, floor)
        save(manager, house, floor, **theirs | WHERE | {"x:door:D1": "75"})
        boxes = {"on:key_box:K1": "on", "x:key_box:K1": "0", "y:key_box:K1": "100"}
        assert "Floor plan saved." in said(save(manager, house, floor, **mine | WHERE | boxes))
        assert placed(house) == [("door", "D1", 750, 505), ("key_box", "K1", 0, 1000)]

    def test_of_two_people_who_place_the_same_thing_the_second_is_asked(self, house, manager, floor):
        save(manager, house, floor, **WHERE)
        mine, theirs = opened(manager, house, floor), opened(manager, house, floor)
        boxes = {"on:key_box:K1": "on", "x:key_box:K1": "0", "y:key_box:K1": "100"}
        save(manager, house, floor, **theirs | WHERE | {"x:door:D1": "75"} | boxes)
        answer = save(manager, house, floor, **mine | WHERE | {"x:door:D1": "10"})
        words = said(answer)
        assert "Nothing was saved. Another person moved or removed 正面入口." in words
        assert placed(house) == [("door", "D1", 750, 505), ("key_box", "K1", 0, 1000)]
        shown = {**fields(answer), "name": "1 階"}
        assert (shown["x:door:D1"], shown["on:key_box:K1"]) == ("10", "on")
        assert "Floor plan saved." in said(save(manager, house, floor, **shown))
        assert placed(house) == [("door", "D1", 100, 505), ("key_box", "K1", 0, 1000)]

    @pytest.mark.parametrize("was", ["[", "[1]", '{"door:D1": 3}', '{"door:D1": [1e999, 2]}', "[" * 5000])
    def test_a_form_that_tells_nonsense_of_before_places_what_it_says(self, house, manager, floor, was):
        save(manager, house, floor, **WHERE, was=was)
        assert placed(house) == [("door", "D1", 250, 505)]

    def test_a_door_that_the_service_lists_no_more_stays_and_says_so(self, house, manager, floor):
        save(manager, house, floor, **WHERE)
        with tenant_scope(house.tenant):
            PassController.objects.filter(device_id="D1").delete()
        html = manager.get(at(house, "plan", floor.pk)).content.decode()
        assert "D1 (no longer listed)" in html
        assert "1 unknown" in html

    def test_each_change_is_in_the_audit_log(self, house, manager, floor):
        save(manager, house, floor, **WHERE)
        manager.post(at(house, "delete", floor.pk))
        with tenant_scope(house.tenant):
            actions = AuditEntry.objects.filter(action__startswith="plan.").order_by("pk")
            assert list(actions.values_list("action", flat=True)) == ["plan.added", "plan.edited", "plan.deleted"]
            assert not Placement.objects.exists()


class TestWatching:
    @pytest.fixture
    def guard(self, house):
        return house.client(house.staff("guard"))

    def test_a_guard_sees_at_once_which_door_was_forced(self, house, manager, floor, guard):
        save(manager, house, floor, **WHERE, **{"on:door:D2": "on", "x:door:D2": "70", "y:door:D2": "10"})
        page = at(house, "plan", floor.pk)
        before = guard.get(page).content.decode()
        seen = before.split('id="plan-now"')[1].split('data-version="')[1].split('"')[0]
        assert guard.get(page, headers={"x-version": seen}).status_code == 204
        with tenant_scope(house.tenant):
            door_states.apply_event(house.tenant, "D2", DoorEvent.FORCED_OPEN)
        html = guard.get(page, headers={"x-version": seen}).content.decode()
        assert "1 of 2 doors need" in html
        assert "mark-alarm" in html
        listed = html.split("<tbody>")[1]
        assert listed.index(LONG) < listed.index("正面入口")

    def test_a_guard_cannot_change_a_plan(self, house, floor, guard):
        assert guard.get(at(house, "plan", floor.pk)).status_code == 200
        assert "Add floor plan" not in guard.get(at(house, "plan", floor.pk)).content.decode()
        assert save(guard, house, floor, **WHERE).status_code == 403
        assert placed(house) == []

    def test_without_any_plan_the_page_says_what_to_do(self, house, manager):
        assert "Upload a drawing of a floor" in manager.get(at(house, "index")).content.decode()
