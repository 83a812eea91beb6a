"""The names of the editor's inputs: parts joined by dots, ids of the service written so that they hold no dot."""

from portal.core.ui.addresses import ServiceId

_ids = ServiceId()


def enc(identifier: str) -> str:
    """An id of the service as one part of a name."""
    return _ids.to_url(identifier).replace(".", "~2E")


def dec(part: str) -> str:
    return _ids.to_python(part)


def area(area_id: str) -> str:
    return f"devices.area.{enc(area_id)}"


def box(key_device_id: str) -> str:
    return f"keys.box.{enc(key_device_id)}"


def unit(key_device_id: str, unit_no: str) -> str:
    return f"keys.unit.{enc(key_device_id)}.{enc(unit_no)}"


def box_part(what: str, key_device_id: str) -> str:
    """Hidden parts of a key box: what="whole" or "kept"."""
    return f"keys.box{what}.{enc(key_device_id)}"
