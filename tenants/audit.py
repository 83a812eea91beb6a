"""Write the audit trail, in the same transaction as what it records."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Now

from tenants import client_addresses
from tenants.models import AuditEntry, SupportSession, Tenant, User
from tenants.wording import Sentence

# What the trail calls the site itself.
PORTAL_ACTOR = "portal"


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
    """Add one entry. Raises RuntimeError outside of a transaction, where an act could be kept without its entry.

    `action` is "noun.verb" ("connection.reissue"); `target` "kind:id". `before` and `after` hold JSON of what changed,
    without secrets. `by` is None for the command line and for the site itself; `by_label` names them.
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
    """Add one entry for what a person reads again and again, unless the same one was added `within` this time.

    Two entries are the same where action, target, summary, person and support session are.
    """
    said: dict[str, Any] = {
        "tenant": tenant,
        "by": by,
        "support_session": support_session,
        "action": action,
        "target": target,
    }
    if not is_recorded(within=within, **said, summary=summary):
        with transaction.atomic():
            record(**said, summary=summary, after=after)


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
    """Return the newest entries of the entered tenant on this target."""
    rows = AuditEntry.objects.filter(target=target).select_related("by")
    return list(rows.order_by("-at", "-pk")[:count])
