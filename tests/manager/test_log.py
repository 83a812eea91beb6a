"""Staff and the activity log: every record, filters in the address, how complete it is, and who sees it."""

import html
import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from portal.base.ui.times import TOKYO, local
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.history.models import HistoryDay
from portal.domain.people.models import Guest, Member
from portal.domain.places.models import KeyBox, PassController
from portal.domain.sync import local_writes
from portal.domain.sync.models import MirrorState
from portal.domain.visits.models import Stage, Visit
from portal.history.models import SavedSearch
from tenants.scope import tenant_scope
from tests.support.log import area, clock, happened, loaded, record
from tests.support.members import said

NOW = timezone.now()
TODAY = NOW.astimezone(TOKYO).date()
SATO = {"member_id": "m-1", "member_name": "佐藤 花子"}
ROSSI = {"member_id": "g-1", "member_name": "Rossi"}
MOST_ASKED = 12  # statements of a page
STORE, LOBBY = {"device_id": "D1", "device_name": "倉庫 入口"}, {"device_id": "D2"}


def minutes(ago):
    return NOW - timedelta(minutes=ago)


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="倉庫 入口")
        PassController.objects.create(device_id="D2", device_name="Lobby")
        KeyBox.objects.create(key_device_id="K1", key_device_name="総務キーボックス")
        Member.objects.create(member_id="m-1", member_name="佐藤 花子", name_key="佐藤花子")
        Guest.objects.create(guest_id="g-1", guest_name="Rossi", name_key="rossi")
    area(place, "Store", D1="in")
    loaded(place)
    happened(
        place,
        record(NOW, history_id="new", **SATO, **STORE),
        record(minutes(1), history_id="no", category="warning", content="Outside of hours", **ROSSI, **LOBBY),
        record(minutes(2), history_id="forced", category="emergency", content="Door forced open", **LOBBY),
        record(NOW - timedelta(minutes=3), history_id="odd", category="lunar", status="waxing", content="満月です"),
        record(NOW - timedelta(minutes=4), history_id="told", content="Said early")._replace(notified=True),
        record(NOW - timedelta(days=3), history_id="old", member_id="m-1", member_name="佐藤 花子", device_id="K1"),
    )  # fmt: skip
    return place


def index(place, **query):
    return reverse("history:index", args=[place.tenant.slug]) + (f"?{urlencode(query, doseq=True)}" if query else "")


def shown(client, place, **query):
    """Return the records on the page, in order."""
    page = client.get(index(place, **query))
    assert page.status_code == 200
    return records_in(page)


def records_in(page):
    return re.findall(r'<tr[^>]* data-id="([^"]+)"', page.content.decode())


def leads(page, rel):
    return html.unescape(re.search(rf'<a [^>]*rel="{rel}"[^>]*href="([^"]+)"', page.content.decode())[1])


@pytest.fixture
def known(one):
    """Create the people of the records: a member, and a guest's visit."""
    with tenant_scope(one.tenant):
        Member.objects.all().delete()
        local_writes.apply_member_write(one.tenant, "m-1", {"member_name": "佐藤 花子"}, created=True)
        days = {"use_date_start": NOW, "use_date_end": NOW + timedelta(hours=1)}
        Visit.objects.create(stage=Stage.ISSUED, guest_id="g-1", guest_name="Rossi", name_key="rossi", **days)
    return one


def test_every_record_stands_there_newest_first_with_who_where_and_how_far_the_log_is_complete(one, manager):
    assert shown(manager, one) == ["new", "no", "forced", "odd", "told", "old"]
    answer = manager.get(index(one))
    page, words = answer.content.decode(), said(answer)
    assert "Complete through" in words
    assert f'href="{reverse("members:page", args=[one.tenant.slug, "m-1"])}"' in page
    assert f'href="{reverse("guests:guest", args=[one.tenant.slug, "g-1"])}"' in page
    assert f'href="{reverse("devices:door", args=[one.tenant.slug, "D1"])}"' in page
    box = reverse("keys:box", args=[one.tenant.slug, "K1"])
    assert f'<a href="{box}">総務キーボックス</a>' in page
    assert "Reported by notification, details not loaded" in words
    assert "<code>lunar</code>" in page
    assert "<code>waxing</code>" in page


