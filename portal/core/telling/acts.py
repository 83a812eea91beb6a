"""What people choose about telling, in the audit log. Addresses are masked there, secrets never told."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from portal.core.alerts.kinds import AlertKind
from portal.core.alerts.rules import Hours
from portal.core.intents.record import Asker
from portal.core.telling.models import Audience, Telling, WebAddress, Wish
from portal.core.telling.writing import ring
from tenants import audit
from tenants.staff.throttle import Limit
from tenants.wording import say

MOST_ADDRESSES = 10
# Tests of all of a tenant's addresses together, within so many seconds: more would look for other people's open ports.
MOST_TESTS, TEST_SECONDS = 5, 600


class NotKept(ValueError):
    """There is one of this name, or there are as many as may be."""


def masked(url: str) -> str:
    """Return an address as pages show it: its host, and the last characters."""
    parts = urlsplit(url)
    return f"https://{parts.hostname}/…{url[-4:]}"


def wish(*, least: int, hours: Hours | None, by: Asker) -> None:
    """Keep what a person wants to be told by e-mail."""
    kept = {"least": least, "hours": hours.kept if hours else {}}
    Wish.objects.update_or_create(user=by.user, defaults=kept)


def change_audience(*, kind: AlertKind, roles: Sequence[str], people: Sequence[int], by: Asker) -> None:
    """Keep who may be told of a rule's alerts; nobody named: everybody who may see them."""
    with transaction.atomic():
        if roles or people:
            Audience.objects.update_or_create(kind=kind.name, defaults={"roles": roles, "people": people})
        else:
            Audience.objects.filter(kind=kind.name).delete()
        audit.record(
            **by.author,
            action="alert_rule.notify",
            target=f"alert_rule:{kind.name}",
            summary=say("alert_rule.notify", kind=say(f"alert_kind.{kind.name}")),
            after={"roles": list(roles), "people": list(people)},
        )


def add_address(*, said: Mapping[str, Any], by: Asker) -> WebAddress:
    """Keep a new web address with a new secret. Raises NotKept."""
    if WebAddress.objects.count() >= MOST_ADDRESSES:
        raise NotKept
    try:
        with transaction.atomic():
            made = WebAddress.objects.create(secret=_secret(), **said)
            _write_down(made, by, "alert_address.add")
    except IntegrityError:
        raise NotKept from None
    return made


def renew_secret(*, address: WebAddress, by: Asker) -> WebAddress:
    """Give an address a new secret; the former one signs nothing more."""
    address.secret = _secret()
    with transaction.atomic():
        address.save(update_fields=["secret"])
        _write_down(address, by, "alert_address.renew")
    return address


def remove_address(*, address: WebAddress, by: Asker) -> None:
    with transaction.atomic():
        _write_down(address, by, "alert_address.remove")
        address.delete()


class TooManyTests(ValueError):
    """The tenant has sent as many tests as may be within TEST_SECONDS."""


def try_address(*, address: WebAddress, by: Asker) -> None:
    """Have a test posted to an address. Raises TooManyTests."""
    if not Limit(f"alert-test:{by.tenant.pk}", MOST_TESTS, TEST_SECONDS).take():
        raise TooManyTests
    with transaction.atomic():
        ring([Telling.objects.create(address=address)])
        _write_down(address, by, "alert_address.test")


def _secret() -> str:
    return secrets.token_urlsafe(32)


def _write_down(address: WebAddress, by: Asker, action: str) -> None:
    after = {"url": masked(address.url), "least": address.get_least_display()}
    target = f"alert_address:{address.pk}"
    audit.record(**by.author, action=action, target=target, summary=say(action, name=address.name), after=after)
