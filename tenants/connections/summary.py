"""What the connection page shows, from the stored row without any call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise

from accessapi.operations import Operation
from tenants import vault
from tenants.connections import texts
from tenants.connections.titles import title
from tenants.models import Connection

Words = str | Promise


@dataclass(frozen=True)
class Ability:
    """A scope, contract or licence: which operations need it, and whether the service refused one of them."""

    name: str
    title: str | Promise
    operations: tuple[str | Promise, ...]
    refused: bool


@dataclass(frozen=True)
class Refusal:
    """A refusal with an unknown code, as it came."""

    operation: Words
    status: int
    code: str
    words: str
    at: datetime


@dataclass(frozen=True)
class Summary:
    """The connection in words and lists."""

    reason: str | Promise
    # Whether VAULT_KEYS does not open what is stored here, and what connecting again needs of the environment.
    secrets_lost: bool
    client_lost: bool
    reissue: str | Promise
    last_call: str | Promise
    scopes: tuple[Ability, ...]
    contracts: tuple[Ability, ...]
    refusals: tuple[Refusal, ...]


def explained(operations: Iterable[Operation]) -> Iterator[tuple[Operation, Words, Words, Words]]:
    """Yield each operation with its title, its condition (a contract or the licence, or empty) and its
    source in words.
    """
    for operation in operations:
        condition = "licence" if operation.licence else operation.contract or ""
        name = title(operation.name, operation.title)
        yield operation, name, texts.CONTRACTS.get(condition, condition), texts.PROVENANCE[operation.provenance]


def summary_of(connection: Connection) -> Summary:
    catalogue = list(connection.tenant.environment.catalogue)
    scopes = sorted({operation.scope for operation in catalogue if operation.scope})
    contracts = list(texts.CONTRACTS)
    return Summary(
        secrets_lost=vault.unreadable(connection),
        client_lost=vault.unreadable(connection.tenant.environment),
        reason=texts.STATE_REASONS.get(connection.state_reason, connection.state_reason),
        reissue=texts.OUTCOMES.get(connection.reissue_outcome, ""),  # type: ignore[call-overload]  # an Outcome or empty
        last_call=title(connection.last_call_operation),
        scopes=tuple(
            Ability(
                name=scope,
                title=scope,
                operations=tuple(title(each.name, each.title) for each in catalogue if each.scope == scope),
                refused=scope in connection.scopes_refused,
            )
            for scope in scopes
        ),
        contracts=tuple(
            Ability(
                name=name,
                title=texts.CONTRACTS[name],
                operations=tuple(
                    title(each.name, each.title)
                    for each in catalogue
                    if each.contract == name or (name == "licence" and each.licence)
                ),
                refused=name in connection.contracts_refused,
            )
            for name in contracts
        ),
        refusals=tuple(
            Refusal(
                title(row["operation"]), row["status"], row["code"], row["words"], datetime.fromisoformat(row["at"])
            )
            for row in connection.refusals
        ),
    )
