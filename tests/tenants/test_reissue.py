"""The token is reissued with one call a round, and never lost while it can be stored. Real HTTP, real service."""

import threading
from urllib.parse import urlsplit

import pytest
from django.db import connection as database

from accessapi.errors import NotSent, Unauthorised
from tenants.access import access_to
from tenants.connections import actions, reissue
from tenants.connections.locks import exclusive
from tenants.connections.reissue import NotConnected, ReissueOutcome
from tenants.connections.service_clients import service_client
from tenants.models import Connection, ServiceEnvironment, Tenant
from tenants.scope import tenant_scope
from tests.support.effort import one_in
from tests.support.faults import answer, reset_after
from tests.support.places import signed_in, staff_of
from tests.support.proxy import HttpProxy

REISSUE = "POST /oauth2/update"


@pytest.fixture
def proxy(sandbox):
    with HttpProxy(urlsplit(sandbox.url).port) as between:
        yield between


@pytest.fixture
def connected(sandbox, proxy, settings):
    """Return a function that connects tenants whose client is registered, with a proxy in between."""
    number = iter(range(100))

    def make(**behaviour):
        name = f"reissue-{next(number)}"
        client = sandbox.client(f"{settings.PORTAL_URL}/oauth/{name}/callback/")
        there = sandbox.tenant(members=1, token=False, name=name)
        if behaviour:
            sandbox.settings(there.tenant_id, **behaviour)
        environment = ServiceEnvironment.objects.create(
            name=name, base_url=proxy.url, client_id=client.client_id, client_secret=client.client_secret
        )
        tenant = Tenant.objects.create(slug=name, name=name, environment=environment)
        with tenant_scope(tenant):
            staff_of(tenant, "owner")
            Connection.objects.create(
                tenant=tenant,
                state="connected",
                environment=environment,
                service_tenant_id=there.tenant_id,
                access_token=sandbox.token(there.tenant_id, client_id=client.client_id),
                token_generation=1,
            )
        return tenant

    return make


@pytest.fixture
def tenant(db, connected):
    return connected()


def row_of(tenant):
    with tenant_scope(tenant):
        return Connection.objects.select_related("tenant__environment").get()


def do(tenant, row=None):
    with tenant_scope(tenant):
        return reissue.reissue(connection=row or row_of(tenant), by=None)


def works(tenant):
    with tenant_scope(tenant):
        return service_client(row_of(tenant)).call("get_tenant").status == 200


def owner_of(tenant):
    with tenant_scope(tenant):
        return tenant.staff_set.select_related("user").get().user


def test_a_new_token_replaces_the_old_one_once_it_has_worked(tenant):
    before = row_of(tenant)
    assert do(tenant).outcome is ReissueOutcome.DONE
    after = row_of(tenant)
    assert after.access_token != before.access_token
    assert after.previous_token is None
    assert after.token_generation == 2
    assert works(tenant)


def test_whoever_saw_an_older_round_joins_it(tenant):
    seen = row_of(tenant)
    assert not do(tenant, seen).is_joined
    joined = do(tenant, seen)
    assert joined.is_joined
    assert joined.outcome is ReissueOutcome.DONE
    assert row_of(tenant).token_generation == 2


