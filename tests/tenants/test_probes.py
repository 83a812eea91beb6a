"""Addresses without sign-in: whether the site runs, whether it is ready, and its figures with a token."""

import re
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from portal.base.timers.clock import database_now
from portal.base.timers.models import Lease
from portal.domain.events import MirrorKind
from portal.domain.intents.models import Intent, State
from portal.domain.sync.models import MirrorState
from portal.site import env, monitoring
from tenants.models import Connection
from tenants.scope import tenant_scope

TOKEN = "a long token of the monitoring"


@pytest.fixture
def ready(monkeypatch):
    """Clear the stored result, so that readiness is checked anew."""

    def ask(**more):
        monkeypatch.setattr(monitoring, "_readiness", monitoring._Readiness())
        return Client().get("/readyz", **more)

    return ask


@pytest.fixture
def figures(settings):
    """Return the figures as lines: name with labels -> number."""
    settings.METRICS_TOKEN = TOKEN

    def read():
        answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        lines = [line for line in answer.content.decode().splitlines() if not line.startswith("#")]
        return {name: float(number) for name, _, number in (line.rpartition(" ") for line in lines)}

    return read


class TestReadiness:
    """A load balancer checks whether this process and its services can do their work."""

    @pytest.mark.django_db
    def test_asking_costs_a_stranger_nothing(self, ready):
        first = ready().json()
        with CaptureQueriesContext(connection) as made:
            answers = [Client().get("/readyz").json() for _ in range(20)]
        assert answers == [first] * 20
        assert len(made) == 0

    def test_a_tenant_that_was_never_loaded_makes_it_no_less_ready(self, two, ready):
        with tenant_scope(two.a):
            Connection.objects.update(state=Connection.State.CONNECTED)
        before = ready().json()["failed"]
        with tenant_scope(two.a):
            MirrorState.objects.create(kind=MirrorKind.MEMBERS, due_at=database_now())
        assert ready().json()["failed"] == before

    @pytest.mark.django_db
    def test_only_what_failed_is_named_with_its_reason(self, ready):
        """Check without a worker and a clock, which do not run beside these tests."""
        answer = ready()
        assert answer.status_code == 503
        failed = answer.json()["failed"]
        assert failed == {
            "clock": "No clock has run yet: start celery beat.",
            "workers": "No worker listens to: doors, interactive, bulk, sync.",
        }

    @pytest.mark.django_db
    def test_a_clock_that_stands_still_is_named_with_its_age(self, ready):
        Lease.objects.create(pk=1, ticked_at=database_now() - timedelta(seconds=95))
        told = ready().json()
        (said,) = re.findall(r"The last tick was (\d+) s ago", told["failed"]["clock"])
        assert 95 <= int(said) <= round(told["last_tick_seconds"]) < 130, "as fast as the machine is"
        Lease.objects.update(ticked_at=database_now())
        assert "clock" not in ready().json()["failed"]

    def test_another_key_under_the_same_id_is_named(self, two, ready, settings):
        name = settings.VAULT_KEYS.partition(":")[0]
        assert "vault" not in ready().json()["failed"]
        settings.VAULT_KEYS = f"{name}:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
        assert name in ready().json()["failed"]["vault"]

    @pytest.mark.django_db
    def test_without_the_broker_nothing_is_said_of_workers(self, ready, settings):
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        assert set(ready().json()["failed"]) == {"broker", "clock"}

    @pytest.mark.django_db
    @pytest.mark.parametrize("path", ["/healthz", "/readyz"])
    def test_probes_are_answered_by_any_host_and_without_https(self, path, settings):
        settings.SECURE_SSL_REDIRECT = True
        assert Client().get(path, headers={"Host": "10.0.0.7:8000"}).status_code in (200, 503)
        assert Client().get("/accounts/login/", headers={"Host": "10.0.0.7:8000"}).status_code == 400


