"""Load who is in the building: guests and, for people with the permission, members; with filters and headline.

The list is used in an evacuation. It needs only the portal's database, so that it works while the service is down.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from portal.base.files.cells import CellValue
from portal.base.ui.times import local_or_none
from portal.base.ui.value_words import add_brackets
from portal.domain.events import MirrorKind as Mirror
from portal.domain.history import gaps
from portal.domain.people.text_folding import fold, search_terms
from portal.domain.presence import people
from portal.domain.presence.people import Certainty, Headcount, PersonInside, PersonKind
from portal.domain.sync import freshness
from portal.domain.visits import queries as visits
from portal.domain.visits.models import Visit
from tenants.access import TenantRequest

ORDERS = {"host": ("host_key", "name_key", "pk"), "name": ("name_key", "pk"), "time": ("arrived_at", "pk")}
_FIELDS = (
    "tenant_id", "guest_id", "guest_name", "company", "host_name", "host_key", "arrived_at", "arrived_by", "left_at",
    "use_date_start", "use_date_end", "last_use_at", "last_use_place", "first_use_place", "suggested_leave_at",
    "erased_at",
)  # fmt: skip


@dataclass(frozen=True)
class GuestsInside:
    """`on_site`: guests who arrived and did not leave. `unsure`: their code was used, but they are not checked in.

    `gone_count`: guests in `on_site` who used an exit but were not checked out.
    """

    at: datetime
    on_site: list[Visit]
    unsure: list[Visit]

    @property
    def gone_count(self) -> int:
        return sum(visit.suggested_leave_at is not None for visit in self.on_site)


def load_building(now: datetime, order: str = "host") -> GuestsInside:
    """Return all guests in the building, in two queries. A list for an emergency is not split into pages."""
    return GuestsInside(now, _rows(visits.present_visits(), order), _rows(visits.used_but_not_checked_in(now), order))


def _rows(visits: QuerySet[Visit], order: str) -> list[Visit]:
    return list(visits.only(*_FIELDS).order_by(*ORDERS.get(order, ORDERS["host"])))


def order_choices() -> list[tuple[str, str]]:
    """Return the sort orders as choices."""
    return [("host", _("host")), ("name", pgettext("sort", "name")), ("time", _("arrival"))]


def guest_lines(found: GuestsInside) -> Iterator[list[CellValue]]:
    """Yield the lines of a file: the headings, then a line for each guest."""
    yield [
        _("Guest"), _("Company"), _("Host"), _("Arrived"), _("Last seen"), _("Where"), _("Code valid until"),
        _("State"),
    ]  # fmt: skip
    for state, found_so in ((_("on site"), found.on_site), (_("code used, not checked in"), found.unsure)):
        for visit in found_so:
            yield [
                str(visit), visit.company, visit.host_name, local_or_none(visit.arrived_at),
                local_or_none(visit.last_use_at), visit.last_use_place, local_or_none(visit.use_date_end), state,
            ]  # fmt: skip


@dataclass(frozen=True)
class OccupancyFilter:
    """The filters in the address; empty for everyone."""

    order: str = "host"
    text: str = ""
    kind: str = ""
    certainty: str = ""
    area: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> "OccupancyFilter":
        order = query.get("by", "")
        return cls(
            order if order in ORDERS else "host",
            query.get("q", "")[:80],
            query.get("who", ""),
            query.get("certainty", ""),
            query.get("area", ""),
        )

    @property
    def query(self) -> str:
        """Return the address's query, without empty filters."""
        made = QueryDict(mutable=True)
        names = {"by": self.order if self.order != "host" else "", "q": self.text, "who": self.kind}
        made.update({k: v for k, v in (names | {"certainty": self.certainty, "area": self.area}).items() if v})
        return f"?{made.urlencode()}" if made else ""

    @property
    def filter_count(self) -> int:
        return sum(map(bool, (self.text, self.kind, self.certainty, self.area)))

    def matches(self, person: PersonInside) -> bool:
        """Check whether a person matches the filters."""
        text = fold(f"{person.name} {person.group_or_company} {person.place}")
        return (
            self.kind in ("", person.kind)
            and self.certainty in ("", person.certainty)
            and self.area in ("", person.area)
            and all(word in text for word in search_terms(self.text))
        )


@dataclass(frozen=True)
class Occupancy:
    """The page's data: `guests`, and `present_members` (None without the permission), filtered by `filter`."""

    guests: GuestsInside
    members: list[PersonInside] | None
    filter: OccupancyFilter
    everyone: list[PersonInside] = field(repr=False)
    through: datetime | None = None  # until when the log is complete
    paused_text: str = ""  # that updates are paused

    @property
    def headline(self) -> str:
        """Return the number of people as on the overview; only guests without the permission to see members."""
        if self.members is None:
            n = len(self.guests.on_site)
            return ngettext("%(n)d guest on site", "%(n)d guests on site", n) % {"n": n}
        sure = sum(person.certainty == Certainty.ENTRY for person in self.everyone)
        number = Headcount(sure, len(self.everyone) - sure)
        return f"{number.headline(self.through)} {add_brackets(number.certainty_text) if number.likely else ''}".strip()

    @property
    def log_text(self) -> str:
        """Return until when the log is complete. The list of members is based on it."""
        return people.log_complete_text(self.through) if self.members is not None else ""

    @property
    def areas(self) -> list[str]:
        return sorted({person.area for person in self.everyone if person.area} | ({self.filter.area} - {""}))

    @property
    def is_empty(self) -> bool:
        return not (self.guests.on_site or self.guests.unsure or self.members)


def load_occupancy(request: TenantRequest, look: OccupancyFilter) -> Occupancy:
    """Return everyone in the building that this person may see, filtered. An emergency list is not split into pages."""
    now, with_members = timezone.now(), people.may_see_members(request.access)
    found = load_building(now, look.order)
    members = people.present_members(now) if with_members else None
    of_guests = {visit.pk: people.person_of_visit(visit) for visit in found.on_site}
    of_guests |= {visit.pk: people.person_of_visit(visit, is_unsure=True) for visit in found.unsure}

    def matching(visits: list[Visit]) -> list[Visit]:
        return [visit for visit in visits if look.matches(of_guests[visit.pk])]

    narrowed = GuestsInside(found.at, matching(found.on_site), matching(found.unsure))
    chosen = None if members is None else [person for person in members if look.matches(person)]
    everyone = [*(members or []), *of_guests.values()]
    log = freshness.freshness_for(request)[Mirror.HISTORIES]
    return Occupancy(narrowed, chosen, look, everyone, log.as_of, gaps.paused_text(log, is_brief=True))


def file_lines(found: Occupancy) -> Iterator[list[CellValue]]:
    """Yield the lines of a file: headings, guests, members."""
    yield from guest_lines(found.guests)
    for person in found.members or []:
        yield [
            person.name,
            person.group_or_company,
            "",
            None,
            local_or_none(person.at),
            person.place,
            None,
            f"{PersonKind.MEMBER.label}: {person.reason}",
        ]


def file_notes(found: Occupancy) -> list[str]:
    """Return the notes of a file: the number and its certainty, and the log's state."""
    return [line for line in (found.headline, found.log_text, found.paused_text) if line]
