"""Write audit log entries, in the same transaction as the change that they record."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypedDict

from django.db import connection, transaction
from django.db.models.functions import Now

from tenants import client_addresses
from tenants.models import AuditEntry, SupportSession, Tenant, User
from tenants.sentences import Sentence

# The site's own name in the audit log.
PORTAL_ACTOR = "portal"


class AuditAuthor(TypedDict):
    """The author of an entry: arguments of `record`."""

    tenant: Tenant
    by: User
    support_session: SupportSession | None


def record(
    *,
    tenant: Tenant,
    by: User | None,
    action: str,
    target: str = "",
    summary: Sentence | str = "",
    before: Any = None,
    after: Any = None,
    intent_id: str = "",
    support_session: SupportSession | None = None,
    by_label: str = "",
) -> AuditEntry:
    """Add one entry. Raise RuntimeError outside of a transaction, where the change could be saved without its entry.

    `action` is "noun.verb" ("connection.reissue"); `target` is "kind:id". `before` and `after` hold what changed as
    JSON, without secrets. `by` is None for the command line and for the site; `by_label` is their name.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("The audit trail is written inside transaction.atomic(), with what it records.")
    entry = AuditEntry(
        tenant=tenant,
        by=by,
        by_label=by_label or (str(by)[:120] if by else ""),
        action=action,
        target=target[:200],
        summary=summary,
        before=before,
        after=after,
        intent_id=intent_id,
        support_session=support_session,
        address=client_addresses.current(),
    )
    entry.save(force_insert=True)
    return entry


def record_once(
    *,
    within: timedelta,
    tenant: Tenant,
    by: User,
    support_session: SupportSession | None,
    action: str,
    target: str,
    summary: Sentence,
    after: Any = None,
) -> None:
    """Add one entry for something that a person views often, unless the same entry was added `within` this time.

    Entries are the same if action, target, summary, person and support session are the same.
    """
    entry: dict[str, Any] = {
        "tenant": tenant,
        "by": by,
        "support_session": support_session,
        "action": action,
        "target": target,
    }
    if not is_recorded(within=within, **entry, summary=summary):
        with transaction.atomic():
            record(**entry, summary=summary, after=after)


def is_recorded(
    *,
    within: timedelta,
    tenant: Tenant,
    by: User,
    support_session: SupportSession | None,
    action: str,
    target: str,
    summary: Sentence,
) -> bool:
    """Return whether such an entry was added `within` this time, by the database's clock."""
    known = AuditEntry.objects.filter(tenant=tenant, target=target[:200], at__gt=Now() - within, action=action)
    return known.filter(by=by, support_session=support_session, summary=summary).exists()


def latest_on_target(target: str, count: int) -> list[AuditEntry]:
    """Return the newest entries of the current tenant on this target."""
    rows = AuditEntry.objects.filter(target=target).select_related("by")
    return list(rows.order_by("-at", "-pk")[:count])