@pytest.mark.parametrize(
    ("query", "records"),
    [
        ({"period": "today"}, ["new", "no", "forced", "odd", "told"]),
        ({"period": "30d"}, ["new", "no", "forced", "odd", "told", "old"]),
        ({"from": (TODAY - timedelta(days=5)).isoformat(), "to": (TODAY - timedelta(days=1)).isoformat()}, ["old"]),
        ({"person": "m-1"}, ["new", "old"]),
        ({"device": ["D1", "K1"]}, ["new", "old"]),
        ({"area": "a-Store"}, ["new"]),
        ({"category": "lunar"}, ["odd"]),
        ({"status": "waxing"}, ["odd"]),
        ({"only": "refused"}, ["no"]),
        ({"only": "suspicious"}, ["forced"]),
        ({"only": "notified"}, ["told"]),
        ({"q": "満月"}, ["odd"]),
        ({"q": "花子"}, ["new", "old"]),
        ({"q": "said EARLY"}, ["told"]),
        ({"q": "said nothing"}, []),
        ({"only": "refused", "device": "D1"}, []),
        ({"person": "nobody"}, []),
        ({"from": "0000-00-00"}, []),
        ({"period": "for ever"}, []),
        ({"only": "x"}, []),
        ({"after": "forged", "sort": "nonsense", "size": "9"}, ["new", "no", "forced", "odd", "told", "old"]),
    ],
)
def test_the_address_narrows_the_list(one, manager, query, records):
    near_midnight = NOW - timedelta(minutes=5) < clock("00:00")
    if query == {"period": "today"} and near_midnight:
        pytest.skip("the records of these minutes are of two days")
    assert shown(manager, one, **query) == records


class TestLookingForAPerson:
    """Finding a member or guest by name: with script in a menu above the list, without it on a page."""

    def found(self, place, client, text, **more):
        page = reverse("history:people", args=[place.tenant.slug])
        answer = client.get(f"{page}?{urlencode({'find': text, **more})}", headers={"HX-Request": "true"})
        assert answer.status_code == 200
        return re.findall(r'<a[^>]* href="([^"]+)"', html.unescape(answer.content.decode())), said(answer)

    @pytest.mark.parametrize(("text", "who"), [("花子", "m-1"), ("さとう", None), ("ROSSI", "g-1"), ("佐 花", "m-1")])
    def test_leads_to_their_records_with_the_other_filters_as_they_were(self, known, manager, text, who):
        leads, words = self.found(known, manager, text, period="30d", after="x")
        assert leads == ([index(known, period="30d", person=who)] if who else [])
        assert ("No one with this name or code." in words) == (who is None)

    def test_is_offered_above_the_list_and_works_without_script(self, known, manager):
        page = reverse("history:people", args=[known.tenant.slug])
        listed = manager.get(index(known, period="30d")).content.decode()
        form = listed.split(f'action="{page}"', 1)[1].split("</form>", 1)[0]
        assert 'name="period" value="30d"' in form
        assert 'type="search" name="find"' in form
        plain = html.unescape(manager.get(f"{page}?find=Rossi&period=30d").content.decode())
        assert f'href="{index(known, period="30d", person="g-1")}"' in plain

    def test_needs_the_keyboard_alone(self, known, manager, open_page):
        page = open_page(manager, index(known))
        page.locator("summary", has_text="Person").press("Enter")
        expect(page.get_by_placeholder("Find by name or code")).to_be_focused()
        page.keyboard.type("花子")
        expect(page.locator("#log-person-found").get_by_role("link")).to_have_count(1)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".filter-on")).to_have_text(re.compile("Person 佐藤 花子"))
        expect(page).to_have_url(re.compile(r"\?person=m-1$"))
        expect(page.locator("tr[data-id=no]")).to_have_count(0)

    def test_shows_who_is_chosen_by_name_and_takes_them_off_again(self, known, manager):
        page = manager.get(index(known, period="30d", person="m-1"))
        assert "Person 佐藤 花子" in said(page)
        assert f'class="filter-off" href="{index(known, period="30d")}"' in page.content.decode()

    def test_names_a_guest_who_is_gone_as_the_log_does(self, known, manager):
        with tenant_scope(known.tenant):
            Guest.objects.all().delete()
        assert "Person Rossi" in said(manager.get(index(known, person="g-1")))

    def test_is_not_for_a_guard_who_learns_no_name_that_todays_log_does_not_tell(self, known):
        with tenant_scope(known.tenant):
            Member.objects.create(member_id="m-2", member_name="田中 一郎", name_key="田中一郎")
        guard = known.client(known.staff("guard"))
        assert reverse("history:people", args=[known.tenant.slug]) not in guard.get(index(known)).content.decode()
        assert self.found(known, guard, "花子")[0] == []
        assert "田中" not in said(guard.get(index(known, person="m-2")))


