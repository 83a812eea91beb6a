"""Encryption: ciphertexts that were moved or changed are noticed, and keys are rotated while the site runs."""

import itertools
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from portal.hooks.models import Webhook
from portal.hooks.settings import webhook_of
from stack.paths import PYTHON, ROOT
from stack.processes import free_port
from stack.services import new_vault_key
from tenants import rotation, vault
from tenants.connections import actions
from tenants.models import Connection, TenantModel
from tenants.vault import VaultError
from tests.support.browser import Browser
from tests.support.house import House, Process
from tests.support.stage import PASSWORD, Customer, Stage
from tests.support.waiting import until

#: Every field that a secret of the connection or of its webhook rests in.
FIELDS: dict[str, type[TenantModel]] = {
    "access_token": Connection,
    "previous_token": Connection,
    "licence_key": Connection,
    "token": Webhook,
    "secret": Webhook,
    "former_secret": Webhook,
}


def furnish(customer: Customer) -> None:
    """One intent and one audit entry with sealed bodies, and a secret in every field of connection and webhook.

    A call that works lets the former token go: where it has to stay, the house is quiet meanwhile.
    """
    customer.unlock(rung=False)
    with customer.scope():
        row = Connection.objects.get()
        row.previous_token = "a former token"
        row.save()
        webhook = webhook_of(customer.tenant)
        webhook.former_secret = "a former secret"
        webhook.save()


def opens(customer: Customer, field: str) -> bool:
    """Whether a read of this field gives anything at all."""
    with customer.scope():
        row = FIELDS[field].objects.get()
        try:
            return getattr(row, field) is not None
        except VaultError:
            return False


def put(house: House, customer: Customer, field: str, sealed: bytes) -> None:
    table = FIELDS[field]._meta.db_table
    house.sql(f"UPDATE {table} SET {field} = %s WHERE tenant_id = %s", sealed, customer.tenant.pk)


def sealed(house: House, customer: Customer, field: str) -> bytes:
    table = FIELDS[field]._meta.db_table
    found = house.sql(f"SELECT {field} FROM {table} WHERE tenant_id = %s", customer.tenant.pk)
    return bytes(found[0][0])


def swap_everything(house: House, one: Customer, other: Customer) -> tuple[int, int]:
    """Every ciphertext of one tenant in every field of both but its own: how many swaps, how many were not noticed."""
    swaps = unnoticed = 0
    places = list(itertools.product((one, other), FIELDS))
    kept = {place: sealed(house, *place) for place in places}
    for source, target in itertools.permutations(places, 2):
        put(house, *target, kept[source])
        swaps += 1
        unnoticed += opens(*target)
        put(house, *target, kept[target])
    return swaps, unnoticed


def flip_everything(house: House, customer: Customer, field: str, step: int) -> tuple[int, int]:
    """One bit changed at a time, every `step` bits: how many flips, how many were not noticed."""
    whole = sealed(house, customer, field)
    flips = unnoticed = 0
    for bit in range(0, len(whole) * 8, step):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << (bit % 8)
        put(house, customer, field, bytes(broken))
        flips += 1
        unnoticed += opens(customer, field)
    put(house, customer, field, whole)
    return flips, unnoticed


def test_moved_and_changed_ciphertexts_are_noticed(house: House, stage: Stage) -> None:
    one, other = stage.customer(), stage.customer()
    with house.quiet():
        furnish(one)
        furnish(other)
        assert swap_everything(house, one, other) == (132, 0)
        flips, unnoticed = flip_everything(house, one, "access_token", 9)
        assert flips > 50
        assert unnoticed == 0
        assert all(opens(one, field) for field in FIELDS)


def test_no_secret_column_of_any_table_takes_plain_bytes(house: House, stage: Stage) -> None:
    customer = stage.customer()
    furnish(customer)
    seen = 0
    for column in rotation.columns():
        table, name = column.model._meta.db_table, column.field.column
        for (value,) in house.sql(f"SELECT {name} FROM {table} WHERE {name} IS NOT NULL"):
            assert vault.key_name(bytes(value)) in vault.ring().ciphers
            seen += 1
    assert seen > 5


