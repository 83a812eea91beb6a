"""What the pages of lockdowns show: the list, and the outcome of one lockdown for each door."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from portal.base.timers.clock import database_now
from portal.base.ui import live_updates
from portal.base.ui.chips import Chip
from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences, join_values
from portal.devices.door_orders import DONE, IDLE, MISSED, NEWER, SENDING, UNCERTAIN, calls_available_at
from portal.domain.intents.models import Intent, Reason
from portal.domain.intents.words import outcome_of
from portal.domain.places.models import DoorState
from portal.lockdown.door_outcomes import LockdownOutcome, count_results, door_order_of, door_outcomes
from portal.lockdown.models import Forecast, Lockdown, State
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection


class DoorLine:
    """A door in the list."""

    def __init__(self, each: LockdownOutcome, next_at: datetime | None) -> None:
        self.outcome, self.row, self.current_state, self.order = each, each.row, each.current_state, each.lockdown
        self._next_at = next_at

    @property
    def chip(self) -> Chip:
        if self.outcome.is_opened_since:
            return Chip("missed", _("Unlocked again"))
        if self.outcome.result == IDLE:
            return Chip("recorded", _("Rehearsal") if self.order.state == State.REHEARSED else _("Nothing sent"))
        if self.outcome.result == DONE:
            return Chip("held" if self.order.is_evacuation else "locked")
        return Chip(self.outcome.result)

    @property
    def sentence(self) -> str:
        """Return the text about what happened or would happen, why, and the next try."""
        if self.outcome.result == IDLE:
            return self._forecast_text if self.order.state == State.REHEARSED else ""
        if self.outcome.newer is not None:
            text = _("Newer command: %(what)s (%(who)s).")
            sentence = text % {"what": self.outcome.newer.title, "who": self.outcome.newer.requested_by}
            if self.outcome.is_in_progress or self.outcome.result == DONE:
                return sentence
            return join_sentences([sentence, _("Not retried.")])
        if self.row.request is None or self.outcome.result in (DONE, SENDING):
            return ""
        return join_sentences([self._reason_text(self.row.request), self.next_try_text])

    def _reason_text(self, last: Intent) -> str:
        """Return why a door was not reached.

        For uncertain requests, the usual text would wrongly exclude another try.
        """
        if self.outcome.result == UNCERTAIN and last.reason in Reason.values:
            return join_sentences([Reason(last.reason).label, _("It may have been carried out.")])
        return str(outcome_of(last).message)

    @property
    def _forecast_text(self) -> str:
        would = _("Would be held unlocked.") if self.order.is_evacuation else _("Would be locked.")
        return join_sentences([would, _FORECASTS[self.row.forecast]()])

    @property
    def at(self) -> datetime | None:
        """Return the time of the outcome."""
        last = self.outcome.last
        return None if last is None else last.finished_at or last.created_at

    @property
    def next_try_text(self) -> str:
        if not self.outcome.door_order.is_active:
            return _("Not retried: this has ended.")
        if self._next_at is None:
            return _("Not retried automatically.")
        return _("Next try at %(time)s.") % {"time": f"{local(self._next_at):%H:%M}"}


_FORECASTS: Mapping[str, Callable[[], str]] = {
    "": lambda: "",
    Forecast.OFFLINE: lambda: _("Offline, probably unreachable."),
    Forecast.UNKNOWN: lambda: _("Reachability unknown."),
    Forecast.CALLS: lambda: _("Delayed by the API call limit."),
}


class LockdownPage:
    """The content of a lockdown's page."""

    def __init__(self, order: Lockdown) -> None:
        self.order = order

    @cached_property
    def door_outcomes(self) -> list[LockdownOutcome]:
        return door_outcomes(self.order)

    @cached_property
    def counts(self) -> Counter[str]:
        return count_results(self.door_outcomes)

    @cached_property
    def blocked_reason(self) -> str:
        """Return why the portal cannot retry any door now; empty if it can, or if there is nothing to retry."""
        if not any(each.should_retry for each in self.door_outcomes):
            return ""
        return door_order_of(self.order).blocked_reason()

    @cached_property
    def lines(self) -> list[DoorLine]:
        free_at = calls_available_at() if any(each.should_retry for each in self.door_outcomes) else database_now()
        return [DoorLine(each, self._next_try_at(each, free_at)) for each in self.door_outcomes]

    def _next_try_at(self, each: LockdownOutcome, free_at: datetime) -> datetime | None:
        at = None if self.blocked_reason else each.next_try_at(self._connected_at)
        return None if at is None else max(at, free_at)

    @cached_property
    def _connected_at(self) -> datetime | None:
        return current_connection().granted_at

    @property
    def is_rehearsal(self) -> bool:
        return self.order.state == State.REHEARSED

    @property
    def is_active(self) -> bool:
        return self.order.state == State.ACTIVE

    @property
    def is_waiting_for_second(self) -> bool:
        """Check whether it still waits for a second person."""
        return self.order.state == State.REQUESTED and not self.is_unconfirmed

    @property
    def is_unconfirmed(self) -> bool:
        """Check whether no one confirmed it in time."""
        until = self.order.confirm_by
        return self.order.state == State.REQUESTED and (until is None or until <= database_now())

    @property
    def state(self) -> str:
        """Return the state of the lockdown as text."""
        return str(State.WITHDRAWN.label if self.is_unconfirmed else self.order.get_state_display())

    @property
    def headline(self) -> str:
        total = len(self.door_outcomes)
        if self.is_rehearsal or self.order.state in (State.REQUESTED, State.WITHDRAWN):
            text = ngettext("%(n)d door, nothing sent", "%(n)d doors, nothing sent", total) % {"n": total}
            return _("Rehearsal: %(said)s") % {"said": text} if self.is_rehearsal else text
        done = self.counts[DONE] - self.counts["opened"]
        if self.order.is_evacuation:
            text = ngettext("%(done)d of %(n)d door held unlocked", "%(done)d of %(n)d doors held unlocked", total)
        else:
            text = ngettext("%(done)d of %(n)d door locked", "%(done)d of %(n)d doors locked", total)
        return text % {"done": done, "n": total}

    @property
    def uncertainty(self) -> str:
        """Return the text about what is not certain; empty if every door is locked."""
        return join_values(self._uncertainties())

    def _uncertainties(self) -> Iterator[str]:
        counts = self.counts
        words = (
            (self._count_forecasts(Forecast.CALLS), _("%(n)d delayed by the API call limit")),
            (self._count_forecasts(Forecast.OFFLINE, Forecast.UNKNOWN), _("%(n)d possibly unreachable")),
            (counts["opened"], _("%(n)d unlocked again")),
            (counts[SENDING], _("%(n)d being sent")),
            (counts[MISSED], _("%(n)d not reached")),
            (counts[UNCERTAIN], _("%(n)d uncertain")),
            (counts[NEWER], _("%(n)d overridden")),
        )
        return (text % {"n": count} for count, text in words if count)

    def _count_forecasts(self, *expected: Forecast) -> int:
        return sum(each.row.forecast in expected for each in self.door_outcomes) if self.is_rehearsal else 0

    @property
    def tone(self) -> str:
        if self.is_rehearsal or not self.uncertainty:
            return "quiet"
        return "loud"

    @property
    def unreached_count(self) -> int:
        """Return the number of doors to which a person can send the command again."""
        return self.counts[MISSED] + self.counts[UNCERTAIN] if self.is_active else 0

    @property
    def held_before(self) -> list[str]:
        """Return the doors that were held unlocked at the start and are locked now."""
        held = (DoorState.HELD, DoorState.HELD_OPEN)
        return [str(each.row) for each in self.door_outcomes if each.row.before in held and each.result == DONE]

    @cached_property
    def version(self) -> str:
        """Return the version of the page."""
        doors = [
            (line.row.pk, line.outcome.result, line.sentence, line.outcome.is_opened_since, line.current_state)
            for line in self.lines
        ]
        return live_updates.version_of(self.state, self.order.by_id, self.blocked_reason, doors)


