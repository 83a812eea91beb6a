"""Requesting newer data from the footer of a page."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.history.coverage import load_coverage
from portal.domain.sync import freshness
from portal.domain.sync.models import MirrorState
from tenants import roles
from tenants.access import Access
from tenants.models import Staff, User
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer


@pytest.fixture
def here(customer: MakeCustomer, monkeypatch: pytest.MonkeyPatch) -> Customer:
    made = customer(members=2)
    monkeypatch.setattr("portal.base.timers.celery_app.enqueue", lambda *_told, **_more: None)
    made.sync()
    with tenant_scope(made.tenant):
        MirrorState.objects.update(as_of=timezone.now() - timedelta(minutes=1))
    return made


@pytest.fixture
def guard(here: Customer, client: Client) -> Client:
    user = User.objects.create_user(email="guard@example.test", password="a long password")
    with tenant_scope(here.tenant):
        Staff.objects.create(user=user, tenant=here.tenant, role="guard")
    client.force_login(user)
    return client


def test_staff_ask_for_newer_data_and_come_back_to_their_page(here: Customer, guard: Client) -> None:
    page = f"/t/{here.tenant.slug}/devices/?q=a"
    answer = guard.post(f"/t/{here.tenant.slug}/mirror/refresh/members/", {"next": page})
    assert (answer.status_code, answer["Location"]) == (302, page)
    state = here.state(MirrorKind.MEMBERS)
    assert state.due_at is not None
    assert state.due_at <= timezone.now()


@pytest.mark.parametrize("back", ["https://elsewhere.test/", "//elsewhere.test/", "/t/another/members/", ""])
def test_nobody_is_sent_elsewhere(here: Customer, guard: Client, back: str) -> None:
    answer = guard.post(f"/t/{here.tenant.slug}/mirror/refresh/members/", {"next": back})
    assert answer["Location"] == f"/t/{here.tenant.slug}/"


@pytest.mark.parametrize("kind", ["rights", "nothing"])
def test_what_cannot_be_asked_for_is_not_found(here: Customer, guard: Client, kind: str) -> None:
    assert guard.post(f"/t/{here.tenant.slug}/mirror/refresh/{kind}/").status_code == 404


def test_looking_asks_for_nothing(here: Customer, guard: Client) -> None:
    assert guard.get(f"/t/{here.tenant.slug}/mirror/refresh/members/").status_code == 405


def test_strangers_are_answered_as_if_there_were_no_tenant(here: Customer, client: Client) -> None:
    client.force_login(User.objects.create_user(email="stranger@example.test", password="a long password"))
    assert client.post(f"/t/{here.tenant.slug}/mirror/refresh/members/").status_code == 404


def test_the_footer_tells_how_fresh_the_page_is(here: Customer, rf: object) -> None:
    class Request:
        tenant = here.tenant
        user = User(pk=1)
        access = Access(user, here.tenant, roles.find_role("owner"))
        method = "GET"
        resolver_match = None

    with tenant_scope(here.tenant):
        told = freshness.footer_values(Request())  # type: ignore[arg-type]
    assert told["as_of"] == here.state(MirrorKind.MEMBERS).as_of
    assert told["refresh_url"] == f"/t/{here.tenant.slug}/mirror/refresh/members/"


@pytest.fixture
def auditor(here: Customer, client: Client) -> Client:
    user = User.objects.create_user(email="auditor@example.test", password="a long password")
    with tenant_scope(here.tenant):
        Staff.objects.create(user=user, tenant=here.tenant, role="auditor")
    client.force_login(user)
    return client


def test_an_older_day_is_loaded_once_and_the_cost_is_said_and_audited(here: Customer, auditor: Client) -> None:
    day = (timezone.now() - timedelta(days=40)).date().isoformat()
    address = f"/t/{here.tenant.slug}/mirror/days/"
    page = auditor.post(address, {"day": [day, day, "0000-00-00", "x\x00"], "next": address[:-12]}, follow=True)
    assert "Loading 1 day (about 1 API calls)." in page.content.decode()
    with tenant_scope(here.tenant):
        assert [each.isoformat() for each in load_coverage().waiting_days] == [day]
    assert f"Activity log of 1 older day loaded: {day}" in auditor.get(f"/t/{here.tenant.slug}/audit/").content.decode()
    again = auditor.post(address, {"day": day}, follow=True).content.decode()
    assert "were left out" in again


def test_a_guard_loads_no_older_day(here: Customer, guard: Client) -> None:
    assert guard.post(f"/t/{here.tenant.slug}/mirror/days/", {"day": "2026-01-01"}).status_code == 403
