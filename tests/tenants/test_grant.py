"""Connecting by the code grant, over real HTTP with the sandbox; every attack on the callback is refused."""

import base64
import threading
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from django.db import connection as database
from django.test import Client
from django.utils import timezone

from accessapi.errors import NotSent
from portal.domain.places.models import TenantRecord
from portal.webhooks.service_settings import webhook_of
from tenants.connections.oauth_grant import connected
from tenants.connections.service_clients import service_client
from tenants.models import AuditEntry, Connection, OAuthState, ServiceEnvironment, Tenant
from tenants.scope import across_tenants, tenant_scope
from tests.support.places import signed_in, staff_of

EXCHANGE = 38


class House:
    """A tenant that is not connected yet, its owner's browser, and the service."""

    def __init__(self, sandbox, settings, slug="first", environment=None):
        self.sandbox = sandbox
        self.service = sandbox.tenant(members=0, token=False, name=slug)
        if environment is None:
            name = f"env-{slug}"
            self.client = sandbox.client(f"{settings.PORTAL_URL}/oauth/{name}/callback/")
            environment = ServiceEnvironment.objects.create(
                name=name,
                base_url=sandbox.url,
                client_id=self.client.client_id,
                client_secret=self.client.client_secret,
            )
        self.environment = environment
        self.tenant = Tenant.objects.create(slug=slug, name=slug.title(), environment=environment)
        with tenant_scope(self.tenant):
            self.owner = staff_of(self.tenant, "owner")
        self.browser = signed_in(self.owner)

    def begin(self, browser=None):
        answer = (browser or self.browser).post(f"/t/{self.tenant.slug}/connection/connect/")
        assert answer.status_code == 302, answer.content
        assert answer["Location"].startswith(self.sandbox.url + "/oauth2/authorize?"), answer["Location"]
        return answer["Location"]

    def consent(self, address, service=None, decision="allow"):
        """Return the portal's path and query to which the member site redirects."""
        back = urlsplit(self.sandbox.visit(address, service or self.service, decision))
        return f"{back.path}?{back.query}"

    def connect(self, service=None):
        return self.browser.get(self.consent(self.begin(), service))

    @property
    def row(self):
        with tenant_scope(self.tenant):
            return Connection.objects.get()


@pytest.fixture
def house(db, sandbox, settings):
    return House(sandbox, settings)


def test_exactly_four_parameters_are_sent(house):
    query = parse_qs(urlsplit(house.begin()).query)
    assert set(query) == {"response_type", "client_id", "redirect_uri", "state"}
    assert query["redirect_uri"] == [house.environment.redirect_uri]


def test_consent_connects_and_the_page_says_so(house, django_capture_on_commit_callbacks):
    heard = []

    def listen(**facts):
        heard.append((facts["connection"].tenant_id, facts["first"]))

    connected.connect(listen)
    with django_capture_on_commit_callbacks(execute=True):
        answer = house.connect()
    assert answer.status_code == 302
    assert answer["Location"] == f"/t/{house.tenant.slug}/connection/"
    page = house.browser.get(answer["Location"]).content.decode()
    assert house.service.tenant_id in page
    row = house.row
    assert row.is_connected
    assert row.granted_by == house.owner
    assert row.service_tenant_id == house.service.tenant_id
    assert "webhook" not in row.service_settings
    assert house.sandbox.api("GET", "/v1/areas", token=row.access_token).status_code == 200
    assert row.access_token not in page
    assert (house.tenant.pk, True) in heard


def test_the_grant_is_in_the_audit_trail(house):
    house.connect()
    with tenant_scope(house.tenant):
        actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["connection.begin", "connection.connect"]


@pytest.mark.parametrize("query", ["", "?state=", "?state=unknown&code=x", "?code=x", "?state=%FF&code=x"])
def test_a_missing_or_unknown_state_is_refused(house, query):
    answer = house.browser.get(f"/oauth/{house.environment.name}/callback/{query}")
    assert answer.status_code == 400
    assert_untouched(house)


def test_a_state_works_once(house):
    back = house.consent(house.begin())
    assert house.browser.get(back).status_code == 302
    generation = house.row.token_generation
    again = house.browser.get(back)
    assert again.status_code == 400
    assert "already used" in again.content.decode()
    assert house.row.token_generation == generation
    assert house.row.is_connected


