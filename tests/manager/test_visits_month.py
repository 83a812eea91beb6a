"""A facility manager and the desk: a month as a chart and a table, the settings, and deleting old guests."""

import csv
import io
import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from openpyxl import load_workbook

from portal.base.ui.times import TOKYO
from portal.domain.history.models import History
from portal.domain.intents.models import Intent
from portal.domain.people.models import Guest
from portal.domain.people.text_folding import fold
from portal.domain.visits.models import CodeLink, DeskSettings, Visit
from portal.today import erasing
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.receptionist.desk import again, names, visit
from tests.support.members import said
from tests.support.places import fresh_nonce
from tests.support.rounds import tenants_with


@pytest.fixture
def manager(place):
    client = place.client(place.staff("facility manager"))
    return lambda rest, **query: client.get(f"/t/{place.tenant.slug}/guests/{rest}", query)


def on(place, day, hour, **values):
    """Create a visit on a day of October 2025, long over."""
    start = datetime(2025, 10, day, hour, tzinfo=TOKYO)
    end = start + timedelta(hours=1)
    return visit(place, use_date_start=start, use_date_end=end, **values)


def come(day, hour, minutes=50):
    start = datetime(2025, 10, day, hour, 5, tzinfo=TOKYO)
    return {"arrived_at": start, "arrived_by": "desk", "left_at": start + timedelta(minutes=minutes), "left_by": "desk"}


def furnish(place):
    on(place, 1, 0, **come(1, 9))
    on(place, 14, 9, **come(14, 9, minutes=70))
    on(place, 14, 9)
    on(place, 14, 10, must_end_at=datetime(2025, 10, 14, 10, tzinfo=TOKYO))
    on(place, 31, 23, **come(31, 23))
    on(place, 31, 23, stage="not_issued")


def test_a_month_is_counted_day_by_day_drawn_and_drilled_into(place, manager):
    furnish(place)
    answer = manager("month/", month="2025-10")
    html, words = answer.content.decode(), said(answer)
    assert (
        "Visits 5 Arrived 3 No-show 1 Busiest day 10-14 (Tue) 3 Busiest hour 09:00–10:00 Average stay 0 h 56 min"
        in words
    )
    assert html.count('class="part part-came"') == 3
    assert html.count('class="part part-cut"') == 1
    assert re.search(r'href="[^"]*\?day=2025-10-14&amp;show=all"', html)
    assert "2025-10-14 (Tue) 3 1 1 1 –" in words
    assert len(names(manager("", day="2025-10-14", show="all").content.decode())) == 3
    assert "?month=2025-09" in html
    assert "?month=2025-11" in html
    rows = list(
        csv.reader(io.StringIO(b"".join(manager("month/csv/", month="2025-10").streaming_content).decode("utf-8-sig")))
    )
    assert len(rows) == 1 + 31 + 2  # two lines about missing counts
    assert rows[14] == ["2025-10-14", "3", "1", "1", "1", "0", ""]
    book = manager("month/xlsx/", month="2025-10")
    assert load_workbook(io.BytesIO(b"".join(book.streaming_content))).active.max_row == 34


def test_a_month_without_visits_and_a_nonsensical_one_are_pages_too(manager):
    assert "Visits 0" in said(manager("month/", month="2031-02"))
    for nonsense in ("2026-13", "x", "0000-01", "2999-12", "9999-99", "²025-10"):
        assert manager("month/", month=nonsense).status_code == 200


def test_the_desk_is_set_up_by_managers_alone_within_limits_and_written_down(place):
    client, url = place.client(), f"/t/{place.tenant.slug}/guests/settings/"
    sent = {"keep_days": "30", "delivery": "mail", "link_minutes": "", "arrives_by_history": "", "slip_paper": "62"}
    assert client.get(url).status_code == 200
    for field, value in (("keep_days", "7"), ("keep_days", "x"), ("keep_days", "9" * 40), ("link_minutes", "-1"),
                         ("link_minutes", "9" * 30), ("delivery", "pigeon"), ("slip_paper", "61")):  # fmt: skip
        answer = client.post(url, sent | {field: value})
        assert answer.status_code == 422, (field, value)
        assert f'id="id_{field}' in answer.content.decode()
    assert "Saved." in said(client.post(url, sent, follow=True))
    with tenant_scope(place.tenant):
        row = DeskSettings.objects.get()
        entry = AuditEntry.objects.get(action="desk.settings")
    assert (row.keep_days, row.delivery, row.link_minutes, row.arrives_by_history) == (30, "mail", 0, False)
    assert (entry.after["keep_days"], entry.after["slip_paper"]) == ("30", "62")
    assert "Nothing was changed" in said(client.post(url, sent, follow=True))
    for role in ("receptionist", "auditor"):
        browser = place.client(place.staff(role))
        assert browser.get(url).status_code == browser.post(url, sent).status_code == 403


