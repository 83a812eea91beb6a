"""Writing down what is asked, before anything is sent: one transaction with its audit row."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest

from accessapi.client import Image
from accessapi.operations import Delivery
from portal.core.budget.priorities import Priority
from portal.core.intents.models import Enclosure, Intent
from portal.core.intents.nonces import Nonce
from portal.core.intents.states import PHYSICAL_SECONDS, Reason
from portal.core.timers.clock import database_now
from tenants import audit
from tenants.models import SupportSession, Tenant, User
from tenants.roles import Permission
from tenants.wording import Said

QUEUES = {
    Priority.DOORS: "doors",
    Priority.PEOPLE: "interactive",
    Priority.JOBS: "bulk",
    Priority.SYNC: "sync",
}

# What the audit trail calls the site itself.
PORTAL = "portal"


@dataclass(frozen=True)
class Asker:
    """Who asks, for which tenant, and in which support session, if any."""

    tenant: Tenant
    user: User
    support_session: SupportSession | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> "Asker":
        return cls(request.tenant, request.user, request.access.support_session)


def record(
    *,
    by: Asker,
    permission: Permission,
    operation: str,
    title: Said | str,
    nonce: Nonce,
    target: str = "",
    path: Mapping[str, str] | None = None,
    body: Any = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    snapshot: Any = None,
    priority: Priority = Priority.PEOPLE,
    image: Image | None = None,
    held: bool = False,
    automatic: bool = False,
) -> tuple[Intent, bool]:
    """The intent of this nonce, and whether it is new. A second one with the same nonce finds the first, unchanged.

    `before` and `after` go to the audit trail in clear: leave secrets out or mask them. `body` rests encrypted. The
    trail takes the title without names that are to be forgotten one day.
    `image` is sent as the body of the operations that take one; `body` then only describes it. A `held` intent is not
    due before `actions.release`: a second step, whose first one is still to be confirmed. An `automatic` one needs the
    rights of `by` like any other, and is written down as the portal's own.
    """
    stated = by.tenant.environment.catalogue.operation(operation)
    intent = Intent(
        tenant=by.tenant,
        nonce=nonce.value,
        operation=operation,
        delivery=str(stated.delivery),
        target=target,
        title=title,
        audit_title=_unnamed(title),
        path=dict(path or {}),
        body=body,
        snapshot=snapshot,
        by=by.user,
        support_session=by.support_session,
        automatic=automatic,
        permission=permission.value,
        priority=priority,
        queue=QUEUES[priority],
        deadline=_deadline(stated.delivery, nonce.clicked_at),
    )
    if held:
        intent.due_at, intent.reason = None, Reason.STEP_BEFORE
    try:
        with transaction.atomic():
            intent.save(force_insert=True)
            if image is not None:
                _enclose(intent, image)
            audit.record(
                tenant=by.tenant,
                action=operation,
                target=target,
                summary=intent.summary,
                before=before,
                after=after,
                intent_id=str(intent.pk),
                **actor(intent),
            )
    except IntegrityError:
        return Intent.objects.get(nonce=nonce.value), False
    return intent, True


def actor(intent: Intent) -> dict[str, Any]:
    """Whom the audit trail names for an intent and what comes of it."""
    if intent.automatic:
        return {"by": None, "by_label": PORTAL}
    return {"by": intent.by, "support_session": intent.support_session}


def _unnamed(title: Said | str) -> Said | str:
    unnamed = title.unnamed if isinstance(title, Said) else title
    return "" if unnamed == title else unnamed


def _enclose(intent: Intent, image: Image) -> None:
    Enclosure.objects.create(
        tenant=intent.tenant, intent=intent, content=image.content, content_type=image.content_type
    )


def _deadline(delivery: Delivery, clicked_at: datetime | None) -> datetime | None:
    if delivery != Delivery.PHYSICAL:
        return None
    now = database_now()
    return min(now, clicked_at or now) + timedelta(seconds=PHYSICAL_SECONDS)
