"""One tenant of this service with invented people, places and records."""

from __future__ import annotations

import itertools
import uuid
from datetime import timedelta
from typing import Any

from tests.support.second_service.answers import Json
from tests.support.second_service.checks import now, said

CONTRACTS = ("door", "key_box", "qr", "face", "licence")
DENY: Json = {"default_mode": "deny_all"}


class House:
    """A tenant with its rows, by identifier and in the order of creation."""

    def __init__(self, number: int, contracts: tuple[str, ...], *, furnished: bool = True) -> None:
        self.furnished = furnished
        self.contracts = contracts
        self.sequence = itertools.count(1)
        self.licence_key = f"licence/{number}=={'k' * 40}"
        self.members: dict[str, Json] = {}
        self.groups: dict[str, Json] = {}
        self.guests: dict[str, Json] = {}
        self.requests: dict[str, Any] = {}
        self.histories: list[Json] = []
        self.faces: dict[str, str] = {}
        self.areas: list[Json] = []
        self.controllers: dict[str, str] = {}
        self.boxes: dict[str, Json] = {}
        self.cameras: list[str] = []
        self.tenant, self.tenant_at_first = self._tenant(number), self._tenant(number)
        if furnished:
            self._furnish()
        else:
            self.tenant["settings"]["webhook"] = self.tenant_at_first["settings"]["webhook"] = None

    def _furnish(self) -> None:
        self.areas = self._areas()
        self.controllers = {"door/1 北": "North", "door~2": "南", "3.3": "Court"}
        self.boxes = self._boxes()
        self.cameras = ["cam:1/入口", "cam.~2"]
        self._people()
        self._past()

    def row(self, **fields: Any) -> Json:
        return {"_seq": next(self.sequence), **fields}

    def _tenant(self, number: int) -> Json:
        days = {"2026-01-01": "元日", "2026-05-05": ""}
        return {
            "tenant_id": str(number),
            "tenant_name": "Elsewhere 株式会社",
            "settings": {
                "holiday": {
                    "is_include_public_holiday": True,
                    "public_holiday": days,
                    "include_date": {"2026-08-13": "盆"},
                    "exclude_date": {},
                    "weekly": ["Sunday"],
                },
                "webhook": {
                    "is_invalid": True,
                    "url": "https://hooks.elsewhere.example/in?a=1&b=2",
                    "secret_token": None,
                    "trigger": {"history": {"category": ["normal", "operation", "whatever"]}},
                },
            },
        }

    def _areas(self) -> list[Json]:
        return [
            {"area_id": "室.1~a", "area_name": "", "is_outside": False, "is_management": True, "devices_list": [
                {"device_id": "door/1 北", "in_out": "in"}, {"device_id": "door~2", "in_out": "either"}]},
            {"area_id": "2", "area_name": "庭", "is_outside": True, "is_management": False, "devices_list": []},
        ]  # fmt: skip

    def _boxes(self) -> dict[str, Json]:
        units = [{"unit_no": f"{no:02}", "unit_name": f"鍵{no}", "restriction": no == 3} for no in (1, 2, 3, 99)]
        box = {"key_device_name": "Box", "product_type": "box_type_z", "number_of_management": 4}
        return {id_: {"key_device_id": id_, **box, "units": units} for id_ in ("box/1", "box.2~")}

    def _people(self) -> None:
        for number in range(3):
            id_ = f"組 {number}"
            self.groups[id_] = self.row(membergroup_id=id_, membergroup_name=f"Group {number}")
        for number in range(5):
            self.add_member(member_name=f"Person {number}", membergroup_id="組 1", card_data=f"C{number}")
        for number in range(3):
            self.add_guest(guest_name=f"Visitor {number}", qrcode_data=f"G{number}")

    def add_member(self, **fields: Any) -> Json:
        id_ = f"{uuid.uuid4()}~.{len(self.members)}"
        defaults = {"use_date_start": None, "use_date_end": None, "devices_pass": DENY, "keys_pass": DENY}
        privilege = {"keys_without_2fa": False, "restricted_keys_enabled": False}
        self.members[id_] = self.row(member_id=id_, **defaults, privilege=privilege) | fields
        return self.members[id_]

    def add_guest(self, **fields: Any) -> Json:
        id_ = f"g/{uuid.uuid4().hex[:8]}"
        day = now()
        dates = {"use_date_start": said(day), "use_date_end": said(day + timedelta(days=1))}
        self.guests[id_] = self.row(guest_id=id_, is_for_reserve=False, return_grace_period=0, **dates) | fields
        return self.guests[id_]

    def _past(self) -> None:
        self.record(now() - timedelta(days=100), 1)
        for back in range(120, 0, -1):
            # Two records at a time share one second. Some have no door or no person, or have a key.
            self.record(now() - timedelta(minutes=7 * (back // 2)), back)

    def record(self, at: Any, kind: int = 0) -> None:
        """Add a record to the log."""
        member = {"id": "", "name": "", "_type": "nobody", "data": "", "label": "", "attribute": ""}
        if kind % 3:
            someone = {"id": f"m{kind}", "name": "山田", "_type": "member", "data": "C1", "label": "L"}
            member = member | someone
        units = [{"unit_no": "01", "unit_name": "鍵1"}] if kind % 5 == 0 else []
        device = {"id": "door~2", "name": "南", "module": "reader", "units": units}
        row = self.row(datetime=said(at), status="occurred", category="日常", _content="", member=member)
        self.histories.append(row | {"history_id": f"h+{row['_seq']}=", "device": device})