def doors_text(row: Lockdown) -> str:
    """Return the doors of the order as text."""
    return row.area_name or str(row.get_scope_display())


class Lockdowns(Table):
    name = "lockdowns"
    caption = gettext_lazy("Lockdowns")
    default_sort = "-started_at"
    columns = (
        Column("started_at", pgettext_lazy("lockdown", "Started"), kind="time", sort="started_at", phone="title"),
        Column("kind", pgettext_lazy("lockdown", "Order"), value=lambda row: str(row.get_kind_display())),
        Column("doors", gettext_lazy("Doors"), value=doors_text),
        Column("started_by", pgettext_lazy("lockdown", "By")),
        Column("state", pgettext_lazy("lockdown", "State"), value=lambda row: LockdownPage(row).state),
        Column("ended_at", pgettext_lazy("lockdown", "Ended"), kind="time"),
    )

    def __init__(self, request: TenantRequest, **more: Any) -> None:
        super().__init__(request, Lockdown.objects.select_related("started_by"), **more)

    @property
    def empty(self) -> EmptyState | None:
        return EmptyState(_("No lockdowns yet"), _("Locks many doors at once. A rehearsal sends nothing."), "lock")

    def row_href(self, row: Lockdown) -> str:
        return reverse("lockdown:page", args=[self.request.tenant.slug, row.pk])
