"""A facility manager and the page of one record: the whole record, who, where, related times, and why."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from portal.domain.intents.models import Intent, State, target_of
from portal.domain.people.models import Member
from portal.domain.places.models import KeyBox, PassController
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence
from tests.support.log import happened, loaded, record
from tests.support.members import said
from tests.support.places import fresh_nonce

NOW = timezone.now()


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="倉庫 入口")
        KeyBox.objects.create(key_device_id="K1", key_device_name="総務キーボックス")
        Member.objects.create(member_id="m-1", member_name="佐藤 花子", name_key="佐藤 花子")
    loaded(place)
    return place


@pytest.fixture
def manager(one):
    client = one.client(one.staff("facility manager"))
    return lambda row: client.get(address(one, row))


def address(place, row):
    return reverse("history:record", args=[place.tenant.slug, getattr(row, "history_id", row)])


def at_door(minutes=0, **more):
    return record(NOW - timedelta(minutes=minutes), **{"device_id": "D1", "device_name": "倉庫 入口", **more})


def command(place, seconds_ago, *, info="", request_id="", state=State.SUCCEEDED, device="D1"):
    """Create a command that was sent so many seconds ago, and ended two seconds later."""
    sent = NOW - timedelta(seconds=seconds_ago)
    with tenant_scope(place.tenant):
        return Intent.objects.create(
            nonce=fresh_nonce().value,
            operation="operate_door",
            delivery="physical",
            target=target_of("pass_controller", device),
            title=coded_sentence("door.unlock", door="倉庫 入口"),
            path={"device_id": device},
            body={"control": "unlock", "info": info},
            by=place.owner,
            permission="doors_operate",
            priority=0,
            queue="doors",
            state=state,
            sent_at=sent,
            finished_at=sent + timedelta(seconds=2),
            due_at=None,
            request_id=request_id,
        )


def test_everything_that_the_service_said_is_there(one, manager):
    (row,) = happened(
        one,
        at_door(
            category="of_another_version", status="restore", content="<b>Entry</b>", member_id="m-1",
            member_name="佐藤 花", member_type="member", member_label="開発部", member_attribute="card",
            device_module="pass", units=[{"unit_no": "03", "unit_name": "社用車"}],
            extra={"temperature": 36.5, "note": "<i>"},
        ),
    )  # fmt: skip
    html, words = manager(row).content.decode(), said(manager(row))
    assert "&lt;b&gt;Entry&lt;/b&gt;" in html
    assert "<code>of_another_version</code>" in html
    assert "Status Over" in words
    assert "At the time: 佐藤 花" in words
    assert "開発部" in words
    assert "Credential Card" in words
    assert "pass" not in words.split()
    assert "03 社用車" in words
    assert "temperature 36.5" in words
    assert "<code>&lt;i&gt;</code>" in html
    assert f"Record ID {row.history_id}" in words
    slug = one.tenant.slug
    assert f'href="/t/{slug}/members/m-1/"' in html
    assert f'href="/t/{slug}/devices/D1/"' in html
    assert "Complete through" in words


class TestFromTheList:
    @pytest.fixture
    def client(self, one):
        happened(one, at_door(category="warning", content="Outside of hours"))
        return one.client(one.staff("facility manager"))

    def test_each_event_leads_without_script_to_its_record_with_the_services_own_text(self, one, client):
        page = client.get(reverse("history:index", args=[one.tenant.slug])).content.decode()
        [href] = re.findall(r'<a class="row-link" href="([^"]+)">Refused: outside the scheduled hours', page)
        assert "<code>Outside of hours</code>" in client.get(href).content.decode()

    def test_a_phone_shows_the_services_own_text_where_that_column_is_chosen(self, one, client):
        index = reverse("history:index", args=[one.tenant.slug])
        client.post("/look/lists/log/", {"columns": ["text"], "next": index})
        assert re.search(r'<td class="k-mono" data-label="Service’s text">Outside', client.get(index).content.decode())


def test_a_key_box_leads_to_its_page(one, manager):
    (row,) = happened(one, record(NOW, device_id="K1", device_name="総務キーボックス", content="Key taken"))
    assert "/keys/K1/" in manager(row).content.decode()


def test_who_and_what_is_unknown_has_its_name_and_no_link(one, manager):
    (row,) = happened(
        one, record(NOW, member_id="gone", member_name="Left Long Ago", device_id="D9", device_name="Old")
    )
    html = manager(row).content.decode()
    assert "Left Long Ago" in html
    assert "/members/gone/" not in html
    assert "/devices/D9/" not in html


@pytest.mark.parametrize("name", ["a/b//c", "..", "%2e%2e/x", "日本?x=1#y", "~", "a b+c&d", 'q"<script>', "people"])
def test_ids_of_any_make_have_a_page(one, manager, name):
    (row,) = happened(one, at_door(history_id=name, content="Odd"))
    assert "Odd" in manager(row).content.decode()


def test_what_only_a_notification_told_says_so(one, manager):
    (row,) = happened(one, at_door()._replace(notified=True))
    assert "Reported by notification; details are not loaded yet." in said(manager(row))


def test_the_five_before_and_after_at_the_same_door_are_links(one, manager):
    rows = happened(one, *[at_door(minutes, content=f"No. {minutes}.") for minutes in range(20)])
    happened(one, record(NOW - timedelta(minutes=10), device_id="D2", content="Elsewhere"))
    html = manager(rows[10]).content.decode()
    shown = [number for number in range(20) if f"No. {number}." in html]
    assert shown == list(range(5, 16))
    assert address(one, rows[5]) in html
    assert "Elsewhere" not in html
    ends = manager(rows[0]).content.decode()
    assert [number for number in range(20) if f"No. {number}." in ends] == list(range(6))


def test_records_of_one_moment_are_each_beside_the_others(one, manager):
    rows = happened(one, *[at_door(content=f"No. {number}.") for number in range(3)])
    for row in rows:
        html = manager(row).content.decode()
        assert all(f"No. {number}." in html for number in range(3))


class TestWhatCausedIt:
    def test_the_request_named_in_the_record_is_surely_it(self, one, manager):
        command(one, 20, info=one.owner.email)
        command(one, 10, info=one.owner.email, request_id="req-1234567")
        text = f"Remote unlock succeeded; {one.owner.email}; request req-1234567"
        (row,) = happened(one, record(NOW, category="operation", device_id="D1", content=text))
        words = said(manager(row))
        assert "Request from the portal" in words
        assert "Likely" not in words
        assert "Unlock: 倉庫 入口" in words

    def test_the_page_of_the_request_leads_back_to_its_record(self, one, manager):
        asked = command(one, 10, info=one.owner.email, request_id="req-1234567")
        page, auditor = reverse("intents:page", args=[one.tenant.slug, asked.pk]), one.client(one.staff("auditor"))
        assert "/logs/records/" not in auditor.get(page).content.decode()
        happened(one, record(NOW, category="operation", device_id="D1", content="Unlocked"))
        (row,) = happened(one, record(NOW, category="operation", device_id="D1", content="Unlocked by req-1234567"))
        assert f'href="{address(one, row)}"' in auditor.get(page).content.decode()

    def test_of_two_with_the_same_words_the_nearer_is_likely(self, one, manager):
        command(one, 40, info="reception@example.test")
        near = command(one, 5, info="reception@example.test")
        (row,) = happened(one, record(NOW, device_id="D1", content="Unlocked for reception@example.test"))
        page = manager(row)
        assert "Likely request from the portal" in said(page)
        assert f'id="outcome-intent-{near.pk}"' in page.content.decode()

    def test_one_with_its_words_in_any_field_is_surely_it(self, one, manager):
        command(one, 5, info="reception@example.test")
        (row,) = happened(one, record(NOW, device_id="D1", extra={"comment": {"by": ["reception@example.test"]}}))
        assert "Likely" not in said(manager(row))
        assert "Request from the portal" in said(manager(row))

    def test_an_operation_at_that_time_is_likely_and_an_entry_is_not(self, one, manager):
        command(one, 5, info="x")
        operation, entry = happened(
            one, record(NOW, category="operation", device_id="D1", content="Unlocked"), record(NOW, device_id="D1")
        )
        assert "Likely request from the portal" in said(manager(operation))
        assert "equest from the portal" not in said(manager(entry))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"seconds_ago": 3600},
            {"seconds_ago": -60},
            {"seconds_ago": 5, "device": "D2"},
            {"seconds_ago": 5, "state": State.EXPIRED},
            {"seconds_ago": 5, "state": State.FAILED},
        ],
    )
    def test_what_was_sent_at_another_time_elsewhere_or_never_is_not_it(self, one, manager, wrong):
        command(one, info="reception@example.test", **wrong)
        (row,) = happened(one, record(NOW, category="operation", device_id="D1", content="reception@example.test"))
        assert "equest from the portal" not in said(manager(row))


def test_the_page_asks_the_database_as_often_for_a_long_log_as_for_a_short_one(one, manager):
    who = {"member_id": "m-1", "member_name": "佐藤 花子", "category": "operation"}
    (row,) = happened(one, at_door(**who))
    manager(row)

    def asked():
        with CaptureQueriesContext(connection) as queries:
            assert manager(row).status_code == 200
        return len(queries)

    few = asked()
    happened(one, *[at_door(minutes, **who) for minutes in range(-40, 40)])
    for _ in range(3):
        command(one, 5, info="x")
    assert asked() == few
    assert few <= 12


class TestOthers:
    def test_a_record_of_another_tenant_and_one_that_never_was_are_not_found(self, one, make, manager):
        other = make()
        happened(other, record(NOW, history_id="theirs"))
        assert manager("theirs").status_code == 404
        assert manager("nobody").status_code == 404
        assert manager("nul\x00").status_code == 404

    def test_support_and_the_desk_see_no_record(self, one):
        (row,) = happened(one, at_door())
        assert one.client(one.staff("receptionist")).get(address(one, row)).status_code == 403

    def test_a_guard_sees_todays_and_no_link_to_members(self, one):
        guard = one.client(one.staff("guard"))
        today, before = happened(
            one,
            at_door(member_id="m-1", member_name="佐藤 花子"),
            at_door(60 * 24 + 1, history_id="before", content="Yesterday"),
        )
        html = guard.get(address(one, today)).content.decode()
        assert "佐藤 花子" in html
        assert "/members/m-1/" not in html
        assert "Yesterday" not in html
        assert guard.get(address(one, before)).status_code == 404


def test_the_camera_that_the_service_names_is_shown_with_its_label(one):
    happened(one, record(NOW, history_id="h-cam", device_id="D1", extra={"camera_id": "cam-7"}))
    page = said(one.client(one.staff("auditor")).get(reverse("history:record", args=[one.tenant.slug, "h-cam"])))
    assert "Camera ID cam-7" in page
    assert "camera_id" not in page
