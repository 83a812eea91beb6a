"""Secrets can be decrypted for their own field only."""

import base64

import pytest
from django.core.exceptions import FieldError, ImproperlyConfigured
from django.db import connection, transaction

from portal.site import startup
from tenants import vault
from tenants.key_rotation import check_vault_keys
from tenants.models import AuditEntry, Connection, ServiceEnvironment
from tenants.scope import across_tenants, tenant_scope
from tenants.vault import KeyRing, Sealed, VaultError, fingerprint


def key(letter):
    return base64.b64encode(letter * 32).decode()


KEYS = f"k1:{key(b'a')}"


@pytest.fixture(autouse=True)
def known_keys(settings):
    settings.VAULT_KEYS = KEYS


def stored(tenant, column="access_token"):
    with across_tenants("a test"), connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM tenants_connection WHERE tenant_id = %s", [tenant.pk])
        return bytes(cursor.fetchone()[0])


def store(tenant, data, column="access_token"):
    with across_tenants("a test"), connection.cursor() as cursor:
        cursor.execute(f"UPDATE tenants_connection SET {column} = %s WHERE tenant_id = %s", [data, tenant.pk])


def read(tenant, field="access_token"):
    with tenant_scope(tenant):
        return getattr(Connection.objects.get(), field)


def test_a_secret_comes_back_and_rests_sealed(two):
    assert read(two.a) == "token of a"
    assert b"token of a" not in stored(two.a)
    with tenant_scope(two.a):
        (shown,) = Connection.objects.values_list("access_token", flat=True)
        row = Connection.objects.get()
    assert isinstance(shown, Sealed)
    assert "token of a" not in repr(shown) + str(shown) + repr(row.__dict__)
    two.environment.refresh_from_db()
    assert two.environment.client_secret == "secret of the client"


def test_the_same_secret_never_looks_the_same(two):
    before = stored(two.a)
    with tenant_scope(two.a):
        row = Connection.objects.get()
        row.access_token = "token of a"
        row.save()
    assert stored(two.a) != before


def test_saving_something_else_leaves_the_sealed_bytes_alone(two):
    before = stored(two.a)
    with tenant_scope(two.a):
        row = Connection.objects.get()
        row.state_reason = "x"
        row.save()
    assert stored(two.a) == before


def test_swapped_between_tenants_it_does_not_open(two):
    store(two.a, stored(two.b))
    with pytest.raises(VaultError):
        read(two.a)


def test_swapped_between_fields_it_does_not_open(two):
    store(two.a, stored(two.a), "licence_key")
    with pytest.raises(VaultError):
        read(two.a, "licence_key")


def test_every_flipped_bit_is_noticed(two):
    good, field = stored(two.a), Connection._meta.get_field("access_token")
    assert field.open(two.a.pk, Sealed(good)) == "token of a"
    for position in range(len(good)):
        for bit in range(8):
            data = bytearray(good)
            data[position] ^= 1 << bit
            with pytest.raises(VaultError):
                field.open(two.a.pk, Sealed(bytes(data)))


@pytest.mark.parametrize(
    "data", [b"", b"\x01", b"plain text that was never sealed at all", b"\x01\x02k1short", b"\x00" * 60]
)
def test_what_was_never_sealed_is_never_shown(two, data):
    store(two.a, data)
    with pytest.raises(VaultError):
        read(two.a)


def test_a_missing_key_is_named_and_the_value_is_not(two, settings):
    settings.VAULT_KEYS = f"k2:{key(b'b')}"
    with pytest.raises(VaultError, match="k1"):
        read(two.a)


def test_a_wrong_key_of_the_same_name_does_not_open(two, settings):
    settings.VAULT_KEYS = f"k1:{key(b'b')}"
    with pytest.raises(VaultError) as caught:
        read(two.a)
    assert "token" not in str(caught.value)


def test_a_new_key_in_front_seals_and_the_old_one_still_opens(two, settings):
    settings.VAULT_KEYS = f"k2:{key(b'b')},{KEYS}"
    assert read(two.a) == "token of a"
    with tenant_scope(two.a):
        row = Connection.objects.get()
        row.access_token = "another"
        row.save()
    assert vault.key_name(stored(two.a)) == "k2"
    assert read(two.a) == "another"