def test_what_is_missing_is_said_and_an_older_day_offered_with_its_cost(one, manager):
    loaded(one, days=10)
    page = said(manager.get(index(one)))
    day = (NOW - timedelta(days=10)).astimezone(TOKYO).date()
    assert f"Load {day.isoformat()} (about 1 API call)" in page
    asked = (TODAY - timedelta(days=40)).isoformat()
    page = said(manager.get(index(one, **{"from": asked, "to": asked})))
    assert f"{asked} not loaded." in page
    with tenant_scope(one.tenant):
        HistoryDay.objects.create(day=asked)
    assert f"Loading {asked}." in said(manager.get(index(one, **{"from": asked, "to": asked})))


def test_a_log_that_is_not_read_says_since_when_and_why(one, manager):
    with tenant_scope(one.tenant):
        state = MirrorState.objects.get(kind=MirrorKind.HISTORIES)
        state.memory["failing_since"] = (NOW - timedelta(minutes=20)).isoformat()
        state.error, state.due_at = "unreachable", NOW + timedelta(minutes=2)
        state.save()
    page = said(manager.get(index(one)))
    assert "Not updated since" in page
    assert "could not be reached" in page
    assert "Next try at" in page


def test_the_page_asks_as_often_however_many_records_there_are(one, manager):
    manager.get(index(one))
    with CaptureQueriesContext(connection) as few:
        manager.get(index(one))
    happened(
        one, *[record(NOW - timedelta(seconds=n), device_id="D1", member_id="m-1", member_name="x") for n in range(60)]
    )
    with CaptureQueriesContext(connection) as many:
        manager.get(index(one))
    assert len(many) <= len(few), [query["sql"][:200] for query in many]
    assert len(few) <= MOST_ASKED, [query["sql"][:150] for query in few]


@pytest.mark.parametrize(
    "page", ["list", "narrowed list", "searched list", "saved searches", "member", "record", "day"]
)
def test_a_page_asks_the_database_twelve_times_at_most(one, manager, page):
    with tenant_scope(one.tenant):
        for name in ("a", "b"):
            SavedSearch.objects.create(name=name, query="person=m-1&device=D1&area=a-Store", by=one.owner)
    slug = one.tenant.slug
    address = {
        "list": index(one),
        "narrowed list": index(one, person="m-1", only="refused", area="a-Store"),
        "searched list": index(one, period="30d", q="花子"),
        "saved searches": reverse("history:searches", args=[slug]),
        "member": reverse("members:page", args=[slug, "m-1"]),
        "record": reverse("history:record", args=[slug, "new"]),
        "day": reverse("history:person_day", args=[slug, "m-1", TODAY.isoformat()]),
    }[page]
    manager.get(address)
    with CaptureQueriesContext(connection) as asked:
        assert manager.get(address).status_code == 200
    of_jobs = 2 if page == "member" else 0  # changes that are still waiting for a member, and past bulk changes
    assert len(asked) <= MOST_ASKED + of_jobs, [query["sql"][:150] for query in asked]


