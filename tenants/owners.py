"""Mails to the owners of a tenant when a safety rule becomes less strict."""

from __future__ import annotations

from django.utils.translation import get_language, override

from tenants import mails
from tenants.models import Staff, User, current_tenant
from tenants.roles import Owner
from tenants.sentences import Sentence

LOOSENED, REQUESTED = "safety_loosened", "safety_asked"


def notify(kind: str, *, what: Sentence | str, who: User, second: User | None = None) -> None:
    """Notify every owner of the current tenant, within the transaction of the change."""
    tenant = current_tenant()
    facts = {"tenant": tenant.name, "slug": tenant.slug, "who": str(who), "second": str(second or "")}
    queue_mails(kind, facts, what=what)


def queue_mails(kind: str, values: dict[str, str], *, what: Sentence | str = "") -> None:
    """Queue a mail of this kind to every owner of the current tenant; `what` is in each owner's language."""
    rows = Staff.objects.filter(role=Owner.name, is_active=True, user__is_active=True)
    for row in rows.select_related("user").order_by("pk"):
        with override(row.user.language or get_language()):
            mails.queue(to=row.user, kind=kind, values={**values, "what": str(what)})
