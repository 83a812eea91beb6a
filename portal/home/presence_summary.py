"""Estimate how many people are in the building. The headline shows how certain the number is."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.mirror.freshness import Freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.presence import people
from portal.domain.presence.door_directions import DoorDirections
from portal.domain.presence.people import Headcount
from portal.home.figures import OverviewFigures
from tenants.access import Access
from tenants.roles import Permission

AREAS_QUERY = "areas_with_doors"


@dataclass(frozen=True)
class PresenceSummary:
    """People in the building.

    `complete_until`: until when the log is complete; the number of members is based on it.
    """

    headline: str
    certainty: str
    detail: str
    complete_until: str
    href: str
    roll_call_url: str


def presence_summary(
    access: Access, found: OverviewFigures, fresh: Freshness, known: DoorDirections
) -> PresenceSummary | None:
    """Return the summary of who is in the building; None for people who may not see members."""
    if not found.has("last_doors"):
        return None
    slug, through = access.tenant.slug, fresh[MirrorKind.HISTORIES].as_of
    going = found.number("guests_going")
    guests = Headcount(found.number("guests_in") - going, going + found.number("guests_unmarked"))
    members = people.headcount_of(found.last_doors, known)
    words = {"members": members.total, "guests": guests.total}
    may_look = access.can(Permission.ROLL_CALL_VIEW)
    return PresenceSummary(
        (members + guests).headline(through),
        (members + guests).certainty_text,
        _("Members: %(members)d, guests: %(guests)d") % words,
        people.log_complete_text(through),
        url_in_tenant("guests:building", slug),
        url_in_tenant("rollcall:index", slug) if may_look else "",
    )
