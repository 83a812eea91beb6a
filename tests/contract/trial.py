"""A tenant of the sandbox on which the suite is tried, behind a proxy that can make it another service."""

from typing import Any

from accessapi.overrides import Catalogue, load_overrides
from tests.contract import credentials
from tests.contract.lab import Lab
from tests.support.proxy import HttpProxy
from tests.support.sandbox import Sandbox, SandboxClient, SandboxTenant

REDIRECT_URI = "https://portal.example.com/callback"


class Trial:
    """One tenant and its own proxy; `lab()` is the suite's view of it."""

    def __init__(self, sandbox: Sandbox, *, members: int = 5, operations: str = "") -> None:
        self.sandbox = sandbox
        self.operations = operations
        self.tenant: SandboxTenant = sandbox.tenant(members=members)
        cameras = sandbox.look("cameras", tenant_id=self.tenant.tenant_id)["cameras"]
        self.cameras = [row["camera_id"] for row in cameras]
        quick = {"face_seconds": 0, "bulk_seconds_per_member": 0, "video_lag_seconds": 0, "limited": False}
        sandbox.settings(self.tenant.tenant_id, **quick)
        door = next(row["device_id"] for row in cameras if row["device_id"] and row["is_connected"])
        sandbox.console("doors", tenant_id=self.tenant.tenant_id, device_id=door, action="force")
        self.client: SandboxClient = sandbox.client(REDIRECT_URI)
        self.proxy = HttpProxy(int(sandbox.url.rpartition(":")[2]))

    def document(self, *, with_code: bool = True, **changed: Any) -> dict[str, Any]:
        """Return the credentials as a TOML document has them; `changed` are fields of the tenant."""
        tenant = {
            "access_token": self.tenant.token,
            "license_key": self.tenant.licence_key,
            "contracts": self.tenant.contracts,
            "mock_devices": True,
            "cameras": self.cameras,
        }
        oauth = {
            "client_id": self.client.client_id,
            "client_secret": self.client.client_secret,
            "redirect_uri": REDIRECT_URI,
        }
        if with_code:
            oauth["code"] = self.sandbox.code(self.client, self.tenant)
        return {"tenants": [tenant | changed], "oauth": oauth}

    def lab(self, *, with_code: bool = True, **changed: Any) -> Lab:
        """Return a fresh run against the proxy."""
        return self.lab_of(self.document(with_code=with_code, **changed))

    def lab_of(self, document: dict[str, Any]) -> Lab:
        """Return a fresh run against the proxy with these credentials."""
        return Lab(self.proxy.url, credentials.read(document), Catalogue(load_overrides(self.operations)))

    def webhook(self) -> dict[str, Any]:
        """Return the tenant's webhook settings."""
        settings = self.sandbox.api("GET", "/v1/tenant", token=self.tenant.token).json()["settings"]
        return dict(settings["webhook"])

    def left_behind(self) -> list[str]:
        """Return the names of the suite's members that still exist."""
        rows = self.sandbox.api("GET", "/v1/members", token=self.tenant.token, params={"limit": 1000}).json()["members"]
        return [row["member_name"] for row in rows if row["member_name"].startswith("Contract suite")]
