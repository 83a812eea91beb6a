"""Deactivation of codes: a code is ended at the service and checked until a reading confirms the end.

The state is stored on the visit (`must_end_at`, with `cut_due_at` as its timer), so it survives restarts, a lost broker
and refused requests. Each attempt is a "setting" intent. The first one is sent for the person who requested it, the
others by the portal with that person's rights. Sending one twice does no harm. If the service refuses, the next method
of `deactivation_methods.METHODS` is tried. After the last one, staff see what they must do. Only a reading of the guest
(operation 21) confirms the end.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F, Q, QuerySet

from accessapi.errors import NotFound, ServiceError
from accessapi.resources import write_moment
from accessapi.resources.guests import Guest
from portal.base.restore import marking
from portal.base.timers.clock import ClockTime, database_now, growing_pause
from portal.base.timers.timer_registry import Process, due
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.intents import actions, handlers
from portal.domain.intents.actions import Requester
from portal.domain.intents.models import UNDER_WAY, Intent, Reason, State, target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from portal.domain.people.guest_fields import GUEST
from portal.domain.sync import single_reads
from portal.domain.visits.models import Stage, Visit
from portal.domain.visits.queries import UNCONFIRMED
from portal.guests import deactivation_methods, hours
from tenants import audit
from tenants.connections.service_clients import current_connection
from tenants.models import Connection
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence

log = structlog.get_logger(__name__)

_LEASE = timedelta(seconds=40)
# Seconds between two checks of pending requests, and the longest pause between two attempts without an answer.
_CHECK_AGAIN, _LONGEST_RETRY = 2.0, 300.0


def deactivate(*, visit: Visit, by: Requester, nonce: Nonce) -> Visit:
    """Set the end of this code to now (operation 22) and repeat until the service confirms it.

    A second call sends it again for the person who made that call. If it is unknown whether the code exists, it is
    ended as soon as that is known. Returns the visit with its current state.
    """
    with transaction.atomic():
        visit = Visit.objects.select_for_update(of=("self",)).get(pk=visit.pk)
        end = min(filter(None, (hours.now(), visit.must_end_at if visit.may_still_open else None)))
        Visit.objects.filter(pk=visit.pk).update(
            must_end_at=end,
            ended_confirmed_at=None,
            revive_intent=None,
            cut_by=by.user,
            cut_session=by.support_session,
            cut_due_at=ClockTime() + timedelta(seconds=_CHECK_AGAIN),
            cut_attempts=0,
            cut_way=0,
        )
        marking.release_row("codes", visit.pk)
        if visit.guest_id is None:
            _record_request(visit, by)
    visit.refresh_from_db()
    if visit.guest_id is None:
        if visit.intent is not None:  # stop a creation that was not sent yet; wait for any other
            actions.stop(visit.intent)
    else:
        send_deactivation(visit, nonce=nonce)
        _send_until_taken(visit)
    visit.refresh_from_db()
    return visit


def _record_request(visit: Visit, by: Requester) -> None:
    """Write the audit entry. Without a guest there is no intent that records the request."""
    audit.record(
        **by.audit_author,
        action="guest.cut_short",
        target=f"visit:{visit.pk}",
        summary=coded_sentence("guest.cut_short"),
    )


def send_deactivation(visit: Visit, *, nonce: Nonce | None = None) -> Intent | None:
    """Send the next request that ends the code, by the first method that is possible for this visit.

    With a nonce it is sent for the person who requested it, otherwise by the portal. Returns None, without sending, if
    no method is left. Older waiting changes of this guest are stopped.
    """
    if visit.must_end_at is None or visit.cut_by is None:
        raise ValueError("nobody asked for this code to be cut short")
    stop_older_changes(visit)
    method, body = deactivation_methods.next_body(visit, visit.cut_way, database_now())
    Visit.objects.filter(pk=visit.pk).update(cut_way=method)
    visit.cut_way = method
    if body is None:
        return None
    intent = actions.submit(
        Command(
            permission=Permission.GUESTS_DESK,
            operation="update_guest",
            target=target_of("guest", visit.guest_id),
            title=coded_sentence("guest.cut_short", guest=visit),
            path={"guest_id": str(visit.guest_id)},
            body=body,
            before={"use_date_end": write_moment(visit.use_date_end)},
            after=GUEST.audit_values(body),
        ),
        by=Requester(visit.tenant, visit.cut_by, visit.cut_session),
        nonce=nonce or Nonce(uuid.uuid4().hex),
        automatic=nonce is None,
    )
    Visit.objects.filter(pk=visit.pk).update(cut_intent=intent, cut_attempts=F("cut_attempts") + 1)
    visit.cut_intent = intent
    visit.cut_attempts += 1
    return intent


def _send_until_taken(visit: Visit) -> None:
    """Try the next method while the service refuses, then check the result."""
    while visit.cut_intent is not None and _is_refused(visit.cut_intent) and not are_all_methods_refused(visit):
        visit.cut_way += 1
        send_deactivation(visit)
    check_guest(visit)


def _is_refused(intent: Intent) -> bool:
    """Return whether the service rejected the request and would reject it again.

    An unknown token (401) or too many calls (429) do not count.
    """
    was_not_checked = intent.http_status in (401, 429)
    return intent.state == State.FAILED and intent.reason in (Reason.REFUSED, Reason.INVALID) and not was_not_checked


def are_all_methods_refused(visit: Visit) -> bool:
    """Return whether the service refused every method. Staff must then act on the member site."""
    return visit.cut_way >= len(deactivation_methods.METHODS)


def stop_older_changes(visit: Visit, than: Intent | None = None) -> None:
    """Stop waiting changes of this guest, all or those older than one: they would delay or undo the deactivation."""
    target = target_of("guest", visit.guest_id)
    waiting = Intent.objects.filter(target=target, operation="update_guest", state=State.QUEUED)
    older = waiting if than is None else waiting.filter(pk__lt=than.pk)
    for intent in older.select_related("tenant__environment", "by"):
        actions.stop(intent)


def process_due(visit_id: int) -> None:
    """Run the timer of one visit, in one process at a time. Safe to call any number of times."""
    due = Visit.objects.filter(pk=visit_id, cut_due_at__lte=ClockTime())
    if marking.is_waiting("codes", visit_id):
        due.update(cut_due_at=None)
        return
    if not due.update(cut_due_at=ClockTime() + _LEASE):
        return
    visit = Visit.objects.select_related("tenant__environment", "cut_by", "cut_session", "cut_intent").get(pk=visit_id)
    if not visit.may_still_open or visit.stage == Stage.NOT_ISSUED:
        _set_due(visit, None)
    elif visit.guest_id is None:
        _set_due(visit, _CHECK_AGAIN)
    elif visit.cut_intent is not None and visit.cut_intent.state in UNDER_WAY:
        if visit.cut_intent.state == State.QUEUED:
            stop_older_changes(visit, than=visit.cut_intent)
        _set_due(visit, _CHECK_AGAIN)
    else:
        _send_until_taken(visit)


def check_guest(visit: Visit) -> bool:
    """Read the guest once and act on the result: confirm the end, send again, or check later.

    Returns True if the end is confirmed.
    """
    line = current_connection()
    if not line.is_connected:
        _set_due(visit, _LONGEST_RETRY / 2)
        return False
    at = database_now()
    try:
        guest = single_reads.read_guest(line, str(visit.guest_id), Priority.PEOPLE, is_unshared=True)
    except NotFound:
        return _confirm(visit, at, gone=True)
    except BudgetExhausted as exhausted:
        Visit.objects.filter(pk=visit.pk).update(cut_due_at=exhausted.retry_at)
        return False
    except ServiceError:
        _set_due(visit, _retry_delay(visit))
        return False
    if apply_reading(visit, guest, at):
        return True
    _retry(visit)
    return False


def apply_reading(visit: Visit, guest: Guest, read_at: datetime) -> bool:
    """Save the hours from a reading on the visit.

    Return True if the reading proves that the deactivated code has ended.
    """
    start, end = guest.use_date_start or visit.use_date_start, guest.use_date_end or visit.use_date_end
    Visit.objects.filter(pk=visit.pk).update(use_date_start=start, use_date_end=end)
    visit.use_date_start, visit.use_date_end = start, end
    return visit.may_still_open and deactivation_methods.is_ended(visit, guest, read_at) and _confirm(visit, read_at)


def _retry(visit: Visit) -> None:
    """Send again if the code still works and the requester still has the permission, otherwise wait for staff.

    While a later end requested by staff is under way, nothing is sent: its result decides.
    """
    now = Visit.objects.select_related("revive_intent").get(pk=visit.pk)
    if not now.may_still_open or now.is_being_reactivated:
        _set_due(visit, _CHECK_AGAIN)
        return
    last = visit.cut_intent
    if last is not None and last.state in UNDER_WAY:
        _set_due(visit, _CHECK_AGAIN)
        return
    if are_all_methods_refused(visit) or (last is not None and last.reason == Reason.RIGHTS):
        _wait_for_a_person(visit)
        return
    pause = _retry_delay(visit)
    if last is None or last.finished_at is None or database_now() >= last.finished_at + timedelta(seconds=pause):
        # accepted, but the code still works: this method does not end it
        if last is not None and last.state == State.SUCCEEDED:
            visit.cut_way += 1
        if send_deactivation(visit) is None:
            _wait_for_a_person(visit)
            return
        pause = _CHECK_AGAIN
    _set_due(visit, pause)


def _wait_for_a_person(visit: Visit) -> None:
    """Set the timer to the end of the visit's hours. A guest list or staff can cause an earlier check."""
    Visit.objects.filter(pk=visit.pk).update(cut_due_at=visit.use_date_end + timedelta(seconds=_CHECK_AGAIN))


