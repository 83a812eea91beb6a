"""Register what other apps run or show: the banners and the end of changes that wait."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.base.ui import frame
from portal.base.ui.frame import Banner, Rank
from portal.domain.safety import changing
from portal.domain.safety.changing import waiting_changes
from portal.domain.safety.models import WaitingChange
from portal.domain.safety.rules import RULES
from tenants.access import TenantRequest
from tenants.sentences import register_sentences, register_subject, register_targets

# More of them would make the sheet of notices too long.
MAX_BANNERS = 2


def banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield banners of changes that this person may confirm, oldest first, and of the number of further ones."""
    if request.access.support_session is not None:
        return
    others = waiting_changes().select_related("requested_by").exclude(requested_by=request.user).order_by("pk")
    rows = [row for row in others if row.rule in RULES and request.access.can(RULES[row.rule].permission)]
    for row in rows[:MAX_BANNERS]:
        title = _("A change needs a second person: %(what)s.") % {"what": row.title}
        yield _banner(request, row, title, _("Requested by %(who)s.") % {"who": row.requested_by})
    if more := rows[MAX_BANNERS:]:
        text = ngettext(
            "%(n)d more change needs a second person.", "%(n)d more changes need a second person.", len(more)
        )
        yield _banner(request, more[0], text % {"n": len(more)}, "")


def _banner(request: TenantRequest, row: WaitingChange, title: str, text: str) -> Banner:
    return Banner(
        "note",
        title,
        text,
        icon="shield-lock",
        since=row.requested_at if text else None,
        action=_("Show change"),
        action_url=reverse("safety:change", args=[request.tenant.slug, row.pk]),
        is_link=True,
        rank=Rank.NOTE,
    )


frame.register_banners(banners, rows=lambda: changing.waiting_changes().only("pk"))
changing.WAITING_CHANGES.register()


register_subject("safety", gettext_lazy("Changes that need a second person"), "safety")
register_sentences(
    {
        "safety.loosened": gettext_lazy("Safety rule loosened by an owner: %(rule)s"),
        "safety.asked": gettext_lazy("Change requested that needs a second person: %(rule)s"),
        "safety.confirmed": gettext_lazy("Change confirmed as the second person, requested by %(who)s: %(rule)s"),
        "safety.refused": gettext_lazy("Change declined, requested by %(who)s: %(rule)s"),
        "safety.withdrawn": gettext_lazy("Change cancelled before it was confirmed: %(rule)s"),
        "safety.expired": gettext_lazy("Change expired before it was confirmed: %(rule)s"),
        "safety.void": gettext_lazy("Change no longer valid: %(rule)s"),
    }
)
register_targets({"safety": gettext_lazy("Safety rule")})
