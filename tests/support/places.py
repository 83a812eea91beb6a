"""Tenants of the portal, each connected to a tenant of a sandbox: most tests of the portal begin with one."""

import html
import itertools
import re
import uuid
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client, RequestFactory
from django.utils import timezone

from portal.domain.intents import nonces
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Requester
from portal.domain.sync import schedule, tasks
from tenants.models import Connection, ServiceEnvironment, Staff, Tenant, User
from tenants.scope import tenant_scope
from tests.support import cached_places
from tests.support.cached_places import Alike
from tests.support.effort import SOAK
from tests.support.sandbox import Sandbox, SandboxTenant
from tests.support.second_service import Elsewhere

PASSWORD = "correct horse battery staple"
_numbers = itertools.count(1)


@dataclass
class Place:
    """One tenant, its connection, and its counterpart at the service."""

    tenant: Tenant
    connection: Connection
    service: SandboxTenant
    sandbox: Sandbox
    owner: User
    #: Places of the same kind; None where each differs. `touched`: the sandbox's counter of changes when this one was
    #: made.
    alike: Alike | None = None
    touched: int = 0

    @property
    def asker(self) -> Requester:
        return Requester(self.tenant, self.owner)

    def staff(self, role: str) -> User:
        """Return a new person with this role here."""
        with tenant_scope(self.tenant):
            return staff_of(self.tenant, role)

    def calls(self, operation: int | None = None) -> list[dict[str, object]]:
        return self.sandbox.calls(self.service.tenant_id, operation)

    def client(self, user: User | None = None) -> Client:
        """Return a browser in which this person (the owner by default) has just signed in with a password."""
        return signed_in(user or self.owner)


def staff_of(tenant: Tenant, role: str) -> User:
    user = User.objects.create_user(f"{role.replace(' ', '.')}.{next(_numbers)}@example.test", PASSWORD, name=role)
    Staff.objects.create(tenant=tenant, user=user, role=role)
    return user


def signed_in(user: User) -> Client:
    """Return a browser in which this person has just signed in with a password.

    It begins with the session that the form would have made; tests/tenants/test_sign_in.py tests the form.
    """
    client, request = Client(), RequestFactory().get("/")
    request.session = session = import_module(settings.SESSION_ENGINE).SessionStore()
    record_authentication(request, user, method="password", email=user.email)
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    UserSession.objects.create(user=user, session_key=session.session_key, ip=request.META["REMOTE_ADDR"])
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    return client


def age_proof(session: SessionBase, seconds: int = 3600) -> None:
    """Move the last proof of identity back by so many seconds."""
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**each, "at": each["at"] - seconds} for each in records]
    session.save()


def make_place(
    sandbox: Sandbox,
    *,
    members: int = 5,
    contracts: tuple[str, ...] = ("door", "key_box", "qr", "face", "licence"),
    overrides: str = "",
    base_url: str = "",
    number: int = 1,
    alone: bool = True,
) -> Place:
    """Create a tenant of the portal whose token works at `sandbox` (or at `base_url`, for a proxy in front of it).

    Its people, rooms and cards depend on its `number` and are the same in every run; `make soak` draws them. With
    `alone` false it equals earlier tenants of the same number and arguments, and must be the only one of them in the
    database.
    """
    name = f"place-{uuid.uuid4().hex[:10]}"
    wanted = {"members": members, "contracts": list(contracts), "name": name if SOAK else f"Place {number}"}
    found = None if alone else cached_places.alike(number, **wanted, service=sandbox.url, overrides=overrides)
    service = sandbox.tenant(**wanted) if found is None else sandbox.one_like(**wanted)
    overrides, base_url = overrides or sandbox.overrides, base_url or sandbox.url
    place = connected(sandbox, service, name, overrides=overrides, base_url=base_url, number=found and found.number)
    if found is not None:
        place.alike, place.touched = found, sandbox.touched
    return place


def connected(
    sandbox: Sandbox, service: SandboxTenant, name: str, *, overrides: str, base_url: str, number: int | None = None
) -> Place:
    """Create a tenant of the portal (with this `number`, or the next), connected to `service` at `base_url`."""
    environment = ServiceEnvironment.objects.create(
        name=name, base_url=base_url, client_id="c", client_secret="s", overrides=overrides
    )
    tenant = Tenant.objects.create(pk=number, slug=name, name=name.title(), environment=environment)
    with tenant_scope(tenant):
        connection = Connection.objects.create(
            tenant=tenant,
            environment=environment,
            state=Connection.State.CONNECTED,
            service_tenant_id=service.tenant_id,
            access_token=service.token,
            licence_key=service.licence_key or None,
            token_generation=1,
            token_at=timezone.now(),
        )
        owner = staff_of(tenant, "owner")
    return Place(tenant, connection, service, sandbox, owner)


def place_elsewhere(service: Elsewhere) -> Place:
    """Create a tenant at the service that shares no code with the sandbox, and read its lists once."""
    there = SandboxTenant("170", "Elsewhere", [], service.house.licence_key, "", "", service.token)
    host: Any = service  # its calls cannot be read like the sandbox's
    place = connected(host, there, "elsewhere", overrides=service.overrides, base_url=service.base_url)
    with tenant_scope(place.tenant):
        schedule.schedule_all(place.tenant)
        tasks.read_due()
    return place


def fresh_nonce() -> Nonce:
    return Nonce(uuid.uuid4().hex)


__all__ = ["PASSWORD", "Place", "age_proof", "fresh_nonce", "make_place", "place_elsewhere", "signed_in", "staff_of"]


def nonce_of(answer: Any) -> str:
    """Return the nonce that the first form of a page carries."""
    found = re.search(rf'name="{nonces.FIELD}" value="([^"]+)"', answer.content.decode())
    assert found, "the page has no form with a nonce"
    return html.unescape(found[1])