def old_visit(place, name, **values):
    """Create a guest of 100 days ago, with a loaded guest, records and an intent."""
    who = visit(place, name, start=-2400, company="港湾倉庫", host_name="佐藤", **values)
    with tenant_scope(place.tenant):
        intent = Intent.objects.create(
            tenant=place.tenant, nonce=fresh_nonce().value, operation="create_guest", delivery="create",
            title=f"Issue a code: {name}", audit_title="Issue a guest’s code", body={"guest_name": name},
            by=place.owner,
            permission="guests_desk", priority=1, queue="interactive", state="succeeded", due_at=None,
            result={"guest_name": name}, error_detail=f"about {name}",
        )  # fmt: skip
        Visit.objects.filter(pk=who.pk).update(intent=intent)
        Guest.objects.create(guest_id=who.guest_id, guest_name=name, name_key=fold(name))
        History.objects.create(history_id=who.guest_id, at=who.use_date_start, member_id=who.guest_id, member_name=name)
        CodeLink.objects.create(
            visit=who, digest=name.encode(), by=place.owner, expires_at=timezone.now() + timedelta(days=1)
        )
    return who


def erase(place):
    with tenant_scope(place.tenant):
        return erasing.erase(place.tenant)


def test_guests_are_forgotten_when_their_time_has_passed_and_the_month_still_counts_them(place, manager):
    now, name = timezone.now(), "忘却 太郎"

    def due():
        return [erasing.due_visits(now)]

    old = old_visit(place, name)
    here = old_visit(place, f"{name} 二", arrived_at=now - timedelta(days=99), arrived_by="desk")
    live = old_visit(place, f"{name} 三", must_end_at=now - timedelta(days=99))
    new = visit(place, f"{name} 四", start=-240)
    assert tenants_with(due) == [place.tenant.pk]
    assert erase(place) == 1
    gone = again(place, old)
    assert (gone.guest_name, gone.name_key, gone.company, gone.host_name, gone.host_key) == ("",) * 5
    assert gone.erased_at is not None
    assert gone.use_date_start == old.use_date_start
    for kept in (here, live, new):
        assert again(place, kept).guest_name == kept.guest_name
    with tenant_scope(place.tenant):
        intent = Intent.objects.get(pk=gone.intent_id)
        assert (intent.title, intent.body, intent.result, intent.error_detail) == ("Issue a guest’s code", None, {}, "")
        assert not Guest.objects.filter(guest_id=old.guest_id).exists()
        assert History.objects.get(history_id=old.guest_id).member_name == ""
        assert not CodeLink.objects.filter(visit=old).exists()
        assert Guest.objects.filter(guest_id=here.guest_id).exists()
        entries = list(AuditEntry.objects.filter(action="guests.erased"))
    assert [(entry.by_label, entry.after["visits"]) for entry in entries] == [("portal", 1)]
    month = f"{gone.use_date_start.astimezone(TOKYO):%Y-%m}"
    assert "Visits 3" in said(manager("month/", month=month))
    page = manager("", day=f"{gone.use_date_start.astimezone(TOKYO):%Y-%m-%d}", show="all")
    assert "Deleted" in said(page)
    assert tenants_with(due) == []
    assert erase(place) == 0


def test_a_shorter_time_counts_from_the_next_run_on(place):
    new = visit(place, "短期", start=-24 * 20)
    assert erase(place) == 0
    client = place.client()
    sent = {
        "keep_days": "10",
        "delivery": "direct",
        "link_minutes": "0",
        "arrives_by_history": "on",
        "slip_paper": "80",
    }
    assert "To be deleted next 1" in said(client.post(f"/t/{place.tenant.slug}/guests/settings/", sent, follow=True))
    assert erase(place) == 1
    assert again(place, new).guest_name == ""
    later = timezone.now() + timedelta(days=1, hours=1)
    assert tenants_with(lambda: [erasing.due_visits(later)]) == []


def test_what_the_desk_does_names_no_guest_in_the_audit_trail(place):
    who, url = visit(place, "名無 花子"), f"/t/{place.tenant.slug}/guests/"
    client = place.client(place.staff("receptionist"))
    client.post(f"{url}visits/{who.pk}/presence/arrived/")
    client.post(f"{url}visits/{who.pk}/presence/left/")
    with tenant_scope(place.tenant):
        entries = list(AuditEntry.objects.all())
    assert len(entries) >= 2
    assert not [entry for entry in entries if "名無" in f"{entry.summary}{entry.target}{entry.before}{entry.after}"]
