"""A receptionist sees the desk only, gets a reason for every refusal, and is shown no forbidden link."""

import re
from html import unescape

import pytest

from portal.domain.events import MirrorKind
from portal.domain.intents.models import Intent
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from tenants.models import Staff
from tenants.scope import tenant_scope
from tests.support.crawl import addresses_of_tenants
from tests.support.members import said
from tests.support.places import Place, fresh_nonce, signed_in

SAMPLES = {
    "int": "1",
    "sid": "m-1",
    "sheet": "csv",
    "slug": "members",
    "spoken": "en",
    "str": "m-1",
    "uuid": "0b2ffb3e-7b9e-4a5c-9a54-000000000001",
}


@pytest.fixture
def here(place) -> Place:
    return place


@pytest.fixture
def desk(here):
    return here.client(here.staff("receptionist"))


def intent_of(place: Place, permission: str, **values) -> Intent:
    with tenant_scope(place.tenant):
        return Intent.objects.create(
            tenant=place.tenant, nonce=fresh_nonce().value, operation="create_guest", delivery="create",
            title="Issue: 山田 太郎", by=place.owner, permission=permission, priority=1, queue="interactive",
            **({"state": "queued", "due_at": None} | values),
        )  # fmt: skip


def test_everything_but_the_desk_is_refused_with_the_reason(here, desk):
    at = f"/t/{here.tenant.slug}/"
    refused = 0
    for address in addresses_of_tenants():
        path, view = address.path_by_kind(here.tenant.slug, SAMPLES), address.view
        if path == at or path.startswith((f"{at}guests/", f"{at}roll-call/", f"{at}intercom/")):
            continue
        for method in ("get", "post"):
            if method.upper() in view.methods:
                answer = getattr(desk, method)(path)
                assert answer.status_code == 403, (method, path)
                assert "Receptionist" in said(answer)
                assert f'href="{at}guests/"' in answer.content.decode()
                refused += 1
    assert refused > 40


def test_every_way_into_the_tenant_leads_to_the_desk(here, desk):
    at = f"/t/{here.tenant.slug}/guests/"
    assert desk.get("/", follow=True).redirect_chain == [(at, 302)]
    assert f'href="{at}"' in desk.get("/switch/?kind=members").content.decode()
    assert f'href="{at}"' in desk.get(f"/find/?q={here.tenant.slug}").content.decode()
    signed_out = here.client(here.staff("receptionist"))
    signed_out.post("/accounts/logout/")
    for headers in ({}, {"HX-Request": "true", "HX-Current-URL": f"http://testserver{at}"}):
        asked = signed_out.post(f"{at}refresh/guests/", headers=headers)
        assert asked["HX-Redirect" if headers else "Location"] == f"/accounts/login/?next={at}"


def test_a_choice_of_tenants_leads_to_the_desk_of_each(make):
    first, second = make(members=1), make(members=1)
    person = first.staff("receptionist")
    with tenant_scope(second.tenant):
        Staff.objects.create(tenant=second.tenant, user=person, role="guard")
    page = signed_in(person).get("/").content.decode()
    assert f'href="/t/{first.tenant.slug}/guests/"' in page
    assert f'href="/t/{second.tenant.slug}/"' in page


def test_the_desks_pages_lead_nowhere_that_is_refused(here, desk):
    at = f"/t/{here.tenant.slug}/"
    waiting, seen = [f"{at}guests/"], set()
    while waiting and len(seen) < 40:
        path = waiting.pop()
        seen.add(path)
        answer = desk.get(path)
        assert answer.status_code in {200, 302}, path
        if "text/html" not in answer["Content-Type"]:
            continue
        for link in re.findall(r'(?:href|action|hx-get|hx-post|data-href)="([^"#]+)', answer.content.decode()):
            target = unescape(link).partition("?")[0]
            if target.startswith(at):
                assert target.startswith((f"{at}guests/", f"{at}roll-call/", f"{at}intercom/")), (path, target)
        links = re.findall(r'(?:href|hx-get|data-href)="(/t/[^"#?]+)"', answer.content.decode())
        # Other tests read spreadsheets.
        waiting += [link for link in links if link not in seen and "xlsx" not in link]


def test_the_palette_answers_at_the_desk_and_finds_what_is_theirs(here, desk):
    at = f"/t/{here.tenant.slug}/"
    assert f'hx-get="{at}guests/find/"' in desk.get(f"{at}guests/").content.decode()
    assert f'hx-get="{at}find/"' in here.client().get(f"{at}guests/").content.decode()
    found = desk.get(f"{at}guests/find/").content.decode()
    assert f'href="{at}guests/"' in found
    for word in ("Members", "Roles", "Doors"):
        assert "No results for “" in desk.get(f"{at}guests/find/", {"q": word}).content.decode()


def test_the_desks_own_requests_are_followed_decided_and_stopped_at_the_desk(here, desk):
    at = f"/t/{here.tenant.slug}/guests/requests/"
    waiting, doubtful = intent_of(here, "guests_desk"), intent_of(here, "guests_desk", state="uncertain")
    page = desk.get(f"{at}{waiting.pk}/").content.decode()
    for rest in ("outcome/", "stop/"):
        assert f"{at}{waiting.pk}/{rest}" in page
    assert "山田 太郎" in desk.get(f"{at}{waiting.pk}/outcome/").content.decode()
    assert desk.post(f"{at}{waiting.pk}/stop/")["Location"] == f"{at}{waiting.pk}/"
    assert desk.post(f"{at}{doubtful.pk}/decide/", {"applied": "no"})["Location"] == f"{at}{doubtful.pk}/"
    with tenant_scope(here.tenant):
        states = dict(Intent.objects.values_list("pk", "state"))
    assert states == {waiting.pk: "cancelled", doubtful.pk: "failed"}
    assert here.client(here.staff("auditor")).get(f"{at}{waiting.pk}/").status_code == 200
    assert here.client(here.staff("auditor")).post(f"{at}{waiting.pk}/stop/").status_code == 403
    assert here.client(here.staff("guard")).get(f"{at}{waiting.pk}/").status_code == 403


def test_another_areas_request_is_missing_at_the_desk(here, desk):
    foreign = intent_of(here, "members_edit")
    at = f"/t/{here.tenant.slug}/guests/requests/"
    for browser in (desk, here.client()):
        for rest in ("", "outcome/"):
            assert browser.get(f"{at}{foreign.pk}/{rest}").status_code == 404
            assert browser.get(f"{at}{10**9}/{rest}").status_code == 404
    assert (
        f"/t/{here.tenant.slug}/intents/{foreign.pk}/outcome/"
        in here.client().get(f"/t/{here.tenant.slug}/intents/{foreign.pk}/").content.decode()
    )


def test_what_the_desk_shows_is_read_again_from_the_desk(here, desk):
    with tenant_scope(here.tenant):
        schedule.schedule_all(here.tenant)
        MirrorState.objects.update(due_at=None)
    at = f"/t/{here.tenant.slug}/guests/"
    assert f'action="{at}refresh/guests/"' in desk.get(at).content.decode()
    assert desk.post(f"{at}refresh/guests/", {"next": at})["Location"] == at
    assert desk.post(f"{at}refresh/guests/", {"next": "//evil.test/"})["Location"] == at
    for kind in ("members", "nothing"):
        assert desk.post(f"{at}refresh/{kind}/").status_code == 404
    with tenant_scope(here.tenant):
        assert MirrorState.objects.get(kind=MirrorKind.GUESTS).due_at is not None
        assert MirrorState.objects.get(kind=MirrorKind.MEMBERS).due_at is None
