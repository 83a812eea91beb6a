"""Create, change and delete members, one at a time or by the thousand, by the same rules."""

import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from django.db import models, transaction

from sandbox import behaviour, clock
from sandbox.engine import qr_codes
from sandbox.errors import card_taken, check_period, contract_missing, invalid, qr_taken
from sandbox.service.models import Area, Group, KeyBox, Mail, Member, Tenant

_LISTED = ("member_name", "member_code", "use_date_start", "use_date_end")
_RIGHTS = ("devices_pass", "keys_pass")
_CONTRACTS = {"devices_pass": "door", "keys_pass": "key_box", "qrcode": "qr"}


@contextmanager
def lock_members(tenant: Tenant) -> Iterator[None]:
    """Open a transaction in which no other process changes this tenant's members."""
    with transaction.atomic():
        Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
        yield


class MemberBatch:
    """Applies bodies to members in memory and saves them together. Use inside `lock_members`.

    `bodies` are all that will be applied: the objects they refer to are looked up once, for all of them.
    """

    def __init__(self, tenant: Tenant, bodies: list[dict[str, Any]]) -> None:
        self.tenant = tenant
        names = {body["membergroup_id"] for body in bodies if "membergroup_id" in body}
        groups = Group.objects.filter(tenant=tenant, membergroup_id__in=names)
        self._groups = {group.membergroup_id: group for group in groups}
        cards = {body["card_data"] for body in bodies if body.get("card_data")}
        owners = Member.objects.filter(tenant=tenant, card_data__in=cards).values_list("card_data", "member_id")
        self._owners = {card: owner for card, owner in owners if card}
        self._codes = qr_codes.owners(tenant, {code for body in bodies if (code := _code_of(body))})
        self._areas = self._known(Area, "area_id", bodies, "devices_pass")
        self._boxes = self._known(KeyBox, "key_device_id", bodies, "keys_pass")
        self._new: list[Member] = []
        self._changed: dict[str, Member] = {}
        self._deleted: dict[str, Member] = {}
        self._mails: list[Mail] = []
        #: group -> the number of members that it gains.
        self._moved: Counter[int] = Counter()

    @cached_property
    def _behaviour(self) -> behaviour.Behaviour:
        return behaviour.behaviour_of(self.tenant.tenant_id)

    def create(self, body: dict[str, Any]) -> Member:
        """Create a member and return it. Raises ApiError (40002, 40302, 40901, 40903) and then changes nothing."""
        identifier = f"m{secrets.token_hex(9)}"
        member = Member(tenant=self.tenant, member_id=identifier, listed={"member_id": identifier})
        member.detail = {
            "account_type": "general",
            "privilege": {"keys_without_2fa": False, "restricted_keys_enabled": False},
        }
        self._apply(member, body)
        self._new.append(member)
        return member

    def update(self, member: Member, body: dict[str, Any]) -> Member:
        """Change only the fields in the body. Raises as `create`."""
        self._apply(member, body)
        self._changed[member.member_id] = member
        return member

    def delete(self, member: Member) -> None:
        """Delete the member, with its face."""
        self._deleted[member.member_id] = member
        self._moved[member.group_id] -= 1

    def save(self) -> None:
        """Write all applied changes, and save their mails."""
        Mail.objects.bulk_create(self._mails)
        Member.objects.bulk_create(self._new)
        fields = ["group", "card_data", "listed", "detail", "qr_data", "totp_seed"]
        Member.objects.bulk_update(self._changed.values(), fields, batch_size=250)
        if self._deleted:
            Member.objects.filter(pk__in=[member.pk for member in self._deleted.values()]).delete()
        count = models.F("member_count")
        grown = [Group(pk=group, member_count=count + by) for group, by in self._moved.items() if by]
        Group.objects.bulk_update(grown, ["member_count"])

    def _apply(self, member: Member, body: dict[str, Any]) -> None:
        self._check(member, body)
        if "membergroup_id" in body:
            self._set_group(member, self._groups[body["membergroup_id"]])
        if "card_data" in body:
            _hand_over(self._owners, member.member_id, member.card_data, body["card_data"] or None)
            member.card_data = body["card_data"] or None
        for name in _LISTED:
            if name in body:
                _set_or_remove(member.listed, name, body[name])
        for name in _RIGHTS:
            if name in body:
                _set_or_remove(member.detail, name, body[name])
        # Rights are replaced as a whole; in the privilege, an omitted key stays unchanged.
        if "privilege" in body:
            member.detail["privilege"] = member.detail["privilege"] | body["privilege"]
        if "qrcode" in body:
            self._put_qrcode(member, body["qrcode"])

    def _set_group(self, member: Member, group: Group) -> None:
        if member.group_id is not None:
            self._moved[member.group_id] -= 1
        self._moved[group.pk] += 1
        member.group = group

    def _check(self, member: Member, body: dict[str, Any]) -> None:
        """Raise ApiError for everything that can be refused, before anything is changed."""
        for name, contract in _CONTRACTS.items():
            if body.get(name) is not None and not self.tenant.has_contract(contract):
                raise contract_missing(contract)
        if "membergroup_id" in body and body["membergroup_id"] not in self._groups:
            raise invalid("membergroup_id: does not exist")
        for item in (body.get("devices_pass") or {}).get("areas_list") or []:
            if item["area_id"] not in self._areas:
                raise invalid("devices_pass.areas_list.area_id: does not exist")
        for item in (body.get("keys_pass") or {}).get("key_devices_list") or []:
            self._check_box(item)
        card = body.get("card_data")
        if card and self._owners.get(card, member.member_id) != member.member_id:
            raise card_taken()
        if (code := _code_of(body)) and self._codes.get(code, member.member_id) != member.member_id:
            raise qr_taken()
        start, end = (body.get(name, member.listed.get(name)) for name in ("use_date_start", "use_date_end"))
        check_period(start, end, may_be_empty=self._behaviour.empty_periods)
        if (body.get("qrcode") or {}).get("one_time_qr", {}).get("timestep", 0) > self._behaviour.timestep_max:
            raise invalid(f"qrcode.one_time_qr.timestep: is at most {self._behaviour.timestep_max}")

    def _check_box(self, item: dict[str, Any]) -> None:
        box = self._boxes.get(item["key_device_id"])
        if box is None:
            raise invalid("keys_pass.key_devices_list.key_device_id: does not exist")
        numbers = {unit["unit_no"] for unit in box.units}
        if any(unit["unit_no"] not in numbers for unit in item.get("units") or []):
            raise invalid("keys_pass.key_devices_list.units.unit_no: does not exist in this key box")

    def _put_qrcode(self, member: Member, qrcode: dict[str, Any] | None) -> None:
        before = member.qr_data
        qr_codes.set_code(member, qrcode)
        _hand_over(self._codes, member.member_id, before, member.qr_data)
        if qrcode and "email" in qrcode:
            self._mails.append(qr_codes.build_mail(member, qrcode["email"], clock.now()))

    def _known(self, model: type[Any], key: str, bodies: list[dict[str, Any]], field: str) -> dict[str, Any]:
        if not any(body.get(field) for body in bodies):
            return {}
        return {getattr(row, key): row for row in model.objects.filter(tenant=self.tenant)}


def _set_or_remove(record: dict[str, Any], name: str, value: Any) -> None:
    if value is None or value == "":
        record.pop(name, None)
    else:
        record[name] = value


def _code_of(body: dict[str, Any]) -> str | None:
    """Return the QR code's content, if the caller gives one."""
    return (body.get("qrcode") or {}).get("data")


def _hand_over(owners: dict[str, str], member_id: str, before: str | None, after: str | None) -> None:
    if before:
        owners.pop(before, None)
    if after:
        owners[after] = member_id
