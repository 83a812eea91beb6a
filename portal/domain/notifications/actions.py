"""Settings of notifications by people. In the audit log, addresses are masked and secrets are left out."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from portal.domain.alerts.kinds import AlertKind
from portal.domain.alerts.rules import Hours
from portal.domain.intents.recording import Requester
from portal.domain.notifications import safety_rules
from portal.domain.notifications.models import Telling, WebAddress, Wish
from portal.domain.notifications.queueing import notify_worker_after_commit
from portal.domain.notifications.web_addresses import audit_change
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from tenants.staff.throttle import SignInLimit

MAX_ADDRESSES = 10
# Tests of all addresses of a tenant within so many seconds. More would allow scanning for open ports.
MAX_TESTS, TEST_SECONDS = 5, 600


class AddressNotSaved(ValueError):
    """The name is in use, or the tenant has the maximum number of addresses."""


def save_preferences(*, min_severity: int, hours: Hours | None, by: Requester) -> None:
    """Save from which severity on, and when, a person gets e-mail."""
    kept = {"least": min_severity, "hours": hours.as_json if hours else {}}
    Wish.objects.update_or_create(user=by.user, defaults=kept)


def change_recipients(*, kind: AlertKind, roles: Sequence[str], people: Sequence[int], by: Requester) -> ChangeResult:
    """Change who is notified of a rule's alerts. Raises NotChanged.

    Without any role or person, everyone who may view alerts is notified.
    """
    wanted = {"roles": sorted(roles), "people": sorted(people)}
    return changing.change(safety_rules.RECIPIENTS, wanted, by=by, subject=kind.name)


def add_address(*, values: Mapping[str, Any], by: Requester) -> WebAddress:
    """Save a new web address with a new secret. Raises AddressNotSaved."""
    if WebAddress.objects.count() >= MAX_ADDRESSES:
        raise AddressNotSaved
    try:
        with transaction.atomic():
            made = WebAddress.objects.create(secret=_new_secret(), **values)
            audit_change(made, by, "alert_address.add")
    except IntegrityError:
        raise AddressNotSaved from None
    return made


def renew_secret(*, address: WebAddress, by: Requester) -> WebAddress:
    """Give an address a new secret. The previous one is no longer used for signatures."""
    address.secret = _new_secret()
    with transaction.atomic():
        address.save(update_fields=["secret"])
        audit_change(address, by, "alert_address.renew")
    return address


def remove_address(*, address: WebAddress, by: Requester) -> ChangeResult:
    """Remove an address with the notifications that were sent to it. Raises NotChanged."""
    return changing.change(safety_rules.ADDRESS, {"is_kept": False}, by=by, subject=str(address.pk))


class TooManyTests(ValueError):
    """The tenant has sent the maximum number of tests within TEST_SECONDS."""


def send_test(*, address: WebAddress, by: Requester) -> None:
    """Send a test notification to an address. Raises TooManyTests."""
    if not SignInLimit(f"alert-test:{by.tenant.pk}", MAX_TESTS, TEST_SECONDS).count_one():
        raise TooManyTests
    with transaction.atomic():
        notify_worker_after_commit([Telling.objects.create(address=address)])
        audit_change(address, by, "alert_address.test")


def _new_secret() -> str:
    return secrets.token_urlsafe(32)
