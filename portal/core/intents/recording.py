"""Writing down what is asked, before anything is sent: one transaction with its audit row."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Required, TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.db import connection as database

from accessapi.client import Image
from accessapi.operations import Delivery
from portal.core.budget.priorities import Priority
from portal.core.intents.models import Enclosure, Intent
from portal.core.intents.nonces import Nonce
from portal.core.intents.states import PHYSICAL_SECONDS, Reason
from portal.core.timers.clock import database_now
from tenants import audit
from tenants.access import TenantRequest
from tenants.models import SupportSession, Tenant, User
from tenants.roles import Permission
from tenants.wording import Sentence

QUEUES = {Priority.DOORS: "doors", Priority.PEOPLE: "interactive", Priority.JOBS: "bulk", Priority.SYNC: "sync"}


class AuditAuthor(TypedDict):
    """Whom `audit.record_intent` names."""

    tenant: Tenant
    by: User
    support_session: SupportSession | None


@dataclass(frozen=True)
class Requester:
    """Who asks, for which tenant, and in which support session, if any."""

    tenant: Tenant
    user: User
    support_session: SupportSession | None = None

    @classmethod
    def from_request(cls, request: TenantRequest) -> "Requester":
        return cls(request.tenant, request.user, request.access.support_session)

    @property
    def audit_author(self) -> AuditAuthor:
        """Who asks, as the audit trail is told: `audit.record_intent(**by.audit_author, …)`."""
        return {"tenant": self.tenant, "by": self.user, "support_session": self.support_session}


class IntentDetails(TypedDict, total=False):
    """What is asked of the service, by whom and of what.

    `before` and `after` go to the audit trail in clear: leave secrets out or mask them. `body` rests encrypted. The
    trail takes the title without names that are to be forgotten one day. `image` is sent as the body of the operations
    that take one; `body` then only describes it. A `held` intent is not due before `actions.release`: a second step,
    whose first one is still to be confirmed. An `automatic` one needs the rights of `by` like any other, and is written
    down as the portal's own.
    """

    by: Required[Requester]
    permission: Required[Permission]
    operation: Required[str]
    title: Required[Sentence | str]
    nonce: Required[Nonce]
    target: str
    path: Mapping[str, str]
    body: Mapping[str, Any] | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    snapshot: Any
    priority: Priority
    image: Image
    held: bool
    automatic: bool


def record_intent(**asked: Unpack[IntentDetails]) -> tuple[Intent, bool]:
    """The intent of this nonce, and whether it is new. A second one with the same nonce finds the first, unchanged."""
    intent = _build_intent(asked)
    try:
        with transaction.atomic():
            if intent.is_physical:
                lock_target(intent.tenant, intent.target)
            intent.save(force_insert=True)
            if (image := asked.get("image")) is not None:
                enclosed = Enclosure(intent=intent, content=image.content, content_type=image.content_type)
                enclosed.save(force_insert=True)
            audit.record(
                tenant=intent.tenant,
                action=intent.operation,
                target=intent.target,
                summary=intent.summary,
                before=asked.get("before"),
                after=asked.get("after"),
                intent_id=str(intent.pk),
                **audit_actor(intent),
            )
    except IntegrityError:
        return Intent.objects.get(nonce=intent.nonce), False
    return intent, True


def lock_target(tenant: Tenant, target: str) -> None:
    """Let nobody else record for this door or key box until the transaction ends, and wait for whoever does.

    So the newest of its commands is the one with the highest number, and whoever looks for it first and then records
    his own cannot miss one.
    """
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{tenant.pk}:{target}"])


def _build_intent(asked: IntentDetails) -> Intent:
    by, title, nonce = asked["by"], asked["title"], asked["nonce"]
    stated = by.tenant.environment.catalogue.find(asked["operation"])
    priority, held = asked.get("priority", Priority.PEOPLE), asked.get("held", False)
    return Intent(
        tenant=by.tenant,
        nonce=nonce.value,
        operation=stated.name,
        delivery=str(stated.delivery),
        target=asked.get("target", ""),
        title=title,
        audit_title=_title_without_names(title),
        path=dict(asked.get("path") or {}),
        body=asked.get("body"),
        snapshot=asked.get("snapshot"),
        by=by.user,
        support_session=by.support_session,
        automatic=asked.get("automatic", False),
        permission=asked["permission"].value,
        priority=priority,
        queue=QUEUES[priority],
        deadline=_deadline(stated.delivery, nonce.clicked_at),
        **({"due_at": None, "reason": Reason.STEP_BEFORE} if held else {}),
    )


def audit_actor(intent: Intent) -> dict[str, Any]:
    """Whom the audit trail names for an intent and what comes of it."""
    if intent.automatic:
        return {"by": None, "by_label": audit.PORTAL_ACTOR}
    return {"by": intent.by, "support_session": intent.support_session}


def _title_without_names(title: Sentence | str) -> Sentence | str:
    unnamed = title.without_names if isinstance(title, Sentence) else title
    return "" if unnamed == title else unnamed


def _deadline(delivery: Delivery, clicked_at: datetime | None) -> datetime | None:
    if delivery != Delivery.PHYSICAL:
        return None
    now = database_now()
    return min(now, clicked_at or now) + timedelta(seconds=PHYSICAL_SECONDS)
