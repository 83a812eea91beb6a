"""A roll call as its page and report show it: everybody on it, with what was said of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.core.inside import people
from portal.core.inside.people import Certainty, Person
from portal.core.mirror.folding import fold
from portal.core.ui import watching
from portal.core.ui.addresses import row_or_404
from portal.core.visits.days import Day
from portal.rollcall.actions import Refusal
from portal.rollcall.models import Listed, RollCall, Said, Tick

HEADLINE = gettext_lazy("%(safe)s of %(all)s accounted for, %(open)s not yet, %(missing)s not found")
# What the phone says by itself, with its own numbers.
ON_PHONES = {
    "headline": HEADLINE,
    "offline": gettext_lazy("Offline. What you tick is kept on this phone."),
    "signed_out": gettext_lazy("You are signed out. Sign in again to send what you ticked."),
    "no_right": gettext_lazy("You no longer have permission to tick. What you ticked was not sent."),
    "waiting": gettext_lazy("Offline: %(n)s not sent yet. Your ticks are kept on this phone."),
}
# Ticks that are told again: one with a lower number may have come to be seen after one with a higher.
_AGAIN = 100


@dataclass(frozen=True)
class Row:
    """Somebody on the list. `ticks`: all that was said, the newest first; `left`: when they left by the log."""

    listed: Listed
    ticks: Sequence[Tick]
    left: str

    @property
    def said(self) -> str:
        return self.ticks[0].said if self.ticks else Said.OPEN.value

    @property
    def said_label(self) -> str:
        return str(Said(self.said).label)

    @property
    def told(self) -> str:
        """Who said so, and when."""
        return "" if self.said == Said.OPEN else f"{self.ticks[0].by}, {Day.today().clock(self.ticks[0].counts_at)}"

    @property
    def seen(self) -> str:
        """Where and when they were last seen, when they were listed."""
        found = self.listed
        words = [found.belongs, found.area, f"{Day.today().clock(found.at)} {found.place}".strip()]
        words.append(str(Certainty(found.certainty).label) if found.certainty else str(found.get_how_display()))
        return " · ".join(filter(None, words))


@dataclass(frozen=True)
class Sheet:
    """A roll call whole; `came`: who was seen in the building since it began and is not on the list.

    `mark` and the number of the `last` tick are what a page that follows says it shows.
    """

    call: RollCall
    rows: list[Row]
    came: list[Person]
    mark: str
    last: int

    @cached_property
    def safe(self) -> int:
        return self._said(Said.SAFE)

    @cached_property
    def missing(self) -> int:
        return self._said(Said.MISSING)

    @property
    def open(self) -> int:
        return len(self.rows) - self.safe - self.missing

    @property
    def headline(self) -> str:
        return HEADLINE % {"safe": self.safe, "all": len(self.rows), "open": self.open, "missing": self.missing}

    def _said(self, said: Said) -> int:
        return sum(row.said == said for row in self.rows)


def get(call_id: int) -> RollCall:
    """Return the roll call of this number; 404 exactly as for another tenant's."""
    return row_or_404(RollCall.objects.select_related("started_by", "ended_by"), pk=call_id)


def all_calls() -> list[RollCall]:
    """Return the roll calls, the newest first."""
    return list(RollCall.objects.select_related("started_by", "ended_by").order_by("-started_at", "-pk")[:200])


def sheet(call: RollCall) -> Sheet:
    """Return a roll call whole: whoever is not accounted for first."""
    ticks: dict[int, list[Tick]] = defaultdict(list)
    for each in Tick.objects.filter(roll_call=call).select_related("by").order_by("-counts_at", "-pk"):
        ticks[each.listed_id].append(each)
    moves = people.moved_since(call.started_at) if call.ended_at is None else people.Moves({}, [])
    listed = list(Listed.objects.filter(roll_call=call))
    rows = [Row(each, ticks[each.pk], _left(moves.left.get(each.key))) for each in listed]
    order = {Said.OPEN.value: 0, Said.MISSING.value: 1, Said.SAFE.value: 2}
    rows.sort(key=lambda row: (order[row.said], fold(row.listed.name), row.listed.pk))
    keys = {each.key for each in listed}
    last = max((each.pk for found in ticks.values() for each in found), default=0)
    came = [person for person in moves.came if person.key not in keys]
    return Sheet(call, rows, came, _mark(len(listed), moves), last)


def state(call: RollCall, since: int) -> dict[str, Any]:
    """Return what a phone needs to show a roll call as it is now, of ticks those after a number.

    `page` changes when there is more to draw than ticks: somebody was listed, came or left.
    """
    ticks = Tick.objects.filter(roll_call=call)
    newest = ticks.aggregate(last=Max("pk"), number=Count("pk"))
    moves = people.moved_since(call.started_at) if call.ended_at is None else people.Moves({}, [])
    page = _mark(Listed.objects.filter(roll_call=call).count(), moves)
    last = newest["last"] or 0
    found: dict[str, Any] = {"page": page, "last": last, "ended": call.ended_at is not None}
    seen = watching.mark(found, newest["number"])
    if since < last:
        changed = ticks.filter(pk__gt=since - _AGAIN).values("listed_id")
        rows = ticks.filter(listed_id__in=changed).select_related("by").order_by("counts_at", "pk")
        newest_of = {each.listed_id: Row(Listed(pk=each.listed_id), [each], "") for each in rows}
        found["rows"] = {key: [row.said, row.told] for key, row in newest_of.items()}
    return found | {"seen": seen}


def not_saved(refused: Iterable[Refusal | None]) -> str:
    """Return how many ticks were not saved, and why; empty when all were."""
    counted = Counter(refused)
    words = {
        Refusal.UNREADABLE: ngettext(
            "%(n)d tick not saved: it could not be read. Check the list and tick again.",
            "%(n)d ticks not saved: they could not be read. Check the list and tick again.",
            counted[Refusal.UNREADABLE],
        ),
        Refusal.UNLISTED: ngettext(
            "%(n)d tick not saved: the person is not on this list. Add them by name.",
            "%(n)d ticks not saved: the people are not on this list. Add them by name.",
            counted[Refusal.UNLISTED],
        ),
        Refusal.LATE: ngettext(
            "%(n)d tick not saved: the roll call had ended. Its report does not show it.",
            "%(n)d ticks not saved: the roll call had ended. Its report does not show them.",
            counted[Refusal.LATE],
        ),
    }
    return " ".join(text % {"n": counted[why]} for why, text in words.items() if counted[why])


def _mark(listed: int, moves: people.Moves) -> str:
    return watching.mark(listed, sorted([*moves.left, *(person.key for person in moves.came)]))


def _left(told: tuple[datetime, str] | None) -> str:
    if told is None:
        return ""
    return _("left %(time)s %(place)s") % {"time": Day.today().clock(told[0]), "place": told[1]}