def test_an_expired_state_is_refused(house):
    back = house.consent(house.begin())
    with across_tenants("a test"):
        OAuthState.objects_across_tenants.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = house.browser.get(back)
    assert answer.status_code == 400
    assert "ten minutes" in answer.content.decode()
    assert_untouched(house)


def test_a_state_from_another_session_is_refused(house):
    back = house.consent(house.begin())
    assert signed_in(house.owner).get(back).status_code == 400
    with tenant_scope(house.tenant):
        other = staff_of(house.tenant, "owner")
    assert signed_in(other).get(back).status_code == 400
    assert_untouched(house)
    assert house.browser.get(back).status_code == 302


def test_a_state_of_another_environment_is_refused(house, sandbox, settings):
    other = House(sandbox, settings, "second")
    back = house.consent(house.begin()).replace(house.environment.name, other.environment.name)
    assert house.browser.get(back).status_code == 400
    assert_untouched(house)
    assert_untouched(other)


def test_a_state_connects_the_tenant_it_was_made_for_and_no_other(house, sandbox, settings):
    other = House(sandbox, settings, "second", environment=house.environment)
    with tenant_scope(other.tenant):
        other.tenant.staff_set.create(user=house.owner, role="owner")
    house.begin()
    back = house.consent(house.begin())
    house.browser.get(f"/t/{other.tenant.slug}/connection/")  # a second tab moves on to another tenant
    assert house.browser.get(back).status_code == 302
    assert house.row.is_connected
    assert_untouched(other)


def test_a_stranger_to_the_tenant_cannot_finish_what_he_began(house):
    back = house.consent(house.begin())
    with tenant_scope(house.tenant):
        house.tenant.staff_set.update(role="auditor")
    assert house.browser.get(back).status_code == 400
    assert_untouched(house)


def test_nobody_signed_in_is_sent_to_sign_in(house):
    back = house.consent(house.begin())
    answer = Client().get(back)
    assert answer.status_code == 302
    assert "/accounts/login/" in answer["Location"]
    assert_untouched(house)


def test_refused_consent_says_so_and_uses_the_state_up(house):
    back = house.consent(house.begin(), decision="refuse")
    answer = house.browser.get(back)
    assert answer.status_code == 400
    assert_untouched(house)
    state = parse_qs(urlsplit(back).query).get("state")
    if state:
        query = urlencode({"state": state[0], "code": "x"})
        assert house.browser.get(f"/oauth/{house.environment.name}/callback/?{query}").status_code == 400


def test_another_tenant_of_the_service_is_refused_and_its_token_given_back(house):
    house.connect()
    before = house.row
    other = house.sandbox.tenant(members=0, token=False, name="other")
    answer = house.connect(other)
    assert answer.status_code == 400
    assert "different organisation" in answer.content.decode()
    row = house.row
    assert (row.access_token, row.token_generation) == (before.access_token, before.token_generation)
    assert row.service_tenant_id == house.service.tenant_id


def test_one_tenant_of_the_service_connects_to_one_tenant_here(house, sandbox, settings):
    house.connect()
    other = House(sandbox, settings, "second", environment=house.environment)
    answer = other.connect(house.service)
    assert answer.status_code == 400
    assert "already connected" in answer.content.decode()
    assert_untouched(other)


def test_a_wrong_code_connects_nothing(house):
    state = parse_qs(urlsplit(house.begin()).query)["state"][0]
    query = urlencode({"state": state, "code": "wrong"})
    answer = house.browser.get(f"/oauth/{house.environment.name}/callback/?{query}")
    assert answer.status_code == 400
    assert "invalid_grant" in answer.content.decode()
    assert_untouched(house)


def test_connecting_needs_a_fresh_confirmation_and_never_replays_the_form(house):
    session = house.browser.session
    session["account_authentication_methods"] = []
    session.save()
    answer = house.browser.post(
        f"/t/{house.tenant.slug}/connection/connect/",
        headers={"Referer": f"http://testserver/t/{house.tenant.slug}/connection/"},
    )
    assert answer.status_code == 302
    page = f"/accounts/reauthenticate/?next=%2Ft%2F{house.tenant.slug}%2Fconnection%2F%3Funsent%3D"
    assert answer["Location"].startswith(page)
    with tenant_scope(house.tenant):
        assert not OAuthState.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_double_callback_exchanges_once(sandbox, settings):
    house = House(sandbox, settings)
    back = house.consent(house.begin())
    start, statuses = threading.Barrier(6), []

    def call():
        browser = Client()
        browser.cookies = house.browser.cookies
        start.wait()
        statuses.append(browser.get(back).status_code)
        database.close()

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [302, 400, 400, 400, 400, 400]
    assert house.row.token_generation == 1


