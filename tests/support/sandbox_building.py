"""One tenant's building in the sandbox as a test walks through it: doors, keys, people and log records."""

from datetime import datetime
from typing import Any

from accessapi.limits import JST
from tests.support.sandbox import Sandbox, SandboxTenant

EVERYTHING = {"default_mode": "allow_all"}
NOTHING = {"default_mode": "deny_all"}


class House:
    """One tenant's building as a test walks through it."""

    def __init__(self, sandbox: Sandbox, tenant: SandboxTenant) -> None:
        self.sandbox, self.tenant = sandbox, tenant
        self.areas = self.get("/v1/areas")["areas"]
        self.door = self.areas[0]["devices_list"][0]["device_id"]
        boxes = self.get("/v1/devices/keys")["key_devices"]
        self.box, self.far_box = boxes[0]["key_device_id"], boxes[2]["key_device_id"]
        self.group = self.get("/v1/members?limit=1")["members"][0]["membergroup_id"]

    def get(self, path: str, **options: Any) -> dict[str, Any]:
        answer = self.sandbox.api("GET", path, token=self.tenant.token, **options)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def call(self, method: str, path: str, body: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        answer = self.sandbox.api(method, path, body, token=self.tenant.token, **options)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def member(self, **fields: Any) -> str:
        wanted = {
            "member_name": "山田 花子",
            "membergroup_id": self.group,
            "devices_pass": EVERYTHING,
            "keys_pass": EVERYTHING,
        } | fields
        return str(self.call("POST", "/v1/members", wanted)["member_id"])

    def guest(self, code: str, **fields: Any) -> str:
        wanted = {"guest_name": "Guest", "qrcode_issuing_method": {"qrcode_data": code}} | fields
        return str(self.call("POST", "/v1/guests", wanted)["guest_id"])

    def show(self, kind: str, value: str, *, door: str = "", **more: Any) -> dict[str, Any]:
        body = {"device_id": door or self.door, "kind": kind, "value": value} | more
        return self.sandbox.console("present", tenant_id=self.tenant.tenant_id, **body)

    def key(self, action: str, unit_no: str, value: str, *, kind: str = "card", **more: Any) -> dict[str, Any]:
        body = {"key_device_id": self.box, "unit_no": unit_no, "action": action, "kind": kind, "value": value} | more
        return self.sandbox.console("keys", tenant_id=self.tenant.tenant_id, **body)

    def histories(self, **query: Any) -> list[dict[str, Any]]:
        found = self.sandbox.api("GET", "/v1/histories", token=self.tenant.token, params={"limit": 1000} | query)
        return list(found.json()["histories"])

    def last(self) -> dict[str, Any]:
        return self.histories(limit=1)[0]

    def free_key(self) -> str:
        """Return a key of the first box that is in its place and has no restriction."""
        listed = self.get("/v1/devices/keys")["key_devices"][0]["units"]
        usual = {unit["unit_no"] for unit in listed if not unit["restriction"]}
        is_in = {
            no: self.sandbox.addresses.catalogue.states.key_state(word) == "in" for no, word in self.keys().items()
        }
        return next(no for no, there in is_in.items() if there and no in usual)

    def keys(self) -> dict[str, str]:
        return {unit["unit_no"]: unit["key"] for unit in self.units()}

    def units(self) -> list[dict[str, Any]]:
        return list(self.get(f"/v1/devices/devices/keys/{self.box}/status")["units_status"])

    def status(self) -> dict[str, Any]:
        return dict(self.get(f"/v1/devices/passes/{self.door}/status")["door_status"])

    def move(self, **clock: Any) -> datetime:
        told = self.sandbox.console("clock", tenant_id=self.tenant.tenant_id, **clock)
        return datetime.fromisoformat(told["now"])

    def now(self) -> datetime:
        return datetime.fromisoformat(self.sandbox.look("clock", tenant_id=self.tenant.tenant_id)["now"])


def wire(moment: datetime) -> str:
    """Return the moment as the interface writes it."""
    return moment.astimezone(JST).isoformat(timespec="seconds")
