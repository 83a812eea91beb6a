"""Record an intent and its audit row in one transaction, before anything is sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from accessapi.client import Image
from accessapi.operations import Delivery
from portal.base.timers.clock import database_now
from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import PHYSICAL_SECONDS, Attachment, Intent, Reason
from portal.domain.intents.nonces import Nonce
from tenants import audit
from tenants.access import TenantRequest
from tenants.audit import AuditAuthor
from tenants.models import SupportSession, Tenant, User
from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.roles import Permission
from tenants.sentences import Sentence

QUEUES = {Priority.DOORS: "doors", Priority.PEOPLE: "interactive", Priority.JOBS: "bulk", Priority.SYNC: "sync"}
_TARGET_LOCK = AdvisoryLock("intents.target")


@dataclass(frozen=True)
class Requester:
    """The person who makes a request, with the tenant and the support session, if any."""

    tenant: Tenant
    user: User
    support_session: SupportSession | None = None

    @classmethod
    def from_request(cls, request: TenantRequest) -> "Requester":
        return cls(request.tenant, request.user, request.access.support_session)

    @property
    def audit_author(self) -> AuditAuthor:
        """Return the author for the audit log: `audit.record(**by.audit_author, …)`."""
        return {"tenant": self.tenant, "by": self.user, "support_session": self.support_session}


@dataclass(frozen=True, kw_only=True)
class Command:
    """One request to the service, as the view makes it. It goes unchanged through every layer to its intent.

    `operation` is a name in the table of accessapi, `path` and `body` are its values, `target` is what it is about
    (`target_of`). `before` and `after` are stored in the audit log unencrypted: leave secrets out or mask them. `body`
    is stored encrypted. The audit log takes the title without names that must be erasable. `image` is sent as the body
    of operations that take one; `body` then only describes it.
    """

    permission: Permission
    operation: str
    title: Sentence | str
    target: str = ""
    path: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    snapshot: Any = None
    priority: Priority = Priority.PEOPLE
    image: Image | None = None


def record_intent(
    command: Command, *, by: Requester, nonce: Nonce, held: bool = False, automatic: bool = False
) -> tuple[Intent, bool]:
    """Return the intent of this nonce, and whether it is new. The same nonce returns the first one, unchanged.

    A `held` intent is a second step: it is not due before `actions.release` confirms the first. An `automatic` intent
    needs the permissions of `by`, but is recorded as the portal's.
    """
    intent = _build_intent(command, by, nonce, automatic=automatic)
    if held:
        intent.due_at, intent.reason = None, Reason.STEP_BEFORE
    try:
        with transaction.atomic():
            if intent.is_physical:
                lock_target(intent.tenant, intent.target)
            intent.save(force_insert=True)
            if command.image is not None:
                image = Attachment(
                    intent=intent, content=command.image.content, content_type=command.image.content_type
                )
                image.save(force_insert=True)
            audit.record(
                tenant=intent.tenant,
                action=intent.operation,
                target=intent.target,
                summary=intent.summary,
                before=command.before,
                after=command.after,
                intent_id=str(intent.pk),
                **audit_actor(intent),
            )
    except IntegrityError:
        return Intent.objects.get(nonce=intent.nonce), False
    return intent, True


def lock_target(tenant: Tenant, target: str) -> None:
    """Let only this transaction record intents for this door or key box until it ends. Waits for the lock.

    So the newest command has the highest number. A transaction that first looks for it, then records its own, cannot
    miss one.
    """
    _TARGET_LOCK.hold_until_commit(tenant.pk, target)


def _build_intent(command: Command, by: Requester, nonce: Nonce, *, automatic: bool) -> Intent:
    stated = by.tenant.environment.catalogue.find(command.operation)
    return Intent(
        tenant=by.tenant,
        nonce=nonce.value,
        operation=stated.name,
        delivery=str(stated.delivery),
        target=command.target,
        title=command.title,
        audit_title=_title_without_names(command.title),
        path=dict(command.path),
        body=command.body,
        snapshot=command.snapshot,
        by=by.user,
        support_session=by.support_session,
        automatic=automatic,
        permission=command.permission.value,
        priority=command.priority,
        queue=QUEUES[command.priority],
        deadline=_deadline(stated.delivery, nonce.clicked_at),
    )


def audit_actor(intent: Intent) -> dict[str, Any]:
    """Return the author that the audit log names for an intent and its outcome."""
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
