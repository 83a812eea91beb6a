"""Encryption: moved or changed ciphertexts are noticed. (Rotation: test_rotation.py, tests/promises.)"""

import itertools
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from django.db import connection

from portal.domain.intents import actions as intents
from portal.domain.intents.models import Intent
from portal.webhooks.service_settings import webhook_of
from tenants import key_rotation, vault
from tenants.access import access_to
from tenants.connections import actions
from tenants.scope import across_tenants, tenant_scope
from tests.support.ciphertexts import FIELDS, furnish, opens
from tests.support.doors import real_doors
from tests.support.isolation import arrivals, unlocking
from tests.support.places import Place
from tests.support.proxy import HttpProxy


@pytest.fixture
def one(make: Callable[..., Place]) -> Place:
    """Create a tenant with an intent and an audit entry with sealed bodies, and a secret in every field."""
    return furnished(make())


@pytest.fixture
def other(make: Callable[..., Place], one: Place) -> Place:
    return furnished(make())


def furnished(place: Place) -> Place:
    unlocking(place, "D1")
    furnish(place.tenant)
    return place


def sql(statement: str, *values: object) -> list[tuple]:
    """Run SQL past the fields' own layer, for all tenants."""
    with across_tenants("a test looks at ciphertexts"), connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def put(place: Place, field: str, sealed: bytes) -> None:
    table = FIELDS[field]._meta.db_table
    sql(f"UPDATE {table} SET {field} = %s WHERE tenant_id = %s", sealed, place.tenant.pk)


def sealed(place: Place, field: str) -> bytes:
    table = FIELDS[field]._meta.db_table
    return bytes(sql(f"SELECT {field} FROM {table} WHERE tenant_id = %s", place.tenant.pk)[0][0])


def swap_everything(one: Place, other: Place) -> tuple[int, int]:
    """Put every ciphertext of a tenant into every other field of both. Return the swaps, and those not noticed."""
    swaps = unnoticed = 0
    everything = [(place, field, sealed(place, field)) for place, field in itertools.product((one, other), FIELDS)]
    for (_, _, moved), (place, field, own) in itertools.permutations(everything, 2):
        put(place, field, moved)
        swaps += 1
        unnoticed += opens(place.tenant, field)
        put(place, field, own)
    return swaps, unnoticed


def flip_everything(place: Place, field: str, step: int) -> tuple[int, int]:
    """Change one bit at a time, every `step` bits. Return the number of changes, and of those not noticed."""
    whole = sealed(place, field)
    flips = unnoticed = 0
    for bit in range(0, len(whole) * 8, step):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << (bit % 8)
        put(place, field, bytes(broken))
        flips += 1
        unnoticed += opens(place.tenant, field)
    put(place, field, whole)
    return flips, unnoticed


def test_moved_and_changed_ciphertexts_are_noticed(one: Place, other: Place) -> None:
    assert swap_everything(one, other) == (132, 0)
    flips, unnoticed = flip_everything(one, "access_token", 9)
    assert flips > 50
    assert unnoticed == 0
    assert all(opens(one.tenant, field) for field in FIELDS)


def test_no_secret_column_of_any_table_takes_plain_bytes(one: Place) -> None:
    seen = 0
    for column in key_rotation.columns():
        table, name = column.model._meta.db_table, column.field.column
        for (value,) in sql(f"SELECT {name} FROM {table} WHERE {name} IS NOT NULL"):
            assert vault.key_name(bytes(value)) in vault.key_ring().ciphers
            seen += 1
    assert seen > 5


@pytest.mark.django_db(transaction=True)
def test_a_token_moved_in_from_another_tenant_is_never_sent(make: Callable[..., Place]) -> None:
    other = make()
    with HttpProxy(urlsplit(other.sandbox.url).port or 80, other.sandbox.addresses.usual) as proxy:
        one = make(base_url=proxy.url)
        door, own = real_doors(one)[0], sealed(one, "access_token")
        put(one, "access_token", sealed(other, "access_token"))
        assert sent(one, door).state == "queued", "it surely did not leave, and expires"
        assert proxy.count(".*requests", forwarded=False) == 0
        assert arrivals(one) == [] == arrivals(other)
        put(one, "access_token", own)
        sent(one, door)
        assert proxy.count(".*requests", forwarded=False) == 1
        assert len(arrivals(one)) == 1


def sent(place: Place, door: str) -> Intent:
    """Return an intent to unlock a door after it was sent, or could not be."""
    intent = unlocking(place, door)
    with tenant_scope(place.tenant):
        intents.dispatch(intent)
        intent.refresh_from_db()
    return intent


@pytest.mark.soak
def test_every_bit_and_every_swap(one: Place, other: Place, figure: Callable[..., None]) -> None:
    swaps, unnoticed = swap_everything(one, other)
    figure("encryption", f"{swaps} ciphertexts swapped between tenants and fields: unnoticed", unnoticed, "0")
    assert unnoticed == 0
    for field in FIELDS:
        flips, unnoticed = flip_everything(one, field, 1)
        figure("encryption", f"{field}: {flips} bits flipped, one at a time: unnoticed", unnoticed, "0")
        assert unnoticed == 0


def test_secrets_set_on_the_page_are_sealed(place: Place) -> None:
    access = access_to(place.owner, place.tenant)
    assert access is not None
    with tenant_scope(place.tenant):
        actions.set_licence_key(access=access, value="canary in the vault")
        row = webhook_of(place.tenant)
    assert b"canary" not in sealed(place, "licence_key")
    for field in ("token", "secret"):
        assert getattr(row, field).encode() not in sealed(place, field)
    assert all(opens(place.tenant, field) for field in ("licence_key", "token", "secret"))
