"""The fields of a guest, each described once (specification: resource "Guest", operations 19 to 22)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accessapi.resources.guests import GuestUpdate
from portal.core.mirror.fields.field import Field, Fields
from portal.core.mirror.fields.kinds import Flag, Moment, Number, Sealed, Text
from portal.core.mirror.fields.values import NEW, Item, address
from portal.core.mirror.models import Guest


@dataclass(frozen=True, eq=False)
class Places(Field):
    """What a guest is let into. A single read tells it by the permissions alone, in the field `by`."""

    by: str = ""

    def told(self, item: Item) -> Any:
        """Return what a single read tells, in the words of a writing; None when it does not say."""
        if item.get(self.name) is not None:
            return item[self.name]
        return (_areas_of if self.by == "devices_pass" else _keys_of)(item.get(self.by))

    def same(self, wanted: Any, told: Any) -> bool:
        return _set(wanted) == _set(told)


@dataclass(frozen=True, eq=False)
class Email(Sealed):
    """An address; the audit trail has its first letter."""

    def typed(self, **more: Any) -> forms.Field:
        return forms.EmailField(max_length=self.limits["maxLength"], required=False, **self._said(**more))

    def audited(self, value: Any, mask: str = NEW) -> dict[str, Any]:
        return {self.name: address(value or "", mask)}


@dataclass(frozen=True, eq=False)
class Method(Field):
    """How the code gets to the guest, with the code or the address that it is sent to."""

    def audited(self, value: Any, mask: str = NEW) -> dict[str, Any]:
        if "email" not in value:
            return {CODE.trail: mask}
        remarks = {REMARKS.name: value[REMARKS.name]} if value.get(REMARKS.name) else {}
        return {self.trail: address(value["email"], mask), **remarks}


GUEST_NAME = Text(
    "guest_name", _("Name"), sent=GuestUpdate, key="name_key", missing=_("Enter a name."), inputs=("name",),
    trail="guest_name",
)  # fmt: skip
EMAIL = Email("email", _("E-mail"), sent=GuestUpdate)
START = Moment("use_date_start", _("Starts"), sent=GuestUpdate, inputs=("start",))
END = Moment("use_date_end", _("Ends"), sent=GuestUpdate, inputs=("until", "end"))
BACK = Moment("key_return_date_end", _("Return keys by"))
RESERVE = Flag("is_for_reserve", _("For a reservation"), help=_("Registers this visit as a reservation."))
CODE = Sealed(
    "qrcode_data", _("Code"), sent=GuestUpdate, fingerprint="qr_fingerprint", purpose="guest qr", trail="code",
    inputs=("new_code", "delivery"),
)  # fmt: skip
METHOD = Method(
    "qrcode_issuing_method", _("Code sent to"), trail="code_sent_to", inputs=("delivery",),
    within={"qrcode_issuing_method.email": ("email",)},
)  # fmt: skip
GRACE = Number(
    "return_grace_period", _("Minutes to return keys"), sent=GuestUpdate, inside="detail", unsaid=0,
    inputs=("grace_minutes",), help=_("How long after the end time keys can be returned."),
    invalid=_("Enter a whole number of minutes."),
)  # fmt: skip
REMARKS = Text("remarks", _("Remarks"), sent=GuestUpdate, inside="detail", unsaid="", several=True)
AREAS = Places("area_id_list", _("Areas"), sent=GuestUpdate, inside="detail", unsaid=[], inputs=("area_ids",),
               by="devices_pass")  # fmt: skip
KEYS = Places("key_devices_list", _("Keys"), sent=GuestUpdate, inside="detail", unsaid=[], inputs=("keys",),
              by="keys_pass")  # fmt: skip

GUEST = Fields(
    Guest,
    Field("guest_id", _("Guest ID")),
    GUEST_NAME,
    EMAIL,
    START,
    END,
    BACK,
    RESERVE,
    CODE,
    METHOD,
    AREAS,
    KEYS,
    GRACE,
    REMARKS,
    Field("devices_pass", _("Areas"), inside="detail"),
    Field("keys_pass", _("Keys"), inside="detail"),
)
# What only single reads tell and changes can set.
DETAIL = tuple(each for each in GUEST if each.inside and each.sent)


def told(item: Item) -> dict[str, Any]:
    """Return what a single read tells, in the words of a writing; None for what it does not say."""
    found = {name: item.get(name) for name in GUEST.names}
    if found[GRACE.name] is None:
        found[GRACE.name] = minutes(item.get(END.name), item.get(BACK.name))
    return found | {AREAS.name: AREAS.told(item), KEYS.name: KEYS.told(item)}


def minutes(end: datetime | None, back: datetime | None) -> int | None:
    """Return the minutes between the end and the last moment for keys."""
    return None if end is None or back is None else int((back - end).total_seconds() // 60)


def _areas_of(devices_pass: Any) -> list[str] | None:
    """The areas that a guest's permissions name; None when they do not say."""
    listed = _listed(devices_pass, "areas_list")
    if listed is None:
        return None
    return [str(each["area_id"]) for each in listed if "area_id" in each and _admits(each.get("pass"))]


def _keys_of(keys_pass: Any) -> list[dict[str, Any]] | None:
    listed = _listed(keys_pass, "key_devices_list")
    if listed is None:
        return None
    found = []
    for box in listed:
        units = _listed(box, "units")
        if units is None or "key_device_id" not in box:
            return None
        numbers = [str(unit["unit_no"]) for unit in units if "unit_no" in unit and _admits(unit.get("pass"))]
        found.append({"key_device_id": str(box["key_device_id"]), "units_no_list": numbers})
    return found


def _listed(rights: Any, name: str) -> list[dict[str, Any]] | None:
    """What mode `option` lists, nothing under `deny_all`; None where no list is said (allow_all, unknown)."""
    mode = rights.get("default_mode") if isinstance(rights, dict) else None
    if mode == "deny_all":
        return []
    listed = rights.get(name) if mode == "option" else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, Iterable) else None


def _admits(rule: Any) -> bool:
    return not isinstance(rule, dict) or rule.get("effect") != "deny_all"


def _set(items: Iterable[Any]) -> set[Any]:
    return {
        (item.get("key_device_id"), tuple(sorted(item.get("units_no_list") or [])))
        if isinstance(item, Mapping)
        else item
        for item in items
    }
