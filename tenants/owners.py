"""The owners of a tenant, who are told of every loosening of a safety rule."""

from __future__ import annotations

from django.utils.translation import get_language, override

from tenants import mails
from tenants.models import Staff, User, current_tenant
from tenants.roles import Owner
from tenants.wording import Sentence

LOOSENED, REQUESTED = "safety_loosened", "safety_asked"


def notify(kind: str, *, what: Sentence | str, who: User, second: User | None = None) -> None:
    """Write to every owner of the tenant in scope, within the transaction of what they are told."""
    tenant = current_tenant()
    said = {"tenant": tenant.name, "slug": tenant.slug, "who": str(who), "second": str(second or "")}
    queue_mails(kind, said, what=what)


def queue_mails(kind: str, values: dict[str, str], *, what: Sentence | str = "") -> None:
    """Write a mail of this kind to every owner of the tenant in scope; `what` in each one's own language."""
    rows = Staff.objects.filter(role=Owner.name, is_active=True, user__is_active=True)
    for row in rows.select_related("user").order_by("pk"):
        with override(row.user.language or get_language()):
            mails.queue(to=row.user, kind=kind, values={**values, "what": str(what)})