def test_plain_text_cannot_reach_the_database_past_the_field(two):
    with tenant_scope(two.a):
        with pytest.raises(VaultError), transaction.atomic():
            Connection.objects.update(access_token="plain")
        row = Connection.objects.get()
        row.access_token = "plain"
        with pytest.raises(VaultError), transaction.atomic():
            Connection.objects.bulk_update([row], ["access_token"])
        row.access_token = b"bytes"
        with pytest.raises(VaultError), transaction.atomic():
            row.save()
        field = Connection._meta.get_field("access_token")
        Connection.objects.update(access_token=field.seal(two.a.pk, "sealed first"))
        assert Connection.objects.get().access_token == "sealed first"
        Connection.objects.update(access_token=None)
        assert Connection.objects.get().access_token is None
        with pytest.raises(VaultError):
            field.value_to_string(row)


def test_a_secret_cannot_be_searched(two):
    with tenant_scope(two.a):
        with pytest.raises(FieldError, match="fingerprint"):
            Connection.objects.filter(access_token="token of a")
        assert Connection.objects.filter(access_token__isnull=False).exists()


def test_deferred_and_refreshed_secrets_open(two):
    with tenant_scope(two.a):
        row = Connection.objects.defer("access_token").get()
        assert row.access_token == "token of a"
        row.refresh_from_db()
        assert row.access_token == "token of a"
        row.save()
    assert read(two.a) == "token of a"


def test_json_comes_back_as_it_was(two):
    value = {"名前": ["田中", 1, None, {"x": True}]}
    with tenant_scope(two.a):
        AuditEntry.objects.create(tenant=two.a, action="x", before=value)
        entry = AuditEntry.objects.get()
    assert entry.before == value
    assert entry.after is None


def test_fingerprints_tell_equal_values_of_one_tenant_and_purpose():
    card = fingerprint(1, "card", "0123")
    assert card == fingerprint(1, "card", "0123")
    others = [fingerprint(2, "card", "0123"), fingerprint(1, "qr", "0123"), fingerprint(1, "card", "0124")]
    assert card not in others
    assert len(card) == 32


def test_fingerprints_outlive_a_rotation(settings):
    before = fingerprint(1, "card", "0123")
    settings.VAULT_KEYS = f"k2:{key(b'b')},{KEYS}"
    assert fingerprint(1, "card", "0123") == before
    settings.VAULT_KEYS = f"k2:{key(b'b')},fingerprint:{key(b'a')}"
    assert fingerprint(1, "card", "0123") == before


@pytest.mark.parametrize(
    "text", ["", "k1", "k1:", "k1:not base64", f"k1:{base64.b64encode(b'short').decode()}", f"{KEYS},{KEYS}",
             f":{key(b'a')}", f"fingerprint:{key(b'a')}", key(b"a"), f"{key(b'a')}:k1", f"{key(b'a')}:{key(b'b')}",
             "a-key-in-another-form-0123456789"],
)  # fmt: skip
def test_unusable_keys_are_refused_at_start_without_being_shown(text, settings):
    with pytest.raises(ImproperlyConfigured, match="VAULT_KEYS"):
        KeyRing(text)
    settings.VAULT_KEYS = text
    (problem,) = startup.check_startup()
    assert "VAULT_KEYS" in problem.msg
    assert key(b"a") not in str(problem)
    assert "another-form" not in str(problem)


def test_an_environment_keeps_its_secret_when_saved(two):
    row = ServiceEnvironment.objects.get()
    row.save()
    assert ServiceEnvironment.objects.get().client_secret == "secret of the client"


def test_a_key_that_is_another_under_the_same_id_is_named_by_the_check(two, settings):
    settings.VAULT_KEYS = f"k2:{key(b'b')},{KEYS}"
    assert check_vault_keys(databases=["default"]) == []
    settings.VAULT_KEYS = f"k2:{key(b'b')},k1:{key(b'c')}"
    (problem,) = check_vault_keys(databases=["default"])
    assert problem.id == "tenants.E003"
    assert "'k1'" in problem.msg
    settings.VAULT_KEYS = f"k2:{key(b'b')}"
    assert check_vault_keys(databases=["default"]) == [], "a key that is gone is told by rotate_vault_keys"