@pytest.mark.parametrize("kills_old", one_in(2, [True, False]))
@pytest.mark.django_db(transaction=True)
def test_twenty_workers_at_once_make_one_call_a_round(connected, proxy, kills_old):
    tenant = connected(reissue_kills_old=kills_old)
    for round_ in range(1, 3):  # a hundred rounds: tests/promises/test_token_reissue.py
        seen, start, results = row_of(tenant), threading.Barrier(20), []

        def work(seen=seen, start=start, results=results):
            try:
                start.wait(60)
                results.append(do(tenant, seen))
            except Exception as error:
                results.append(error)
            finally:
                database.close()

        threads = [threading.Thread(target=work) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [result.outcome for result in results] == [ReissueOutcome.DONE] * 20
        assert sum(not result.is_joined for result in results) == 1
        assert proxy.count(REISSUE) == round_
        assert works(tenant)


def test_a_lost_answer_with_a_living_old_token_keeps_it(db, connected, proxy):
    tenant = connected(reissue_kills_old=False)
    proxy.on(REISSUE, reset_after)
    before = row_of(tenant).access_token
    assert do(tenant).outcome is ReissueOutcome.ANSWER_LOST
    row = row_of(tenant)
    assert (row.state, row.access_token) == ("connected", before)
    assert works(tenant)


def test_a_lost_answer_with_a_dead_old_token_says_connect_again(db, connected, proxy):
    tenant = connected(reissue_kills_old=True)
    proxy.on(REISSUE, reset_after)
    assert do(tenant).outcome is ReissueOutcome.BROKEN
    row = row_of(tenant)
    assert row.state == "broken"
    page = signed_in(owner_of(tenant)).get(f"/t/{tenant.slug}/connection/").content.decode()
    assert "Reconnect" in page


def test_a_service_that_cannot_be_reached_changes_nothing(tenant):
    ServiceEnvironment.objects.filter(pk=tenant.environment_id).update(base_url="http://127.0.0.1:9")
    before = row_of(tenant)
    assert do(tenant).outcome is ReissueOutcome.NOT_SENT
    after = row_of(tenant)
    assert (after.access_token, after.state, after.reissue_sent_at) == (before.access_token, "connected", None)


def test_a_new_token_that_does_not_work_gives_way_to_the_old_one(tenant):
    with tenant_scope(tenant):
        row = Connection.objects.get()
        row.previous_token, row.access_token = row.access_token, "unknown-to-the-service"
        row.token_generation, row.reissue_outcome = 2, ReissueOutcome.UNPROVEN
        row.save()
        with pytest.raises(Unauthorised):
            service_client(row_of(tenant)).call("list_areas")
        assert row_of(tenant).previous_token is None
    assert works(tenant)


def test_the_old_token_is_kept_until_the_new_one_has_worked(db, connected, proxy):
    tenant = connected(reissue_kills_old=False)
    before = row_of(tenant).access_token
    proxy.on(REISSUE, answer(200, b'{"token_type": "Bearer", "access_token": "unknown-to-the-service"}'))
    assert do(tenant).outcome is ReissueOutcome.NEW_TOKEN_REFUSED
    row = row_of(tenant)
    assert (row.state, row.access_token) == ("connected", before)
    assert works(tenant)


def test_the_first_call_that_works_proves_a_new_token(tenant):
    with tenant_scope(tenant):
        Connection.objects.update(previous_token=Connection._meta.get_field("previous_token").seal(tenant.pk, "old"))
    assert works(tenant)
    assert row_of(tenant).previous_token is None


@pytest.mark.django_db(transaction=True)
def test_while_a_reissue_is_under_way_a_refused_token_is_no_reason_to_call_the_connection_broken(connected):
    tenant = connected()
    with tenant_scope(tenant):
        row = Connection.objects.get()
        row.access_token, row.reissue_sent_at = "dead-already", "2026-01-01T00:00:00Z"
        row.save()
    holding, enough = threading.Event(), threading.Event()

    def hold():
        with tenant_scope(tenant), exclusive(row):
            holding.set()
            enough.wait(60)
        database.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert holding.wait(60)
        with tenant_scope(tenant), pytest.raises(Unauthorised):
            service_client(row_of(tenant)).call("list_areas")
        assert row_of(tenant).state == "connected"
    finally:
        enough.set()
        thread.join()
    with tenant_scope(tenant), pytest.raises(Unauthorised):
        service_client(row_of(tenant)).call("list_areas")
    assert row_of(tenant).state == "broken"


def test_a_broken_connection_sends_nothing_more(tenant, sandbox):
    with tenant_scope(tenant):
        Connection.objects.update(state="broken")
        before = len(sandbox.calls(row_of(tenant).service_tenant_id))
        with pytest.raises(NotSent):
            service_client(row_of(tenant)).call("list_areas")
        with pytest.raises(NotConnected):
            reissue.reissue(connection=row_of(tenant), by=None)
    assert len(sandbox.calls(row_of(tenant).service_tenant_id)) == before


def test_refused_scopes_and_contracts_are_remembered_and_forgotten(tenant, sandbox):
    row = row_of(tenant)
    with tenant_scope(tenant):
        poor = sandbox.token(row.service_tenant_id, scopes=["tenant:read"])
        rich, row.access_token = row.access_token, poor
        row.save()
        for _ in range(2):
            with pytest.raises(Exception, match="403"):
                service_client(row_of(tenant)).call("list_members")
        assert row_of(tenant).scopes_refused == ["members:read"]
        row.access_token = rich
        row.save(update_fields=["access_token"])
        service_client(row_of(tenant)).call("list_members")
        assert row_of(tenant).scopes_refused == []


def test_revoking_forgets_the_token_at_both_ends(tenant, sandbox):
    token = row_of(tenant).access_token
    owner = owner_of(tenant)
    with tenant_scope(tenant):
        assert actions.revoke(access=access_to(owner, tenant)) is actions.RevocationOutcome.DONE
    row = row_of(tenant)
    assert (row.state, row.access_token) == ("revoked", None)
    assert sandbox.api("GET", "/v1/areas", token=token).status_code == 401
    with tenant_scope(tenant), pytest.raises(NotConnected):
        actions.revoke(access=access_to(owner, tenant))


def test_the_pages_buttons_do_the_same_and_say_what_came_of_it(tenant):
    browser = signed_in(owner_of(tenant))
    page = browser.post(f"/t/{tenant.slug}/connection/reissue/", follow=True).content.decode()
    assert "was reissued" in page
    page = browser.post(f"/t/{tenant.slug}/connection/revoke/", follow=True).content.decode()
    assert "was revoked" in page
    page = browser.post(f"/t/{tenant.slug}/connection/reissue/", follow=True).content.decode()
    assert "no access token to reissue" in page
