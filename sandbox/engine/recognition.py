"""Recognise a member or a guest by the credential that they show to a device."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db.models import Q

from accessapi import limits
from accessapi.permissions import AreaPlace, Decision, Holidays, KeyPlace, decide_place
from accessapi.resources.tenants import HolidaySettings
from sandbox.catalogue import CATALOGUE
from sandbox.engine import guests, totp
from sandbox.service.models import Face, Guest, Member, Tenant
from sandbox.service.models.people import CREATION_ORDER

#: Credentials that a person can show to a device.
CredentialKind = Literal["card", "qr", "one_time", "face"]
Period = tuple[datetime | None, datetime | None]


class NotRecognised(Exception):
    """The credential opens nothing: a code for the reason, and its owner if that is clear."""

    def __init__(self, rule: str, person: "Person | None" = None) -> None:
        super().__init__(rule)
        self.rule = rule
        self.person = person


@dataclass(frozen=True)
class Person:
    """A member or guest with their credential: `kind` is its kind, `data` its value in the record."""

    row: Member | Guest
    kind: str
    data: str

    @property
    def identifier(self) -> str:
        return self.row.member_id if isinstance(self.row, Member) else self.row.guest_id

    @property
    def name(self) -> str:
        return str(self.row.listed["member_name"]) if isinstance(self.row, Member) else self.row.name

    @property
    def period(self) -> Period:
        """Return the first and the last moment of use, each None without one."""
        if isinstance(self.row, Guest):
            return self.row.use_date_start, self.row.use_date_end
        return _moment(self.row.listed.get("use_date_start")), _moment(self.row.listed.get("use_date_end"))

    @property
    def return_period(self) -> Period:
        """Return `period` for bringing keys back: guests have a grace period."""
        start, end = self.period
        return (start, guests.key_return_date_end(self.row)) if isinstance(self.row, Guest) else (start, end)

    def has_privilege(self, privilege: str) -> bool:
        """Return whether the member has this privilege.

        Guests, whose keys are named one by one, need none (assumed).
        """
        return isinstance(self.row, Guest) or self.row.detail.get("privilege", {}).get(privilege) is True

    def decide(self, tenant: Tenant, place: AreaPlace | KeyPlace, at: datetime) -> Decision:
        """Return the permissions' decision about this person at `place` at `at`."""
        return decide_place(self.rights(place), place, at, holidays(tenant), use_period=self.period)

    def rights(self, place: AreaPlace | KeyPlace) -> Any:
        """Return devices_pass for an area, or keys_pass for a key."""
        field = "devices_pass" if isinstance(place, AreaPlace) else "keys_pass"
        if isinstance(self.row, Member):
            return self.row.detail.get(field)
        return (guests.devices_pass if isinstance(place, AreaPlace) else guests.keys_pass)(self.row)

    def record_entry(self) -> dict[str, str]:
        """Return the member of a log record. The values of _type, label and attribute are assumed."""
        is_member = isinstance(self.row, Member)
        return {
            "id": self.identifier,
            "name": self.name,
            "_type": "member" if is_member else "guest",
            "data": self.data,
            "label": self.row.group.name if isinstance(self.row, Member) else "",
            "attribute": self.kind,
        }


def unknown_person_entry(kind: str, value: str) -> dict[str, str]:
    """Return the member of a log record for an unknown credential."""
    return {"id": "", "name": "", "_type": "unknown", "data": value[:600], "label": "", "attribute": kind}


def holidays(tenant: Tenant) -> Holidays:
    """Return the tenant's holidays, by this sandbox's rules."""
    settings = HolidaySettings.model_validate(tenant.holiday)
    return Holidays.from_settings(settings, weekdays_apply=CATALOGUE.rules.weekdays_on_holidays)


def recognise(tenant: Tenant, kind: str, value: str, at: datetime) -> Person:
    """Return the owner of a card, code or face; a face is given by its member's identifier.

    Raises NotRecognised.
    """
    if kind == "qr" and value.startswith(limits.ONE_TIME_QR_PREFIX):
        kind = "one_time"
    return _RECOGNISERS[kind](tenant, value, at)