def assert_untouched(house):
    with tenant_scope(house.tenant):
        row = Connection.objects.first()
    assert row is None or (row.state == "none" and row.access_token is None and row.token_generation == 0)


def test_the_sandbox_is_really_asked_over_http(sandbox):
    assert httpx2.get(sandbox.url + "/healthz").status_code == 200


# The same key id with a different key: the stored value cannot be read, and is entered again on this page.


def other_key(settings):
    settings.VAULT_KEYS = (
        settings.VAULT_KEYS.partition(":")[0] + ":" + base64.b64encode(b"another key".ljust(32)).decode()
    )


def test_with_another_key_the_page_says_that_the_token_cannot_be_read(house, settings):
    house.connect()
    other_key(settings)
    page = house.browser.get(f"/t/{house.tenant.slug}/connection/")
    assert page.status_code == 200
    assert "The stored access token cannot be read." in page.content.decode()
    assert "Connection lost" in page.content.decode()
    assert "chip-quiet" not in page.content.decode().partition('class="lead')[2].partition("</p>")[0]
    assert "the operator enters the client secret again" in page.content.decode()
    assert f"/t/{house.tenant.slug}/connection/connect/" not in page.content.decode()


def test_with_another_key_the_webhook_and_the_activity_log_are_still_shown(house, settings):
    house.connect()
    with tenant_scope(house.tenant):
        webhook_of(house.tenant)
        TenantRecord.objects.create(webhook={"url": "https://other.example.com/hook"}, read_at=timezone.now())
        entry = AuditEntry.objects.create(action="guest.issued", target="party:1", after={"visits": [1]})
    other_key(settings)
    page = house.browser.get(f"/t/{house.tenant.slug}/connection/")
    assert page.status_code == 200
    assert "Webhook" in page.content.decode()
    assert house.browser.get(f"/t/{house.tenant.slug}/audit/").status_code == 200
    said = house.browser.get(f"/t/{house.tenant.slug}/audit/{entry.pk}/")
    assert said.status_code == 200
    assert "The changes cannot be shown" in said.content.decode()


def test_once_the_operator_has_entered_the_client_secret_an_owner_reconnects(house, settings):
    house.connect()
    with tenant_scope(house.tenant):
        row = house.row
        row.licence_key = "of the former key"
        row.save()
    other_key(settings)
    house.environment.client_secret = house.client.client_secret
    house.environment.save()
    assert "an owner can reconnect here" in house.browser.get(f"/t/{house.tenant.slug}/connection/").content.decode()
    assert house.connect().status_code == 302
    page = house.browser.get(f"/t/{house.tenant.slug}/connection/").content.decode()
    assert "cannot be read" not in page
    assert not house.row.has_licence_key, "it is entered again"
    assert house.sandbox.api("GET", "/v1/areas", token=house.row.access_token).status_code == 200


def test_with_another_key_nothing_is_sent_to_the_service(house, settings):
    house.connect()
    other_key(settings)
    with tenant_scope(house.tenant), pytest.raises(NotSent):
        service_client(house.row).call("list_areas")


def test_with_another_key_for_the_licence_alone_no_door_is_operated(house, settings):
    house.connect()
    with tenant_scope(house.tenant):
        row, keys = house.row, settings.VAULT_KEYS
        row.licence_key = "of the other key"
        other_key(settings)
        sealed = row._meta.get_field("licence_key").seal(house.tenant.pk, row.licence_key)
        Connection.objects.update(licence_key=sealed)
        settings.VAULT_KEYS = keys
        line = service_client(house.row)
        line.call("list_areas")
        with pytest.raises(NotSent, match="licence"):
            line.call("operate_door", path={"device_id": "D1"}, body={"tag": "lock_operation", "control": "unlock"})


def test_an_act_that_needs_what_cannot_be_read_says_so_instead_of_breaking(house, settings):
    house.connect()
    other_key(settings)
    answer = house.browser.post(f"/t/{house.tenant.slug}/connection/reissue/")
    assert answer.status_code == 503
    assert "Stored data cannot be read" in answer.content.decode()
