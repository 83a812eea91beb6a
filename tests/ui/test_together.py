"""Data for every page is read in one statement, and is current, for this tenant and this person."""

import re

from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.base.ui.models import ListChoice
from portal.domain.budget import ledger
from portal.domain.budget.priorities import Priority
from portal.domain.people.models import Group
from tenants.scope import tenant_scope
from tests.support.statements import in_full


def page_of(place, user=None):
    answer = place.client(user).get(f"/t/{place.tenant.slug}/members/")
    assert answer.status_code == 200
    return answer.content.decode()


def calls_left(place):
    return [int(left) for left in re.findall(r'class="meter.*?<b>(\d+)</b>', page_of(place), re.DOTALL)]


def spend(place, calls):
    operation = place.tenant.environment.catalogue.find("list_members")
    with tenant_scope(place.tenant):
        for _ in range(calls):
            ledger.count_call(place.connection, operation, Priority.PEOPLE)


def test_the_calls_left_are_those_of_this_moment_and_of_this_tenant(make):
    place, other = make(), make()
    general, device = calls_left(place)
    spend(place, 3)
    assert calls_left(place) == [general - 3, device]
    assert calls_left(other) == [general, device]


def test_a_list_has_the_columns_that_this_person_chose_and_nobody_else(make):
    place = make()
    colleague = place.staff("owner")
    ListChoice.objects.create(user=place.owner, table="members", columns=["member_id"], size=25)
    assert re.search(r'value="member_id"\s+checked', page_of(place))
    assert not re.search(r'value="member_id"\s+checked', page_of(place, colleague))


def test_the_groups_are_asked_along_where_they_are_offered_alone(make):
    place = make()
    client, slug = place.client(), place.tenant.slug
    with tenant_scope(place.tenant):
        Group.objects.create(membergroup_id="late", membergroup_name="遅番", name_key="遅番")
    for page, offered in (("members/", True), ("devices/", False), ("members/leavers/", True)):
        with CaptureQueriesContext(connection) as asked:
            html = client.get(f"/t/{slug}/{page}", follow=True).content.decode()
        about = [sql for sql in in_full(asked) if 'FROM "people_group"' in sql]
        assert ('value="late"' in html, len(about)) == (offered, int(offered)), page
        assert all("json_agg" in each for each in about)


def test_what_every_page_shows_is_one_statement(make):
    place = make()
    client = place.client()
    with CaptureQueriesContext(connection) as asked:
        client.get(f"/t/{place.tenant.slug}/members/")
    (together,) = [sql for sql in in_full(asked) if "json_agg" in sql]
    for table in ("budget_gauge", "sync_mirrorstate", "visits_visit", "places_passcontroller", "ui_listchoice"):
        assert f'"{table}"' in together
