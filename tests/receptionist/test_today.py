"""A receptionist's day: guests who are expected, here or gone; search while typing; check-in by click or code."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.base.ui.times import TOKYO
from portal.domain.history.models import History
from portal.domain.people.models import Guest
from portal.domain.sync.models import MirrorState
from portal.domain.visits.models import DeskSettings, Stage, Visit
from portal.domain.visits.visit_status import VisitStatus, status_of, with_status
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.receptionist.desk import again, counts, names, used, visit, way_out
from tests.support.effort import examples
from tests.support.members import said, tight
from tests.support.rounds import round_of


class Desk:
    def __init__(self, place, role="receptionist"):
        self.place, self.url = place, f"/t/{place.tenant.slug}/guests/"
        self.client = place.client(place.staff(role))

    def page(self, rest="", **query):
        answer = self.client.get(self.url + rest, query)
        assert answer.status_code == 200, answer.content
        return answer.content.decode()

    def step(self, who, step, htmx=True, **values):
        headers = {"HX-Request": "true"} if htmx else {}
        return self.client.post(f"{self.url}visits/{who.pk}/presence/{step}/", values, headers=headers)

    def trail(self):
        with tenant_scope(self.place.tenant):
            return list(AuditEntry.objects.filter(action__startswith="guest").order_by("pk"))


@pytest.fixture
def desk(place):
    return Desk(place)


def test_an_empty_desk_says_so_and_offers_the_next_step(desk):
    with tenant_scope(desk.place.tenant):
        MirrorState.objects.create(kind="guests", as_of=timezone.now())
    html = desk.page()
    assert "No guests expected today" in html
    assert f'href="{desk.url}new/"' in html


def test_the_desk_is_the_picture_of_the_day_with_the_roll_call_one_step_away(desk):
    slug = desk.place.tenant.slug
    assert f'href="/t/{slug}/roll-call/"' in desk.page()
    assert desk.client.get(f"/t/{slug}/", follow=True).redirect_chain == [(f"/t/{slug}/guests/", 302)]


def test_every_visit_of_the_day_stands_in_its_group_and_is_counted(desk):
    now, place = timezone.now(), desk.place
    visit(place, "Expected", start=0)  # whose day is today until midnight
    visit(place, "Here", arrived_at=now, arrived_by="desk")
    visit(place, "Overdue", start=-30, hours=2, arrived_at=now - timedelta(hours=30), arrived_by="desk")
    visit(place, "Left", arrived_at=now - timedelta(minutes=9), left_at=now, arrived_by="desk", left_by="desk")
    visit(place, "Cut", must_end_at=now)
    visit(place, "Asked", stage=Stage.REQUESTED)
    visit(place, "Refused", stage=Stage.NOT_ISSUED)
    visit(place, "Gone", gone_at=now)
    visit(place, "Yesterday's", start=-48)
    html = desk.page(show="all")
    assert counts(html) == {
        "expected": 1, "here": 1, "overdue": 1, "left": 1, "cut": 1, "requested": 1, "not_issued": 1, "not_come": 1,
    }  # fmt: skip
    assert names(html) == ["Overdue", "Expected", "Here", "Asked", "Left", "Gone", "Cut", "Refused"]
    assert names(desk.page()) == ["Overdue", "Expected", "Here", "Asked"]
    assert names(desk.page(show="left")) == ["Left"]


def test_a_name_a_host_or_a_company_is_found_as_one_types_whatever_the_keyboard_says(desk):
    visit(desk.place, "髙橋 ﾊﾅｺ", host_name="山﨑 次郎", company="港湾ソウコ")
    visit(desk.place, "Suzuki Ichiro", host_name="Sato")
    visit(desk.place, "高橋 明日", start=40)
    for typed in ("高橋", "はな", "ハナコ", "山崎", "港湾", "ソウコ", "橋 はな"):
        assert names(desk.page("board/", q=typed))[0] == "髙橋 ﾊﾅｺ", typed
    assert names(desk.page("board/", q="SUZU")) == ["Suzuki Ichiro"]
    found = desk.page("board/", q="高橋")
    assert "On other days" in found
    assert names(found) == ["髙橋 ﾊﾅｺ", "高橋 明日"]
    nobody = desk.page("board/", q="佐藤 花")
    assert f"{desk.url}new/?name=%E4%BD%90%E8%97%A4" in nobody
    for typed in ("", "%", "'", "<b>", "x" * 3000, "\\"):
        assert desk.client.get(desk.url + "board/", {"q": typed}).status_code == 200


def test_one_click_marks_an_arrival_and_a_departure_and_each_can_be_taken_back(desk):
    who = visit(desk.place, "山田 太郎")
    answer = desk.step(who, "arrived", back="?show=now")
    assert "山田 太郎 on site since" in said(answer)
    assert f'hx-post="{desk.url}undo/"' in answer.content.decode()
    first = again(desk.place, who)
    assert first.arrived_by == "desk"
    desk.step(who, "arrived")
    assert again(desk.place, who).arrived_at == first.arrived_at
    desk.step(who, "not-arrived")
    assert again(desk.place, who).arrived_at is None
    desk.step(who, "arrived")
    page = desk.client.post(f"{desk.url}visits/{who.pk}/presence/left/", {"back": "?show=here"}, follow=True)
    assert page.redirect_chain[0][0] == f"{desk.url}?show=here&done={who.pk}"
    assert "山田 太郎 left at" in said(page)
    desk.step(who, "back")
    stays = again(desk.place, who)
    assert (stays.left_at, stays.left_by) == (None, "")
    assert [entry.action for entry in desk.trail()] == [
        "guest.arrived", "guest.arrival_undone", "guest.arrived", "guest.left", "guest.back",
    ]  # fmt: skip
    assert not [entry for entry in desk.trail() if "山田" in f"{entry.summary}{entry.before}{entry.after}"]


def test_what_does_not_fit_is_refused_with_words_and_changes_nothing(desk):
    cut, nobody = visit(desk.place, must_end_at=timezone.now()), visit(desk.place)
    assert "deactivated" in said(desk.step(cut, "arrived"))
    assert "No one has checked in for this visit yet." in said(desk.step(nobody, "left"))
    assert "No one has checked in for this visit yet." in said(
        desk.client.post(f"{desk.url}visits/{nobody.pk}/presence/left/", follow=True)
    )
    assert desk.step(nobody, "flown").status_code == 404
    assert desk.client.post(f"{desk.url}visits/{10**20}/presence/arrived/").status_code == 404
    assert desk.trail() == []


def test_whoever_only_looks_is_offered_nothing_to_press(place):
    who = visit(place)
    auditor = Desk(place, "auditor")
    html = auditor.page()
    assert names(html) == [str(who)]
    assert "presence/arrived" not in html
    assert "New guest" not in html
    assert auditor.step(who, "arrived").status_code == 403
    assert Desk(place, "guard").client.get(auditor.url).status_code == 403


def test_a_code_used_at_a_door_is_an_arrival_marked_as_such(desk):
    who, at = visit(desk.place), timezone.now() - timedelta(seconds=20)
    used(desk.place, who, at - timedelta(seconds=5), category="warning")
    assert again(desk.place, who).suggested_arrival_at is None
    used(desk.place, who, at)
    used(desk.place, who, at + timedelta(seconds=10), door="3F")
    row = again(desk.place, who)
    assert (row.arrived_at, row.arrived_by, row.first_use_place, row.last_use_place) == (
        at,
        "history",
        "正面入口",
        "3F",
    )
    assert "(QR code: 正面入口)" in said(desk.client.get(desk.url))
    (entry,) = desk.trail()
    assert (entry.action, entry.by, entry.by_label) == ("guest.arrived", None, "histories")
    desk.step(who, "not-arrived")
    used(desk.place, who, at + timedelta(seconds=15))
    assert again(desk.place, who).arrived_at is None, "what the desk took back stays taken back"


def test_where_a_use_is_only_a_suggestion_one_click_takes_it_over(desk):
    with tenant_scope(desk.place.tenant):
        DeskSettings.objects.create(arrives_by_history=False)
    way_out(desk.place, "裏口")
    who, at = visit(desk.place), timezone.now() - timedelta(seconds=40)
    used(desk.place, who, at)
    html = desk.page()
    assert again(desk.place, who).arrived_at is None
    assert re.search(r"entered \d\d:\d\d at 正面入口", html)
    assert re.search(r"Check in at \d\d:\d\d</button>", tight(html))
    desk.step(who, "arrived", suggested="1")
    assert again(desk.place, who).arrived_at == at
    used(desk.place, who, at + timedelta(seconds=30), door="裏口")
    assert re.search(r"went out \d\d:\d\d at 裏口", desk.page())
    used(desk.place, who, at + timedelta(seconds=32))
    assert "went out" not in desk.page(), "whoever came in again has not left"
    used(desk.place, who, at + timedelta(seconds=35), door="裏口")
    desk.step(who, "left", suggested="1")
    row = again(desk.place, who)
    assert (row.left_at, row.left_by) == (at + timedelta(seconds=35), "history")
    used(desk.place, who, at + timedelta(seconds=39))
    assert re.search(r"code used \d\d:\d\d at 正面入口", desk.page(show="left"))


def test_records_that_were_there_before_their_visit_count_and_old_days_are_closed(desk):
    from portal.domain import events
    from portal.domain.events import MirrorKind

    now, tenant = timezone.now(), desk.place.tenant
    with tenant_scope(tenant):
        for guest, start in (("today", now - timedelta(seconds=20)), ("old", now - timedelta(days=3))):
            hours = {"use_date_start": start, "use_date_end": start + timedelta(hours=4)}
            Guest.objects.create(guest_id=guest, guest_name=guest, name_key=guest, **hours)
            for seconds in (0, 9):
                History.objects.create(
                    history_id=f"{guest}{seconds}", at=start + timedelta(seconds=seconds), category="normal",
                    member_id=guest, device_id="d", device_name="門",
                )  # fmt: skip
        events.publish(MirrorKind.GUESTS, tenant)
        rows = {row.guest_id: row for row in Visit.objects.all()}
    assert rows["today"].arrived_at == rows["today"].use_date_start
    assert rows["today"].left_at is None
    assert rows["old"].left_at == rows["old"].use_date_start + timedelta(seconds=9)
    assert rows["old"].left_by == "history"


def test_whoever_was_forgotten_yesterday_is_marked_as_left_with_one_click(desk):
    now = timezone.now()
    old = visit(desk.place, start=-50, hours=3, arrived_at=now - timedelta(hours=49), arrived_by="desk")
    new = visit(desk.place, arrived_at=now - timedelta(minutes=5), arrived_by="desk")
    assert "Check out guests from earlier days" in desk.page()
    answer = desk.client.post(f"{desk.url}overdue/left/", follow=True)
    assert "1 guest from earlier days checked out" in said(answer)
    assert again(desk.place, old).left_at == old.use_date_end
    assert again(desk.place, new).left_at is None
    assert "Check out guests from earlier days" not in answer.content.decode()


def test_the_board_is_redrawn_only_when_it_would_look_different(desk):
    who = visit(desk.place)
    poll, seen = re.search(r'hx-get="([^"]+board/[^"]*)"[^>]+data-version="([^"]+)"', desk.page()).groups()
    poll = poll.replace("&amp;", "&")
    assert desk.client.get(poll, headers={"X-Version": seen}).status_code == 204
    desk.step(who, "arrived")
    answer = desk.client.get(poll, headers={"X-Version": seen})
    assert answer.status_code == 200
    assert "HX-Replace-Url" not in answer
    assert (
        desk.client.get(desk.url + "board/", {"q": "a", "show": "here"})["HX-Replace-Url"]
        == f"{desk.url}?show=here&q=a"
    )


def test_somebody_who_looks_has_the_histories_read_again_now_and_then(desk):
    now = timezone.now()
    with tenant_scope(desk.place.tenant):
        for kind, age in (("histories", 40), ("guests", 40)):
            as_of, due = now - timedelta(seconds=age), now + timedelta(minutes=4)
            MirrorState.objects.update_or_create(
                kind=kind, defaults={"as_of": as_of, "due_at": due, "lease_until": None}
            )
    desk.page()
    with tenant_scope(desk.place.tenant):
        due = dict(MirrorState.objects.filter(kind__in=["histories", "guests"]).values_list("kind", "due_at"))
    assert due["histories"] <= timezone.now()
    assert due["guests"] > timezone.now()


def test_thousands_of_visits_cost_the_same_few_queries_as_some(desk):
    now = timezone.now()
    desk.page()

    def asked(**query):
        with CaptureQueriesContext(connection) as captured:
            desk.page(**query)
        return len(captured)

    for number in range(3):
        visit(desk.place, arrived_at=now if number else None)
    few = [asked(), asked(show="all", q="ゲ"), asked(show="expected")]
    with tenant_scope(desk.place.tenant):
        Visit.objects.bulk_create(
            Visit(
                stage="issued", guest_id=f"many{n}", guest_name=f"ゲスト {n}", name_key=f"げすと{n}",
                use_date_start=now, use_date_end=now + timedelta(hours=1), arrived_at=now if n % 2 else None,
            )
            for n in range(1500)
        )  # fmt: skip
    assert [asked(), asked(show="all", q="ゲ"), asked(show="expected")] == few
    assert max(few) <= 14
    html = desk.page()
    assert counts(html)["expected"] == 751
    assert len(names(html)) == 80
    second = desk.page(show="expected", page=8)
    assert len(names(second)) == 51
    assert 'rel="prev"' in second
    assert 'rel="next"' not in second


def test_another_day_is_shown_as_it_was_and_nonsense_is_today(desk):
    visit(desk.place, "Yesterday's", start=-24)
    visit(desk.place, "Today's", start=0.01, hours=0.02)
    day = (timezone.now() - timedelta(hours=15)).date().isoformat()
    assert "Yesterday&#x27;s" in names(desk.page(day=day)) or "Yesterday&#x27;s" in names(
        desk.page(day=(timezone.now() + timedelta(hours=9) - timedelta(days=1)).date().isoformat())
    )
    for nonsense in ("2026-99-99", "x", "0001-01-01", "9999-12-31", "-1", "２０２６-01-01"):
        assert "Today&#x27;s" in names(desk.page(day=nonsense))
    for page in ("0", "-1", "x", "99999", "9" * 30, "²"):
        assert desk.client.get(desk.url, {"page": page, "show": "expected"}).status_code == 200
    assert desk.client.get(desk.url, {"done": "9" * 17}).status_code == 200


MOMENTS = st.none() | st.integers(-3, 3)


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.sampled_from(Stage.values), *[MOMENTS] * 5, st.integers(-3, 3)), max_size=30))
def test_every_visit_has_exactly_one_standing_and_sql_agrees(rows, place):
    now = timezone.now()

    def at(hours):
        return None if hours is None else now + timedelta(hours=hours)

    made = [
        Visit(
            stage=stage, guest_id=f"g{number}", guest_name="G", name_key="g", use_date_start=now - timedelta(hours=5),
            use_date_end=at(end), arrived_at=at(arrived), left_at=at(left), must_end_at=at(must),
            ended_confirmed_at=at(confirmed), gone_at=at(gone),
        )
        for number, (stage, arrived, left, must, confirmed, gone, end) in enumerate(rows)
    ]  # fmt: skip
    with tenant_scope(place.tenant):
        Visit.objects.all().delete()
        Visit.objects.bulk_create(made)
        for row in with_status(Visit.objects.all(), now):
            assert VisitStatus(row.status) == status_of(row, now)


def test_a_code_for_several_days_is_expected_anew_each_day_and_nobody_stays_overnight_by_a_code_alone(desk):
    now = timezone.now()
    today = now.astimezone(TOKYO).replace(hour=0, minute=0, second=0, microsecond=0)
    long, marked = ({"start": -50, "hours": 100} for _ in range(2))
    guest = visit(desk.place, "数日 太郎", **long)
    used(desk.place, guest, today - timedelta(hours=8))
    assert again(desk.place, guest).left_by == "history", "what lies before today is over"
    with tenant_scope(desk.place.tenant):
        Visit.objects.filter(pk=guest.pk).update(left_at=None, left_by="")
    kept = visit(desk.place, "受付 記録", arrived_at=today - timedelta(hours=8), arrived_by="desk", **marked)
    round_of("open_visits")
    assert again(desk.place, guest).left_at == today - timedelta(hours=8)
    assert again(desk.place, kept).left_at is None
    assert status_of(again(desk.place, guest)) == VisitStatus.EXPECTED
    assert "数日 太郎" in names(desk.page(show="expected"))
    used(desk.place, guest, max(today, now - timedelta(minutes=5)))
    row = again(desk.place, guest)
    assert (status_of(row), row.arrived_by, row.left_at) == (VisitStatus.HERE, "history", None)
    assert row.arrived_at >= today
    desk.step(guest, "left")
    desk.step(guest, "arrived")
    assert again(desk.place, guest).left_at is not None, "whoever left today comes back by “here again”"
    with tenant_scope(desk.place.tenant):
        Visit.objects.filter(pk=guest.pk).update(left_at=today - timedelta(hours=1))
    desk.step(guest, "arrived")
    assert (again(desk.place, guest).left_at, again(desk.place, guest).arrived_by) == (None, "desk")
