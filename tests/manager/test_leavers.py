"""A facility manager and the lists of members to clean up: each list says what it covers, and since when."""

import csv
import io
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people import row_building
from portal.domain.people.models import Member
from portal.domain.sync import local_writes
from portal.domain.sync.freshness import freshness_of
from portal.domain.sync.models import MirrorState
from portal.members import lists
from portal.members.lists import CleanupList
from tenants.models import AuditEntry, SupportSession
from tests.support.log import loaded
from tests.support.members import MembersDesk, said

SINCE = "2026-11-14T09:00:00+09:00"


@pytest.fixture
def desk(make):
    desk = MembersDesk(make(members=0))
    now = timezone.now()

    def put(name, days=None, **fields):
        end = {"use_date_end": (now + timedelta(days=days)).isoformat()} if days is not None else {}
        local_writes.apply_member_write(
            desk.place.tenant, f"m-{name}", {"member_name": name, **end, **fields}, created=True
        )

    with desk.scope():
        put("五日", 5, card_data="A1")
        put("廿日", 20, card_data="A2")
        put("遠い", 80, card_data="A3")
        put("一年", 365, card_data="A4")
        put("昨日", -1, card_data="A5")
        put("手ぶら")
        put("佐藤", card_data="00FF", face_data=True)
        put("鈴木", card_data="00ff")
        put("去る", 3, card_data="00FF")
        local_writes.apply_member_deletion(desk.place.tenant, "m-去る")
        History.objects.all().delete()
        came("m-佐藤")
        came("")
    return desk


def came(*member_ids):
    """Load these records into the log."""
    now = timezone.now()
    rows = [History(history_id=str(uuid4()), at=now, member_id=each, content="Entry") for each in member_ids]
    row_building.update_last_seen([row.pk for row in History.objects.bulk_create(rows)])


def listed(desk, which, **query):
    page = desk.get(f"leavers/{which}/", **query)
    return re.findall(r'<a class="row-link" href="[^"]*">([^<]*)</a>', page)


def test_each_list_holds_whom_it_says(desk):
    assert listed(desk, "ending") == ["五日", "廿日", "遠い"]
    assert set(listed(desk, "ending", within="7")) == {"五日"}
    assert set(listed(desk, "ending", within="30")) == {"五日", "廿日"}
    assert set(listed(desk, "ended")) == {"昨日"}
    assert set(listed(desk, "none")) == {"手ぶら"}
    assert set(listed(desk, "twice")) == {"佐藤", "鈴木"}
    assert set(listed(desk, "never")) == {"五日", "廿日", "遠い", "一年", "昨日", "手ぶら", "鈴木"}
    assert [listed(desk, "ending", q=name) for name in ("廿日", "一年")] == [["廿日"], []]
    assert desk.client.get(f"{desk.url}leavers/elsewhere/").status_code == 404


def test_whoever_comes_leaves_the_list_of_those_who_never_did_and_a_card_taken_back_is_nobodys_second(desk):
    tenant = desk.place.tenant
    with desk.scope():
        came("m-五日", "m-五日", "m-手ぶら", "g-somebody")
        local_writes.apply_member_write(tenant, "m-五日", {"member_code": "E5"})
        local_writes.apply_member_write(tenant, "m-鈴木", {"card_data": "A6"})
        local_writes.apply_member_write(tenant, "m-手ぶら", {"card_data": "a4"})
    assert set(listed(desk, "never")) == {"廿日", "遠い", "一年", "昨日", "鈴木"}
    assert set(listed(desk, "twice")) == {"一年", "手ぶら"}
    with desk.scope():
        local_writes.apply_member_deletion(tenant, "m-一年")
    assert listed(desk, "twice") == []


def test_a_doubled_card_names_the_other_and_never_the_number(desk):
    with desk.scope():
        Member.objects.filter(member_name="鈴木").update(member_code="S-1")
    page = desk.get("leavers/twice/")
    assert "Same card as" in page
    row = page[page.index(">佐藤</a>") :]
    assert "鈴木 (S-1)" in row[: row.index("</tr>")]
    assert "00FF" not in page.upper().replace("&#X", "")


