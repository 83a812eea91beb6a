"""Saved searches of the log: for facility managers and auditors, not for guards."""

from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from portal.domain.places.models import PassController
from portal.domain.sync import local_writes
from portal.history import searches
from portal.history.models import SavedSearch
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.log import loaded
from tests.support.members import said

WEEK = "period=7d&only=refused"


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="倉庫 入口")
    loaded(place)
    return place


def at(place, name="history:searches", *more):
    return reverse(name, args=[place.tenant.slug, *more])


def save(client, place, name, query=WEEK):
    return client.post(at(place, "history:search_save"), {"name": name, "query": query}, follow=True)


def kept(place):
    with tenant_scope(place.tenant):
        return dict(SavedSearch.objects.order_by("name").values_list("name", "query"))


def the_one(place):
    with tenant_scope(place.tenant):
        return SavedSearch.objects.get()


class TestKeeping:
    def test_the_present_filters_are_kept_under_a_name_and_a_click_away(self, one, manager):
        listed = manager.get(f"{at(one, 'history:index')}?{WEEK}").content.decode()
        assert "Save this search as" in listed
        answer = save(manager, one, "今週の拒否")
        assert "Search saved." in said(answer)
        assert kept(one) == {"今週の拒否": WEEK}
        html = unescape(answer.content.decode())
        assert f'href="{at(one, "history:index")}?{WEEK}"' in html
        assert 'aria-current="true"' in html
        assert "Save this search as" not in html
        other = unescape(manager.get(at(one, "history:index")).content.decode())
        assert "今週の拒否" in other
        assert 'title="Period: Last 7 days, Show only: Refused"' in other

    def test_what_is_kept_names_its_people(self, one, manager):
        local_writes.apply_member_write(one.tenant, "m-1", {"member_name": "佐藤 花子"}, created=True)
        save(manager, one, "花子", "person=m-1")
        save(manager, one, "gone", "person=m-2")
        page = said(manager.get(at(one)))
        assert "Person: 佐藤 花子" in page
        assert "Person: m-2" in page

    def test_what_is_kept_follows_the_list_when_filters_are_chosen(self, one, manager):
        page = f"{at(one, 'history:index')}?{WEEK}"
        chosen = manager.get(page, headers={"HX-Request": "true", "HX-Target": "log-list"}).content.decode()
        assert 'id="saved"' in chosen
        assert f'name="query" value="{WEEK.replace("&", "&amp;")}"' in chosen

    def test_of_many_some_stand_above_the_list_and_the_one_in_use_does(self, one, manager):
        for number in range(12):
            save(manager, one, f"No. {number:02d}.", f"device=D{number}")
        html = manager.get(f"{at(one, 'history:index')}?device=D11").content.decode()
        assert [number for number in range(12) if f"No. {number:02d}." in html] == [*range(8), 11]
        assert "3 more searches" in html

    def test_without_filters_there_is_nothing_to_keep(self, one, manager):
        assert "Save this search as" not in manager.get(at(one, "history:index")).content.decode()
        assert "Search not saved: no filter is set." in said(save(manager, one, "All", "size=50&after=x"))
        assert kept(one) == {}

    def test_paging_strange_names_and_values_are_left_out(self, one, manager):
        save(
            manager, one, "Clean", "after=xx&size=100&period=ever&device=D1&device=a%00b&color=red&q=%E4%BD%90%E8%97%A4"
        )
        assert kept(one) == {"Clean": "device=D1&q=%E4%BD%90%E8%97%A4"}

    def test_a_second_click_keeps_it_once_and_another_of_the_name_is_refused(self, one, manager):
        save(manager, one, "Refused")
        save(manager, one, "Refused")
        assert "Search not saved: this name is used already." in said(save(manager, one, "Refused", "device=D1"))
        assert kept(one) == {"Refused": WEEK}

    @pytest.mark.parametrize("name", ["", "   ", "x" * 61, "nul\x00"])
    def test_a_name_that_is_none_is_refused_and_the_filters_stay(self, one, manager, name):
        answer = save(manager, one, name)
        assert kept(one) == {}
        assert "Search saved." not in said(answer)
        assert f"?{WEEK}" in answer.redirect_chain[-1][0]

    def test_too_many_and_too_long_ones_are_refused_with_the_reason(self, one, manager):
        with tenant_scope(one.tenant):
            for number in range(searches.MAX_SEARCHES):
                SavedSearch.objects.create(name=f"No. {number}", query=WEEK, by=one.owner)
        words = said(save(manager, one, "One more"))
        assert "Search not saved: 50 searches are saved already. Delete one you no longer need." in words
        long = "&".join(f"device=D{number:060d}" for number in range(60))
        assert "too many filters" in said(save(manager, one, "Long", long))
        assert len(kept(one)) == 50

    def test_it_is_renamed_and_deleted_and_the_audit_log_tells(self, one, manager):
        save(manager, one, "Refused", "person=m-1&q=secret")
        search = the_one(one)
        assert "Refused" in manager.get(at(one, "history:search", search.pk)).content.decode()
        manager.post(at(one, "history:search", search.pk), {"name": "Refused at night"})
        assert list(kept(one)) == ["Refused at night"]
        assert "Delete “Refused at night”?" in said(manager.get(at(one, "history:search_delete", search.pk)))
        manager.post(at(one, "history:search_delete", search.pk))
        assert kept(one) == {}
        trail = one.client().get(reverse("audit:index", args=[one.tenant.slug]), {"about": "log"})
        for words in ("Log search saved: Refused", "Log search renamed: Refused at night", "Log search deleted"):
            assert words in said(trail)
        with tenant_scope(one.tenant):
            entry = AuditEntry.objects.get(action="log.search_saved")
        assert "Person, Search text" in said(one.client().get(at(one, "audit:entry", entry.pk)))
        assert "secret" not in trail.content.decode()

    def test_another_name_that_is_taken_is_refused_in_the_form(self, one, manager):
        save(manager, one, "A")
        save(manager, one, "B", "device=D1")
        with tenant_scope(one.tenant):
            first = SavedSearch.objects.get(name="A")
        answer = manager.post(at(one, "history:search", first.pk), {"name": "B"})
        assert "Search not saved: this name is used already." in said(answer)
        assert manager.post(at(one, "history:search", first.pk), {"name": "A"}).status_code == 302

    def test_a_door_that_is_gone_is_named_as_gone(self, one, manager):
        save(manager, one, "At the door", "device=D1")
        assert "No longer exists" not in said(manager.get(at(one)))
        with tenant_scope(one.tenant):
            PassController.objects.all().delete()
        assert "No longer exists: D1." in said(manager.get(at(one)))
        assert "Filters for something that no longer exists" in manager.get(at(one, "history:index")).content.decode()

    def test_fifty_searches_ask_the_database_as_often_as_one(self, one, manager):
        save(manager, one, "First", "device=D1&area=a&person=m&category=x")

        def asked():
            with CaptureQueriesContext(connection) as queries:
                assert manager.get(at(one)).status_code == 200
            return len(queries)

        asked()
        few = asked()
        with tenant_scope(one.tenant):
            for number in range(49):
                query = f"device=D{number}&area=a{number}&person=m{number}&category=c{number}"
                SavedSearch.objects.create(name=f"No. {number}", query=query, by=one.owner)
        assert asked() == few <= 14


