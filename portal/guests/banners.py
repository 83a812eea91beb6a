"""A code that was cut short and may still open doors stands on top of every page until the service confirms."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.core.intents.states import Reason
from portal.core.ui import frame
from portal.core.ui.frame import Banner
from portal.core.visits.models import Visit
from portal.guests import cutting
from tenants.roles import Permission

_SHOWN = 3


def may_still_open(request: HttpRequest) -> Iterator[Banner]:
    """For the people of the desk, and for whoever answers for them."""
    if not request.access.can(Permission.GUESTS_DESK):  # type: ignore[attr-defined]
        return
    found = cutting.unconfirmed()
    for visit in found[:_SHOWN]:
        yield Banner(
            "alarm",
            _("%(name)s’s code may still open doors.") % {"name": visit},
            _why(visit),
            icon="alert-triangle",
            since=visit.must_end_at,
            action=_("See what to do") if needs_a_person(visit) else _("View"),
            action_url=address(request, visit),
            action_get=True,
        )
    more = len(found) - _SHOWN
    if more > 0:
        words = ngettext("%(n)d more code may still open doors.", "%(n)d more codes may still open doors.", more)
        yield Banner("alarm", words % {"n": more}, icon="alert-triangle")


def _why(visit: Visit) -> str:
    if visit.guest_id is None:
        return _("It is not known yet whether a code was issued. If so, it will be deactivated.")
    if needs_a_person(visit):
        return _("The portal cannot deactivate it. Someone needs to act.")
    return _("Deactivation was sent, but the service has not confirmed it yet. We keep trying.")


def needs_a_person(visit: Visit) -> bool:
    """Whether nothing more is sent by itself: the service refused, or whoever asked may no longer ask."""
    asked = visit.cut_intent
    return cutting.is_given_up(visit) or (asked is not None and asked.reason == Reason.RIGHTS)


def address(request: HttpRequest, visit: Visit) -> str:
    """The page of a visit, whether the service has named its guest or not."""
    slug = request.tenant.slug  # type: ignore[attr-defined]
    if visit.guest_id is None:
        return reverse("guests:visit", args=[slug, visit.pk])
    return reverse("guests:guest", args=[slug, visit.guest_id])


def register() -> None:
    frame.banner(may_still_open, when=lambda: cutting.may_still_open().only("pk"))
