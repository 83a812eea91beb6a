"""The only way to read the service: every call counted before it is made, every answer's headers believed downwards."""

from accessapi.client import Client, RateHeaders
from accessapi.operations import Operation
from portal.budget import ledger
from portal.budget.priorities import Priority
from tenants.connections.service import service_client
from tenants.models import Connection


def client(connection: Connection, priority: Priority) -> Client:
    """A client of the tenant's service. Its calls raise BudgetExhausted, before anything is sent, when none is left."""

    def gate(operation: Operation) -> None:
        ledger.take(connection, operation, priority)

    return service_client(connection, gate=gate, observe=observer(connection))


def sender(connection: Connection) -> Client:
    """A client without a gate, for intents alone: their claim has already counted the call."""
    return service_client(connection, observe=observer(connection))


def observer(connection: Connection):
    """What to do with the rate headers of each answer."""

    def observe(operation: Operation, rate: RateHeaders, status: int) -> None:
        ledger.observe(
            connection,
            operation,
            limit=rate.limit,
            remaining=rate.remaining,
            reset=rate.reset,
            refused=status == 429,
        )

    return observe
