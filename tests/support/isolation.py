"""A tenant that must be isolated from another one: data of every kind, with names and IDs that are unique."""

import hashlib
import itertools
import uuid
from dataclasses import dataclass, field
from datetime import timedelta

from django.apps import apps
from django.db import connection
from django.utils import timezone

from portal.domain.intents.models import Intent, State
from portal.domain.intents.recording import Requester, record_intent
from portal.domain.people.models import Group, Member
from portal.domain.places.models import PassController
from portal.domain.visits.models import Preset, Visit
from tenants import roles
from tenants.models import Connection, Staff, Tenant, TenantModel, User
from tenants.scope import across_tenants, tenant_scope
from tests.support.databases import as_owner
from tests.support.doors import door_command, real_doors
from tests.support.places import PASSWORD, Place, fresh_nonce

_starts = itertools.count(1)


@dataclass
class Victim:
    """Tenant B, with data of every kind, and words that occur nowhere else."""

    place: Place
    doors: list[str]
    ids: dict[str, list[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[str]:
        return self.ids["int"] if kind == "int" else self.ids["text"]


def url(place: Place, rest: str = "") -> str:
    return f"/t/{place.tenant.slug}/{rest}"


def arrivals(place: Place) -> list[dict[str, object]]:
    """Return every unlock command that the service accepted."""
    found = place.sandbox.commands(place.service.tenant_id)
    return [each for each in found if each["control"] == "unlock"]


def person(place: Place, role: str) -> User:
    """Return a new person with this role here; platform roles have no staff row."""
    if not roles.find_role(role).is_platform:
        return place.staff(role)
    email = f"{uuid.uuid4().hex[:8]}@example.test"
    return User.objects.create_user(email, PASSWORD, name=role, platform_role=role)


def unlocking(place: Place, door: str, by: User | None = None) -> Intent:
    """Record a request as the door's page does, without notifying a worker."""
    with tenant_scope(place.tenant):
        return record_intent(door_command(door), by=Requester(place.tenant, by or place.owner), nonce=fresh_nonce())[0]


def furnish(place: Place) -> Victim:
    """Create rows in every table that can be filled without a page, with IDs that no other table has."""
    _apart()
    tenant, mark = place.tenant, place.tenant.slug.removeprefix("place-")
    Tenant.objects.filter(pk=tenant.pk).update(name=f"Tenant {mark}")
    doors, owner = real_doors(place), place.staff("owner")
    intent = unlocking(place, doors[0], owner)
    with tenant_scope(tenant):
        Connection.objects.update(service_tenant_name=f"Tenant {mark}")
        Intent.objects.filter(pk=intent.pk).update(state=State.UNCERTAIN, due_at=None, title=f"secret {mark}")
        Group.objects.create(tenant=tenant, membergroup_id=f"g{mark}", membergroup_name=f"group {mark}",
                             name_key=f"group {mark}")  # fmt: skip
        Member.objects.create(tenant=tenant, member_id=f"m{mark}", member_name=f"person {mark}", name_key=mark)
        PassController.objects.update(device_name=f"door {mark}")
        today = timezone.now()
        visit = Visit.objects.create(tenant=tenant, stage="issued", guest_id=f"v{mark}", guest_name=f"guest {mark}",
                                     name_key=f"guest {mark}", use_date_start=today - timedelta(hours=1),
                                     use_date_end=today + timedelta(hours=8), party=uuid.uuid4())  # fmt: skip
        preset = Preset.objects.create(tenant=tenant, name=f"preset {mark}", minutes=60)
        numbers = {intent.pk, owner.pk, visit.pk, preset.pk, *Staff.objects.values_list("pk", flat=True)}
    _apart()
    texts = [doors[0], f"m{mark}", f"g{mark}", f"v{mark}", str(owner.pk), str(intent.pk)]
    return Victim(place, doors, {"int": [str(n) for n in numbers], "text": texts}, [mark])


def print_of(place: Place) -> str:
    """Return a hash of every row of a tenant, in every table."""
    digest = hashlib.sha256()
    with across_tenants("a test looks at every row of a tenant"), connection.cursor() as cursor:
        for model in sorted(tenant_models(), key=lambda model: model._meta.label):
            if model._meta.app_label == "sync" and "State" in model.__name__:
                continue  # its own sync timers
            cursor.execute(
                f"SELECT t::text FROM {model._meta.db_table} t WHERE tenant_id = %s ORDER BY 1", [place.tenant.pk]
            )
            digest.update(repr((model._meta.label, cursor.fetchall())).encode())
    return digest.hexdigest()


def tenant_models() -> list[type[TenantModel]]:
    return [model for model in apps.get_models() if issubclass(model, TenantModel)]


def _apart() -> None:
    """Start each table's IDs at a different number, so that an ID shows whose row it is."""
    start = next(_starts)
    with as_owner() as owner:
        for number, model in enumerate([*tenant_models(), User], 1):
            owner.execute(
                f"SELECT setval(pg_get_serial_sequence('{model._meta.db_table}', 'id'), %s)",
                [start * 10**8 + number * 10**6],
            )
