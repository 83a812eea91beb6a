"""A tenant's guests: some whose visit ended this week, some present, some expected."""

import hashlib
from datetime import datetime, timedelta
from random import Random
from typing import Any

from sandbox import clock
from sandbox.seeding import names
from sandbox.seeding.places import Places
from sandbox.service.models import Guest, KeyBox, Tenant

#: The default number for a tenant.
SEEDED = 12
_REMARKS = ("", "", "受付にお声がけください。", "Please ring at the loading dock.", "駐車場は B2 です。")


def create_guests(tenant: Tenant, places: Places, count: int, seed: str) -> list[Guest]:
    """Create `count` guests if the tenant has QR codes: a third each past, present and expected.

    They have their own random source, so that everything else stays the same for a seed.
    """
    if not count or not tenant.has_contract("qr"):
        return []
    random = Random(f"{seed}|guests")  # noqa: S311 - repeated data is intended
    prefix = hashlib.sha256(tenant.tenant_id.encode()).hexdigest()[:6]
    areas = [area.area_id for area in places.areas]
    return Guest.objects.bulk_create(
        (
            Guest(
                tenant=tenant,
                guest_id=f"v{prefix}{number:07d}",
                name=names.person(random),
                email=f"guest{number}@visitors.example.com" if random.random() < 0.7 else "",
                qr_data=f"SL{random.getrandbits(64):016X}",
                areas=sorted(random.sample(areas, random.randint(1, 4))) if tenant.has_contract("door") else [],
                remarks=random.choice(_REMARKS),
                is_for_reserve=random.random() < 0.3,
                **_keys(places.boxes if tenant.has_contract("key_box") else [], random),
                **_use_period(number, random),
            )
            for number in range(1, count + 1)
        ),
        batch_size=1000,
    )


def _keys(boxes: list[KeyBox], random: Random) -> dict[str, Any]:
    if not boxes or random.random() < 0.6:
        return {}
    box = random.choice(boxes)
    units = sorted(random.sample(sorted(box.unit_numbers), random.randint(1, 2)))
    keys = [{"key_device_id": box.key_device_id, "units_no_list": units}]
    return {"keys": keys, "return_grace_period": random.choice((0, 30, 60, 24 * 60))}


def _use_period(number: int, random: Random) -> dict[str, datetime]:
    """Return a use period: ended within the last six days, from yesterday to tomorrow at least, or in the future."""
    today = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    if number % 3 == 0:
        first, last = -random.randint(7, 9), -random.randint(1, 5)
    elif number % 3 == 1:
        first, last = -random.randint(1, 3), random.randint(1, 10)
    else:
        first = random.randint(1, 20)
        last = first + random.randint(0, 5)
    return {
        "use_date_start": today + timedelta(days=first, hours=9),
        "use_date_end": today + timedelta(days=last, hours=18),
    }
