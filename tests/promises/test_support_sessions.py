"""Support sessions: requests made inside end with the session, and nothing done inside gives access later."""

import contextlib
import itertools
import secrets
from collections.abc import Iterator
from datetime import timedelta

import pytest
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from portal.domain.intents import actions
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command, Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs.models import Halt, Job, JobState, Row
from portal.domain.people.models import Member
from tenants.models import Invitation, Staff, SupportSession, User
from tenants.roles import Permission
from tenants.staff.actions import digest
from tests.support.browser import Browser
from tests.support.house import House
from tests.support.stage import PASSWORD, Customer, Stage
from tests.support.waiting import until

CREATE_GROUP = 17
BULK_UPDATE = 14
_asked = itertools.count(1)
ENDS = ("by themselves", "by the owner", "by the clock", "by refusing support", "with the account")


@contextlib.contextmanager
def inside(customer: Customer, role: str = "support") -> Iterator[tuple[User, Browser]]:
    """Yield a person of the platform in a support session at the customer's tenant, and the browser."""
    person = customer.staff(role)
    with customer.browser(person) as browser:
        enter(customer, browser)
        yield person, browser


def enter(customer: Customer, browser: Browser) -> None:
    answer = browser.post(f"/platform/enter/{customer.slug}/", reason="Ticket 12", minutes="30")
    assert answer.status_code == 302, answer.text


def session_of(customer: Customer, person: User) -> SupportSession:
    with customer.scope():
        return SupportSession.objects.filter(user=person).latest("pk")


def end(customer: Customer, person: User, browser: Browser, how: str) -> None:
    """End the session in one of the possible ways."""
    session = session_of(customer, person)
    ending = customer.url(f"support/{session.pk}/end/")
    if how == "by themselves":
        assert browser.post(ending).status_code == 302
    elif how == "by the clock":
        customer.house.sql("UPDATE tenants_supportsession SET expires_at = now() WHERE id = %s", session.pk)
    elif how == "with the account":
        User.objects.filter(pk=person.pk).update(is_active=False)
    else:
        with customer.browser("owner") as owner:
            refusing = how == "by refusing support"
            answer = owner.post(customer.url("support/allow/"), allowed="no") if refusing else owner.post(ending)
            assert answer.status_code == 302


def members(customer: Customer) -> list[str]:
    """Return the IDs of the customer's members, copied from the service without a sync."""
    found = customer.house.sandbox.api("GET", "/v1/members", token=customer.service.token).json()["members"]
    ids = [each["member_id"] for each in found]
    Member.objects.bulk_create(Member(tenant=customer.tenant, member_id=each, member_name=each) for each in ids)
    return ids


def age(browser: Browser) -> None:
    """Move the last proof of identity back by an hour."""
    session = SessionStore(browser.http.cookies["sessionid"])
    for record in session[AUTHENTICATION_METHODS_SESSION_KEY]:
        record["at"] -= 3600
    session.save()


def ask(customer: Customer, person: User) -> Intent:
    """Request a group from inside the session: a worker is notified and sends it."""
    with customer.scope():
        return actions.submit(
            Command(
                permission=Permission.GROUPS_EDIT,
                operation="create_membergroup",
                title="A group",
                body={"membergroup_name": "from inside"},
            ),
            inline=False,
            by=Requester(customer.tenant, person, session_of(customer, person)),
            nonce=Nonce(f"inside-{next(_asked)}"),
        )


def test_however_a_session_ends_what_was_asked_inside_is_not_sent(house: House, stage: Stage) -> None:
    for how in ENDS:
        customer = stage.customer()
        with inside(customer) as (person, browser):
            with house.urgent.paused():
                intent = ask(customer, person)
                end(customer, person, browser, how)
            assert browser.get(customer.url("members/")).status_code in (302, 404), how
        row = customer.settled(intent)
        assert (row.state, row.reason) == (State.CANCELLED, Reason.RIGHTS), how
        assert customer.calls(CREATE_GROUP) == [], how


def test_a_session_that_ends_between_claim_and_writing(house: House, stage: Stage) -> None:
    customer = stage.customer()
    with inside(customer) as (person, browser):
        with house.still(), stage.proxy.stalled():
            intent = ask(customer, person)
            until(lambda: customer.intent(intent).state == State.SENDING, pause=0.01)
            end(customer, person, browser, "by the owner")
        assert customer.settled(intent).reason == Reason.RIGHTS
    assert customer.calls(CREATE_GROUP) == []


