"""The only way to load data from the service. Each call is counted first, and each answer's rate headers are used."""

import threading
from collections.abc import Callable

from accessapi.client import Client, Observe, RateHeaders
from accessapi.errors import ServiceError
from accessapi.operations import Operation
from portal.domain.budget import ledger
from portal.domain.budget.gauges import CountedCall
from portal.domain.budget.priorities import Priority
from tenants.connections.service_clients import service_client
from tenants.models import Connection


def client(connection: Connection, priority: Priority) -> Client:
    """Return a client of the tenant's service. Its calls raise BudgetExhausted before sending if none is left."""
    mine = threading.local()

    def gate(operation: Operation) -> None:
        mine.taken = ledger.count_call(connection, operation, priority)

    return service_client(connection, gate=gate, observe=_observer(connection, lambda: getattr(mine, "taken", None)))


def client_for_counted_call(connection: Connection, taken: CountedCall | None) -> Client:
    """Return a client that counts no calls, for intents only: their claim has already counted the call, as `taken`."""
    return service_client(connection, observe=_observer(connection, lambda: taken))


def _observer(connection: Connection, call: Callable[[], CountedCall | None]) -> Observe:
    """Return the function that uses the rate headers of each answer."""

    def observe(operation: Operation, rate: RateHeaders, status: int, error: ServiceError | None) -> None:
        ledger.correct_count(
            connection,
            operation,
            limit=rate.limit,
            remaining=rate.remaining,
            reset=rate.reset,
            refused=status == 429,
            taken=call(),
        )

    return observe
