"""An environment of the service for one test: tenants, their staff, and a proxy in front of the sandbox."""

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from portal.domain.intents import actions
from portal.domain.intents.models import Intent, State
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Requester, record_intent
from portal.domain.places.models import PassController
from tenants import roles
from tenants.models import Connection, ServiceEnvironment, Staff, Tenant, User
from tenants.scope import across_tenants, tenant_scope
from tests.support.browser import Browser
from tests.support.doors import door_command
from tests.support.proxy import HttpProxy
from tests.support.sandbox import SandboxTenant
from tests.support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from tests.support.house import House

PASSWORD = "correct horse battery staple"
OPERATE_DOOR = 35


@cache
def _password_hash() -> str:
    return make_password(PASSWORD)


@dataclass(eq=False)
class Customer:
    """A tenant of the portal with its counterpart at the service. `doors` are device IDs."""

    stage: "Stage"
    tenant: Tenant
    service: SandboxTenant
    doors: list[str] = field(default_factory=list)

    @property
    def house(self) -> "House":
        return self.stage.house

    @property
    def slug(self) -> str:
        return self.tenant.slug

    def url(self, rest: str = "") -> str:
        return f"/t/{self.slug}/{rest}"

    def scope(self) -> contextlib.AbstractContextManager[None]:
        return tenant_scope(self.tenant)

    def staff(self, role: str = "owner") -> User:
        """Return a new person with this role here; platform roles have no staff row."""
        chosen = roles.find_role(role)
        user = User(email=f"{secrets.token_hex(4)}@example.com", name=f"{chosen.name} of {self.slug}")
        user.password = _password_hash()
        user.platform_role = chosen.name if chosen.is_platform else ""
        user.save()
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        if not chosen.is_platform:
            with self.scope():
                Staff.objects.create(tenant=self.tenant, user=user, role=chosen.name)
        return user

    @contextlib.contextmanager
    def browser(self, who: User | str = "owner") -> Iterator[Browser]:
        """Yield a browser that signed in through the sign-in page."""
        user = self.staff(who) if isinstance(who, str) else who
        with Browser(self.house.url) as browser:
            yield browser.sign_in(user.email, PASSWORD)

    def connection(self) -> Connection:
        with self.scope():
            return Connection.objects.select_related("tenant__environment").get()

    def asker(self, who: User | str = "owner") -> Requester:
        return Requester(self.tenant, self.staff(who) if isinstance(who, str) else who)

    def unlock(
        self,
        door: str = "",
        *,
        by: Requester | None = None,
        clicked_at: datetime | None = None,
        nonce: str = "",
        inline: bool = False,
        control: str = "unlock",
        rung: bool = True,
    ) -> Intent:
        """Do in this process what the door's page does: record the request, then leave it to a worker unless `inline`.

        Without `rung` no worker is notified; only the sweep finds it.
        """
        door = door or self.doors[0]
        command = door_command(door, control)
        click = {"by": by or self.asker(), "nonce": Nonce(nonce or secrets.token_urlsafe(12), clicked_at)}
        with self.scope():
            if not rung:
                return record_intent(command, **click)[0]
            return actions.submit(command, inline=inline, **click)

    def intent(self, intent: Intent | int) -> Intent:
        """Return the row as it is now."""
        with self.scope():
            return Intent.objects.get(pk=intent if isinstance(intent, int) else intent.pk)

    def settled(self, intent: Intent, seconds: float = PATIENCE) -> Intent:
        """Wait until the request is final, or needs a decision."""
        until(
            lambda: (row := self.intent(intent)).is_final or (row.state == State.UNCERTAIN),
            seconds,
            saying=lambda: f"{self.intent(intent)} settles (due {self.intent(intent).due_at})",
        )
        return self.intent(intent)

    def age(self, intent: Intent, seconds: float = 60) -> None:
        """Make the claim or lease of a killed process look this much older, instead of waiting for it."""
        self.house.sql(
            "UPDATE intents_intent SET claimed_at = claimed_at - make_interval(secs => %s),"
            " due_at = due_at - make_interval(secs => %s) WHERE id = %s",
            seconds,
            seconds,
            intent.pk,
        )

    def arrivals(self, door: str = "", control: str = "unlock") -> list[dict[str, Any]]:
        """Return every command that the service accepted for a door (or for all doors)."""
        found = self.house.sandbox.commands(self.service.tenant_id)
        return [each for each in found if each["control"] == control and door in ("", each["device_id"])]

    def calls(self, operation: int | None = None) -> list[dict[str, Any]]:
        return self.house.sandbox.calls(self.service.tenant_id, operation)


