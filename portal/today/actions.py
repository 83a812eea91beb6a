"""The desk's settings, newer data for an open page, and the notices after a step."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.db.models import TextChoices
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.ui.shown_values import ConflictForm
from portal.domain.events import MirrorKind
from portal.domain.intents.recording import Requester
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from portal.domain.safety.rules import SafetyRule, SettingValues, on_or_off
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from portal.domain.visits import checking_in
from portal.domain.visits.checking_in import UndoResult
from portal.domain.visits.days import Day
from portal.domain.visits.models import DeskAction, DeskSettings, SlipPaper, Visit
from portal.domain.visits.queries import desk_settings
from tenants import audit
from tenants.models import Tenant
from tenants.roles import Permission
from tenants.sentences import coded_sentence

# The service keeps guests for a week after the end. With fewer days, names would come back with the next list.
LEAST_DAYS, MOST_DAYS = 8, 3650
MOST_LINK_MINUTES = 525_600


class SettingsForm(ConflictForm, forms.ModelForm):  # type: ignore[type-arg]  # takes an argument in the stubs only
    """The form for the desk's settings."""

    keep_days = forms.IntegerField(
        label=gettext_lazy("Days to keep guests’ personal data"),
        min_value=LEAST_DAYS,
        max_value=MOST_DAYS,
        help_text=gettext_lazy(
            "Counted from the end of the visit. After that, name, company, host and e-mail are "
            "deleted; monthly figures still include the visit."
        ),
        error_messages={
            "invalid": gettext_lazy("Enter a whole number of days."),
            "required": gettext_lazy("Enter a whole number of days."),
        },
    )

    link_minutes = forms.IntegerField(
        label=gettext_lazy("Link expires after (minutes)"),
        required=False,
        min_value=0,
        max_value=MOST_LINK_MINUTES,
        help_text=gettext_lazy("0: valid as long as the code"),
        error_messages={"max_value": gettext_lazy("Enter at most one year.")},
    )

    class Meta:
        model = DeskSettings
        fields: ClassVar = ["arrives_by_history", "delivery", "link_minutes", "slip_paper", "keep_days"]
        labels: ClassVar = {
            "arrives_by_history": gettext_lazy("Check in at first use of the code"),
            "delivery": gettext_lazy("How codes reach guests"),
            "slip_paper": gettext_lazy("Paper of the label printer"),
        }
        help_texts: ClassVar = {
            "arrives_by_history": gettext_lazy(
                "If off, check-in is suggested and the desk confirms it with one click."
            ),
            "slip_paper": gettext_lazy("For slips. Badges are printed on A4, ten on a sheet."),
        }
        widgets: ClassVar = {"delivery": forms.RadioSelect}

    def clean_link_minutes(self) -> int:
        """Return the minutes; 0 for an empty field, which means no separate limit."""
        return int(self.cleaned_data["link_minutes"] or 0)


# Histories show arrivals and need one call each time. The list of guests needs a call for each 1,000 guests.
_REFRESH_AFTER = {MirrorKind.HISTORIES: timedelta(seconds=30), MirrorKind.GUESTS: timedelta(seconds=120)}


def save_settings(*, form: SettingsForm, by: Requester) -> ChangeResult:
    """Save a valid form. Raises NotChanged."""
    return changing.change(RULE, form.cleaned_data, by=by)


def _read(_subject: str) -> dict[str, Any]:
    row = desk_settings()
    return {name: getattr(row, name) for name in SettingsForm.base_fields}


def _save(subject: str, after: SettingValues, by: Requester) -> None:
    before = _read(subject)
    # The next run deletes what is too old by the new settings.
    DeskSettings.objects.update_or_create(defaults={**after, "erased_through": None})
    changed = [name for name in before if before[name] != after[name]]
    audit.record(
        **by.audit_author,
        action="desk.settings",
        target="desk",
        summary=coded_sentence("desk.settings"),
        before={name: str(before[name]) for name in changed},
        after={name: str(after[name]) for name in changed},
    )