class TestFigures:
    """A monitoring system reads the figures that alert operators."""

    def test_they_are_nobodys_without_a_token(self, settings):
        assert settings.METRICS_TOKEN == ""
        for address in ("127.0.0.1", "::1", "198.51.100.7"):
            for header in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x"}):
                assert Client(REMOTE_ADDR=address).get("/metrics", headers=header).status_code == 404

    @pytest.mark.django_db
    def test_they_are_for_who_brings_the_token_wherever_from(self, settings):
        settings.METRICS_TOKEN = TOKEN
        assert Client().get("/metrics").status_code == 404, "a proxy on this machine lends its address to everybody"
        assert Client().get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 404
        given = {"Authorization": f"Bearer {TOKEN}"}
        answer = Client(REMOTE_ADDR="198.51.100.7").get("/metrics", headers=given)
        assert answer.status_code == 200
        assert b"portal_http_answers_total" in answer.content

    def test_requests_and_their_age_are_counted_over_all_tenants(self, two, figures):
        asked = {"operation": "update_member", "delivery": "setting", "permission": "members_edit", "priority": 1}
        for tenant, owner in ((two.a, two.owner_a), (two.b, two.owner_b)):
            with tenant_scope(tenant):
                made = Intent.objects.create(**asked, nonce="n", by=owner, title="", queue="interactive")
                Intent.objects.filter(pk=made.pk).update(created_at=database_now() - timedelta(seconds=500))
        found = figures()
        assert found['portal_requests_open{state="queued"}'] == 2
        assert 500 <= found['portal_request_oldest_seconds{state="queued"}'] < 600
        with tenant_scope(two.b):
            Intent.objects.update(state=State.SUCCEEDED)
        assert figures()['portal_requests_open{state="queued"}'] == 1

    def test_tenants_that_were_never_loaded_and_lists_that_fail_are_counted(self, two, figures):
        for tenant in (two.a, two.b):
            with tenant_scope(tenant):
                Connection.objects.update(state=Connection.State.CONNECTED)
        with tenant_scope(two.a):
            at = database_now() - timedelta(hours=2)
            MirrorState.objects.create(kind=MirrorKind.MEMBERS, as_of=at, error="unreachable")
        found = figures()
        assert found["portal_tenants_never_loaded"] == 1
        assert found['portal_tenants{state="connected"}'] == 2
        assert found['portal_sync_failing{kind="members"}'] == 1
        assert 7200 <= found['portal_sync_oldest_seconds{kind="members"}'] < 7300

    @pytest.mark.django_db
    def test_the_clock_the_queues_and_each_timers_lag_are_there(self, figures):
        Lease.objects.create(pk=1, ticked_at=database_now() - timedelta(seconds=40))
        found = figures()
        assert 40 <= found["portal_clock_tick_seconds"] < 60
        assert found["portal_database_answers"] == found["portal_broker_answers"] == 1
        assert {f'portal_queue_length{{queue="{name}"}}' for name in ("doors", "interactive", "bulk", "sync")} <= {
            *found
        }
        assert 'portal_timer_lag_seconds{timer="alerts"}' in found

    @pytest.mark.django_db
    def test_answers_are_counted_by_area_and_status_and_never_by_an_address(self, figures):
        before = figures()
        for path in ("/accounts/login/", "/nothing/here/", "/nothing/there/", "/hooks/unknown/"):
            Client().get(path)
        found = figures()

        def more(name):
            return found.get(name, 0) - before.get(name, 0)

        assert more('portal_http_answers_total{area="none",status="404"}') == 2
        assert more('portal_http_answers_total{area="hooks",status="405"}') == 1
        assert more('portal_http_seconds_count{area="account_login"}') == 1


def test_a_rate_is_read_with_and_without_what_it_is_counted_by(monkeypatch):
    for text, rate in {"60/m": (60, 60), "5/h/ip": (5, 3600), "": (60, 60)}.items():
        monkeypatch.setenv("PORTAL_SIGN_IN_RATE", text)
        assert env.rate("PORTAL_SIGN_IN_RATE") == rate
    monkeypatch.setenv("PORTAL_SIGN_IN_RATE", "many")
    with pytest.raises(ImproperlyConfigured, match="PORTAL_SIGN_IN_RATE"):
        env.rate("PORTAL_SIGN_IN_RATE")


