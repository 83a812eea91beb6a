"""Following what one form asked for, guest by guest, until each has a code or a reason."""

import dataclasses
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from portal.core.intents.states import State
from portal.core.intents.words import story
from portal.core.ui.outcomes import Outcome
from portal.core.visits.models import Stage, Visit
from portal.core.visits.queries import data_of_all

_WITH = ("by", "intent__by", "intent__tenant__environment", "preset")


@dataclass(frozen=True)
class Line:
    """One guest of a form: the visit, and its outcome line (it does not follow itself: the page asks for all)."""

    visit: Visit
    outcome: Outcome | None

    @property
    def is_going(self) -> bool:
        """Whether this may still change by itself."""
        if self.visit.stage != Stage.ASKED:
            return False
        return self.outcome is None or not self.outcome.is_final

    @property
    def needs_a_person(self) -> bool:
        """Uncertain, and reading cannot tell."""
        intent = self.visit.intent
        return intent is not None and intent.state == State.UNCERTAIN and intent.due_at is None

    @property
    def may_go_again(self) -> bool:
        """Surely without a code: it may be asked for again."""
        return self.visit.stage == Stage.NOT_ISSUED


def party(party_id: uuid.UUID) -> list[Line]:
    """What this form issued, in its order; empty for one that issued nothing."""
    return lines_of(Visit.objects.filter(party=party_id).select_related(*_WITH).order_by("pk"))


def lines_of(visits: Iterable[Visit]) -> list[Line]:
    """A line for each, with all their codes looked up at once."""
    rows = list(visits)
    codes = data_of_all(rows)
    for visit in rows:
        visit.__dict__["code_data"] = codes.get(visit.pk, "")
    return [Line(visit, _told(visit)) for visit in rows]


def _told(visit: Visit) -> Outcome | None:
    return dataclasses.replace(story(visit.intent), poll_url="") if visit.intent is not None else None
