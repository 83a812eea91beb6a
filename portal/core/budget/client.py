"""The only way to read the service: every call counted before it is made, every answer's headers heard."""

import threading
from collections.abc import Callable

from accessapi.client import Client, Observe, RateHeaders
from accessapi.errors import ServiceError
from accessapi.operations import Operation
from portal.core.budget import ledger
from portal.core.budget.priorities import Priority
from portal.core.budget.rate_headers import CountedCall
from tenants.connections.service_clients import service_client
from tenants.models import Connection


def client(connection: Connection, priority: Priority) -> Client:
    """A client of the tenant's service. Its calls raise BudgetExhausted, before anything is sent, when none is left."""
    mine = threading.local()

    def gate(operation: Operation) -> None:
        mine.taken = ledger.count_call(connection, operation, priority)

    return service_client(connection, gate=gate, observe=_observer(connection, lambda: getattr(mine, "taken", None)))


def client_for_counted_call(connection: Connection, taken: CountedCall | None) -> Client:
    """A client without a gate, for intents alone: their claim has already counted the call, as `taken`."""
    return service_client(connection, observe=_observer(connection, lambda: taken))


def _observer(connection: Connection, call: Callable[[], CountedCall | None]) -> Observe:
    """What to do with the rate headers of each answer."""

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
