"""The data of the connection page, from the stored row without any call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise

from accessapi.operations import Operation
from tenants import vault
from tenants.connections import words
from tenants.connections.words import title_of
from tenants.models import Connection

LazyText = str | Promise


@dataclass(frozen=True)
class Capability:
    """A scope, contract or licence: the operations that need it, and whether the service refused one of them."""

    name: str
    title: str | Promise
    operations: tuple[str | Promise, ...]
    is_refused: bool
    is_scope: bool = False

    @property
    def remedy(self) -> LazyText:
        """Return who can add what is missing."""
        return words.REMEDIES["scope" if self.is_scope else "licence" if self.name == "licence" else "contract"]


@dataclass(frozen=True)
class UnknownRefusal:
    """A refusal with an unknown code, unchanged."""

    operation: LazyText
    status: int
    code: str
    text: str
    at: datetime


@dataclass(frozen=True)
class ConnectionSummary:
    """The connection as texts and lists for its page."""

    reason: str | Promise
    # VAULT_KEYS does not open the secrets stored here, or the environment's secret, which a new connection needs.
    has_lost_secrets: bool
    has_lost_client: bool
    last_reissue: str | Promise
    last_call: str | Promise
    scopes: tuple[Capability, ...]
    contracts: tuple[Capability, ...]
    refusals: tuple[UnknownRefusal, ...]

    @property
    def abilities(self) -> list[Capability]:
        """Return the contracts, the licence and the missing API permissions, missing ones first."""
        found = [*(scope for scope in self.scopes if scope.is_refused), *self.contracts]
        return sorted(found, key=lambda each: not each.is_refused)


def describe_operations(operations: Iterable[Operation]) -> Iterator[tuple[Operation, LazyText, LazyText, LazyText]]:
    """Yield each operation with its title, its condition (a contract or the licence, or empty) and its source."""
    for operation in operations:
        condition = "licence" if operation.needs_licence else operation.contract or ""
        name = title_of(operation.name, operation.title)
        yield operation, name, words.CONTRACTS.get(condition, condition), words.PROVENANCE[operation.provenance]


def summary_of(connection: Connection) -> ConnectionSummary:
    catalogue = list(connection.tenant.environment.catalogue)
    scopes = sorted({operation.scope for operation in catalogue if operation.scope})
    contracts = list(words.CONTRACTS)
    return ConnectionSummary(
        has_lost_secrets=vault.is_unreadable(connection),
        has_lost_client=vault.is_unreadable(connection.tenant.environment),
        reason=words.STATE_REASONS.get(connection.state_reason, connection.state_reason),
        last_reissue=words.OUTCOMES.get(connection.reissue_outcome, ""),  # type: ignore[call-overload]  # a ReissueOutcome or empty
        last_call=title_of(connection.last_call_operation),
        scopes=tuple(
            Capability(
                name=scope,
                title=scope,
                operations=tuple(title_of(each.name, each.title) for each in catalogue if each.scope == scope),
                is_refused=scope in connection.scopes_refused,
                is_scope=True,
            )
            for scope in scopes
        ),
        contracts=tuple(
            Capability(
                name=name,
                title=words.CONTRACTS[name],
                operations=tuple(
                    title_of(each.name, each.title)
                    for each in catalogue
                    if each.contract == name or (name == "licence" and each.needs_licence)
                ),
                is_refused=name in connection.contracts_refused,
            )
            for name in contracts
        ),
        refusals=tuple(
            UnknownRefusal(
                title_of(row["operation"]), row["status"], row["code"], row["words"], datetime.fromisoformat(row["at"])
            )
            for row in connection.refusals
        ),
    )
