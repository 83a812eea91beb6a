"""Simulated people who come and go, so that a demonstration has data (setting `passages_per_hour`).

The same tenant does the same things at the same times: each time has its own random source.
"""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from django.db import transaction
from django.db.models import Max, Min

from accessapi.permissions import AreaPlace, KeyPlace
from sandbox import behaviour, clock
from sandbox.engine import borrowing, keys, physical_actions, recognition, reset_lock
from sandbox.engine.recognition import Person
from sandbox.service.models import Guest, KeyBox, Member, PassController, Settings, Tenant
from sandbox.service.models.people import CREATION_ORDER

#: The longest time to catch up, at the first check or after a pause, and the most passages to write at once.
_MAX_BACKLOG = timedelta(hours=1)
_MAX_AT_ONCE = 10
_SETTING = "passages_per_hour"


def due(clocks: behaviour.Clocks) -> list[tuple[str, float]]:
    """Return the tenants in which a passage is due, with their passages per hour."""
    found = []
    for tenant, per_hour in _simulated_tenants():
        now = clocks.now(tenant.tenant_id)
        if any(_moments(tenant.tenant_id, per_hour, _since(tenant, now), now)):
            found.append((tenant.tenant_id, per_hour))
    return found


def simulate(tenant_id: str, per_hour: float) -> None:
    """Write due passages since the last check, up to a maximum: the next check continues."""
    with behaviour.using_clock_of(tenant_id), transaction.atomic():
        if not reset_lock.acquire_shared():
            return
        tenant = Tenant.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=tenant_id).first()
        if tenant is None:
            return
        now = until = clock.now()
        for count, (at, random) in enumerate(_moments(tenant_id, per_hour, _since(tenant, now), now), 1):
            _simulate_one(tenant, at, random)
            if count == _MAX_AT_ONCE:
                until = at
                break
        Tenant.objects.filter(pk=tenant_id).update(lived_until=until)


def _simulated_tenants() -> Iterator[tuple[Tenant, float]]:
    """Yield the tenants with simulated people, with their passages per hour."""
    wanted = dict(Settings.objects.filter(values__has_key=_SETTING).values_list("key", "values"))
    if not any(values[_SETTING] for values in wanted.values()):
        return
    everywhere = wanted.pop(behaviour.ALL_TENANTS, {}).get(_SETTING, 0)
    tenants = Tenant.objects.only("tenant_id", "lived_until")
    for tenant in tenants if everywhere else tenants.filter(pk__in=wanted):
        if per_hour := wanted.get(tenant.tenant_id, {}).get(_SETTING, everywhere):
            yield tenant, per_hour


def _since(tenant: Tenant, now: datetime) -> datetime:
    longest_ago = now - _MAX_BACKLOG
    # A clock that was set back starts again.
    return min(max(tenant.lived_until or longest_ago, longest_ago), now)


def _moments(tenant_id: str, per_hour: float, since: datetime, now: datetime) -> Iterator[tuple[datetime, Random]]:
    """Yield one time in each slot of equal length, with its random source; those after `since`, up to `now`."""
    length = 3600 / per_hour
    for slot in range(math.floor(since.timestamp() / length), math.floor(now.timestamp() / length) + 1):
        random = Random(f"{tenant_id}|{slot}|life")  # noqa: S311 - repeated data is intended
        at = datetime.fromtimestamp((slot + random.random()) * length, tz=clock.SERVICE_ZONE)
        if since < at <= now:
            yield at, random


def _simulate_one(tenant: Tenant, at: datetime, random: Random) -> None:
    """Pass a door, or take or return a key; sometimes as a person without access, or as an unknown one."""
    at_doors = tenant.has_contract("door") and (not tenant.has_contract("key_box") or random.random() < 0.8)
    if at_doors and (doors := list(PassController.objects.filter(tenant=tenant, has_power=True).order_by("id"))):
        _pass_door(tenant, random.choice(doors), at, random)
    elif tenant.has_contract("key_box") and (boxes := list(KeyBox.objects.filter(tenant=tenant).order_by("id"))):
        _use_key(tenant, random.choice(boxes), at, random)


def _pass_door(tenant: Tenant, door: PassController, at: datetime, random: Random) -> None:
    if random.random() < 0.03:
        physical_actions.show_credential(tenant, door.device_id, "card", f"{random.getrandbits(60):015X}", at)
    elif found := _random_credential(tenant, AreaPlace(door.area.area_id), at, random):
        physical_actions.show_credential(tenant, door.device_id, *found, at)


def _use_key(tenant: Tenant, box: KeyBox, at: datetime, random: Random) -> None:
    out = keys.keys_out(box, at)
    unit_no = random.choice(sorted(box.unit_numbers))
    if unit_no in out:
        borrowed = (out[unit_no].holder or {}).get("id", "")
        holder = Member.objects.filter(tenant=tenant, member_id=borrowed).first()
        found = recognition.credentials(holder, at) if holder else []
        if found:
            borrowing.return_key(tenant, box.key_device_id, unit_no, *found[0], at)
    elif found_one := _random_credential(tenant, KeyPlace(box.key_device_id, unit_no), at, random):
        borrowing.take_key(tenant, box.key_device_id, unit_no, *found_one, at)


def _random_credential(
    tenant: Tenant, place: AreaPlace | KeyPlace, at: datetime, random: Random
) -> tuple[str, str] | None:
    """Return a credential for this place: mostly of people with access, sometimes of one without."""
    anybody = random.random() < 0.08
    if random.random() < 0.08 and (guest := _guest(tenant, at, random)) is not None:
        return "qr", guest.qr_data
    for _ in range(6):
        member = _member(tenant, random)
        if member is None:
            return None
        shown = recognition.credentials(member, at)
        if shown and (anybody or Person(member, "", "").decide(tenant, place, at).allowed):
            return random.choice(shown)
    return None


def _member(tenant: Tenant, random: Random) -> Member | None:
    """Return any of the tenant's members, without counting them."""
    members = Member.objects.annotate(place=CREATION_ORDER).filter(tenant=tenant)
    ends = members.aggregate(first=Min("place"), last=Max("place"))
    if ends["first"] is None:
        return None
    return members.filter(place__gte=random.randint(ends["first"], ends["last"])).order_by("place").first()


def _guest(tenant: Tenant, at: datetime, random: Random) -> Guest | None:
    guests = Guest.objects.filter(tenant=tenant, use_date_start__lte=at, use_date_end__gte=at).order_by("id")[:50]
    return random.choice(list(guests)) if guests else None
