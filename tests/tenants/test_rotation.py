"""Keys are rotated while the site reads and writes."""

import base64
import io
import threading

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import decrypt, encrypt
from django.core.management import CommandError, call_command
from django.db import connection

from tenants import key_rotation, vault
from tenants.models import AuditEntry, Connection
from tenants.postgresql.grants import as_owner
from tenants.scope import across_tenants, tenant_scope

pytestmark = pytest.mark.django_db(transaction=True)


def key(letter):
    return base64.b64encode(letter * 32).decode()


OLD = f"k1:{key(b'a')}"
BOTH = f"k2:{key(b'b')},{OLD}"
NEW = f"k2:{key(b'b')},fingerprint:{key(b'a')}"


@pytest.fixture(autouse=True)
def old_key(settings):
    settings.VAULT_KEYS = OLD


def rotate(**options):
    said = io.StringIO()
    call_command("rotate_vault_keys", stdout=said, stderr=said, **options)
    return said.getvalue()


def test_every_secret_moves_to_the_current_key(make_two, settings):
    two = make_two()
    with tenant_scope(two.a):
        for number in range(7):
            AuditEntry.objects.bulk_create([AuditEntry(action="x", before={"n": number})])
    settings.VAULT_KEYS = BOTH
    assert "Secrets under other keys: " in rotate(check=True)
    assert "Secrets under other keys: 0." in rotate(batch=2)
    settings.VAULT_KEYS = NEW
    with tenant_scope(two.a):
        assert Connection.objects.get().access_token == "token of a"
        assert sorted(entry.before["n"] for entry in AuditEntry.objects.all()) == list(range(7))
    two.environment.refresh_from_db()
    assert two.environment.client_secret == "secret of the client"


def test_second_factors_move_too(make_two, settings):
    two = make_two()
    row = Authenticator.objects.create(user=two.owner_a, type="totp", data={"secret": encrypt("SEED"), "n": 1})
    settings.VAULT_KEYS = BOTH
    rotate()
    settings.VAULT_KEYS = NEW
    row.refresh_from_db()
    assert decrypt(row.data["secret"]) == "SEED"
    assert "SEED" not in str(row.data)


def test_what_does_not_open_is_left_named_and_no_reason_to_stop(make_two, settings):
    two = make_two()
    with across_tenants("a test"), connection.cursor() as cursor:
        cursor.execute("UPDATE tenants_connection SET licence_key = access_token WHERE tenant_id = %s", [two.a.pk])
    settings.VAULT_KEYS = BOTH
    with pytest.raises(CommandError, match="1 secrets could not be opened"):
        rotate()
    (column,) = [c for c in key_rotation.columns() if c.label == "tenants.Connection.access_token"]
    assert key_rotation.list_remaining(column) == []


def test_rotated_under_load_no_read_fails_and_no_write_is_lost(make_two, settings):
    two = make_two()
    tenants = [two.a, two.b]
    settings.VAULT_KEYS = BOTH
    stop, failures, last = threading.Event(), [], {}

    def readers(tenant):
        try:
            while not stop.is_set():
                with tenant_scope(tenant):
                    row = Connection.objects.get()
                    if not row.access_token.startswith(("token of", "new ")):
                        failures.append(row.access_token)
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    def writer(tenant):
        try:
            for number in range(40):
                with tenant_scope(tenant):
                    row = Connection.objects.get()
                    row.access_token = last[tenant.pk] = f"new {number}"
                    row.save(update_fields=["access_token"])
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    def rotator():
        try:
            with as_owner():
                for _ in range(5):
                    for column in key_rotation.columns():
                        key_rotation.rotate_column(column, 1)
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    busy = [threading.Thread(target=writer, args=(t,)) for t in tenants]
    busy += [threading.Thread(target=rotator) for _ in range(3)]
    watching = [threading.Thread(target=readers, args=(t,)) for t in tenants for _ in range(2)]
    for thread in watching + busy:
        thread.start()
    for thread in busy:
        thread.join()
    stop.set()
    for thread in watching:
        thread.join()
    rotate()
    assert failures == []
    settings.VAULT_KEYS = NEW
    for tenant in tenants:
        with tenant_scope(tenant):
            assert Connection.objects.get().access_token == last[tenant.pk]
    assert vault.key_ring().current == "k2"
