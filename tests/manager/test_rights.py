"""A facility manager and rights: seeing them, changing them, never over somebody else's change, at a real service."""

import pytest

from accessapi.permissions import always, by_schedule, weekly
from portal.mirror.models import Area, KeyBox, Member
from portal.rights import words
from tenants.models import AuditEntry
from tests.rights.page import posted
from tests.support.members import MembersDesk, said

OFFICE = by_schedule(weekly("08:00:00", "19:00:00", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"))


class Desk(MembersDesk):
    """One member at a tenant with areas and key boxes, and the editor of their rights."""

    def __init__(self, place, role="facility manager"):
        super().__init__(place, role)
        self.member = self.members()[0]
        self.editor = f"{self.url}{self.member.member_id}/rights/"
        with self.scope():
            self.areas = list(Area.objects.order_by("area_name"))
            self.boxes = list(KeyBox.objects.order_by("key_device_name"))

    def give(self, **rights):
        """Rights given at the service, past the portal."""
        place = self.place
        answer = place.sandbox.api(
            "PUT", f"/v1/members/{self.member.member_id}", token=place.service.token, json=rights
        )
        assert answer.status_code == 200, answer.text

    def form(self, address=""):
        page = self.client.get(address or self.editor)
        assert page.status_code == 200, page.content
        return posted(page.content.decode())

    def save(self, form, follow=True, **changed):
        for name, value in changed.items():
            values = value if isinstance(value, list) else [value]
            form.setlist(name, values)
        return self.client.post(self.editor, dict(form.lists()), follow=follow)

    @property
    def stored(self):
        return self.at_service(self.member.member_id)


@pytest.fixture
def desk(place):
    return Desk(place)


def area_field(area):
    return f"devices.area.{area.area_id}"


def listed(*entries):
    return {"default_mode": "option", "areas_list": [{"area_id": a.area_id, "pass": p} for a, p in entries]}


def test_the_editor_reads_the_service_once_and_shows_what_is_there_in_words_and_drawn(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE), (desk.areas[1], always())))
    before = len(desk.place.calls(5))
    page = desk.client.get(desk.editor)
    assert len(desk.place.calls(5)) == before + 1
    words_ = said(page)
    assert f"{desk.areas[0]}: weekdays 08:00 to 19:00" in words_
    assert f"{desk.areas[1]}: at any time" in words_
    html = page.content.decode()
    assert html.count('class="wk-bar"') == 5
    assert 'x="33.333%"' in html
    assert " style=" not in html


def test_a_form_that_nobody_touched_sends_nothing(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass={"default_mode": "allow_all"})
    answer = desk.save(desk.form())
    assert "Nothing was changed" in said(answer)
    assert desk.place.calls(6)[1:] == []


def test_an_area_a_schedule_and_a_privilege_are_changed_without_script_and_only_what_changed_is_sent(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass={"default_mode": "deny_all"})
    more = desk.save(desk.form(), follow=False, **{"act": "row s1 range", area_field(desk.areas[1]): "s1"})
    form = posted(more.content.decode())
    number = next(name.split(".")[1] for name, value in form.items() if value == "range")
    answer = desk.save(form, **{
        f"s1.{number}.first": "2026-12-01", f"s1.{number}.last": "2026-12-01",
        f"s1.{number}.start": "0", f"s1.{number}.end": "24:00", "s1.1.end": "２０:３０",
    }, **{"privilege.keys_without_2fa": "on"})  # fmt: skip
    assert 'data-state="done"' in answer.content.decode(), said(answer)
    assert set(desk.intent().body) == {"devices_pass", "privilege"}
    stored = desk.stored
    passes = [entry["pass"] for entry in stored["devices_pass"]["areas_list"]]
    assert len(passes) == 2
    assert passes[0] == passes[1]
    assert words.when(passes[0]) == "Weekdays 08:00 to 20:30, and 1 December 2026 all day"
    assert stored["privilege"]["keys_without_2fa"] is True
    with desk.scope():
        entry = AuditEntry.objects.filter(action="update_member").latest("pk")
        assert Member.objects.get(pk=desk.member.pk).rights["devices_pass"] == desk.intent().body["devices_pass"]
    assert entry.after[desk.areas[1].area_name].startswith("weekdays 08:00 to 20:30")
    assert entry.before[desk.areas[1].area_name] == "not listed"
    assert entry.after["devices_pass"] == desk.intent().body["devices_pass"]


def test_keys_are_given_by_box_and_one_by_one(desk):
    desk.give(keys_pass={"default_mode": "deny_all"})
    box, other = desk.boxes[0], desk.boxes[1]
    unit = box.units[0]["unit_no"]
    answer = desk.save(desk.form(), **{
        "keys.mode": "option",
        f"keys.box.{box.key_device_id}": "option", f"keys.box.{other.key_device_id}": "allow_all",
        f"keys.unit.{box.key_device_id}.{unit}": "always",
    })  # fmt: skip
    assert 'data-state="done"' in answer.content.decode(), said(answer)
    entries = {each["key_device_id"]: each for each in desk.stored["keys_pass"]["key_devices_list"]}
    assert entries[other.key_device_id]["default_mode"] == "allow_all"
    assert entries[box.key_device_id]["units"] == [{"unit_no": unit, "pass": always()}]


def test_times_that_cannot_be_read_are_said_beside_them_and_nothing_is_sent(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)))
    answer = desk.save(desk.form(), **{"s1.1.start": "22:00", "s1.1.end": "6:00"})
    assert "For a night, use two lines" in said(answer)
    assert 'value="22:00"' in answer.content.decode()
    assert len(desk.place.calls(6)) == 1


def test_what_somebody_else_changed_meanwhile_is_put_together_and_asked_about(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)))
    form = desk.form()
    desk.give(devices_pass=listed((desk.areas[0], OFFICE), (desk.areas[2], always())))
    sent = len(desk.place.calls(6))
    answer = desk.save(form, **{area_field(desk.areas[1]): "always"})
    assert "Somebody else changed these rights meanwhile" in said(answer)
    assert len(desk.place.calls(6)) == sent
    again = desk.save(posted(answer.content.decode()))
    assert 'data-state="done"' in again.content.decode(), said(again)
    given = {entry["area_id"] for entry in desk.stored["devices_pass"]["areas_list"]}
    assert given == {area.area_id for area in desk.areas[:3]}


def test_two_who_changed_the_same_place_are_never_mixed(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)))
    form = desk.form()
    desk.give(devices_pass=listed((desk.areas[0], always())))
    answer = desk.save(form, **{"s1.1.end": "21:00"})
    assert "Both touch the same place" in said(answer)
    again = desk.save(posted(answer.content.decode()))
    assert 'data-state="done"' in again.content.decode(), said(again)
    assert desk.stored["devices_pass"]["areas_list"][0]["pass"]["schedule"][0]["end"]["time"] == "21:00:00+09:00"


def test_nothing_is_sent_while_the_service_cannot_be_read(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)))
    form = desk.form()
    desk.place.sandbox.fault("status", "read_member", desk.place.service.tenant_id, status=503)
    answer = desk.save(form, **{area_field(desk.areas[1]): "always"})
    assert "nothing was sent" in said(answer)
    assert len(desk.place.calls(6)) == 1