def test_of_more_than_a_thousand_that_match_the_list_says_so(one, manager):
    happened(one, *[record(NOW - timedelta(hours=1, seconds=n), **SATO) for n in range(1_001)])
    assert "more than 1,000" in said(manager.get(index(one, person="m-1")))
    assert "1,000件超" in said(manager.get(index(one, person="m-1"), headers={"Accept-Language": "ja"}))


def test_another_period_keeps_the_filters_that_were_chosen_on_the_page(one, manager):
    chosen = {"HX-Request": "true", "HX-Target": "log-list"}
    page = manager.get(index(one, only="refused"), headers=chosen).content.decode()
    form = page.partition('id="log-period"')[2].partition("</form>")[0]
    assert 'name="only" value="refused"' in form


def test_a_persons_records_lead_to_the_day_of_the_newest_with_the_keys(one, manager):
    key = {"device_id": "K1", "units": [{"unit_no": "03", "unit_name": "倉庫"}], "content": "Key taken"}
    happened(one, record(NOW, **SATO, **key))
    page = manager.get(index(one, person="m-1")).content.decode()
    day = reverse("history:person_day", args=[one.tenant.slug, "m-1", TODAY.isoformat()])
    assert f'href="{day}"' in page
    assert "Key taken" in said(manager.get(day))
    assert "This person’s day" not in manager.get(index(one)).content.decode()


def test_one_control_has_the_periods_and_the_dates(one, manager):
    page = manager.get(index(one, period="7d", only="refused")).content.decode()
    control = page.partition('id="log-period"')[2].partition("</span>")[0]
    assert "<b>Last 7 days</b>" in control
    assert "period=yesterday" in control
    assert 'aria-label="Remove the period"' in control
    assert 'form="log-filter" name="period" value="7d"' in page, "a search keeps the period"
    dated = manager.get(index(one, **{"from": "2026-11-20", "to": "2026-11-21"})).content.decode()
    assert "2026-11-20 00:00" in dated.partition('id="log-period"')[2].partition("</b>")[0]


def test_pages_go_on_where_the_last_one_ended(one, manager):
    happened(one, *[record(NOW - timedelta(hours=1, seconds=n), history_id=f"p{n}") for n in range(60)])
    first = manager.get(index(one, size=25))
    second = manager.get(leads(first, "next"))
    assert records_in(second)[:2] == ["p20", "p21"]
    assert records_in(manager.get(leads(second, "prev"))) == records_in(first)


@pytest.mark.parametrize("role", ["owner", "facility manager", "auditor"])
def test_who_may_see_the_log_sees_all_of_it(one, role):
    assert len(shown(one.client(one.staff(role)), one)) == 6


def test_a_guard_sees_todays_records_alone(one):
    guard = one.client(one.staff("guard"))
    if NOW - timedelta(minutes=5) >= clock("00:00"):
        assert "old" not in shown(guard, one)
        assert "new" in shown(guard, one)
    assert shown(guard, one, period="30d") == shown(guard, one)
    page = said(guard.get(index(one)))
    assert "Only today’s records are shown." in page
    assert "API call)" not in page
    assert "佐藤 花子" in page


def test_a_receptionist_sees_no_log(one):
    assert one.client(one.staff("receptionist")).get(index(one)).status_code == 403


@pytest.mark.parametrize(
    ("page", "expected"), [("members:page m-1", 2), ("devices:door D1", 1), ("areas:area a-Store", 1)]
)
def test_pages_of_people_and_places_say_what_happened_and_lead_to_the_log(one, manager, page, expected):
    name, key = page.split()
    drawn = manager.get(reverse(name, args=[one.tenant.slug, key])).content.decode()
    part = drawn.split('id="happened"', 1)[1].split("</section>", 1)[0]
    assert part.count("<li>") == expected
    assert reverse("history:index", args=[one.tenant.slug]) in part