def test_the_tabs_learn_their_counts_a_moment_later_in_one_query(desk):
    assert "leaver-tabs" in desk.get("leavers/")
    loaded(desk.place)
    answer = desk.client.get(f"{desk.url}leavers/", headers={"HX-Request": "true", "HX-Target": "leaver-tabs"})
    counted = said(answer)
    for words in (
        "Ends soon 3",
        "Expired, not deleted 1",
        "Never used 7",
        "No credential 1",
        "Shared cards 2",
    ):
        assert words in counted
    fresh = freshness_of(desk.place.tenant)
    with desk.scope(), CaptureQueriesContext(connection) as asked:
        assert set(lists.count_members_to_review(desk.place.tenant, list(CleanupList), fresh)) == set(
            CleanupList.values
        )
    assert len(asked) == 1


def test_every_list_asks_as_often_for_many_rows_as_for_few(desk):
    def asked(which):
        with CaptureQueriesContext(connection) as counted:
            desk.get(f"leavers/{which}/")
        return len([each for each in counted if "set_config" not in each["sql"]])

    desk.get("leavers/")
    few = {which: asked(which) for which in CleanupList.values}
    with desk.scope():
        now = timezone.now()
        ends = [(now + timedelta(days=number - 30)).isoformat() for number in range(40)]
        rows = [{"member_name": f"N{n}", "card_data": f"C{n // 2}", "use_date_end": end} for n, end in enumerate(ends)]
        local_writes.apply_member_writes(
            desk.place.tenant, [(f"m-{n}", row) for n, row in enumerate(rows)], created=True
        )
    assert max(few.values()) <= 12
    assert {which: asked(which) for which in CleanupList.values} == few


def test_what_is_done_with_all_that_match_means_this_list_and_never_all_members(desk):
    page = desk.get("leavers/ended/")
    address = re.search(r'formaction="([^"]*/changes/new/suspend/[^"]*)"', page)[1]
    assert address.endswith("?leavers=ended")
    asked = desk.client.post(address, {"scope": "match", "match": ""})
    assert re.search(r"\b1 member\b", said(asked))
    near = desk.client.post(address.replace("ended", "ending"), {"scope": "match", "match": "within=7"})
    assert re.search(r"\b1 member\b", said(near))
    assert desk.client.post(address.replace("ended", "everybody"), {"scope": "match", "match": ""}).status_code == 404


def test_who_never_enters_says_since_when_the_log_is_known(desk):
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(as_of=timezone.now(), memory={"known_from": SINCE})
    assert "loaded from 2026-11-14 09:00" in said(desk.client.get(f"{desk.url}leavers/never/"))
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(as_of=None, memory={})
    assert "The activity log is not loaded yet" in said(desk.client.get(f"{desk.url}leavers/never/"))


def test_a_list_is_taken_along_and_written_down(desk):
    answer = desk.client.get(f"{desk.url}leavers/twice/", {"export": "csv"})
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert {row[0] for row in rows[1:]} == {"佐藤", "鈴木"}
    assert "Same card as" in rows[0]
    with desk.scope():
        assert AuditEntry.objects.get(action="members.export").after["members"] == 2
    auditor = desk.place.client(desk.place.staff("auditor"))
    assert auditor.get(f"{desk.url}leavers/twice/").status_code == 200


@pytest.fixture
def support(desk, django_user_model):
    """Return a person of the support staff in a support session, who sees members but not the log."""
    person = django_user_model.objects.create_user("s@example.test", "x" * 12, name="S", platform_role="support")
    with desk.scope():
        ends = timezone.now() + timedelta(hours=1)
        SupportSession.objects.create(tenant=desk.place.tenant, user=person, reason="Ticket 12", expires_at=ends)
    return desk.place.client(person)


def test_who_never_came_is_kept_from_whoever_may_not_see_the_log_and_the_page_says_so(desk, support):
    page = said(support.get(f"{desk.url}leavers/"))
    assert "The list “Never used” needs the permission “View the activity log”." in page
    assert desk.get("leavers/").count("needs the permission") == 0
    tabs = support.get(f"{desk.url}leavers/", headers={"HX-Request": "true", "HX-Target": "leaver-tabs"})
    assert "Shared cards 2" in said(tabs)
    assert "Never used" not in said(tabs)
    for path in ("members/leavers/never/", "members/leavers/never/?export=csv"):
        refused = support.get(desk.url.replace("members/", path))
        assert refused.status_code == 403
        assert "This needs the permission “View the activity log”" in said(refused)
    chosen = {"scope": "match", "match": ""}
    assert support.post(desk.url.replace("members/", "changes/new/suspend/?leavers=never"), chosen).status_code == 403
