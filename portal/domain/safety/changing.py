"""Change a safety rule. Tightening applies at once; loosening needs a second person, unless an owner does it."""

from collections.abc import Callable
from datetime import timedelta
from enum import Enum

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.forms import BaseForm
from django.utils.translation import gettext as _

from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import Process, due
from portal.domain.intents.recording import Requester, lock_target
from portal.domain.safety.models import State, WaitingChange
from portal.domain.safety.rules import RULES, SafetyRule, SettingValues
from tenants import audit, owners
from tenants.access import TenantRequest, access_to
from tenants.models import User
from tenants.roles import Owner
from tenants.sentences import coded_sentence

CONFIRM_WITHIN = timedelta(days=7)


class NotChanged(ValueError):
    """Nothing was changed. The text gives the reason and the next step."""


class ChangeResult(Enum):
    """The result of a change."""

    UNCHANGED = "same"
    SAVED = "saved"
    WAITING = "waits"


def change(rule: SafetyRule, after: SettingValues, *, by: Requester, subject: str = "") -> ChangeResult:
    """Save a setting at once, or let it wait if it loosens the rule and `by` is not an owner. Raises NotChanged."""
    with transaction.atomic():
        _lock_setting(rule, subject, by)
        before = rule.read(subject)
        if before == after:
            return ChangeResult.UNCHANGED
        if not rule.is_looser(subject, before, after):
            _save(rule, subject, after, by)
            return ChangeResult.SAVED
        if by.support_session is not None:
            raise NotChanged(_("Nothing was changed. A support session cannot loosen a safety rule. Ask an owner."))
        access = access_to(by.user, by.tenant)
        if access is None or access.role is not Owner:
            _request_confirmation(rule, subject, before, after, by)
            return ChangeResult.WAITING
        title = rule.title(subject)
        _save(rule, subject, after, by)
        summary = coded_sentence("safety.loosened", rule=title)
        audit.record(**by.audit_author, action="safety.loosened", target=f"safety:{rule.name}", summary=summary)
        owners.notify(owners.LOOSENED, what=title, who=by.user)
    return ChangeResult.SAVED


def confirm(*, change: WaitingChange, by: Requester) -> State:
    """Save what another person requested.

    Return VOID if the setting or that person's permission has changed since. Raises NotChanged if the request has ended
    or this person may not confirm it.
    """
    with transaction.atomic():
        rule, row = _lock_change(change, by)
        if row.requested_by == by.user:
            raise NotChanged(
                _("Nothing was changed. Another person with your permission, or an owner, must confirm this.")
            )
        if not _may_change(row.requested_by, rule, by) or rule.read(row.subject) != row.before:
            _end(row, State.VOID, by)
            return State.VOID
        _end(row, State.CONFIRMED, by)
        _save(rule, row.subject, row.after, by)
        owners.notify(owners.LOOSENED, what=row.title, who=row.requested_by, second=by.user)
    return State.CONFIRMED


def decline(*, change: WaitingChange, by: Requester) -> State:
    """End a change without saving it: cancelled by the person who requested it, declined by others."""
    with transaction.atomic():
        _rule, row = _lock_change(change, by)
        state = State.WITHDRAWN if row.requested_by == by.user else State.REFUSED
        _end(row, state, by)
    return state


def expire(change_id: int) -> None:
    """End a change that was not confirmed in time."""
    with transaction.atomic():
        rows = WaitingChange.objects.select_for_update(of=("self",)).select_related("tenant")
        for row in rows.filter(pk=change_id, state=State.WAITING, due_at__lte=ClockTime()):
            _end(row, State.EXPIRED, None)


def waiting_changes() -> QuerySet[WaitingChange]:
    """Return the changes of the current tenant that can still be confirmed."""
    return WaitingChange.objects.filter(state=State.WAITING, due_at__gt=ClockTime())


def _lock_setting(rule: SafetyRule, subject: str, by: Requester) -> None:
    """Lock a setting until the transaction ends. Call it before any row is locked, to prevent deadlocks."""
    lock_target(by.tenant, f"safety:{rule.name}:{subject}")


def _may_change(user: User, rule: SafetyRule, by: Requester) -> bool:
    access = access_to(user, by.tenant)
    return access is not None and access.support_session is None and access.can(rule.permission)


