"""Operations 24 to 28, 35 and 36: areas, doors and key boxes."""

from typing import Any

from sandbox import clock, state_words
from sandbox.catalogue import CATALOGUE
from sandbox.engine import doors, keys
from sandbox.errors import invalid, not_found
from sandbox.service.models import Area, DeviceRequest, KeyBox, PassController

from .bodies import read_body
from .call import Call


def list_areas(call: Call) -> dict[str, Any]:
    """Return every area with the doors that lead into or out of it, in one answer."""
    call.query()
    places: dict[int, list[dict[str, str]]] = {}
    for door in PassController.objects.filter(tenant=call.tenant).order_by("id"):
        places.setdefault(door.area_id, []).append(
            {"device_id": door.device_id, "in_out": state_words.direction(door.in_out)}
        )
    areas = Area.objects.filter(tenant=call.tenant).order_by("id")
    return {
        "areas": [
            {
                "area_id": area.area_id,
                "area_name": area.name,
                "is_outside": area.is_outside,
                "is_management": area.is_management,
                "devices_list": places.get(area.pk, []),
            }
            for area in areas
        ]
    }


def list_pass_controllers(call: Call) -> dict[str, Any]:
    """Return every pass controller with its identifier and name (which fields the list has is not shown)."""
    call.query()
    shapes = CATALOGUE.shapes
    rows = PassController.objects.filter(tenant=call.tenant).order_by("id")
    names = shapes.pass_list_names
    return {shapes.pass_list_key: [{names.device_id: row.device_id, names.device_name: row.name} for row in rows]}


def pass_controller_status(call: Call) -> dict[str, Any]:
    """Return the state of door and lock, the errors of the last command, and whether power and connection are
    available. The lock is unlocked from the moment a command was carried out until it relocks.
    """
    call.query()
    door = _door(call)
    now = clock.now()
    lock, errors = doors.lock(door, now)
    return {
        "device_id": door.device_id,
        "device_name": door.name,
        "door_status": {
            "door": state_words.leaf(doors.leaf(door, now)),
            "lock": state_words.lock(lock),
            "errors": state_words.errors(errors),
        },
    } | _health(door)


def list_key_boxes(call: Call) -> dict[str, Any]:
    """Return every key box with its product type and its units."""
    call.query()
    rows = KeyBox.objects.filter(tenant=call.tenant).order_by("id")
    return {
        "key_devices": [
            {
                "key_device_id": row.key_device_id,
                "key_device_name": row.name,
                "product_type": row.product_type,
                "number_of_management": len(row.units),
                "units": row.units,
            }
            for row in rows
        ]
    }


def key_box_status(call: Call) -> dict[str, Any]:
    """Return the state of the box and of each unit: whether its key is in place, its lock, and whether power and
    connection are available.
    """
    call.query()
    box = _box(call)
    now = clock.now()
    locks, out = doors.unit_locks(box, now), keys.keys_out(box, now)
    return {
        "key_device_id": box.key_device_id,
        "key_device_name": box.name,
        "product_type": box.product_type,
        "door_status": {"door": state_words.leaf("close"), "lock": state_words.lock("lock"), "errors": []},
        "units_status": [
            {
                "unit_no": unit["unit_no"],
                "door": state_words.leaf("close"),
                "key": state_words.key(keys.place_state(out.get(unit["unit_no"]))),
                "lock": state_words.lock(locks.get(unit["unit_no"], "lock")),
                "errors": state_words.errors(keys.place_errors(out.get(unit["unit_no"]))),
            }
            for unit in box.units
        ],
    } | _health(box)


def operate_door(call: Call) -> dict[str, Any]:
    """Record the command at once and carry it out `device_seconds` later, or fail if the door is unreachable. An unlock
    ends automatically after `relock_seconds`, `cont_unlock` ends with `lock`. The names of mock devices show their
    outcome.
    """
    call.query()
    body = read_body(call)
    mock = call.path["device_id"] in doors.MOCK_DEVICES
    device = call.path["device_id"] if mock else _door(call)
    return _accepted(doors.operate(call.tenant, 35, device, body, call.behaviour, call.at))


def operate_keys(call: Call) -> dict[str, Any]:
    """Record the command at once and carry it out on the named units `device_seconds` later, or fail if the box is
    unreachable. An unlock ends automatically after `relock_seconds`. The names of mock devices show their outcome.
    """
    call.query()
    body = read_body(call)
    if call.path["key_device_id"] in doors.MOCK_DEVICES:
        return _accepted(doors.operate(call.tenant, 36, call.path["key_device_id"], body, call.behaviour, call.at))
    box = _box(call)
    numbers = {unit["unit_no"] for unit in box.units}
    if strange := [target for target in body["targets"] if target not in numbers]:
        raise invalid(f"targets: this key box has no unit {strange[0]}")
    return _accepted(doors.operate(call.tenant, 36, box, body, call.behaviour, call.at))


def _accepted(request: DeviceRequest) -> dict[str, Any]:
    return {"request_id": request.request_id, "request_type": "device_request"}


def _door(call: Call) -> PassController:
    rows = PassController.objects.filter(tenant=call.tenant)
    found = rows.filter(device_id=call.identifier("device_id")).first()
    if found is None:
        raise not_found("device_id")
    return found


def _box(call: Call) -> KeyBox:
    rows = KeyBox.objects.filter(tenant=call.tenant)
    found = rows.filter(key_device_id=call.identifier("key_device_id")).first()
    if found is None:
        raise not_found("key_device_id")
    return found


def _health(device: PassController | KeyBox) -> dict[str, str]:
    reached = device.has_power and device.is_connected
    return {
        "power_status": state_words.power(device.has_power),
        "cloud_com_status": state_words.connection(reached),
        "sync_status": "synced" if reached else "not_synced",
    }


HANDLERS = {
    "list_areas": list_areas,
    "list_pass_controllers": list_pass_controllers,
    "pass_controller_status": pass_controller_status,
    "list_key_boxes": list_key_boxes,
    "key_box_status": key_box_status,
    "operate_door": operate_door,
    "operate_keys": operate_keys,
}
