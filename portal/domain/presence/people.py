"""People in the building, each with its certainty and the reason, by the directions of doors.

Members are known by their last passage of a door, guests by the desk. An entry is certain where leaving is recorded
too; everyone else who was seen and not seen leaving is likely to be in. People who were last seen before the day began
count as not in. People without a record are unknown, so every number is a minimum.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, TextChoices
from django.db.models.functions import JSONObject
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui.times import local
from portal.domain.history.models import History
from portal.domain.people.models import Guest, Member
from portal.domain.people.text_folding import fold
from portal.domain.places.models import Area
from portal.domain.places.queries import DoorDirection, directions_by_door, exit_doors
from portal.domain.presence.models import LastPassage
from portal.domain.visits import queries as visits
from portal.domain.visits.days import Day
from portal.domain.visits.models import By, Visit
from tenants.access import Access
from tenants.roles import Permission


@dataclass(frozen=True)
class DoorDirections:
    """The directions of a tenant's doors.

    `areas_entered`: the areas that each door leads into. `exits`: doors by which people leave the building.
    `certain_entrances`: doors that lead in where leaving is recorded too, so that a person who did not leave is in. If
    the tenant has an outside area, only doors that lead there are exits, because other doors lead to the next room.
    Otherwise each way out of an area counts as an exit, as for guests.
    """

    areas_entered: dict[str, list[DoorDirection]]
    exits: frozenset[str]
    certain_entrances: frozenset[str]

    def area_of(self, device_id: str) -> str:
        """Return the name of the area that a door leads into; empty if there is none."""
        return next((lead.name for lead in self.areas_entered.get(device_id, ())), "")


def load_door_directions(areas: Iterable[Area] | None = None) -> DoorDirections:
    """Return the directions of the tenant's doors, from these areas or from all, loaded in one statement."""
    known = directions_by_door(areas)
    everywhere = {lead.area_id for found in known.values() for lead in found if lead.is_outside}
    outside = {device for device, found in known.items() if any(each.area_id in everywhere for each in found)}
    out = {device for device in exit_doors(known) if not everywhere or device in outside}
    left = {lead.area_id for device in out for lead in known[device]}
    into = {
        device: [each for each in found if each.is_inward and not each.is_outside] for device, found in known.items()
    }
    sure = {
        device
        for device, found in into.items()
        if found and device not in out and (outside & out or any(each.area_id in left for each in found))
        and not any(each.is_outside and not each.is_inward for each in known[device])
    }  # fmt: skip
    return DoorDirections(into, frozenset(out), frozenset(sure))


# On the service's clock. A passage before this hour does not count any more, because no one stays so long.
DAY_START_HOUR = 4


class PersonKind(TextChoices):
    MEMBER = "member", gettext_lazy("Members")
    GUEST = "guest", gettext_lazy("Guests")


class Certainty(TextChoices):
    ENTRY = "entry", pgettext_lazy("in the building", "Confirmed")
    LIKELY = "likely", pgettext_lazy("in the building", "Likely")


@dataclass(frozen=True)
class PersonInside:
    """A person in the building.

    `key` is unique; `is_deleted`: the service has deleted the member.
    """

    key: str
    kind: PersonKind
    name: str
    group_or_company: str
    certainty: Certainty
    at: datetime
    place: str
    area: str
    reason: str
    is_deleted: bool = False


@dataclass(frozen=True)
class Movements:
    """Movements after a moment.

    `departures`: time and door of those who left, by their keys. `arrivals`: people who were seen inside.
    """

    departures: dict[str, tuple[datetime, str]]
    arrivals: list[PersonInside]


@dataclass(frozen=True)
class Headcount:
    """The number of people inside: `certain` by an entry, and `likely` more."""

    certain: int = 0
    likely: int = 0

    @property
    def total(self) -> int:
        return self.certain + self.likely

    def __add__(self, other: "Headcount") -> "Headcount":
        return Headcount(self.certain + other.certain, self.likely + other.likely)

    def headline(self, through: datetime | None) -> str:
        """Return how many people are in: about so many if some are only likely, otherwise at least so many.

        People without a record are unknown. `through`: until when the log is complete.
        """
        values = {"n": self.total}
        if through is None:
            return _("At least %(n)d in the building; the activity log is not loaded") % values
        return (_("About %(n)d in the building") if self.likely else _("At least %(n)d in the building")) % values

    @property
    def certainty_text(self) -> str:
        """Return how many are certain and how many likely; empty if all are certain."""
        values = {"sure": self.certain, "likely": self.likely}
        return _("%(sure)d confirmed, %(likely)d likely") % values if self.likely else ""


def log_complete_text(through: datetime | None) -> str:
    """Return until when the log is complete, which limits the number of members; empty if it is not loaded."""
    return _("Activity log complete through %(time)s") % {"time": Day.today().time_text(through)} if through else ""


def may_see_members(access: Access) -> bool:
    """Return True if a person may know which members are in: with permission for roll calls or for the whole log."""
    return access.can(Permission.ROLL_CALL) or access.can(Permission.LOGS_VIEW)


def day_start_of(now: datetime) -> datetime:
    """Return the moment before which a passage does not count at `now`."""
    start = local(now).replace(hour=DAY_START_HOUR, minute=0, second=0, microsecond=0)
    return start if start <= now else start - timedelta(days=1)


