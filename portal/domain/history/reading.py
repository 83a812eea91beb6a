"""Read the activity log (operation 23): new records, and records that devices reported late.

There are four readings. Each reads a span of time page by page, oldest first. Its position is stored in the memory of
the log's state, so that the next worker continues where the last one stopped.

- `read_new`: new records, starting shortly before the newest known one. The log is complete up to `MirrorState.as_of`,
  which moves with every page.
- `read_notified`: the moments of late records that notifications reported (`coverage.py`).
- `read_late`: the last hours or days again, from time to time. A device that was offline reports its records later,
  with their original times, which `read_new` has passed by then. If the last hours fit on one page, `read_new` starts
  that early instead, to save a call.
- `read_older`: an older day that a person requested (`coverage.py`).

Each history_id is stored once, so reading a span again adds no duplicates.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F

from accessapi.client import Answer, Client
from accessapi.errors import Invalid, Rejected, ServiceError, UnreadableAnswer
from accessapi.limits import HISTORY_RETENTION_DAYS, JST, PAGE_MAX
from portal.base.timers.clock import database_now
from portal.domain import events
from portal.domain.budget.client import client as budgeted
from portal.domain.budget.priorities import Priority
from portal.domain.events import READ_INTERVALS, MirrorKind
from portal.domain.history import coverage, records
from portal.domain.history.models import History, HistoryDay
from portal.domain.history.records import HistoryColumns, build_records, insert_records
from portal.domain.people import row_building
from portal.domain.sync import failure_reasons, schedule
from portal.domain.sync.models import MirrorState
from portal.domain.sync.schedule import MirrorLease, may_read_on
from tenants.models import Connection

log = structlog.get_logger(__name__)

# How far back the first reading goes. Later readings read the last known records again: at most OVERLAP and at most
# OVERLAP_RECORDS, so that a burst is read once. The last second is read again until it is over by both clocks.
FIRST_SPAN = timedelta(days=7)
OVERLAP, OVERLAP_RECORDS = timedelta(minutes=2), PAGE_MAX // 2
_SECOND, _SECOND_IS_OVER_AFTER = timedelta(seconds=1), timedelta(seconds=10)
# Pages show a wait for calls only if it is longer than this.
_SHORT_WAIT = timedelta(seconds=30)
# The late readings: (how often, how far back), and how many pages one turn may read for them.
LATE_SCHEDULE = {"hours": (timedelta(hours=1), timedelta(hours=6)), "days": (timedelta(days=1), timedelta(days=3))}
MAX_LATE_PAGES = 5
# The limits of one turn, because other kinds and tenants wait for it.
SLICE_SECONDS = 20
SLICE_PAGES = 25
MAX_VALUES = 50
# Outages that are stored: the minimum length, how long they are kept, and how many.
MIN_OUTAGE, OUTAGE_RETENTION, MAX_OUTAGES = timedelta(minutes=2), timedelta(days=30), 50


@dataclass
class LogSpan:
    """A reading in progress: its query and position. Times are texts, because it is stored as JSON."""

    since: str
    until: str = ""
    cursor: str = ""
    last: str = ""  # the moment of the last record so far
    fields: str = ""
    ordered: bool = True
    complete: bool = False
    seen: list[str] = field(default_factory=list)

    def query(self) -> dict[str, Any]:
        """Return the query for the next page; only the cursor differs between pages."""
        query = {"limit": PAGE_MAX, "sort": "asc", "since": self.since}
        query |= {name: value for name, value in (("until", self.until), ("fields", self.fields)) if value}
        return query | ({"last_evaluated_key": self.cursor} if self.cursor else {})


def advance(connection: Connection, lease: MirrorLease) -> None:
    """Read the log for one turn. Stored pages are kept if an error ends the turn."""
    turn = _Turn(connection, lease)
    try:
        turn.read_new()
        if turn.is_caught_up:
            turn.read_notified()
            turn.read_late()
            turn.read_older()
    except ServiceError as error:
        turn.handle_error(error)
        return
    turn.end()


class _Turn:
    """One worker's turn with a tenant's log."""

    def __init__(self, connection: Connection, lease: MirrorLease) -> None:
        self.connection, self.lease = connection, lease
        self.client: Client = budgeted(connection, lease.priority)
        state = MirrorState.objects.get(pk=lease.state_id)
        self.memory: dict[str, Any] = state.memory
        self.as_of: datetime | None = state.as_of
        self.stop_at = time.monotonic() + SLICE_SECONDS
        self.reading = "now"
        self.is_caught_up = False
        self.is_out_of_calls = False
        self.has_more_notified = False  # more late spans than one turn reads

    def read_new(self) -> None:
        """Read new records. The first call of a turn is always made, further ones while calls are free."""
        self.reading = "now"
        late_spans = coverage.waiting_late_spans()
        span = self._saved_span("now") or LogSpan(_text(self._start_of_new(late_spans)))
        self.is_caught_up = self._read_span(span, SLICE_PAGES)
        if not self.is_caught_up:
            return
        since = datetime.fromisoformat(span.since)
        if with_it := [each for each in late_spans if each[0] >= since]:
            coverage.remove_late_spans(with_it)
        if at := self.memory.pop("late_with_now", None):
            self.memory["late_at"] = {**self.memory["late_at"], "hours": at}
            self._save_memory()

    def read_notified(self) -> None:
        """Read the spans of late records that notifications reported, unless `read_new` has read them."""
        self.reading = "told"
        late_spans = coverage.waiting_late_spans()
        for since, until in late_spans[:MAX_LATE_PAGES]:
            if not may_read_on(self.connection, self.lease):
                return
            if not self._read_again(LogSpan(_text(since), until=_text(until + _SECOND))):
                return
            coverage.remove_late_spans([(since, until)])
        self.has_more_notified = len(late_spans) > MAX_LATE_PAGES

    def read_late(self) -> None:
        """Read the last hours or days again, when that is due or was not finished in the last turn."""
        self.reading = "late"
        span = self._saved_span("late") or self._due_late_span()
        if span is None or not may_read_on(self.connection, self.lease) or not self._read_again(span):
            return
        self.memory["late_at"] = {**self.memory.get("late_at", {}), **self.memory.pop("late_for", {})}
        self._save_memory()

    def _read_again(self, span: LogSpan) -> bool:
        """Read a span again and return whether it is finished. Errors do not stop the reading of new records."""
        try:
            return self._read_span(span, MAX_LATE_PAGES)
        except Rejected as error:
            # It is tried again when it is due again.
            log.warning("mirror_late_histories_refused", reason=failure_reasons.reason_of(error))
            self.memory.pop(self.reading, None)
            return True
        except ServiceError as error:
            log.info("mirror_late_histories_wait", reason=failure_reasons.reason_of(error))
            return False

    def read_older(self) -> None:
        """Read requested days, the newest first. They may use the calls of jobs, because the person saw the cost."""
        self.reading, self.client = "older", budgeted(self.connection, Priority.JOBS)
        while (requested := coverage.next_waiting_day()) and time.monotonic() < self.stop_at:
            begin = coverage.start_of_day(requested.day)
            if self.memory.get("older_day") != requested.day.isoformat():
                self.memory |= {"older": None, "older_day": requested.day.isoformat()}
            span = self._saved_span("older") or LogSpan(_text(begin), until=_text(begin + timedelta(days=1)))
            try:
                if not self._read_span(span, SLICE_PAGES):
                    return
            except (Rejected, UnreadableAnswer) as error:
                if failure_reasons.paused_until(error, database_now()) is not None:
                    raise
                self._finish_day(requested, reason=failure_reasons.reason_of(error)[:60])
            else:
                self._finish_day(requested, read_at=database_now())

    def _finish_day(self, requested: HistoryDay, **how: Any) -> None:
        self.memory.pop("older", None)
        with transaction.atomic():
            self.lease.renew()
            HistoryDay.objects.filter(pk=requested.pk).update(**how)
            known_from = datetime.fromisoformat(self.memory["known_from"])
            self.memory["known_from"] = _text(coverage.extend_known_from(known_from))
            self._save_memory()

    def handle_error(self, error: ServiceError) -> None:
        """Pause until calls are free, or store the reason. Discard the position if the service no longer accepts it."""
        if isinstance(error, (Invalid, UnreadableAnswer)) and self.memory.pop("now", None) is not None:
            self._save_memory()
        until = failure_reasons.paused_until(error, database_now())
        if until is not None:
            self._wait_for_calls(until, getattr(error, "retry_at", until), failure_reasons.reason_of(error))
            return
        self.memory.setdefault(coverage.FAILING_SINCE, _text(database_now()))
        MirrorState.objects.filter(pk=self.lease.state_id, lease=self.lease.token).update(memory=self.memory)
        self.lease.stop_after(error)

    def _wait_for_calls(self, until: datetime, expected: datetime, reason: str) -> None:
        """Pause until `until`. Pages show the wait unless calls are expected within _SHORT_WAIT."""
        now = database_now()
        if expected - now < _SHORT_WAIT:
            self.lease.pause(until)
            return
        self.memory[schedule.RESUMES_AT] = _text(expected)
        self.lease.pause(until, error=reason, error_at=now, memory=self.memory)

    def end(self) -> None:
        """Release the lease. The log is due again at once if there is more to read and calls are free."""
        if self.is_caught_up and self.as_of is not None:
            self.lease.complete(as_of=self.as_of)
            if self.has_more_notified or coverage.next_waiting_day():
                schedule.request_more(self.connection.tenant, MirrorKind.HISTORIES)
        elif self.is_out_of_calls:
            until = database_now() + timedelta(seconds=READ_INTERVALS[MirrorKind.HISTORIES])
            self._wait_for_calls(until, until, failure_reasons.NO_CALLS)
        else:
            self.lease.pause(database_now())

    def _read_span(self, span: LogSpan, pages: int) -> bool:
        """Read at most so many pages of a span and return whether it is complete."""
        for number in range(pages):
            self.is_out_of_calls = (
                number > 0 and self.reading != "older" and not may_read_on(self.connection, self.lease)
            )
            if self.is_out_of_calls or time.monotonic() > self.stop_at:
                return False
            requested_at = database_now()
            answer = self._request_page(span)
            self._save_page(span, answer, requested_at)
            if span.complete:
                return True
        return False

    def _request_page(self, span: LogSpan) -> Answer:
        """Return the next page. All pages of a reading are requested with the same fields."""

        def call(fields: str) -> Answer:
            return self.client.call("list_histories", query=replace(span, fields=fields).query())

        if span.cursor:
            return call(span.fields)
        if self.reading != "now":  # new records were read before, so the service accepts these fields
            span.fields = records.fields_to_request(self.memory)
            return call(span.fields)
        answer, span.fields = records.read_first_page(call, records.fields_to_request(self.memory), self.memory)
        return answer

    def _save_page(self, span: LogSpan, answer: Answer, requested_at: datetime) -> None:
        """Save a page's records and the position after it in one transaction."""
        _move_cursor(span, answer)
        page = answer.value
        if page.unreadable_rows:
            log.warning("mirror_histories_unreadable", records=len(page.unreadable_rows))
        before = datetime.fromisoformat(span.last or span.since)
        found = build_records(page.items, answer.data["histories"], before)
        if found:
            moments = [before] * bool(span.last) + [row.at for row in found]
            span.ordered &= all(one <= later for one, later in pairwise(moments))
            span.last = max(found[-1].at, before).isoformat()
        with transaction.atomic():
            self.lease.renew()
            self._insert_records(found)
            self._save_progress(span, requested_at)
            self._end_outage()
            self._save_memory()

    def _insert_records(self, found: list[HistoryColumns]) -> None:
        new = insert_records(found)
        for name in ("category", "status"):  # choices for filters: the specification has no complete list
            known = self.memory.get(name, [])
            self.memory[name] = list(
                dict.fromkeys([*known, *filter(None, (getattr(row, name)[:100] for row in found))])
            )[:MAX_VALUES]
        if new:
            MirrorState.objects.filter(pk=self.lease.state_id).update(total=F("total") + len(new))
            row_building.update_last_seen(new)
            if events.has_subscribers(MirrorKind.HISTORIES):
                rows = list(History.objects.filter(pk__in=new).order_by("at", "pk"))
                events.publish(MirrorKind.HISTORIES, self.connection.tenant, histories=rows)

    def _save_progress(self, span: LogSpan, requested_at: datetime) -> None:
        """Move `as_of` and save the position. The next page may have more records of a page's last second."""
        if self.reading == "now":
            self.memory.setdefault("known_from", span.since)
            through = self.as_of
            if span.complete:
                through = requested_at
            elif span.ordered and span.last:
                through = min(datetime.fromisoformat(span.last) - timedelta(seconds=1), requested_at)
            if through is not None and (self.as_of is None or through > self.as_of):
                self.as_of = through
        if span.complete:
            self.memory.pop(self.reading, None)
        elif self.reading != "told":  # late spans are split again by the records that are known then
            self.memory[self.reading] = asdict(span)

    def _end_outage(self) -> None:
        """Save the outage that has just ended, if any, to explain gaps on pages."""
        since = self.memory.pop(coverage.FAILING_SINCE, None)
        now = database_now()
        if since is not None and now - datetime.fromisoformat(since) >= MIN_OUTAGE:
            recent = [
                each for each in self.memory.get(coverage.OUTAGES, ()) if each[1] >= _text(now - OUTAGE_RETENTION)
            ]
            self.memory[coverage.OUTAGES] = [*recent, [since, _text(now)]][-MAX_OUTAGES:]

    def _save_memory(self) -> None:
        state = MirrorState.objects.filter(pk=self.lease.state_id, lease=self.lease.token)
        state.update(memory=self.memory, as_of=self.as_of, error="", error_at=None, failures=0)

    def _saved_span(self, name: str) -> LogSpan | None:
        known = self.memory.get(name)
        return LogSpan(**known) if known else None

    def _start_of_new(self, late_spans: Sequence[coverage.LateSpan]) -> datetime:
        """Return the start of the next reading of new records: shortly before the newest known record.

        The record's time is used, so that only the service's clock counts. The start is earlier if late records, or
        the hours that are due to be read again, fit on the same page.
        """
        now = database_now()
        if self.as_of is None:
            return now - FIRST_SPAN
        since = self._start_of_overlap(self.as_of)
        if late_spans and late_spans[0][0] < since and coverage.fits_on_page(late_spans[0][0]):
            since = late_spans[0][0]
        return max(min(since, self._start_with_late(now) or since), now - timedelta(days=HISTORY_RETENTION_DAYS))

    def _start_of_overlap(self, as_of: datetime) -> datetime:
        """Return the moment from which known records are read again."""
        known = History.objects.filter(at__lte=as_of, notified=False).order_by("-at").values_list("at", flat=True)
        newest = known.first()
        if newest is None:
            return as_of - OVERLAP
        since = newest - OVERLAP
        many = known.filter(at__gt=since)[OVERLAP_RECORDS : OVERLAP_RECORDS + 1]
        if many:
            since = many[0].replace(microsecond=0) + _SECOND
            newest = newest.replace(microsecond=0)
            since = min(since, newest if as_of < newest + _SECOND_IS_OVER_AFTER else newest + _SECOND)
        return since

    def _start_with_late(self, now: datetime) -> datetime | None:
        """Return a start for the reading of new records that includes the hours that are due to be read again.

        None when none are due, or when they do not fit on one page.
        """
        last_read = self.memory.get("late_at", {}).get("hours")
        every, back = LATE_SCHEDULE["hours"]
        if last_read is None or self.as_of is None or datetime.fromisoformat(last_read) + every > now:
            return None
        since = max(self.as_of - back, datetime.fromisoformat(self.memory["known_from"]))
        if not coverage.fits_on_page(since):
            return None
        self.memory["late_with_now"] = now.isoformat()
        return since

    def _due_late_span(self) -> LogSpan | None:
        """Return the longest late span that is due, or None. After the first reading, none is due."""
        now = database_now()
        if "late_at" not in self.memory:
            self.memory["late_at"] = {name: now.isoformat() for name in LATE_SCHEDULE}
            self._save_memory()
        marks = self.memory["late_at"]
        due = [name for name, (every, _) in LATE_SCHEDULE.items() if datetime.fromisoformat(marks[name]) + every <= now]
        if not due or self.as_of is None:
            return None
        self.memory["late_for"] = {name: now.isoformat() for name in due}
        back = max(LATE_SCHEDULE[name][1] for name in due)
        known_from = datetime.fromisoformat(self.memory.get("known_from") or _text(now - FIRST_SPAN))
        return LogSpan(_text(max(self.as_of - back, known_from)), until=_text(self.as_of))


def _move_cursor(span: LogSpan, answer: Answer) -> None:
    """Move a span's cursor after this page. Raises UnreadableAnswer when the service repeats a cursor."""
    next_cursor = answer.cursor
    if next_cursor is None:
        span.cursor, span.complete = "", True
        return
    mark = hashlib.blake2b(next_cursor.encode(), digest_size=6).hexdigest()
    if mark in span.seen:
        raise UnreadableAnswer("the list's cursor repeats", answer.status)
    span.seen.append(mark)
    span.cursor = next_cursor


def _text(moment: datetime) -> str:
    """Return a moment in the service's format, to the second."""
    return moment.astimezone(JST).replace(microsecond=0).isoformat()