def test_a_new_session_of_the_same_person_revives_nothing(house: House, stage: Stage) -> None:
    customer = stage.customer()
    with inside(customer) as (person, browser):
        with house.urgent.paused():
            intent = ask(customer, person)
            end(customer, person, browser, "by the owner")
            enter(customer, browser)
        assert customer.settled(intent).reason == Reason.RIGHTS
        assert customer.settled(ask(customer, person)).state == State.SUCCEEDED, "the new session's own work is sent"
    assert len(customer.calls(CREATE_GROUP)) == 1


@pytest.mark.quick
def test_a_job_of_many_rows_ends_with_the_session(house: House, stage: Stage) -> None:
    """End the session before the job's next request is recorded or sent: no request reaches the service."""
    customer = stage.customer(members=3)
    with inside(customer) as (person, browser):
        with customer.scope():
            by = Requester(customer.tenant, person, session_of(customer, person))
            rows = [(member_id, {"membergroup_id": "x"}, {"membergroup_id": ""}) for member_id in members(customer)]
            job = job_actions.prepare(kind="move", by=by, rows=rows)
            with house.steady.paused():
                assert job_actions.start(by=by, job=job)
                end(customer, person, browser, "by the clock")
        with customer.scope():
            until(
                lambda: Job.objects.get(pk=job.pk).state == JobState.STOPPED,
                saying=lambda: f"the job stops: {Job.objects.values().get(pk=job.pk)} {list(Row.objects.values())}",
            )
            assert Job.objects.get(pk=job.pk).halt == Halt.RIGHTS
    assert customer.calls(BULK_UPDATE) == []


@pytest.mark.quick
def test_nobody_of_the_platform_changes_who_may_enter(house: House, stage: Stage) -> None:
    """Check that only the owner changes staff, connection and support settings. Operators once invited themselves."""
    customer = stage.customer()
    guard = customer.staff("guard")
    with customer.scope():
        row = Staff.objects.get(user=guard)
    for role in ("support", "operator"):
        with inside(customer, role) as (person, browser):
            for path, values in {
                "staff/invite/": {"email": person.email, "role": "owner"},
                f"staff/{row.pk}/role/": {"role": "owner"},
                f"staff/{row.pk}/remove/": {},
                "support/allow/": {"allowed": "yes"},
                "connection/connect/": {},
                "connection/reissue/": {},
                "connection/revoke/": {"confirm": "on"},
                "connection/licence-key/": {"licence-value": "x"},
                "connection/webhook/on/": {"categories": "normal"},
                "connection/webhook/off/": {},
                "connection/webhook/secret/": {},
                "connection/webhook/address/": {},
                "connection/webhook/reveal/": {},
                "connection/webhook/test/": {},
            }.items():
                assert browser.post(customer.url(path), values).status_code == 403, (role, path)
            assert "Invite" not in browser.get(customer.url("staff/")).text
    with customer.scope():
        assert not Invitation.objects.exists()
        assert Staff.objects.get(user=guard).role == "guard"


@pytest.mark.quick
def test_an_invitation_of_somebody_who_may_no_longer_invite_lets_nobody_in(house: House, stage: Stage) -> None:
    customer = stage.customer()
    person, owner, guest = customer.staff("operator"), customer.staff("owner"), customer.staff("auditor")
    tokens = {}
    with customer.scope():
        Staff.objects.filter(user=guest).delete()
        for inviter in (person, owner):  # the operator's invitation as an earlier version allowed it
            tokens[inviter] = secrets.token_urlsafe(32)
            Invitation.objects.create(email=guest.email, role="owner", token_digest=digest(tokens[inviter]),
                                      invited_by=inviter, expires_at=timezone.now() + timedelta(days=7))  # fmt: skip
    with customer.browser(guest) as browser:
        for inviter, there in ((person, 404), (owner, 200)):
            assert browser.get(f"/invitations/{tokens[inviter]}/").status_code == there
        with customer.scope():
            Staff.objects.filter(user=owner).update(role="guard")
        assert browser.post(f"/invitations/{tokens[owner]}/").status_code == 404
        assert browser.get(customer.url("members/")).status_code == 404


@pytest.mark.quick
def test_entering_asks_who_is_there(house: House, stage: Stage) -> None:
    """Check that a platform session that was left open gives no access to a customer."""
    customer = stage.customer()
    person = customer.staff("operator")
    with customer.browser(person) as browser:
        age(browser)
        answer = browser.post(f"/platform/enter/{customer.slug}/", reason="Ticket 12", minutes="30")
        assert answer.headers["location"].startswith("/accounts/reauthenticate/")
        assert browser.get(customer.url("members/")).status_code == 404
        browser.post("/accounts/reauthenticate/", password=PASSWORD)
        enter(customer, browser)
