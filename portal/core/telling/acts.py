"""What people choose about telling, in the audit log. Addresses are masked there, secrets never told."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from portal.core.alerts.kinds import AlertKind
from portal.core.alerts.rules import Hours
from portal.core.intents.record import Asker
from portal.core.safety import changing
from portal.core.safety.changing import Came
from portal.core.telling import loosening
from portal.core.telling.addresses import write_down
from portal.core.telling.models import Telling, WebAddress, Wish
from portal.core.telling.writing import ring
from tenants.staff.throttle import Limit

MOST_ADDRESSES = 10
# Tests of all of a tenant's addresses together, within so many seconds: more would look for other people's open ports.
MOST_TESTS, TEST_SECONDS = 5, 600


class NotKept(ValueError):
    """There is one of this name, or there are as many as may be."""


def wish(*, least: int, hours: Hours | None, by: Asker) -> None:
    """Keep what a person wants to be told by e-mail."""
    kept = {"least": least, "hours": hours.kept if hours else {}}
    Wish.objects.update_or_create(user=by.user, defaults=kept)


def change_audience(*, kind: AlertKind, roles: Sequence[str], people: Sequence[int], by: Asker) -> Came:
    """Change who may be told of a rule's alerts; nobody named: everybody who may see them. Raises NotChanged."""
    wanted = {"roles": sorted(roles), "people": sorted(people)}
    return changing.change(loosening.RECIPIENTS, wanted, by=by, subject=kind.name)


def add_address(*, said: Mapping[str, Any], by: Asker) -> WebAddress:
    """Keep a new web address with a new secret. Raises NotKept."""
    if WebAddress.objects.count() >= MOST_ADDRESSES:
        raise NotKept
    try:
        with transaction.atomic():
            made = WebAddress.objects.create(secret=_secret(), **said)
            write_down(made, by, "alert_address.add")
    except IntegrityError:
        raise NotKept from None
    return made


def renew_secret(*, address: WebAddress, by: Asker) -> WebAddress:
    """Give an address a new secret; the former one signs nothing more."""
    address.secret = _secret()
    with transaction.atomic():
        address.save(update_fields=["secret"])
        write_down(address, by, "alert_address.renew")
    return address


def remove_address(*, address: WebAddress, by: Asker) -> Came:
    """Remove an address, with what was sent to it. Raises NotChanged."""
    return changing.change(loosening.ADDRESS, {"is_kept": False}, by=by, subject=str(address.pk))


class TooManyTests(ValueError):
    """The tenant has sent as many tests as may be within TEST_SECONDS."""


def try_address(*, address: WebAddress, by: Asker) -> None:
    """Have a test posted to an address. Raises TooManyTests."""
    if not Limit(f"alert-test:{by.tenant.pk}", MOST_TESTS, TEST_SECONDS).take():
        raise TooManyTests
    with transaction.atomic():
        ring([Telling.objects.create(address=address)])
        write_down(address, by, "alert_address.test")


def _secret() -> str:
    return secrets.token_urlsafe(32)