def _lock_change(change: WaitingChange, by: Requester) -> tuple[SafetyRule, WaitingChange]:
    """Return a waiting change with its row locked, and its rule. Raises NotChanged if `by` may not decide about it."""
    rule = RULES.get(change.rule)
    if rule is None or by.support_session is not None or not _may_change(by.user, rule, by):
        raise NotChanged(
            _("Nothing was changed. You do not have permission to confirm or decline this change. Ask an owner.")
        )
    _lock_setting(rule, change.subject, by)
    rows = WaitingChange.objects.select_for_update(of=("self",)).select_related("requested_by", "tenant")
    row = rows.filter(pk=change.pk, state=State.WAITING).first()
    if row is None:
        raise NotChanged(_("Nothing was changed. This change is no longer waiting. Reload the page."))
    if row.due_at is None or row.due_at <= database_now():
        raise NotChanged(_("Nothing was changed. It was not confirmed in time. Submit the change again."))
    return rule, row


def _save(rule: SafetyRule, subject: str, after: SettingValues, by: Requester) -> None:
    """Save a setting. Waiting requests for its former value become void."""
    for row in _waiting_for(rule, subject):
        _end(row, State.VOID, by)
    rule.save(subject, after, by)


def _request_confirmation(
    rule: SafetyRule, subject: str, before: SettingValues, after: SettingValues, by: Requester
) -> None:
    title = rule.title(subject)
    for row in _waiting_for(rule, subject):
        if row.due_at is not None and row.due_at <= database_now():
            _end(row, State.EXPIRED, None)
        elif row.requested_by != by.user:
            raise NotChanged(
                _("Nothing was changed. Another change of this setting is waiting. Confirm or decline that one first.")
            )
        else:
            _end(row, State.WITHDRAWN, by)
    made = WaitingChange.objects.create(
        rule=rule.name, subject=subject, title=title, before=before, after=after,
        requested_by=by.user, due_at=database_now() + CONFIRM_WITHIN,
    )  # fmt: skip
    summary = coded_sentence("safety.asked", rule=title)
    audit.record(
        **by.audit_author,
        action="safety.asked",
        target=f"safety:{made.pk}",
        summary=summary,
        before=before,
        after=after,
    )
    owners.notify(owners.REQUESTED, what=title, who=by.user)


def _waiting_for(rule: SafetyRule, subject: str) -> list[WaitingChange]:
    rows = WaitingChange.objects.select_for_update(of=("self",)).select_related("requested_by", "tenant")
    return list(rows.filter(rule=rule.name, subject=subject, state=State.WAITING))


def _end(row: WaitingChange, state: State, by: Requester | None) -> None:
    """End a change and record it. Without `by`, the portal is the author."""
    author = by.audit_author if by is not None else {"tenant": row.tenant, "by": None, "by_label": audit.PORTAL_ACTOR}
    user = by.user if by is not None else None
    WaitingChange.objects.filter(pk=row.pk).update(state=state, ended_by=user, ended_at=ClockTime(), due_at=None)
    audit.record(
        **author,
        action=f"safety.{state}",
        target=f"safety:{row.pk}",
        summary=coded_sentence(f"safety.{state}", rule=row.title, who=row.requested_by),
    )


WAITING_CHANGES = Process(
    name="safety_changes",
    rows=due(WaitingChange, state=State.WAITING),
    step=expire,
    queue="sync",
    every=60.0,
    seconds=30,
)


def change_with_feedback(
    request: TenantRequest, action: Callable[[], ChangeResult], saved_text: str, form: BaseForm | None = None
) -> bool:
    """Run a change, and show that it was saved, waits for a second person, or was not changed.

    Return False if it was refused. Then the `form` gets the reason as an error and is shown again.
    """
    try:
        came = action()
    except NotChanged as why:
        if form is not None:
            form.add_error(None, str(why))
        else:
            messages.error(request, str(why))
        return False
    waits = _("Nothing was changed yet. Another person with your permission, or an owner, must confirm within 7 days.")
    if came is ChangeResult.WAITING:
        messages.warning(request, waits)
    else:
        messages.success(request, saved_text if came is ChangeResult.SAVED else _("Nothing was changed."))
    return True