def test_a_token_moved_in_from_another_tenant_is_never_sent(house: House, stage: Stage) -> None:
    one, other = stage.customer(), stage.customer()
    put(house, one, "access_token", sealed(house, other, "access_token"))
    row = one.settled(one.unlock())
    assert row.state != "succeeded"
    assert stage.proxy.count(".*requests", forwarded=False) == 0
    assert other.arrivals() == []


@contextmanager
def web_with(house: House, keys: str) -> Iterator[tuple[Process, str]]:
    """A second web of the house, which knows these keys."""
    port = free_port()
    web = Process(house.programs(VAULT_KEYS=keys).web(port))
    web.start()
    url = f"http://127.0.0.1:{port}"
    try:
        with Browser(url) as probe:

            def answers() -> bool:
                try:
                    return probe.get("/healthz").status_code == 200
                except OSError:
                    return False
                except Exception:
                    return False

            until(answers, 60)
        yield web, url
    finally:
        web.stop()


def rotate(house: House, keys: str) -> None:
    done = subprocess.run(
        [PYTHON, "manage.py", "rotate_vault_keys", "--batch", "20"],
        cwd=ROOT,
        env=house.env | {"VAULT_KEYS": keys},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_rotated_under_load(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    """A web with both keys serves pages that need secrets, writes new ones, while keys go forth and back ten times."""
    customer = stage.customer(members=50)
    furnish(customer)
    owner = customer.staff("owner")
    old = house.env["VAULT_KEYS"]
    new = new_vault_key("fresh").partition(",")[0]
    reads: list[int] = []
    stop = threading.Event()
    house.urgent.pause()
    with house.quiet(), web_with(house, f"{new},{old}") as (_, url), Browser(url) as browser:
        browser.sign_in(owner.email, PASSWORD)

        def read() -> None:
            while not stop.is_set():
                for page in ("connection/", f"devices/{customer.doors[0]}/status/", "audit/", ""):
                    reads.append(browser.get(customer.url(page)).status_code)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        try:
            for _ in range(10):
                rotate(house, f"{new},{old}")
                browser.post(customer.url("connection/licence-key/"), {"licence-value": "another key"})
                rotate(house, f"{old},{new}")
        finally:
            stop.set()
            for reader in readers:
                reader.join()
            rotate(house, f"{old},{new}")
    failed = sum(status != 200 for status in reads)
    figure("encryption", f"keys rotated 20 times under {len(reads)} reads: failed", failed, "0")
    assert failed == 0
    # A call that worked has let the former token go.
    assert all(opens(customer, field) for field in FIELDS if field != "previous_token")


@pytest.mark.soak
def test_every_bit_and_every_swap(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    one, other = stage.customer(), stage.customer()
    with house.quiet():
        furnish(one)
        furnish(other)
        swaps, unnoticed = swap_everything(house, one, other)
        figure("encryption", f"{swaps} ciphertexts swapped between tenants and fields: unnoticed", unnoticed, "0")
        assert unnoticed == 0
        for field in FIELDS:
            flips, unnoticed = flip_everything(house, one, field, 1)
            figure("encryption", f"{field}: {flips} bits flipped, one at a time: unnoticed", unnoticed, "0")
            assert unnoticed == 0


def test_secrets_set_on_the_page_are_sealed(house: House, stage: Stage) -> None:
    customer = stage.customer()
    access = customer.access("owner")
    with customer.scope():
        actions.set_licence_key(access=access, value="canary in the vault")
        row = webhook_of(customer.tenant)
    assert b"canary" not in sealed(house, customer, "licence_key")
    for field in ("token", "secret"):
        assert getattr(row, field).encode() not in sealed(house, customer, field)
    assert all(opens(customer, field) for field in ("licence_key", "token", "secret"))