def _confirm(visit: Visit, read_at: datetime, *, gone: bool = False) -> bool:
    """Record that the end is confirmed. If a lost change might still arrive, check once more instead."""
    late = None if gone else _last_unanswered(visit)
    if late is not None and not handlers.proves_absence(late, read_at):
        Visit.objects.filter(pk=visit.pk).update(cut_due_at=late + handlers.MIN_ABSENCE_INTERVAL)
        return False
    values: dict[str, Any] = {"ended_confirmed_at": read_at, "cut_due_at": None}
    if gone:
        values["gone_at"] = read_at
    elif visit.must_end_at is not None:  # a later end than requested is the actual one
        values["must_end_at"] = max(visit.must_end_at, visit.use_date_end)
    Visit.objects.filter(pk=visit.pk, must_end_at=visit.must_end_at).update(**values)
    return True


def _last_unanswered(visit: Visit) -> datetime | None:
    """Return when a change that could make the code work again was last sent without a reliable answer."""
    lost = Intent.objects.filter(
        target=target_of("guest", visit.guest_id), operation="update_guest", sent_at__isnull=False
    )
    lost = lost.exclude(state=State.SUCCEEDED, attempts=1).exclude(http_status__gte=400, attempts=1)
    recent = lost.filter(sent_at__gt=database_now() - handlers.MIN_ABSENCE_INTERVAL).order_by("-sent_at")
    for intent in recent.only("tenant_id", "body", "sent_at")[:20]:
        end = (intent.body or {}).get("use_date_end")
        if end and visit.must_end_at and datetime.fromisoformat(end) > visit.must_end_at:
            return intent.sent_at
    return None