def present_members(now: datetime) -> list[PersonInside]:
    """Return the members who are in at `now`, by name. Members deleted by the service have their name from the log."""
    known = load_door_directions()
    rows = list(_counted_passages(now).exclude(device_id__in=known.exits))
    members = _members_by_id([row.member_id for row in rows])
    names = _names_in_log([row for row in rows if row.member_id not in members])
    found = [_person_of_passage(row, members.get(row.member_id), names.get(row.history_id, ""), known) for row in rows]
    return sorted(found, key=lambda each: (fold(each.name), each.key))


def count_by_last_door(now: datetime) -> QuerySet[LastPassage, Any]:
    """Return how many members passed each door last: one row for each door."""
    by_door = _counted_passages(now).order_by().values("device_id").annotate(n=Count("pk"))
    return by_door.values(door_count=JSONObject(door=F("device_id"), n=F("n")))


def headcount_of(doors: Mapping[str, int], known: DoorDirections) -> Headcount:
    """Return how many members are in, from the number who passed each of these doors last."""
    inward = {door: n for door, n in doors.items() if door not in known.exits}
    sure = sum(n for door, n in inward.items() if door in known.certain_entrances)
    return Headcount(sure, sum(inward.values()) - sure)


def movements_since(since: datetime) -> "Movements":
    """Return the members and guests who left the building after a moment, and those who were seen in it."""
    known = load_door_directions()
    rows = list(_counted_passages(since).filter(at__gt=since))
    inward = [row for row in rows if row.device_id not in known.exits]
    members = _members_by_id([row.member_id for row in inward])
    names = _names_in_log([row for row in inward if row.member_id not in members])
    came = [_person_of_passage(row, members.get(row.member_id), names.get(row.history_id, ""), known) for row in inward]
    left = {f"member:{row.member_id}": (row.at, row.device_name) for row in rows if row.device_id in known.exits}
    for visit in Visit.objects.filter(Q(left_at__gt=since) | visits.PRESENT & Q(arrived_at__gt=since)):
        if visit.left_at is None:
            came.append(person_of_visit(visit))
        else:
            left[f"guest:{visit.pk}"] = (visit.left_at, "")
    return Movements(left, came)


def present_guests(now: datetime) -> list[PersonInside]:
    """Return the guests who are in, and those whose code was used although they are not checked in."""
    present = [person_of_visit(visit) for visit in visits.present_visits()]
    unsure = [person_of_visit(visit, is_unsure=True) for visit in visits.used_but_not_checked_in(now)]
    return sorted([*present, *unsure], key=lambda each: (fold(each.name), each.key))


def person_of_visit(visit: Visit, *, is_unsure: bool = False) -> PersonInside:
    """Return a guest as a person in the building."""
    at, place = visit.last_use_at or visit.arrived_at or visit.use_date_start, visit.last_use_place
    likely = is_unsure or visit.suggested_leave_at is not None
    values = {"time": Day.today().time_text(at), "place": place or "–"}
    if is_unsure:
        why = _("code used %(time)s, %(place)s; not checked in") % values
    elif likely:
        why = _("last seen %(time)s at an exit: %(place)s") % values
    elif visit.arrived_by == By.HISTORY:
        why = _("came in by code, %(time)s, %(place)s") % values
    else:
        why = _("checked in at the desk, %(time)s") % {"time": Day.today().time_text(visit.arrived_at)}
    sure = Certainty.LIKELY if likely else Certainty.ENTRY
    return PersonInside(f"guest:{visit.pk}", PersonKind.GUEST, str(visit), visit.company, sure, at, place, "", why)


def _counted_passages(now: datetime) -> QuerySet[LastPassage]:
    """Return the passages that count at `now`, without those of guests."""
    is_guest = Exists(Guest.objects.filter(guest_id=OuterRef("member_id")))
    is_visit = Exists(Visit.objects.filter(guest_id=OuterRef("member_id")))
    return LastPassage.objects.filter(at__gte=day_start_of(now)).exclude(is_guest).exclude(is_visit)


def _members_by_id(member_ids: Collection[str]) -> dict[str, Member]:
    fields = ("tenant_id", "member_id", "member_name", "membergroup_name", "gone_at")
    return {each.member_id: each for each in Member.objects.filter(member_id__in=member_ids).only(*fields)}


def _names_in_log(rows: Collection[LastPassage]) -> dict[str, str]:
    """Return the names of people who are not in the list of members, from the log, by the record's number."""
    if not rows:
        return {}
    records = History.objects.filter(history_id__in=[row.history_id for row in rows], at__in=[row.at for row in rows])
    return dict(records.values_list("history_id", "member_name"))


def _person_of_passage(row: LastPassage, member: Member | None, name: str, known: DoorDirections) -> PersonInside:
    sure = row.device_id in known.certain_entrances
    values = {"time": Day.today().time_text(row.at), "place": row.device_name or row.device_id}
    if sure:
        why = _("entered %(time)s by %(place)s") % values
    elif known.areas_entered.get(row.device_id):
        why = _("last seen %(time)s at %(place)s, exits not recorded") % values
    else:
        why = _("last seen %(time)s at %(place)s, entry and exit not distinguished") % values
    return PersonInside(
        f"member:{row.member_id}",
        PersonKind.MEMBER,
        (member.member_name if member else name) or row.member_id,
        member.membergroup_name if member else "",
        Certainty.ENTRY if sure else Certainty.LIKELY,
        row.at,
        values["place"],
        known.area_of(row.device_id),
        why,
        is_deleted=member is None or member.gone_at is not None,
    )