def _setting_texts(_subject: str, values: SettingValues) -> dict[str, str]:
    labels = SettingsForm().fields
    return {str(labels[name].label): _value_text(values[name]) for name in SettingsForm.base_fields}


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return on_or_off(value)
    choices: list[type[TextChoices]] = [DeskSettings.Delivery, SlipPaper]
    return next((str(each(value).label) for each in choices if value in each.values), str(value))


# With more days, guests' data is kept longer than promised. With fewer days, data is deleted at once and for good.
RULE = SafetyRule(
    name="guest_retention",
    permission=Permission.GUESTS_MANAGE,
    title=lambda _subject: coded_sentence("safety_rule.guest_retention"),
    read=_read,
    is_looser=lambda _subject, before, after: after["keep_days"] != before["keep_days"],
    save=_save,
    describe=_setting_texts,
    page_route=lambda _subject: ("guests:settings",),
)


def request_refresh(tenant: Tenant) -> datetime | None:
    """Request outdated data again, once for all open pages. Return when histories were read; None if never."""
    now = timezone.now()
    states = {MirrorKind(state.kind): state for state in MirrorState.objects.filter(kind__in=list(_REFRESH_AFTER))}
    for kind, often in _REFRESH_AFTER.items():
        state = states.get(kind)
        is_requested = state is not None and state.due_at is not None and state.due_at <= now
        if state is not None and not is_requested and (state.as_of is None or state.as_of < now - often):
            schedule.request_reading(tenant, kind, by=None)  # the page does not wait for it
    histories = states.get(MirrorKind.HISTORIES)
    return histories.as_of if histories else None


@dataclass(frozen=True)
class BoardNotice:
    """A notice above the board. `undo_name`: the name of the person whose step the button undoes.

    It is empty if that is the step in `text`, and None if there is nothing to undo.
    """

    text: str
    visit: Visit | None = None
    undo_name: str | None = None
    is_refusal: bool = False


def notice_after(visit: Visit, by: Requester, day: Day) -> BoardNotice:
    """Return the notice after a step: the present status of the visit and of its party."""
    action = checking_in.last_action(by)
    is_own = action is not None and visit.pk in _visit_ids(action)
    text = _status_text(visit, day, len(action.changes) - 1 if action is not None and is_own else 0)
    return BoardNotice(text, visit, "" if is_own else _subject_of(action))


def notice_of_undo(done: UndoResult | None, by: Requester, day: Day) -> BoardNotice:
    """Return the notice after an undo: what was undone, and what can be undone next."""
    if done is None:
        return BoardNotice(_("Nothing to undo."), is_refusal=True)
    more = _subject_of(checking_in.last_action(by))
    if not done.visits:
        return BoardNotice(
            _("Not undone: the visit has changed since. Check the list."), undo_name=more, is_refusal=True
        )
    first = done.visits[0]
    return BoardNotice(_status_text(first, day, len(done.visits) - 1), first, more)


def _visit_ids(action: DeskAction) -> set[int]:
    return {visit_id for visit_id, _before, _after in action.changes}


def _status_text(visit: Visit, day: Day, others: int) -> str:
    facts = {"name": str(visit), "n": others}
    if visit.left_at is not None:
        text = _("%(name)s and %(n)d more: left at %(time)s.") if others else _("%(name)s left at %(time)s.")
        return text % {**facts, "time": day.time_text(visit.left_at)}
    if visit.arrived_at is not None:
        text = (
            _("%(name)s and %(n)d more: on site since %(time)s.") if others else _("%(name)s on site since %(time)s.")
        )
        return text % {**facts, "time": day.time_text(visit.arrived_at)}
    text = _("%(name)s and %(n)d more: not checked in.") if others else _("%(name)s is not checked in.")
    return text % facts


def _subject_of(action: DeskAction | None) -> str | None:
    """Return the guest's name of an action, for the undo button; None without an action."""
    if action is None:
        return None
    visit = Visit.objects.filter(pk=action.changes[0][0]).first()
    return str(visit) if visit is not None else ""
