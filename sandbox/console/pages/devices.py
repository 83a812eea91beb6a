"""The doors, key boxes and cameras of a building for its page. Enter the tenant's clock first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from sandbox.cameras import media_addresses
from sandbox.console.pages.words import Words
from sandbox.engine import doors, keys
from sandbox.service.models import Area, Camera, KeyBox, PassController, Tenant

#: Seconds for which a camera's latest picture stays the same.
_PICTURE_SECONDS = 10


@dataclass(frozen=True)
class Chip:
    """A state as a word and an icon. tone: quiet, loud, bad, away or unknown."""

    tone: str
    icon: str
    word: str


def areas_with_doors(tenant: Tenant, now: datetime, words: Words) -> list[dict[str, Any]]:
    """Return the areas with their doors, in the order of their creation."""
    inside: dict[int, list[dict[str, Any]]] = {}
    for door in PassController.objects.filter(tenant=tenant).select_related("area").order_by("id"):
        inside.setdefault(door.area_id, []).append(door_view(door, now, words))
    areas = Area.objects.filter(tenant=tenant).order_by("id")
    return [{"area": area, "doors": inside.get(area.pk, [])} for area in areas]


def door_view(door: PassController, now: datetime, words: Words) -> dict[str, Any]:
    """Return a door with its states; `wrong` means that a person should check it."""
    leaf, (lock, errors), problem = doors.leaf(door, now), doors.lock(door, now), doors.problem(door)
    said = words["states"]
    chips = [Chip("bad", "alert", said[problem])] if problem else [_leaf(leaf, words)]
    chips.append(Chip("loud", "unlock", said["unlock"]) if lock == "unlock" else Chip("quiet", "lock", said["lock"]))
    chips += [Chip("bad", "alert", said[word]) for word in errors if word != problem and word in said]
    return {
        "id": door.device_id,
        "name": door.name,
        # Without the area's name, since it is shown in its area.
        "short": door.name.removeprefix(door.area.name).strip() or door.name,
        "area": door.area,
        "in_out": said.get(door.in_out, door.in_out),
        "is_open": leaf == "open",
        "problem": problem,
        "has_power": door.has_power,
        "is_connected": door.is_connected,
        "chips": chips + cut_lines(door, words),
        "wrong": bool(problem) or not door.is_reachable,
    }


def key_boxes(tenant: Tenant, now: datetime, words: Words) -> list[dict[str, Any]]:
    """Return the key boxes with the state of every key."""
    rows = KeyBox.objects.filter(tenant=tenant).order_by("id")
    return [key_box_view(box, now, words) for box in rows]


def key_box_view(box: KeyBox, now: datetime, words: Words) -> dict[str, Any]:
    """Return a key box; units: {no, name, restriction, use}, use None while the key is in its place."""
    out, locks = keys.keys_out(box, now), doors.unit_locks(box, now)
    units = [
        {
            "no": unit["unit_no"],
            "name": unit["unit_name"],
            "restriction": bool(unit.get("restriction")),
            "use": out.get(unit["unit_no"]),
            "unlocked": locks.get(unit["unit_no"]) == "unlock",
        }
        for unit in box.units
    ]
    return {
        "id": box.key_device_id,
        "name": box.name,
        "units": units,
        "out": len(out),
        "has_power": box.has_power,
        "is_connected": box.is_connected,
        "guest_keys_enabled": box.guest_keys_enabled,
        "temporary_use_enabled": box.temporary_use_enabled,
        "chips": cut_lines(box, words),
        "wrong": not box.is_reachable,
    }


def cut_lines(device: PassController | KeyBox, words: Words) -> list[Chip]:
    """Return a chip for each of the device's lines that is cut."""
    said = words["states"]
    found = [] if device.has_power else [Chip("away", "power", said["no_power"])]
    return found if device.is_connected else [*found, Chip("away", "cut", said["no_connection"])]


def cameras(request: HttpRequest, tenant: Tenant, now: datetime) -> list[dict[str, Any]]:
    """Return the cameras with the address of their latest picture, which stays the same for some seconds."""
    second = int(now.timestamp()) // _PICTURE_SECONDS * _PICTURE_SECONDS
    rows = Camera.objects.filter(tenant=tenant).order_by("id")
    return [{"camera": row, "picture": _picture(request, row, second) if row.is_connected else ""} for row in rows]


def _picture(request: HttpRequest, camera: Camera, second: int) -> str:
    expires = second + 6 * _PICTURE_SECONDS
    grant = media_addresses.MediaGrant(
        camera.tenant_id, camera.camera_id, media_addresses.SNAPSHOT, second, second, expires
    )
    return media_addresses.media_address(request, grant)


def _leaf(leaf: str, words: Words) -> Chip:
    said = words["states"]
    return Chip("loud", "open", said["open"]) if leaf == "open" else Chip("quiet", "closed", said["close"])
