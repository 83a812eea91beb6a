"""Load a roll call for its page and report: all listed people, with what wardens recorded about them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.base.ui import live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.people.text_folding import fold
from portal.domain.presence import people
from portal.domain.presence.people import Certainty, PersonInside
from portal.domain.visits.days import Day
from portal.rollcall.actions import TickRefusal
from portal.rollcall.models import ListedPerson, PersonStatus, RollCall, Tick

HEADLINE = gettext_lazy("%(safe)s of %(all)s safe, %(open)s unaccounted for, %(missing)s not found")
MARKED_BY = gettext_lazy("%(name)s, %(at)s")
# Texts that the phone shows with its own numbers.
PHONE_TEXTS = {
    "headline": HEADLINE,
    "by": MARKED_BY,
    "offline": gettext_lazy("Offline since %(at)s. Your check-offs are saved on this phone."),
    "signed_out": gettext_lazy("You are signed out. Sign in again to send your check-offs."),
    "no_right": gettext_lazy(
        "Check-offs not sent: you no longer have the permission “Run a roll call”. Ask an owner for it."
    ),
    "waiting": gettext_lazy("Offline since %(at)s, %(n)s not sent yet. Your check-offs are saved on this phone."),
}
# These ticks are sent again, because a lower number may become visible after a higher one.
_OVERLAP = 100


@dataclass(frozen=True)
class PersonRow:
    """A listed person. `ticks`: newest first; `left_text`: when and where they left, according to the log."""

    listed: ListedPerson
    ticks: Sequence[Tick]
    left_text: str

    @property
    def status(self) -> str:
        return self.ticks[0].status if self.ticks else PersonStatus.OPEN.value

    @property
    def status_label(self) -> str:
        return str(PersonStatus(self.status).label)

    @property
    def marked_by(self) -> str:
        """Return who recorded the status, and when."""
        return (
            ""
            if self.status == PersonStatus.OPEN
            else MARKED_BY % {"name": self.ticks[0].by, "at": Day.today().time_text(self.ticks[0].counts_at)}
        )

    @property
    def search_key(self) -> str:
        """Return the folded text by which the person is found."""
        return fold(f"{self.listed.name} {self.last_seen_text}")

    @property
    def last_seen_text(self) -> str:
        """Return where and when they were last seen, at the time of listing."""
        found = self.listed
        words = [found.belongs, found.area, f"{Day.today().time_text(found.at)} {found.place}".strip()]
        if found.certainty == Certainty.LIKELY:
            words.append(str(Certainty.LIKELY.label))
        elif not found.certainty:
            words.append(str(found.get_how_display()))
        return " · ".join(filter(None, words))


@dataclass(frozen=True)
class RollCallState:
    """The whole roll call. `new_people`: people seen in the building since the start who are not listed.

    A page that is updated automatically sends back `version` and `last_tick` as what it shows.
    """

    call: RollCall
    rows: list[PersonRow]
    new_people: list[PersonInside]
    version: str
    last_tick: int

    @cached_property
    def safe_count(self) -> int:
        return self._count(PersonStatus.SAFE)

    @cached_property
    def missing_count(self) -> int:
        return self._count(PersonStatus.MISSING)

    @property
    def open_count(self) -> int:
        return len(self.rows) - self.safe_count - self.missing_count

    @property
    def headline(self) -> str:
        return HEADLINE % {
            "safe": self.safe_count,
            "all": len(self.rows),
            "open": self.open_count,
            "missing": self.missing_count,
        }

    def _count(self, status: PersonStatus) -> int:
        return sum(row.status == status for row in self.rows)


def get_roll_call(call_id: int) -> RollCall:
    """Return the roll call with this ID. Raises Http404, also for another tenant's."""
    return get_row_or_404(RollCall.objects.select_related("started_by", "ended_by"), pk=call_id)


