"""Whole tenants: contracts, administrator, places and people."""

import hashlib
from random import Random
from typing import Any

from django.db import connection, transaction

from sandbox import behaviour, clock
from sandbox.service.models import Administrator, KeyUse, Tenant

from . import names
from .copying import copy_data
from .guests import SEEDED, create_guests
from .histories import create_histories
from .people import create_groups, create_members
from .places import create_cameras, create_places

ALL_CONTRACTS = ("door", "key_box", "qr", "face", "licence")
#: From this many members on, the planner needs new statistics.
_MANY_MEMBERS = 1000
#: The contracts of the tenants of `seed`, in turn: everything, doors and codes, keys only, doors, keys and faces.
_CONTRACT_SETS = (ALL_CONTRACTS, ("door", "qr", "licence"), ("key_box",), ("door", "key_box", "face"))
_HOLIDAY = {
    "is_include_public_holiday": True,
    "public_holiday": {
        "2026-11-03": "文化の日", "2026-11-23": "勤労感謝の日", "2027-01-01": "元日",
        "2027-01-11": "成人の日", "2027-02-11": "建国記念の日", "2027-02-23": "天皇誕生日",
        "2027-03-21": "春分の日", "2027-04-29": "昭和の日", "2027-05-03": "憲法記念日",
        "2027-05-04": "みどりの日", "2027-05-05": "こどもの日",
    },
    "include_date": {"2026-12-30": "年末休業", "2026-12-31": "年末休業"},
    "exclude_date": {"2026-11-03": "出勤日"},
    "weekly": ["Saturday", "Sunday"],
}  # fmt: skip
_WEBHOOK = {"is_invalid": True, "url": "", "secret_token": None, "trigger": {"history": {"category": []}}}


def create_tenant(
    *,
    name: str,
    contracts: list[str] | tuple[str, ...],
    members: int,
    seed: str,
    guests: int = SEEDED,
    tenant_id: str | None = None,
    admin_login: str | None = None,
    admin_password: str | None = None,
) -> Tenant:
    """Create a tenant with everything in it. The same seed and tenant_id give the same data.

    Call `analyse` after many members.
    """
    random = Random(f"{seed}|{name}")  # noqa: S311 - repeated data is intended
    secret = hashlib.sha256(f"{seed}|{tenant_id or random.getrandbits(64)}".encode()).hexdigest()
    with behaviour.using_clock_of(behaviour.ALL_TENANTS), transaction.atomic():
        tenant = Tenant(
            name=name, contracts=list(contracts), holiday=_HOLIDAY, webhook=_WEBHOOK, created_at=clock.now()
        )
        tenant.tenant_id = tenant_id or tenant.tenant_id
        _save([tenant], [_administrator(tenant, secret, admin_login, admin_password)])
        places = create_places(tenant, random)
        create_members(tenant, places, create_groups(tenant, random), members, random)
        visitors = create_guests(tenant, places, guests, f"{seed}|{name}")
        create_cameras(tenant, places, f"{seed}|{name}")
        create_histories(tenant, places, visitors, members, f"{seed}|{name}")
        KeyUse.objects.bulk_create(places.keys_out)
    return tenant


def copy_tenant(of: Tenant, number: int) -> list[Tenant]:
    """Create `number` tenants with another one's current building, people and past, and their own secrets."""
    like = {"name": of.name, "contracts": of.contracts, "holiday": of.holiday, "webhook": _WEBHOOK}
    with behaviour.using_clock_of(behaviour.ALL_TENANTS), transaction.atomic():
        made = [Tenant(**like, created_at=clock.now()) for _ in range(number)]
        secrets = [hashlib.sha256(tenant.tenant_id.encode()).hexdigest() for tenant in made]
        _save(made, [_administrator(*each) for each in zip(made, secrets, strict=True)])
        copy_data(of, made)
    return made


def _save(tenants: list[Tenant], administrators: list[Administrator]) -> None:
    Tenant.objects.bulk_create(tenants)
    Administrator.objects.bulk_create(administrators)


def _administrator(tenant: Tenant, secret: str, login: str | None = None, password: str | None = None) -> Administrator:
    """Return the administrator of a new tenant, which gets its licence key."""
    if tenant.has_contract("licence"):
        tenant.licence_key = f"lk-{secret[:32]}"
    return Administrator(
        tenant=tenant,
        login=login or f"admin@{tenant.tenant_id}.example.com",
        password=password or f"pw-{secret[32:44]}",
        name=f"{tenant.name} admin",
    )


def seed(tenants: int, members: int, number: int) -> list[Tenant]:
    """Return the tenants of this seed, after creating missing ones."""
    wanted = [f"t{hashlib.sha256(f'{number}|{index}'.encode()).hexdigest()[:16]}" for index in range(tenants)]
    found = Tenant.objects.in_bulk(wanted)
    missing = tenants - len(found)
    for index, identifier in enumerate(wanted):
        if identifier not in found:
            contracts = _CONTRACT_SETS[index % len(_CONTRACT_SETS)]
            found[identifier] = create_tenant(
                name=names.tenant(index), contracts=contracts, members=members, seed=str(number), tenant_id=identifier
            )
    analyse(missing * members)
    return [found[identifier] for identifier in wanted]


def analyse(members: int) -> None:
    """Update the planner's statistics after this many members were written."""
    if members > _MANY_MEMBERS:
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE service_member, service_history")


def describe(tenant: Tenant) -> dict[str, Any]:
    """Return the data that a person needs to connect this tenant."""
    administrator = tenant.administrators.order_by("id").first()
    return {
        "tenant_id": tenant.tenant_id,
        "name": tenant.name,
        "contracts": tenant.contracts,
        "licence_key": tenant.licence_key,
        "admin_login": administrator.login if administrator else None,
        "admin_password": administrator.password if administrator else None,
    }
