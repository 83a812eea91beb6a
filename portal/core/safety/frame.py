"""A banner for those who can be the second person, while a change waits for one."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.safety.changing import waiting
from portal.core.safety.rules import RULES
from portal.core.ui import frame
from portal.core.ui.frame import Banner
from tenants.access import TenantRequest


def banners(request: TenantRequest) -> Iterator[Banner]:
    """Show each change that this person may confirm."""
    if request.access.support_session is not None:
        return
    for row in waiting().select_related("asked_by").exclude(asked_by=request.user).order_by("pk"):
        rule = RULES.get(row.rule)
        if rule is not None and request.access.can(rule.permission):
            yield Banner(
                "note",
                _("A change needs a second person: %(what)s.") % {"what": row.title},
                _("Requested by %(who)s.") % {"who": row.asked_by},
                icon="shield-lock",
                since=row.asked_at,
                action=_("Show change"),
                action_url=reverse("safety:change", args=[request.tenant.slug, row.pk]),
                action_get=True,
            )


def register() -> None:
    frame.banner(banners, when=lambda: waiting().only("pk"))
