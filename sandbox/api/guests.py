"""Operations 19 to 22: guests."""

from collections.abc import Callable, Collection
from typing import Any

from sandbox import clock
from sandbox.catalogue import CATALOGUE
from sandbox.engine import guests
from sandbox.engine.members import lock_members
from sandbox.errors import not_found
from sandbox.service.models import Guest

from . import paging
from .bodies import read_body
from .call import Call

#: Names that the parameter `fields` may have (assumed: all that the specification shows in the list's answer).
_FIELDS: dict[str, Callable[[Guest], Any]] = {
    "guest_id": lambda guest: guest.guest_id,
    "guest_name": lambda guest: guest.name,
    "email": lambda guest: guest.email,
    "use_date_start": lambda guest: clock.format_moment(guest.use_date_start),
    "use_date_end": lambda guest: clock.format_moment(guest.use_date_end),
    "key_return_date_end": lambda guest: clock.format_moment(guests.key_return_date_end(guest)),
    "is_for_reserve": lambda guest: guest.is_for_reserve,
}
_NAME_FIELDS = ("guest_id", "guest_name")
#: Fields that are always in the list: all fields, if the overrides file has an empty `guest_fields`.
_LIST_FIELDS = _NAME_FIELDS if CATALOGUE.shapes.guest_fields else tuple(_FIELDS)
_RIGHTS = {"devices_pass": guests.devices_pass, "keys_pass": guests.keys_pass}


def list_guests(call: Call) -> dict[str, Any]:
    """Return the guests in pages, in the order of their creation, with identifier, name and the fields in `fields`.

    A guest is deleted a week after its end. `fields` may name what the specification shows in this list (assumed).
    """
    query = call.query("limit", "last_evaluated_key", "fields")
    wanted = paging.read_page_request(call, query)
    named = {*_LIST_FIELDS, *paging.read_field_names(query, _FIELDS)}
    rows = Guest.objects.filter(tenant=call.tenant, id__gt=wanted.after).defer("areas", "keys").order_by("id")
    shown, next_key = wanted.load_page(rows, key=lambda guest: guest.pk)
    return {"guests": [_record(guest, named) for guest in shown], **next_key}


def create_guest(call: Call) -> dict[str, Any]:
    """Create a guest. With an e-mail address, issue a QR code and save the mail with it and the remarks (no mail is
    sent). With `qrcode_data`, use that code, unless another person in the tenant has it.

    Areas need the door contract; keys need the key-box contract and the box's setting for guest keys.
    """
    call.query()
    body = read_body(call)
    with lock_members(call.tenant):
        guest = guests.create(call.tenant, body, call.at)
    return _record(guest, _NAME_FIELDS)


def read_guest(call: Call) -> dict[str, Any]:
    """Return a guest with the permissions that follow from areas and keys, as far as the tenant's contracts allow."""
    call.query()
    guest = _guest(call)
    record = _record(guest, _FIELDS) | {"qrcode_data": guest.qr_data, "remarks": guest.remarks}
    rights = {name: compute(guest) for name, compute in _RIGHTS.items()}
    return record | {name: value for name, value in rights.items() if value is not None}


def update_guest(call: Call) -> dict[str, Any]:
    """Change only the fields in the body; a list of areas or keys replaces the earlier one.

    No mail is sent again, and a code of another person in the tenant is refused (both assumed).
    """
    call.query()
    body = read_body(call)
    with lock_members(call.tenant):
        guest = _guest(call)
        guests.update(guest, body)
    return _record(guest, _NAME_FIELDS)


def _guest(call: Call) -> Guest:
    rows = Guest.objects.select_related("tenant").filter(tenant=call.tenant)
    guest = rows.filter(guest_id=call.identifier("guest_id")).first()
    if guest is None:
        raise not_found("guest_id")
    return guest


def _record(guest: Guest, names: Collection[str]) -> dict[str, Any]:
    return {name: show(guest) for name, show in _FIELDS.items() if name in names}


HANDLERS = {
    "list_guests": list_guests,
    "create_guest": create_guest,
    "read_guest": read_guest,
    "update_guest": update_guest,
}
