"""Guests: created, changed, and deleted a week after their end (specification: Guest, Guest lifetime)."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from accessapi import limits
from sandbox import behaviour
from sandbox.engine import qr_codes
from sandbox.errors import check_period, contract_missing, invalid, qr_taken, setting_off
from sandbox.service.models import Area, Guest, KeyBox, Tenant

#: Earlier times have no year in UTC, and cannot be stored.
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(microsecond=0, tzinfo=limits.JST)
_LIFETIME = timedelta(days=limits.GUEST_DELETED_AFTER_DAYS)
_SIMPLE = {
    "guest_name": "name",
    "email": "email",
    "return_grace_period": "return_grace_period",
    "remarks": "remarks",
    "area_id_list": "areas",
    "key_devices_list": "keys",
    "is_for_reserve": "is_for_reserve",
}
_ALWAYS = {"effect": "allow_all"}


def create(tenant: Tenant, body: dict[str, Any], at: datetime) -> Guest:
    """Create a guest and return it; with an e-mail address, issue the code and save a mail.

    Use inside `lock_members`. Raises ApiError (40002, 40302, 40304, 40903) and then changes nothing.
    """
    method = body["qrcode_issuing_method"]
    guest = Guest(tenant=tenant, guest_id=f"v{secrets.token_hex(9)}", email=method.get("email", ""))
    guest.remarks = method.get("remarks", "")
    _apply(guest, body)
    _claim_code(guest, method["qrcode_data"] if "qrcode_data" in method else qr_codes.new_code())
    guest.save()
    if "email" in method:
        qr_codes.build_mail(guest, method["email"], at, guest.remarks).save()
    return guest


def update(guest: Guest, body: dict[str, Any]) -> None:
    """Change only the fields in the body; no mail is sent (assumed). Use and errors as `create`."""
    _apply(guest, body)
    if "qrcode_data" in body:
        _claim_code(guest, body["qrcode_data"])
    guest.save()


def key_return_date_end(guest: Guest) -> datetime:
    """Return the end of use plus the grace period in which keys can still be returned."""
    grace = timedelta(minutes=guest.return_grace_period)
    return min(guest.use_date_end, _LATEST - grace) + grace


def devices_pass(guest: Guest) -> dict[str, Any] | None:
    """Return the guest's entry permissions in the form that members have; None without the contract."""
    if not guest.tenant.has_contract("door"):
        return None
    areas = [{"area_id": area_id, "pass": _ALWAYS} for area_id in guest.areas]
    return {"default_mode": "option", "areas_list": areas} if areas else {"default_mode": "deny_all"}


def keys_pass(guest: Guest) -> dict[str, Any] | None:
    """Return the guest's key permissions in the form that members have; None without the contract."""
    if not guest.tenant.has_contract("key_box"):
        return None
    boxes = [
        {
            "key_device_id": box["key_device_id"],
            "default_mode": "option",
            "units": [{"unit_no": unit_no, "pass": _ALWAYS} for unit_no in box["units_no_list"]],
        }
        for box in guest.keys
    ]
    return {"default_mode": "option", "key_devices_list": boxes} if boxes else {"default_mode": "deny_all"}


def due(tenant: Tenant, now: datetime) -> QuerySet[Guest]:
    """Return the guests whose end was a week ago or more."""
    return Guest.objects.filter(tenant=tenant, use_date_end__lte=now - _LIFETIME)


def advance(tenant: Tenant, now: datetime) -> None:
    """Delete the guests whose end was a week ago or more."""
    due(tenant, now).delete()


def _apply(guest: Guest, body: dict[str, Any]) -> None:
    """Change everything except the code, without saving."""
    _check_areas(guest.tenant, body.get("area_id_list"))
    _check_keys(guest.tenant, body.get("key_devices_list"))
    for name in ("use_date_start", "use_date_end"):
        if name in body:
            setattr(guest, name, _moment(name, body[name]))
    may_be_empty = behaviour.behaviour_of(guest.tenant_id).empty_periods
    check_period(guest.use_date_start, guest.use_date_end, may_be_empty=may_be_empty)
    for name, column in _SIMPLE.items():
        if name in body:
            setattr(guest, column, body[name])


def _moment(name: str, text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment < _EARLIEST:
        raise invalid(f"{name}: is too early")
    return moment


def _check_areas(tenant: Tenant, wanted: list[str] | None) -> None:
    if not wanted:
        return
    if not tenant.has_contract("door"):
        raise contract_missing("door")
    if Area.objects.filter(tenant=tenant, area_id__in=wanted).count() < len(wanted):
        raise invalid("area_id_list: an area does not exist")


def _check_keys(tenant: Tenant, wanted: list[dict[str, Any]] | None) -> None:
    if not wanted:
        return
    if not tenant.has_contract("key_box"):
        raise contract_missing("key_box")
    named = [item["key_device_id"] for item in wanted]
    boxes = {box.key_device_id: box for box in KeyBox.objects.filter(tenant=tenant, key_device_id__in=named)}
    for item in wanted:
        box = boxes.get(item["key_device_id"])
        if box is None:
            raise invalid("key_devices_list.key_device_id: does not exist")
        if not set(item["units_no_list"]) <= box.unit_numbers:
            raise invalid("key_devices_list.units_no_list: a unit does not exist in this key box")
        if not box.guest_keys_enabled:
            raise setting_off(f"key box {box.key_device_id} has no keys for guests")


def _claim_code(guest: Guest, data: str) -> None:
    if not data:
        raise invalid("qrcode_data: may not be empty")
    if qr_codes.owners(guest.tenant, {data}).get(data, guest.guest_id) != guest.guest_id:
        raise qr_taken()
    guest.qr_data = data
