"""A manager opens the members of an import: a filter of the list that is removed like any other."""

import html

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.domain.jobs.models import Job
from portal.domain.people.models import Member
from tests.manager.test_import_undo import edit, imported, known, new, prepared, undone
from tests.manager.test_imports import desk, group_of, inside, job_at, manager, url
from tests.support.databases import as_owner
from tests.support.fixtures import make, place, sandbox
from tests.support.members import said
from tests.support.query_plans import rows_read

__all__ = ["desk", "make", "manager", "place", "sandbox", "url"]
LIST = {"HX-Request": "true", "HX-Target": "members-list"}


@pytest.fixture
def listed(desk, manager):
    """Return a function that opens the list of members, with these parameters."""
    address = f"/t/{desk.place.tenant.slug}/members/"
    return lambda person=manager, **query: person.get(address, query)


@pytest.fixture
def members(desk, manager, url):
    """Return the page of an import that created two members and changed one."""
    first = known(desk, 1)[0]
    return imported(desk, manager, url, *new(desk, 2), ["改名", first.member_code, "", ""], ["", "", "無い", ""])


def names(page):
    return {name for name in ("新人0", "新人1", "改名", "新人2") if name in said(page)}


def test_the_imports_page_leads_to_its_members_and_the_filter_can_be_removed(desk, manager, url, listed, members):
    imported(desk, manager, url, ["新人2", "NEW2", group_of(desk), ""])
    number = job_at(desk, members).pk
    address = f"/t/{desk.place.tenant.slug}/members/?import={number}"
    assert f'href="{address}"' in manager.get(members).content.decode()
    assert "Show these members" in said(manager.get(members))
    page = manager.get(address)
    assert names(page) == {"新人0", "新人1", "改名"}
    assert f"From import {number} · staff.csv" in said(page)
    assert "Remove filter From import" in page.content.decode()
    assert "From import" not in said(listed())
    assert names(listed(**{"import": number, "q": "新人1"})) == {"新人1"}
    assert names(listed(**{"import": number, "group": "no-such-group"})) == set()


def test_all_of_an_import_can_be_chosen_for_a_change_and_exported(desk, manager, members, listed):
    number = job_at(desk, members).pk
    match = {"scope": "match", "match": f"import={number}", "preview": "1", "when": "now"}
    address = f"/t/{desk.place.tenant.slug}/changes/new/suspend/"
    page = said(manager.post(address, match, follow=True))
    assert "Suspend 3 members" in page
    file = b"".join(listed(**{"import": number, "export": "csv"}).streaming_content).decode("utf-8-sig")
    assert len(file.splitlines()) == 4


def test_members_who_are_gone_are_not_listed_and_edited_ones_stay(desk, manager, members, listed):
    edit(desk, "NEW1", member_name="新人1 改")
    undo = prepared(manager, members)
    undone(desk, manager, undo)
    assert names(listed(**{"import": job_at(desk, members).pk})) == {"新人1"}


def test_an_unknown_import_or_one_that_a_person_may_not_see_shows_no_one(desk, manager, members, listed, make):
    number = job_at(desk, members).pk
    assert "No results" in said(listed(**{"import": 999999}))
    assert "No results" in said(listed(**{"import": "x'; --"}))
    auditor = desk.place.client(desk.place.staff("auditor"))
    page = listed(auditor, **{"import": number})
    assert "No results" in said(page)
    assert "staff.csv" not in html.unescape(page.content.decode())
    other = make()
    page = other.client().get(f"/t/{other.tenant.slug}/members/", {"import": number})
    assert "staff.csv" not in said(page)
    assert "No results" in said(page)
    with inside(desk):
        change = Job.objects.get(kind="import_undo", undo_of=number) if prepared(manager, members) else None
    assert "No results" in said(listed(**{"import": change.pk}))


@pytest.fixture
def crowd(desk):
    """Add 5,000 members and update the statistics of the table."""
    with inside(desk):
        added = [
            Member(tenant=desk.place.tenant, member_id=f"x-{n}", member_name=f"多数{n}", name_key=f"多数{n}")
            for n in range(5_000)
        ]
        Member.objects.bulk_create(added, batch_size=5000)
        with as_owner() as owner:
            owner.execute("ANALYZE people_member")
        yield
        Member.objects.filter(member_id__startswith="x-")._raw_delete("default")
        with as_owner() as owner:
            owner.execute("ANALYZE people_member")


@pytest.mark.django_db(transaction=True)
def test_a_large_list_reads_only_the_members_of_the_import(desk, members, crowd, listed):
    query = {"import": job_at(desk, members).pk}
    listed(**query)  # the first request stores what is kept in the session
    with rows_read("people_member") as counted:
        assert names(listed(**query)) == {"新人0", "新人1", "改名"}
    assert counted
    assert max(counted) <= 10, counted
    with CaptureQueriesContext(connection) as queries:
        listed(**query)
    made = [each["sql"] for each in queries if "set_config" not in each["sql"]]
    assert len(made) <= 9, "\n".join(made)
