"""Things that cases need at a tenant, each created or read once, and the list of what must be deleted again."""

import re
import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from accessapi import limits
from accessapi.resources import write_moment
from tests.contract import shapes
from tests.contract.memory import Memory
from tests.contract.outcomes import Differs, NotOffered, NotTried, Outcome

PREFIX = "Contract suite"
#: Groups cannot be deleted: a run adds one up to this number, then the last is reused.
GROUPS_MAX = 20
#: Pages of 1,000 members that are read to find the suite's own.
PAGES_MAX = 5
#: Names of a run that began so long ago are left over from a killed run.
STALE_MINUTES = 120
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def days_ahead(days: float) -> str:
    """Return a moment so many days from now, on the hour, as the interface writes it."""
    at = datetime.now(limits.JST).replace(minute=0, second=0) + timedelta(days=days)
    return write_moment(at)


def _base36(number: int) -> str:
    return (_base36(number // 36) if number >= 36 else "") + _DIGITS[number % 36]


class Things(Memory):
    """A base class of House, which provides `call`, `reply` and `lab`."""

    lab: Any
    call: Callable[..., Any]
    reply: Callable[..., Any]
    has: Callable[..., bool]

    def __init__(self) -> None:
        self.run = f"{_base36(int(time.time() / 60))}{secrets.choice(_DIGITS)}{secrets.choice(_DIGITS)}"
        self.cleaning = False
        self.undo: list[tuple[str, Callable[[], None]]] = []
        self.member_ids: dict[str, bool] = {}
        self.guest_ids: list[str] = []
        self.bulk_ids: list[str] = []
        self.must_sweep = self.awaits = False
        self.is_slow = False
        self.secret_was_set = False
        super().__init__()

    def made(self, operation: str, data: Any) -> None:
        """Remember what an answer reports as created."""
        if not isinstance(data, dict):
            return
        if operation == "create_member" and isinstance(data.get("member_id"), str):
            self.member_ids[data["member_id"]] = True
        elif operation == "create_guest" and isinstance(data.get("guest_id"), str):
            self.guest_ids.append(data["guest_id"])
        elif operation == "bulk_create_members" and isinstance(data.get("request_id"), str):
            self.bulk_ids.append(data["request_id"])
        elif operation in ("create_member", "bulk_create_members"):
            self.must_sweep = True

    def finished(self, record: Any) -> None:
        """Remember the members that a finished request created."""
        if record["request_id"] not in self.bulk_ids:
            return
        self.bulk_ids.remove(record["request_id"])
        result = record.get("result")
        members = result.get("members") if isinstance(result, dict) else None
        for item in members if isinstance(members, list) else []:
            if isinstance(item, dict) and item.get("status") == "succeeded":
                self.made("create_member", item)

    def expects(self, operation: str) -> None:
        """Note that a member may be created without a known ID. Without an answer, cleaning looks for its name."""
        self.awaits = self.awaits or operation in ("create_member", "bulk_create_members")

    def answered(self, operation: str) -> None:
        """Note that the answer was received."""
        if operation in ("create_member", "bulk_create_members"):
            self.awaits = False

    def gone(self, member_id: str) -> None:
        """Forget a deleted member."""
        self.member_ids.pop(member_id, None)

    # Names

    def name(self, label: str) -> str:
        """Return a name that shows that it is this run's, of at most 40 characters."""
        return f"{PREFIX} {self.run} {label}"[: limits.MEMBER_NAME_MAX]

    def long_name(self, length: int) -> str:
        """Return a name of exactly so many characters, most of them of three bytes."""
        return (self.name("") + "契約検査" * length)[:length]

    def code(self, length: int) -> str:
        """Return random letters and digits."""
        return "".join(secrets.choice("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(length))

    def card(self, length: int = limits.CARD_DATA_MAX) -> str:
        """Return card data that no one has."""
        return str(self.lab.secret(secrets.token_hex(length)[:length].upper()))

    def qr(self, length: int = 24) -> str:
        """Return QR data that no one has."""
        return str(self.lab.secret(f"CS{self.code(length - 2)}"))

    def is_ours(self, name: Any) -> bool:
        """Check whether a name was given by this run, or by one that was killed long ago."""
        if not isinstance(name, str) or not name.startswith(f"{PREFIX} "):
            return False
        run = name.removeprefix(f"{PREFIX} ").partition(" ")[0]
        if run == self.run:
            return True
        if len(run) != len(self.run) or not set(run) <= set(_DIGITS):
            return False
        return 0 < int(run[:-2], 36) < time.time() / 60 - STALE_MINUTES

    # The tenant and its places

    @property
    def tenant_id(self) -> str | None:
        """Return the tenant's identifier, if the service reports it."""
        try:
            return str(self.once("tenant", lambda: self.call("get_tenant"))["tenant_id"])
        except Outcome:
            return None

    def groups(self) -> list[shapes.Json]:
        """Return the member groups on the first page of 1,000."""
        answer = self.once("groups", lambda: self.call("list_membergroups", query={"limit": limits.PAGE_MAX}))
        return list(answer["membergroups"])

    def suite_groups(self) -> list[str]:
        """Return identifiers of the suite's own groups."""
        return [row["membergroup_id"] for row in self.groups() if str(row["membergroup_name"]).startswith(PREFIX)]

    def group_name(self, number: int) -> str:
        return f"{PREFIX} {number}"

    def group_id(self) -> str:
        """Return a group for this run's members: the suite's own, created if there is none; otherwise any other."""
        return str(self.once("group", self._group))

    def _group(self) -> str:
        try:
            if found := self.suite_groups():
                return found[-1]
            return str(self.made_group()["membergroup_id"])
        except (Differs, NotOffered) as outcome:
            for row in [*self._any_groups(), *self._any_members()]:
                if isinstance(row, dict) and isinstance(row.get("membergroup_id"), str):
                    return str(row["membergroup_id"])
            raise outcome

    def made_group(self) -> shapes.Json:
        """Return a group created by this run, which cannot be deleted; none once there are many."""
        return dict(self.once("made group", self._made_group))

    def _made_group(self) -> shapes.Json:
        number = len(self.suite_groups()) + 1
        if number > GROUPS_MAX:
            raise NotTried(
                "create_membergroup", f"earlier runs made {GROUPS_MAX} groups already, and groups cannot be deleted"
            )
        name = self.group_name(number)
        made = self.call("create_membergroup", body={"membergroup_name": name})
        self.forget("groups")
        return dict(made) | {"given": name}

    def _any_groups(self) -> list[Any]:
        try:
            return list(self.groups())
        except Outcome:
            return []

    def _any_members(self) -> list[Any]:
        data = self.reply("list_members", query={"limit": 1}).json
        return list(shapes.array_in(data) or [])

    def areas(self) -> list[shapes.Json]:
        return list(self.once("areas", lambda: self.call("list_areas"))["areas"])

    def area_ids(self) -> list[str]:
        return [row["area_id"] for row in self.areas()]

    def doors(self) -> list[str]:
        """Return identifiers of door controllers, from their list, or from the areas when the list has none."""
        rows = shapes.array_in(self.once("doors", lambda: self.call("list_pass_controllers"))) or []
        found = [row["device_id"] for row in rows if isinstance(row, dict) and isinstance(row.get("device_id"), str)]
        return found or [device["device_id"] for area in self.areas() for device in area["devices_list"]]

    def key_boxes(self) -> list[shapes.Json]:
        return list(self.once("key boxes", lambda: self.call("list_key_boxes"))["key_devices"])

    def usable_boxes(self) -> list[shapes.Json]:
        """Return key boxes with units that can be named in a request."""
        boxes = []
        for box in self.key_boxes():
            units = [unit for unit in box["units"] if re.fullmatch(limits.UNIT_PATTERN, str(unit.get("unit_no")))]
            if units:
                boxes.append({**box, "units": units})
        return boxes

    # Members

    def new_member(self, label: str, **fields: Any) -> str:
        """Create a member of this run; return its identifier."""
        body = {"member_name": self.name(label), "membergroup_id": self.group_id(), **fields}
        return str(self.call("create_member", body=body)["member_id"])

    def member(self) -> str:
        """Return a member of this run with only a name."""
        return str(self.once("member", lambda: self.new_member("plain")))

    def everyone(self, **query: Any) -> list[shapes.Json]:
        """Return all members. Raises NotTried when they are too many."""
        found: list[shapes.Json] = []
        query = {"limit": limits.PAGE_MAX, **query}
        for _ in range(PAGES_MAX):
            page = self.call("list_members", query=query)
            found += page["members"]
            if not page.get("last_evaluated_key"):
                return found
            query["last_evaluated_key"] = page["last_evaluated_key"]
        raise NotTried("list_members", f"there are more than {PAGES_MAX * limits.PAGE_MAX} members")