def credentials(member: Member, at: datetime) -> list[tuple[str, str]]:
    """Return this member's credentials at `at`: (kind, value).

    The one-time code is that of the member's own device.
    """
    found = [("card", member.card_data)] if member.card_data else []
    if member.totp_seed:
        one_time = totp.code_at(member.totp_seed, at, _one_time(member)["timestep"])
        found.append(("one_time", totp.write_qr_text(member.qr_data or "", one_time)))
    elif member.qr_data:
        found.append(("qr", member.qr_data))
    if Face.objects.filter(member=member).exists():
        found.append(("face", member.member_id))
    return found


def search(tenant: Tenant, text: str, limit: int = 20) -> list[Member | Guest]:
    """Return members, then guests, with `text` in their name, code or card; the first ones for an empty text."""
    named = (
        Q(listed__member_name__icontains=text)
        | Q(listed__member_code__icontains=text)
        | Q(card_data__in=[text, text.upper()])
    )
    members = _members(tenant).filter(named).order_by(CREATION_ORDER)[:limit]
    visitors = Guest.objects.select_related("tenant").filter(tenant=tenant, name__icontains=text).order_by("id")
    return [*members, *visitors[:limit]]


def _card(tenant: Tenant, value: str, at: datetime) -> Person:
    member = _members(tenant).filter(card_data=value).first() if value else None
    if member is None:
        raise NotRecognised("unknown_card")
    return Person(member, "card", value)


def _qr(tenant: Tenant, value: str, at: datetime) -> Person:
    if not value or not tenant.has_contract("qr"):
        raise NotRecognised("unknown_code")
    if member := _members(tenant).filter(qr_data=value).order_by("id").first():
        person = Person(member, "qr", value)
        # The data of a one-time code is no secret: alone it opens nothing.
        if member.totp_seed:
            raise NotRecognised("one_time_needed", person)
        return person
    if guest := Guest.objects.select_related("tenant").filter(tenant=tenant, qr_data=value).order_by("id").first():
        return Person(guest, "qr", value)
    raise NotRecognised("unknown_code")


def _one_time_code(tenant: Tenant, value: str, at: datetime) -> Person:
    """Return the owner of a one-time code.

    It is valid throughout its window, at every door and any number of times (assumed).
    """
    read = totp.read_qr_text(value)
    if read is None or not tenant.has_contract("qr"):
        raise NotRecognised("unknown_code")
    data, code = read
    member = _members(tenant).filter(qr_data=data, totp_seed__isnull=False).order_by("id").first()
    if member is None:
        raise NotRecognised("unknown_code")
    person = Person(member, "one_time", data)
    ways = _one_time(member)
    if not totp.is_valid(member.totp_seed or "", code, at, ways["timestep"], ways["skew"]):
        raise NotRecognised("code_wrong", person)
    return person


def _face(tenant: Tenant, value: str, at: datetime) -> Person:
    member = _members(tenant).filter(member_id=value).first()
    face = Face.objects.filter(member=member).first() if member and tenant.has_contract("face") else None
    if member is None or face is None:
        raise NotRecognised("unknown_face")
    person = Person(member, "face", str(member.listed.get("face_data", "")))
    if at < face.registered_at + timedelta(seconds=limits.FACE_READY_SECONDS):
        raise NotRecognised("face_not_ready", person)
    return person


_RECOGNISERS: dict[str, Callable[[Tenant, str, datetime], Person]] = {
    "card": _card,
    "qr": _qr,
    "one_time": _one_time_code,
    "face": _face,
}


def _members(tenant: Tenant) -> Any:
    return Member.objects.select_related("group").filter(tenant=tenant)


def _one_time(member: Member) -> dict[str, int]:
    shown = member.detail.get("qrcode", {}).get("one_time_qr", {})
    return {"timestep": shown.get("timestep", limits.TIMESTEP_DEFAULT), "skew": shown.get("skew", 0)}


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
