"""Customers of the running site with a webhook, and the log records that the portal has received."""

import secrets
from collections import Counter

from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.intents.nonces import Nonce
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from portal.webhooks import actions
from portal.webhooks.actions import WebhookChange
from portal.webhooks.models import Webhook
from tests.support.hooks import all_categories
from tests.support.stage import Customer
from tests.support.waiting import until

LOG = 23


def read_once(customer: Customer) -> Customer:
    """Wait until the customer's log was read once; return the customer."""
    schedule.schedule_all(customer.tenant)
    until(lambda: log_of(customer).as_of is not None, saying="the log is read")
    return customer


def log_of(customer: Customer) -> MirrorState:
    with customer.scope():
        return MirrorState.objects.get(kind=MirrorKind.HISTORIES)


def row_of(customer: Customer) -> Webhook:
    with customer.scope():
        return Webhook.objects.get()


def ask(customer: Customer, change: WebhookChange) -> None:
    """Change the webhook as the settings page does, and wait until the service has confirmed it."""
    with customer.scope():
        nonce = Nonce(secrets.token_urlsafe(12))
        intent = actions.submit_change(
            change=change, by=customer.asker(), nonce=nonce, categories=all_categories(customer.tenant)
        )
    assert customer.settled(intent).state == "succeeded"


def happen(customer: Customer, times: int) -> None:
    """Force and shut a door: creates so many records at the service."""
    for number in range(times):
        where = {"tenant_id": customer.service.tenant_id, "device_id": customer.doors[0]}
        customer.house.sandbox.console("doors", **where, action=("force", "close")[number % 2])


def at_service(customer: Customer) -> set[str]:
    """Return the IDs of all records that the service has by now."""
    found, after = set(), 0
    look, now = customer.house.sandbox.look, customer.house.sandbox.now().isoformat()
    while rows := look("histories", tenant_id=customer.service.tenant_id, after=after)["histories"]:
        found |= {row["history_id"] for row in rows if row["datetime"] <= now}
        after = rows[-1]["id"]
    return found


def missing(customer: Customer) -> set[str]:
    """Return the IDs of the service's records that the portal has not read, or has only from a notification.

    Records before the first reading are left out.
    """
    with customer.scope():
        here = Counter(History.objects.filter(notified=False).values_list("history_id", flat=True))
    assert set(here.values()) <= {1}
    return at_service(customer) - set(here) - before_us(customer)


def before_us(customer: Customer) -> set[str]:
    """Return the IDs of records that are older than the first reading goes."""
    since = log_of(customer).memory["known_from"]
    rows = customer.house.sandbox.look("histories", tenant_id=customer.service.tenant_id)["histories"]
    return {row["history_id"] for row in rows if row["datetime"] < since}


def deliveries(customer: Customer) -> Counter[int | None]:
    """Count the portal's answers to notifications by status; -1 for those not sent yet."""
    statuses: Counter[int | None] = Counter()
    after = 0
    look = customer.house.sandbox.look
    while rows := look("deliveries", tenant_id=customer.service.tenant_id, after=after)["deliveries"]:
        statuses.update(row["status"] if row["sent_at"] else -1 for row in rows)
        after = rows[-1]["id"]
    return statuses


def all_posted(customer: Customer) -> bool:
    return -1 not in deliveries(customer)
