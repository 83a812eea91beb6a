"""The guests' parts of every page: warnings of deactivated codes that may still open doors, and search hits."""

from collections.abc import Iterator
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.base.ui.frame import Banner
from portal.base.ui.times import local
from portal.domain.intents.states import Reason
from portal.domain.visits.queries import find_by_guest_name
from portal.domain.visits.models import Visit
from portal.domain.visits.rows import visit_url
from portal.guests import deactivation
from tenants.access import TenantRequest
from tenants.roles import Permission

_MAX_BANNERS = 3
# The search finds guests of these last days. Older visits are in the month view.
_SEARCHED_DAYS = timedelta(days=8)


def code_banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield a banner for each deactivated code that may still open doors, for people with the desk's permission."""
    if not request.access.can(Permission.GUESTS_DESK):
        return
    found = deactivation.oldest_unconfirmed()
    for visit in found[:_MAX_BANNERS]:
        yield Banner(
            "alarm",
            _("%(name)s’s code may still open doors.") % {"name": visit},
            _unconfirmed_text(visit),
            icon="alert-triangle",
            since=visit.must_end_at,
            action=_("See what to do") if needs_manual_action(visit) else _("View"),
            action_url=visit_url(request.tenant.slug, visit),
            is_link=True,
        )
    more = len(found) - _MAX_BANNERS
    if more > 0:
        words = ngettext("%(n)d more code may still open doors.", "%(n)d more codes may still open doors.", more)
        yield Banner("alarm", words % {"n": more}, icon="alert-triangle")


def _unconfirmed_text(visit: Visit) -> str:
    if visit.guest_id is None:
        return _("It is not known yet whether a code was issued. If so, it will be deactivated.")
    if needs_manual_action(visit):
        return _("The portal cannot deactivate it. Someone needs to act.")
    return _("Deactivation was sent, but the service has not confirmed it yet. We keep trying.")


def needs_manual_action(visit: Visit) -> bool:
    """Return whether the portal sends nothing more: every way was refused, or the requester lost the permission."""
    asked = visit.cut_intent
    return deactivation.has_no_way_left(visit) or (asked is not None and asked.reason == Reason.RIGHTS)


def find_guests(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield guests of the last days whose name or host contains every word of `text`, current and next ones first."""
    found = find_by_guest_name(text).filter(use_date_end__gt=timezone.now() - _SEARCHED_DAYS)
    for visit in found.only("tenant_id", "guest_id", "guest_name", "company", "use_date_start", "use_date_end")[
        : command_palette.MAX_HITS
    ]:
        hours = f"{local(visit.use_date_start):%m-%d %H:%M} – {local(visit.use_date_end):%m-%d %H:%M}"
        yield Hit(
            str(visit),
            visit_url(request.tenant.slug, visit),
            "qrcode",
            " · ".join(filter(None, (visit.company, hours))),
        )
