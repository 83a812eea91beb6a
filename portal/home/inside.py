"""How many people are in the building, with how certain that is in the headline itself."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.core.inside import people
from portal.core.inside.people import Number
from portal.core.inside.ways import Ways
from portal.core.mirror import places
from portal.core.mirror.freshness import Freshness
from portal.core.mirror.kinds import Kind
from portal.core.ui import together
from portal.core.ui.addresses import within
from portal.home.figures import Figures
from tenants.access import Access
from tenants.roles import Permission

AREAS = "areas_with_doors"


@dataclass(frozen=True)
class Inside:
    """People in the building; `through`: until when the log is complete, on which the number of members rests."""

    headline: str
    certainty: str
    detail: str
    through: str
    href: str
    roll_call_url: str


def told(access: Access, found: Figures, fresh: Freshness, known: Ways) -> Inside | None:
    """Return what may be known of who is in the building; None for whoever may not know of members."""
    if not found.has("last_doors"):
        return None
    slug, through = access.tenant.slug, fresh[Kind.HISTORIES].as_of
    going = found.number("guests_going")
    guests = Number(found.number("guests_in") - going, going + found.number("guests_unmarked"))
    members = people.number_of(found.last_doors, known)
    words = {"members": members.all, "guests": guests.all}
    may_look = access.can(Permission.ROLL_CALL_VIEW)
    return Inside(
        (members + guests).headline(through),
        (members + guests).certainty,
        _("Members: %(members)d, guests: %(guests)d") % words,
        people.complete_through(through),
        within("guests:building", slug),
        within("rollcall:index", slug) if may_look else "",
    )


def register() -> None:
    together.ask(AREAS, places.areas_with_doors, everywhere=False)