def all_calls() -> list[RollCall]:
    """Return the roll calls, the newest first."""
    return list(RollCall.objects.select_related("started_by", "ended_by").order_by("-started_at", "-pk")[:200])


def load_state(call: RollCall) -> RollCallState:
    """Return the whole roll call. People who are not accounted for come first."""
    ticks: dict[int, list[Tick]] = defaultdict(list)
    for each in Tick.objects.filter(roll_call=call).select_related("by").order_by("-counts_at", "-pk"):
        ticks[each.listed_id].append(each)
    moves = people.movements_since(call.started_at) if call.ended_at is None else people.Movements({}, [])
    listed = list(ListedPerson.objects.filter(roll_call=call))
    rows = [PersonRow(each, ticks[each.pk], _left_text(moves.departures.get(each.key))) for each in listed]
    order = {PersonStatus.OPEN.value: 0, PersonStatus.MISSING.value: 1, PersonStatus.SAFE.value: 2}
    rows.sort(key=lambda row: (order[row.status], fold(row.listed.name), row.listed.pk))
    keys = {each.key for each in listed}
    last = max((each.pk for found in ticks.values() for each in found), default=0)
    newcomers = [person for person in moves.arrivals if person.key not in keys]
    return RollCallState(call, rows, newcomers, _version(len(listed), moves), last)


def changes_since(call: RollCall, since: int) -> dict[str, Any]:
    """Return what a phone needs to update its page: ticks after the number `since`.

    `page` changes when more than ticks has changed: a person was listed, came or left.
    """
    ticks = Tick.objects.filter(roll_call=call)
    newest = ticks.aggregate(last=Max("pk"), number=Count("pk"))
    moves = people.movements_since(call.started_at) if call.ended_at is None else people.Movements({}, [])
    page = _version(ListedPerson.objects.filter(roll_call=call).count(), moves)
    last = newest["last"] or 0
    found: dict[str, Any] = {"page": page, "last": last, "ended": call.ended_at is not None}
    version = live_updates.version_of(found, newest["number"])
    if since < last:
        changed = ticks.filter(pk__gt=since - _OVERLAP).values("listed_id")
        rows = ticks.filter(listed_id__in=changed).select_related("by").order_by("counts_at", "pk")
        newest_of = {each.listed_id: PersonRow(ListedPerson(pk=each.listed_id), [each], "") for each in rows}
        found["rows"] = {key: [row.status, row.marked_by] for key, row in newest_of.items()}
    return found | {"version": version}


def not_saved_text(refused: Iterable[TickRefusal | None]) -> str:
    """Return how many ticks were not saved, and why; empty if all were saved."""
    counted = Counter(refused)
    words = {
        TickRefusal.UNREADABLE: ngettext(
            "%(n)d check-off not saved: it could not be read. Check the list and try again.",
            "%(n)d check-offs not saved: they could not be read. Check the list and try again.",
            counted[TickRefusal.UNREADABLE],
        ),
        TickRefusal.UNLISTED: ngettext(
            "%(n)d check-off not saved: the person is not on this list. Add them by name.",
            "%(n)d check-offs not saved: the people are not on this list. Add them by name.",
            counted[TickRefusal.UNLISTED],
        ),
        TickRefusal.LATE: ngettext(
            "%(n)d check-off not saved: the roll call had ended. The report does not show it.",
            "%(n)d check-offs not saved: the roll call had ended. The report does not show them.",
            counted[TickRefusal.LATE],
        ),
    }
    return " ".join(text % {"n": counted[why]} for why, text in words.items() if counted[why])


def _version(listed: int, moves: people.Movements) -> str:
    return live_updates.version_of(listed, sorted([*moves.departures, *(person.key for person in moves.arrivals)]))


def _left_text(departure: tuple[datetime, str] | None) -> str:
    if departure is None:
        return ""
    return _("left %(time)s %(place)s") % {"time": Day.today().time_text(departure[0]), "place": departure[1]}
