"""A facility manager views and changes rights, never overwriting another person's change, with a real service."""

import json
import re
from unittest.mock import ANY

import pytest
from django.template import RequestContext, Template
from django.template.loader import render_to_string
from django.test import RequestFactory

from accessapi.permissions import always, by_schedule, normalise_devices, weekly
from portal.domain.jobs.models import Job, Row
from portal.domain.people.models import Member
from portal.domain.places.models import Area, KeyBox
from portal.domain.rights import editing, replacing, words
from portal.domain.rights.editor_view import sheet_view
from portal.domain.rights.models import RightsTemplate
from portal.domain.rights.sheet import RightsSheet
from portal.domain.rights.words import load_place_names
from portal.members import signals
from tenants.access import access_to
from tenants.models import AuditEntry, User
from tests.rights.page import posted
from tests.support.members import MembersDesk, said

OFFICE = by_schedule(weekly("08:00:00", "19:00:00", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"))
NO_KEYS = {"default_mode": "deny_all"}


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
        """Give rights at the service, past the portal."""
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
    desk.give(devices_pass=listed((desk.areas[0], OFFICE), (desk.areas[1], always())), keys_pass=NO_KEYS)
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
    assert "No changes. Nothing was sent" in said(answer)
    assert desk.place.calls(6)[1:] == []


def test_an_area_a_schedule_and_a_privilege_are_changed_without_script_and_only_what_changed_is_sent(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
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
    assert words.pass_text(passes[0]) == "Weekdays 08:00 to 20:30, and 1 December 2026 all day"
    assert stored["privilege"]["keys_without_2fa"] is True
    with desk.scope():
        entry = AuditEntry.objects.filter(action="update_member").latest("pk")
        assert Member.objects.get(pk=desk.member.pk).rights["devices_pass"] == desk.intent().body["devices_pass"]
    assert entry.after[desk.areas[1].area_name].startswith("weekdays 08:00 to 20:30")
    assert entry.before[desk.areas[1].area_name] == "not listed"
    assert entry.after["devices_pass"] == desk.intent().body["devices_pass"]


def test_a_schedule_without_times_is_no_right_and_one_that_stood_there_stays(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE), (desk.areas[1], by_schedule())), keys_pass=NO_KEYS)
    more = desk.save(desk.form(), follow=False, act="schedule")
    choices = re.findall(r'value="(s\d)"', more.content.decode())
    refused = desk.save(posted(more.content.decode()), **{area_field(desk.areas[2]): max(choices)})
    words_ = f"{desk.areas[2]}: enter at least one line of days and times. For no access, choose “Never”."
    assert words_ in said(refused)
    assert f"{desk.areas[1]}: enter" not in said(refused)
    assert len(desk.place.calls(6)) == 1
    answer = desk.save(posted(refused.content.decode()), **{area_field(desk.areas[2]): "always"})
    assert 'data-state="done"' in answer.content.decode(), said(answer)
    assert len(desk.stored["devices_pass"]["areas_list"]) == 3


def test_a_template_without_times_says_what_to_enter(desk):
    address = f"/t/{desk.place.tenant.slug}/rights/templates/new/"
    form = desk.form(f"{address}?ready=cleaning")
    bare = {name: values for name, values in form.lists() if not name.startswith("schedule.s1.")}
    refused = said(desk.client.post(address, bare))
    assert "Enter at least one line of days and times. For no access, leave the place out." in refused


def test_keys_are_given_by_box_and_one_by_one(desk):
    desk.give(keys_pass=NO_KEYS)
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
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    answer = desk.save(desk.form(), **{"s1.1.start": "22:00", "s1.1.end": "25:00"})
    assert answer.status_code == 422
    assert "“25:00” is not a time. Enter a time like 18:00" in said(answer)
    assert 'value="22:00"' in answer.content.decode()
    assert len(desk.place.calls(6)) == 1


def test_what_somebody_else_changed_meanwhile_is_put_together_and_asked_about(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    form = desk.form()
    desk.give(devices_pass=listed((desk.areas[0], OFFICE), (desk.areas[2], always())))
    sent = len(desk.place.calls(6))
    answer = desk.save(form, **{area_field(desk.areas[1]): "always"})
    assert "Nothing was sent: someone else changed these rights. Check both versions and save again." in said(answer)
    assert len(desk.place.calls(6)) == sent
    again = desk.save(posted(answer.content.decode()))
    assert 'data-state="done"' in again.content.decode(), said(again)
    given = {entry["area_id"] for entry in desk.stored["devices_pass"]["areas_list"]}
    assert given == {area.area_id for area in desk.areas[:3]}


def test_two_who_changed_the_same_place_are_never_mixed(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    form = desk.form()
    desk.give(devices_pass=listed((desk.areas[0], always())))
    answer = desk.save(form, **{"s1.1.end": "21:00"})
    assert (
        "Both change the same place, so they cannot be combined. Your version is below. Saving it replaces theirs."
        in said(answer)
    )
    again = desk.save(posted(answer.content.decode()))
    assert 'data-state="done"' in again.content.decode(), said(again)
    assert desk.stored["devices_pass"]["areas_list"][0]["pass"]["schedule"][0]["end"]["time"] == "21:00:00+09:00"


def test_nothing_is_sent_while_the_service_cannot_be_read(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    form = desk.form()
    desk.place.sandbox.fault("status", "read_member", desk.place.service.tenant_id, status=503)
    answer = desk.save(form, **{area_field(desk.areas[1]): "always"})
    assert "Nothing was sent: the current rights could not be loaded." in said(answer)
    assert len(desk.place.calls(6)) == 1


def test_what_nobody_described_is_shown_and_survives_a_change_beside_it(desk):
    strange = {"area_id": desk.areas[1].area_id, "pass": {"effect": "allow_once", "until": "noon"}}
    told = listed((desk.areas[0], OFFICE))
    told["areas_list"].append(strange)
    sheet = RightsSheet.of({"devices_pass": told})
    with desk.scope():
        page = render_to_string(
            "rights/areas.html", {"board": sheet_view(sheet, load_place_names()), "device_modes": []}
        )
    assert "allow_once" in page
    with desk.scope():
        lines = words.device_lines(told, load_place_names())
    assert any("allow_once" in str(line) for line in lines)


def test_a_tenant_keeps_templates_and_puts_them_into_rights(desk):
    tenant = f"/t/{desk.place.tenant.slug}"
    empty = desk.client.get(f"{tenant}/rights/templates/")
    assert "No templates yet" in said(empty)
    assert "Weekdays 08:00 to 19:00" in said(empty)
    form = desk.form(f"{tenant}/rights/templates/new/?ready=cleaning")
    more = desk.client.post(f"{tenant}/rights/templates/new/", dict(form.lists()) | {"schedule.act": "row s1 range"})
    assert more.content.decode().count('data-slot="range"') == 2  # one more line, and the script's sample
    made = desk.client.post(f"{tenant}/rights/templates/new/", dict(form.lists()), follow=True)
    assert "Template saved: Cleaning" in said(made)
    again = desk.client.post(f"{tenant}/rights/templates/new/", dict(form.lists()) | {"opened_by": ""})
    assert "A template with this name already exists. Enter a different name." in said(again)
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    with desk.scope():
        template = RightsTemplate.objects.get()
    page = desk.save(desk.form(), follow=False, act=f"template {template.pk}")
    answer = desk.save(posted(page.content.decode()), **{area_field(desk.areas[1]): "s2"})
    assert 'data-state="done"' in answer.content.decode(), said(answer)
    stored = {entry["area_id"]: entry["pass"] for entry in desk.stored["devices_pass"]["areas_list"]}
    assert words.pass_text(stored[desk.areas[1].area_id]).startswith("Weekdays and Saturday 06:00 to 08:00")
    gone = desk.client.post(f"{tenant}/rights/templates/{template.pk}/delete/", {}, follow=True)
    assert "Template deleted: Cleaning" in said(gone)
    with desk.scope():
        actions = list(AuditEntry.objects.filter(action__startswith="rights_template").values_list("action", flat=True))
        entry = AuditEntry.objects.get(action="rights_template.delete")
    assert sorted(actions) == ["rights_template.create", "rights_template.delete"]
    for language, when in (("en", "Weekdays and Saturday 06:00 to 08:00"), ("ja", "平日")):
        User.objects.filter(pk=desk.place.owner.pk).update(language=language)
        assert when in said(desk.place.client().get(f"{tenant}/audit/{entry.pk}/"))


def test_somebodys_rights_become_a_template_that_is_added_to_or_put_in_place_of_anothers(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass={"default_mode": "allow_all"})
    desk.client.get(desk.editor)
    tenant = f"/t/{desk.place.tenant.slug}"
    desk.client.post(f"{tenant}/rights/templates/from/{desk.member.member_id}/", {"name": "Office staff"})
    with desk.scope():
        template, entry = RightsTemplate.objects.get(), AuditEntry.objects.get(action="rights_template.create")
    assert template.keys_pass == {"default_mode": "allow_all"}
    assert f"{desk.areas[0].area_name}: weekdays" in said(desk.place.client().get(f"{tenant}/audit/{entry.pk}/"))
    desk.give(devices_pass=listed((desk.areas[1], always())), keys_pass=NO_KEYS)
    for how, areas in (("merge", 2), ("replace", 1)):
        sheet = posting_sheet(desk, desk.save(desk.form(), follow=False, act=f"rights {template.pk} {how}"))
        assert len(sheet.to_body()["devices_pass"]["areas_list"]) == areas
        assert sheet.to_body()["keys_pass"] == {"default_mode": "allow_all"}


def posting_sheet(desk, page):
    with desk.scope():
        return editing.parse_sheet(posted(page.content.decode()))


def test_two_members_are_compared_with_the_differences_first_and_one_gets_the_others_rights(desk):
    other = desk.members()[1]
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    for member in (desk.member, other):
        desk.client.get(f"{desk.url}{member.member_id}/rights/")
    tenant = f"/t/{desk.place.tenant.slug}/rights"
    assert other.member_name in said(desk.client.get(f"{tenant}/compare/", {"a": desk.member.member_id}))
    both = {"a": desk.member.member_id, "b": other.member_id}
    compared = said(desk.client.get(f"{tenant}/compare/", both))
    assert "Weekdays 08:00 to 19:00" in compared
    pair = {"from": desk.member.member_id, "to": other.member_id, "part": ["areas", "keys"]}
    form = desk.form(f"{tenant}/copy/?from={desk.member.member_id}&to={other.member_id}")
    answer = desk.client.post(f"{tenant}/copy/", pair | {"nonce": form["nonce"]}, follow=True)
    assert 'data-state="done"' in answer.content.decode(), said(answer)
    assert normalise_devices(desk.at_service(other.member_id)["devices_pass"]) == listed((desk.areas[0], OFFICE))
    again = said(desk.client.get(f"{tenant}/compare/", both))
    assert "Weekdays 08:00 to 19:00" not in again.split("Same for both")[0]


def test_several_get_the_same_rights_by_a_job_that_is_looked_at_first(desk):
    others = desk.members()[1:4]
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    desk.client.get(desk.editor)
    chosen = {"from": desk.member.member_id, "to": [each.member_id for each in others], "part": ["areas"]}
    answer = desk.client.post(f"/t/{desk.place.tenant.slug}/rights/copy/", chosen, follow=True)
    assert f"not loaded yet → {desk.areas[0].area_name}: weekdays 08:00 to 19:00." in said(answer)
    with desk.scope():
        job = Job.objects.get(kind="copy_rights")
        rows = list(Row.objects.filter(job=job))
        assert len(rows) == 3
        assert replacing.rows_to_read(job, rows) == {row.pk for row in rows}
        Member.objects.filter(pk__in=[each.pk for each in others]).update(
            rights={"devices_pass": {"default_mode": "allow_all"}}
        )
        found = replacing.check_again(job, rows)
    assert {type(each).__name__ for each in found.values()} == {"Send"}
    assert all(each.body == {"devices_pass": listed((desk.areas[0], OFFICE))} for each in found.values())


def test_a_lost_answer_to_a_change_of_rights_is_found_out_by_reading(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    form = desk.form()
    desk.place.sandbox.fault("drop_after", "update_member", desk.place.service.tenant_id)
    desk.save(form, **{area_field(desk.areas[1]): "s1"})
    intent = desk.intent()
    with desk.scope():
        assert signals.reconcile_updated(intent).applied is True
        intent.body = {"devices_pass": {"default_mode": "allow_all"}}
        assert signals.reconcile_updated(intent).applied is not True


def test_the_panel_on_a_members_page_says_and_draws_what_they_may_do(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    desk.client.get(desk.editor)
    request = RequestFactory().get("/")
    request.tenant, request.user = desk.place.tenant, desk.user
    with desk.scope():
        request.access = access_to(desk.user, desk.place.tenant)
        member = Member.objects.get(pk=desk.member.pk)
        drawn = Template("{% load rights %}{% rights_panel member %}").render(
            RequestContext(request, {"member": member})
        )
    assert f"{desk.areas[0]}: weekdays 08:00 to 19:00" in drawn
    assert drawn.count('class="wk-bar"') == 5
    assert "/rights/compare/" in drawn


def test_who_may_only_look_sees_no_form_and_who_may_not_sees_nothing(desk):
    desk.client.get(desk.editor)
    tenant = f"/t/{desk.place.tenant.slug}/rights"
    for role, sees in (("auditor", True), ("receptionist", False)):
        client = desk.place.client(desk.place.staff(role))
        page = client.get(desk.editor)
        assert page.status_code == (200 if sees else 403)
        if sees:
            assert "data-rights" not in page.content.decode()
            assert "Summary" in said(page)
        assert client.post(desk.editor, {}).status_code == 403
        for address in (f"{tenant}/templates/new/", f"{tenant}/copy/?from={desk.member.member_id}"):
            assert client.get(address).status_code == 403
    assert desk.client.get(f"{desk.url}nobody/rights/").status_code == 404
    assert desk.client.get(f"{tenant}/compare/", {"a": "nobody"}).status_code == 404
    assert desk.client.get(f"{tenant}/templates/99999999999/").status_code == 404


def test_without_a_contract_its_part_is_said_and_cannot_be_changed(make):
    desk = Desk(make(contracts=("door",), members=2))
    desk.give(devices_pass={"default_mode": "deny_all"})
    page = desk.client.get(desk.editor)
    assert "key boxes are not in the contract. Ask the vendor to add them." in said(page)
    assert "keys.mode" not in page.content.decode()
    answer = desk.save(desk.form(), **{"devices.mode": "allow_all"})
    assert 'data-state="done"' in answer.content.decode(), said(answer)


def test_the_words_follow_what_is_typed(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    form = desk.form()
    night, wrong = "weekdays 08:00 to 24:00, and Tuesday to Saturday 00:00 to 07:00", "some times need correcting."
    for typed, text in (("21:30", "weekdays 08:00 to 21:30"), ("午前7時", night), ("7:7", wrong)):
        form["s1.1.end"] = typed
        told = json.loads(desk.client.post(f"{desk.editor}words/", dict(form.lists())).content)
        assert told["schedules"]["s1"]["text"] == text[0].upper() + text[1:]
        assert typed == "7:7" or told["changes"] == [[desk.areas[0].area_name, "weekdays 08:00 to 19:00", text]]
    assert told["schedules"]["s1"]["problems"] == {"1": [ANY]}


NASTY = (
    "", "\x00", "s99999", "k1", "new", "-1", "\u202e", "あ" * 999, "row s1 weekly " * 50, "drop s1 ९", "template 9e9",
)  # fmt: skip


def test_whatever_is_posted_gets_a_page_and_calls_nobody(desk):
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    form, tenant = desk.form(), f"/t/{desk.place.tenant.slug}/rights"
    sent = len(desk.place.calls(6))
    odd = ["act", "seen", "mine", "s1.1.start", "s1.1.day", "s1.1.kind", "s1.77777.kind", "schedule", "k1", "nonce",
           "devices.area.~00", "devices.area.~FF", "keys.box.~00", "devices.kept", "devices.whole"]  # fmt: skip
    for number, value in enumerate(NASTY):
        data = dict(form.lists()) | {name: [value] for name in odd[number % 3 :: 2]} | {"nonce": ["no"]}
        for address in (desk.editor, f"{desk.editor}words/", f"{tenant}/words/", f"{tenant}/templates/new/"):
            assert desk.client.post(address, data).status_code in (200, 400, 422), (address, value)
        query = {"a": value, "from": desk.member.member_id, "q": value, "group": value, "to": value, "ready": value}
        for page in ("compare/", "copy/", "templates/new/"):
            assert desk.client.get(f"{tenant}/{page}", query).status_code in (200, 400, 404), (page, value)
    assert len(desk.place.calls(6)) == sent