def check_soon(guest_id: str) -> None:
    """Check the guest now, because an intent about it has finished."""
    Visit.objects.filter(guest_id=guest_id, cut_due_at__gt=ClockTime()).update(cut_due_at=ClockTime())


def check_ended() -> None:
    """Check ended codes now, after a guest list was loaded. This confirms ends that were set on the member site."""
    Visit.objects.filter(UNCONFIRMED).filter(
        Q(cut_due_at__gt=ClockTime()) | Q(cut_due_at__isnull=True), use_date_end__lte=ClockTime()
    ).update(cut_due_at=ClockTime())


def on_connected(sender: Any, *, connection: Connection, **more: Any) -> None:
    """Try refused deactivations again, because a new connection may have the missing permission.

    Receiver of tenants.connections.oauth_grant.connected.
    """
    with tenant_scope(connection.tenant):
        Visit.objects.filter(UNCONFIRMED).update(cut_way=0, cut_attempts=0, cut_due_at=ClockTime())


def end_by_revival(revival: Intent) -> None:
    """End the deactivation, because the service accepted the later end that staff chose on purpose.

    Does nothing for other changes, or if the code was deactivated again since (see `deactivate`).
    """
    Visit.objects.filter(revive_intent=revival).update(
        must_end_at=None, ended_confirmed_at=None, cut_due_at=None, revive_intent=None
    )


ENDS = Process(
    name="codes_that_must_die",
    rows=due(Visit, "cut_due_at"),
    step=process_due,
    queue="interactive",
    every=2.0,
    seconds=50,
    order=("cut_due_at",),
)


def unconfirmed_visits() -> QuerySet[Visit]:
    """Return visits of the tenant in scope whose code was deactivated and may still open doors."""
    return Visit.objects.filter(UNCONFIRMED).exclude(stage=Stage.NOT_ISSUED)


def oldest_unconfirmed() -> list[Visit]:
    """Return at most 20 of `unconfirmed_visits`, oldest first."""
    return list(unconfirmed_visits().select_related("cut_by", "cut_intent").order_by("must_end_at", "pk")[:20])


def _set_due(visit: Visit, seconds: float | None) -> None:
    at = None if seconds is None else ClockTime() + timedelta(seconds=seconds)
    Visit.objects.filter(pk=visit.pk).update(cut_due_at=at)


def _retry_delay(visit: Visit) -> float:
    return growing_pause(_CHECK_AGAIN, visit.cut_attempts, _LONGEST_RETRY)