def test_a_share_is_a_number_within_its_bounds(monkeypatch):
    for text, share in {"0.1": 0.1, "0.05": 0.05, "1": 1.0, "": 1.0}.items():
        monkeypatch.setenv("PORTAL_PAUSES", text)
        assert env.fraction("PORTAL_PAUSES", least=0.05) == share
    for text in ("0", "0.01", "1.5", "-1", "nan", "inf", "half"):
        monkeypatch.setenv("PORTAL_PAUSES", text)
        with pytest.raises(ImproperlyConfigured, match="PORTAL_PAUSES"):
            env.fraction("PORTAL_PAUSES", least=0.05)


class TestTheDatabasesAddress:
    """The whole value of DATABASE_URL is used."""

    @pytest.fixture
    def read(self, monkeypatch):
        def settings_of(address):
            monkeypatch.setenv("DATABASE_URL", address)
            return env.database("DATABASE_URL", "engine", "-c random_page_cost=1.1")

        return settings_of

    @pytest.mark.parametrize(
        ("address", "parts", "options"),
        [
            ("postgresql://u:p%40s@h:5433/name?sslmode=verify-full&sslrootcert=/etc/ca.pem",
             ("name", "u", "p@s", "h", "5433"), {"sslmode": "verify-full", "sslrootcert": "/etc/ca.pem"}),
            ("postgresql://u:p@one:1,two:2/name?target_session_attrs=read-write",
             ("name", "u", "p", "one,two", "1,2"), {"target_session_attrs": "read-write"}),
            ("postgresql://u@%2Fvar%2Frun%2Fpostgresql/name", ("name", "u", "", "/var/run/postgresql", ""), {}),
            ("postgresql:///name?host=/var/run/postgresql&user=u", ("name", "u", "", "/var/run/postgresql", ""), {}),
        ],
    )  # fmt: skip
    def test_hosts_sockets_and_the_query_are_kept(self, read, address, parts, options):
        found = read(address)
        assert tuple(found[each] for each in ("NAME", "USER", "PASSWORD", "HOST", "PORT")) == parts
        assert found["OPTIONS"] == options | {"options": "-c random_page_cost=1.1"}

    def test_options_of_the_session_are_added_to(self, read):
        found = read("postgresql://u@h/name?options=-c%20statement_timeout%3D5s")
        assert found["OPTIONS"]["options"] == "-c statement_timeout=5s -c random_page_cost=1.1"

    @pytest.mark.parametrize(
        "address",
        ["mysql://u:hidden@h/name", "postgresql://u:hidden@h/", "postgresql://u:hidden@h/name?colour=red",
         "postgresql://u:hidden@[::1/name", "postgresql://u:hid den@h/name", "postgresql://u:hidden@h:port/name"],
    )  # fmt: skip
    def test_what_cannot_be_read_is_refused_without_being_shown(self, read, address):
        with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as refused:
            read(address)
        assert "hid" not in str(refused.value)

    @pytest.mark.django_db
    def test_a_connection_that_must_be_encrypted_fails_where_the_server_cannot(self, monkeypatch):
        """Check with the tests' server, which has no certificate: without the URL's query this would connect."""
        facts = connection.settings_dict
        address = f"postgresql://{facts['USER']}:{facts['PASSWORD']}@{facts['HOST']}:{facts['PORT']}/{facts['NAME']}"
        monkeypatch.setenv("DATABASE_URL", f"{address}?sslmode=require")
        strict = connection.copy()
        strict.settings_dict = facts | env.database("DATABASE_URL", facts["ENGINE"], "-c random_page_cost=1.1")
        with pytest.raises(Exception, match="server does not support SSL"):
            strict.ensure_connection()