class Stage:
    """An environment, used as a context manager. `limits` are calls an hour, for both the portal and the sandbox."""

    def __init__(
        self,
        house: "House",
        *,
        overrides: str = "",
        limits: dict[str, int] | None = None,
    ) -> None:
        self.house = house
        self.name = f"env-{secrets.token_hex(4)}"
        self.limits = limits or {}
        self.overrides = self._with_limits(house.sandbox.overrides + overrides)
        self.customers: list[Customer] = []

    def __enter__(self) -> "Stage":
        self.proxy = HttpProxy(urlsplit(self.house.sandbox.url).port or 80, self.house.sandbox.addresses.usual)
        callback = f"{self.house.url}/oauth/{self.name}/callback/"
        self.client = self.house.sandbox.client(callback, name=f"Portal of {self.name}")
        self.environment = ServiceEnvironment.objects.create(
            name=self.name,
            base_url=self.proxy.url,
            client_id=self.client.client_id,
            client_secret=self.client.client_secret,
            overrides=self.overrides,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.retire()
        self.proxy.close()

    def retire(self) -> None:
        """Stop all work for this stage's tenants."""
        ids = [customer.tenant.pk for customer in self.customers]
        with across_tenants("a test puts its tenants away"):
            Connection.objects_across_tenants.filter(tenant__in=ids).update(state=Connection.State.REVOKED)
            intents = Intent.objects_across_tenants.filter(tenant__in=ids)
            with transaction.atomic():
                # Lock two rows in the order in which a worker takes them: first the one it settles, then the next in
                # line.
                list(intents.order_by("pk").select_for_update().values_list("pk"))
                intents.update(due_at=None)
                intents.filter(state__in=[State.QUEUED, State.SENDING]).update(state=State.CANCELLED)

    def customer(
        self,
        *,
        contracts: tuple[str, ...] = ("door", "key_box", "qr", "face", "licence"),
        members: int = 0,
        connected: bool = True,
        mirrored: bool = True,
        behaviour: dict[str, Any] | None = None,
    ) -> Customer:
        """Create a tenant, here and at the service. `mirrored` copies its doors to the portal without a sync."""
        slug = f"t-{secrets.token_hex(4)}"
        service = self.house.sandbox.tenant(
            name=f"Tenant {slug}", contracts=list(contracts), members=members, seed=slug
        )
        window = {f"{k}_limit" if k != "window_seconds" else k: v for k, v in self.limits.items()}
        if window or behaviour:
            self.house.sandbox.settings(service.tenant_id, **window, **(behaviour or {}))
        tenant = Tenant.objects.create(slug=slug, name=f"Tenant {slug}", environment=self.environment)
        customer = Customer(self, tenant, service)
        self.customers.append(customer)
        listed = self.house.sandbox.doors(service.token)
        customer.doors = [each["device_id"] for each in listed if "屋上" not in each["device_name"]]
        if connected:
            self._connect(customer)
        if mirrored:
            with customer.scope():
                PassController.objects.bulk_create(PassController(tenant=tenant, **each) for each in listed)
        return customer

    def _connect(self, customer: Customer) -> None:
        token = self.house.sandbox.token(customer.service.tenant_id, client_id=self.client.client_id)
        with customer.scope():
            Connection.objects.create(
                tenant=customer.tenant,
                environment=self.environment,
                state=Connection.State.CONNECTED,
                service_tenant_id=customer.service.tenant_id,
                service_tenant_name=customer.service.name,
                access_token=token,
                licence_key=customer.service.licence_key or None,
                token_generation=1,
                token_at=timezone.now(),
            )

    def _with_limits(self, overrides: str) -> str:
        lines = "".join(f"{name} = {value}\n" for name, value in self.limits.items())
        if lines and "[limits]\n" in overrides:
            return overrides.replace("[limits]\n", f"[limits]\n{lines}")
        return f"{overrides}\n[limits]\n{lines}" if lines else overrides
