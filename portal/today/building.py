"""Who is in the building, guests and, for those who may know, members: what is chosen of it, and its headline."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import ngettext

from portal.core.inside import people
from portal.core.inside.people import Certainty, Kind, Number, Person
from portal.core.log import gaps
from portal.core.mirror import freshness
from portal.core.mirror.folding import fold, terms
from portal.core.mirror.kinds import Kind as Mirror
from portal.core.ui.vocabulary import bracketed
from portal.core.visits.models import Visit
from portal.today import queries
from portal.today.queries import Building
from tenants.access import TenantRequest


@dataclass(frozen=True)
class Look:
    """What somebody chose, as the address has it; empty for everything."""

    order: str = "host"
    text: str = ""
    kind: str = ""
    certainty: str = ""
    area: str = ""

    @classmethod
    def of(cls, asked: QueryDict) -> "Look":
        order = asked.get("by", "")
        return cls(
            order if order in queries.ORDERS else "host",
            asked.get("q", "")[:80],
            asked.get("who", ""),
            asked.get("certainty", ""),
            asked.get("area", ""),
        )

    @property
    def query(self) -> str:
        """The address's query, without what is not chosen."""
        made = QueryDict(mutable=True)
        names = {"by": self.order if self.order != "host" else "", "q": self.text, "who": self.kind}
        made.update({k: v for k, v in (names | {"certainty": self.certainty, "area": self.area}).items() if v})
        return f"?{made.urlencode()}" if made else ""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.text or self.kind or self.certainty or self.area)

    def wants(self, person: Person) -> bool:
        """Whether somebody is among those who were chosen."""
        said = fold(f"{person.name} {person.belongs} {person.place}")
        return (
            self.kind in ("", person.kind)
            and self.certainty in ("", person.certainty)
            and self.area in ("", person.area)
            and all(word in said for word in terms(self.text))
        )


@dataclass(frozen=True)
class Everybody:
    """The page: `guests` as the desk has them, `members` (None for those who may not know), narrowed as `look` says."""

    guests: Building
    members: list[Person] | None
    look: Look
    everyone: list[Person] = field(repr=False)
    through: datetime | None = None  # until when the log is complete
    paused: str = ""  # that it stands still

    @property
    def headline(self) -> str:
        """How many there are, as the overview says it; of guests alone where members are not to be seen."""
        if self.members is None:
            n = len(self.guests.here)
            return ngettext("%(n)d guest on site", "%(n)d guests on site", n) % {"n": n}
        sure = sum(person.certainty == Certainty.ENTRY for person in self.everyone)
        number = Number(sure, len(self.everyone) - sure)
        return f"{number.headline(self.through)} {bracketed(number.certainty) if number.likely else ''}".strip()

    @property
    def log(self) -> str:
        """Until when the log is complete, which tells where members are."""
        return people.complete_through(self.through) if self.members is not None else ""

    @property
    def areas(self) -> list[str]:
        return sorted({person.area for person in self.everyone if person.area} | ({self.look.area} - {""}))

    @property
    def is_empty(self) -> bool:
        return not (self.guests.here or self.guests.unsure or self.members)


def everybody(request: TenantRequest, look: Look) -> Everybody:
    """Everybody who is in now, as far as this person may know, narrowed; a list for an emergency has no pages."""
    now, with_members = timezone.now(), people.may_see_members(request.access)
    found = queries.building(now, look.order)
    members = people.members(now) if with_members else None
    of_guests = {visit.pk: people.of_visit(visit) for visit in found.here}
    of_guests |= {visit.pk: people.of_visit(visit, is_unsure=True) for visit in found.unsure}

    def wanted(visits: list[Visit]) -> list[Visit]:
        return [visit for visit in visits if look.wants(of_guests[visit.pk])]

    narrowed = Building(found.at, wanted(found.here), wanted(found.unsure))
    chosen = None if members is None else [person for person in members if look.wants(person)]
    everyone = [*(members or []), *of_guests.values()]
    log = freshness.known(request)[Mirror.HISTORIES]
    return Everybody(narrowed, chosen, look, everyone, log.as_of, gaps.paused(log, is_brief=True))


def lines(found: Everybody) -> Iterator[list[str]]:
    """The list as a file: heads, guests, then members; last, how many, how certain that is, and by what log."""
    yield from queries.lines_of_building(found.guests)
    for person in found.members or []:
        seen = queries.moment(person.at)
        yield [person.name, person.belongs, "", "", seen, person.place, "", f"{Kind.MEMBER.label}: {person.why}"]
    yield from ([said] for said in (found.headline, found.log, found.paused) if said)