def test_the_part_follows_while_somebody_looks(one, manager):
    address = reverse("history:happened", args=[one.tenant.slug]) + "?person=m-1"
    first = manager.get(address)
    mark = first.content.decode().split('data-version="', 1)[1].split('"', 1)[0]
    assert manager.get(address, headers={"X-Version": mark}).status_code == 204
    happened(one, record(NOW, history_id="now", content="Just now", member_id="m-1", member_name="佐藤 花子"))
    assert "Just now" in manager.get(address, headers={"X-Version": mark}).content.decode()
    assert manager.get(reverse("history:happened", args=[one.tenant.slug])).status_code == 404


def test_after_midnight_a_guards_open_part_shows_nothing_of_yesterday_any_more(one, monkeypatch):
    guard, address = one.client(one.staff("guard")), reverse("history:happened", args=[one.tenant.slug]) + "?device=D2"
    forced = one.tenant.environment.catalogue.states.service_word("Door forced open")
    first = guard.get(address).content.decode()
    assert forced in first
    mark = first.split('data-version="', 1)[1].split('"', 1)[0]
    happened(one, record(NOW + timedelta(days=1, hours=2), history_id="next", device_id="D2", content="Next day"))
    newest = guard.get(address).content.decode().split('data-version="', 1)[1].split('"', 1)[0]
    monkeypatch.setattr(visibility, "today", lambda: local(NOW + timedelta(days=1)).date())
    for shown in (mark, newest):
        asked = guard.get(address, headers={"X-Version": shown})
        assert asked.status_code == 200
        assert "Next day" in asked.content.decode()
        assert forced not in asked.content.decode()


def test_the_first_page_follows_and_a_later_one_stays(one, manager):
    happened(one, *[record(NOW - timedelta(hours=1, seconds=n)) for n in range(60)])
    first = manager.get(index(one, size=25))
    mark = re.search(r'id="log-list"[^>]* data-version="([^"]+)"', first.content.decode())[1]
    assert 'data-watch="log-list"' not in manager.get(leads(first, "next")).content.decode()
    follows = {"HX-Request": "true", "HX-Target": "log-list", "X-Version": mark}
    assert manager.get(index(one, size=25), headers=follows).status_code == 204
    happened(one, record(NOW + timedelta(seconds=1), history_id="after"))
    moved = manager.get(index(one, size=25), headers=follows)
    assert records_in(moved)[0] == "after"
    assert 'id="log-known"' in moved.content.decode()


def test_a_record_that_comes_while_somebody_looks_is_told_apart_for_a_moment(one, manager, open_page):
    page = open_page(manager, index(one))
    assert page.locator("tr.arrived").count() == 0
    happened(one, record(NOW + timedelta(seconds=1), history_id="after"))
    page.evaluate("document.body.dispatchEvent(new Event('update-now'))")
    expect(page.locator("tr.arrived")).to_have_count(1)
    expect(page.locator("tr.arrived")).to_have_attribute("data-id", "after")
    expect(page.locator("tr.arrived")).to_have_count(0)
    expect(page.locator("tr[data-id=after]")).to_have_count(1)


def test_on_paper_the_list_is_whole_with_what_narrows_it_and_without_tools(one, manager, open_page):
    page = open_page(manager, index(one, period="30d", person="m-1"))
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1000})  # A4 between its margins
    expect(page.locator(".on-paper")).to_have_text(
        re.compile(r"Complete through .*Period: Last 30 days · Person: 佐藤 花子 ·\s+1–2 / 2", re.DOTALL)
    )
    expect(page.get_by_role("columnheader", name="Person")).to_be_visible()
    for hidden in (".list-tools", ".list-search", ".log-period", ".log-saved", ".side"):
        expect(page.locator(hidden).first).to_be_hidden()
    shown = "document.querySelector('table.rows').getBoundingClientRect().right <= innerWidth"
    assert page.evaluate(shown)