class TestOthers:
    def test_a_search_of_another_tenant_is_not_found(self, one, make, manager):
        other = make()
        theirs = other.client()
        save(theirs, other, "Theirs")
        search = the_one(other)
        for name in ("history:search", "history:search_delete"):
            assert manager.get(at(one, name, search.pk)).status_code == 404
            assert manager.post(at(one, name, search.pk), {"name": "Mine"}).status_code == 404
        assert kept(other) == {"Theirs": WEEK}
        assert "Theirs" not in manager.get(at(one)).content.decode()

    def test_an_auditor_keeps_searches_too(self, one):
        save(one.client(one.staff("auditor")), one, "Mine")
        assert kept(one) == {"Mine": WEEK}

    def test_a_guard_and_the_desk_see_none_of_it(self, one, manager):
        save(manager, one, "For managers")
        search = the_one(one)
        for role in ("guard", "receptionist"):
            client = one.client(one.staff(role))
            assert client.get(at(one)).status_code == 403
            assert save(client, one, "Mine").status_code == 403
            assert client.post(at(one, "history:search", search.pk), {"name": "x"}).status_code == 403
            assert client.post(at(one, "history:search_delete", search.pk)).status_code == 403
        guard = one.client(one.staff("guard"))
        html = guard.get(f"{at(one, 'history:index')}?{WEEK}").content.decode()
        assert "For managers" not in html
        assert "Save search" not in html
        assert kept(one) == {"For managers": WEEK}
