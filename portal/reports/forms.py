"""Forms of reports (days and area) and of schedules (period, hour and recipients)."""

import uuid
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.times import local, today
from portal.domain.places.models import Area
from portal.reports import content, report_worker
from portal.reports.kinds import KINDS, ReportKind, may_see
from portal.reports.models import Every, Report, Schedule
from tenants.access import access_to
from tenants.models import Staff, User, current_tenant

# The log is kept for a year.
MAX_DAYS = 366


class _ChoicesForm(forms.Form):
    """The base form: the area, if the kind has one, and the form's nonce."""

    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)

    def __init__(self, *args: Any, kind: ReportKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        if kind.area_choice:
            self.fields["area"] = forms.ModelChoiceField(
                label=_("Area"),
                queryset=Area.objects.order_by("pk"),
                to_field_name="area_id",
                required=kind.area_choice == "must",
                empty_label=_("All doors") if kind.area_choice == "may" else None,
            )
            self.order_fields(["area", *(self.field_order or ())])

    @property
    def choices(self) -> Mapping[str, str]:
        """Return the choices without the days."""
        area = self.cleaned_data.get("area")
        return {"area": area.area_id, "area_name": area.area_name} if area is not None else {}


class RequestForm(_ChoicesForm):
    """The form for a report now. It has days, unless its kind describes the present moment."""

    first = forms.DateField(
        label=pgettext_lazy("report", "First day"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    last = forms.DateField(
        label=pgettext_lazy("report", "Last day"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )

    def __init__(self, *args: Any, kind: ReportKind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        if kind.is_as_of_now:
            del self.fields["first"], self.fields["last"]
        else:
            since, until = report_worker.last_period(kind.every, timezone.now())
            self.fields["first"].initial = local(since).date()
            self.fields["last"].initial = local(until).date() - timedelta(days=1)

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        first, last = found.get("first"), found.get("last")
        if first and last and last < first:
            self.add_error("last", _t("Choose a last day on or after the first day."))
        elif first and last and (last - first).days >= MAX_DAYS:
            self.add_error("last", _t("One report covers up to %(n)s days. Choose a shorter period.") % {"n": MAX_DAYS})
        return found

    def clean_last(self) -> date:
        found: date = self.cleaned_data["last"]
        if found > today():
            raise forms.ValidationError(_t("Choose today or an earlier day."))
        return found

    @classmethod
    def for_report(cls, report: Report, kind: ReportKind) -> "RequestForm":
        """Return the form filled in with the values of an existing report."""
        first, last = local(report.since).date(), local(report.until - timedelta(microseconds=1)).date()
        form = cls(kind=kind, initial={"area": report.choices.get("area")})
        for name, day in (("first", first), ("last", last)):
            if name in form.fields:
                form.fields[name].initial = day
        return form

    @property
    def period(self) -> tuple[datetime, datetime]:
        """Return the period as [since, until)."""
        if self.kind.is_as_of_now:
            now = timezone.now()
            return now, now
        since, until = content.period_of_days(self.cleaned_data["first"], self.cleaned_data["last"])
        return since, min(until, timezone.now())


class _DeliveryForm(forms.Form):
    """The hour at which a schedule's reports are created, and their recipients."""

    hour = forms.TypedChoiceField(
        label=pgettext_lazy("report", "Time"),
        choices=[(hour, f"{hour:02}:00") for hour in range(24)],
        coerce=int,
        initial=7,
    )
    language = forms.ChoiceField(
        label=pgettext_lazy("report", "Language"),
        choices=settings.LANGUAGES,
        help_text=_("For recipients who have not chosen a language. Others get the report in theirs."),
    )
    recipients = forms.ModelMultipleChoiceField(
        label=_("Send to"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Staff who can view this report. Checked again each time it is sent."),
    )

    def set_recipients(self, kind: ReportKind) -> None:
        """Set the recipients' choices: staff who may see reports of this kind."""
        field: Any = self.fields["recipients"]
        field.queryset = User.objects.filter(pk__in=[user.pk for user in staff_for(kind)]).order_by("name", "email")

    @property
    def delivery(self) -> dict[str, Any]:
        """Return the chosen values, as arguments of schedules."""
        people = [user.pk for user in self.cleaned_data["recipients"]]
        return {**{name: self.cleaned_data[name] for name in ("hour", "language")}, "recipients": people}


class ChangeForm(ConflictForm, _DeliveryForm):
    """The form for a schedule's hour, language and recipients. People who may no longer see the report are left out."""

    def __init__(self, data: Any, *, schedule: Schedule) -> None:
        super().__init__(data, initial={name: getattr(schedule, name) for name in ("hour", "language", "recipients")})
        self.set_recipients(KINDS[schedule.kind])


class ScheduleForm(_DeliveryForm, _ChoicesForm):
    every = forms.ChoiceField(
        label=pgettext_lazy("schedule", "How often"),
        choices=(
            (Every.WEEK, _("Every Monday, for the previous week")),
            (Every.MONTH, _("On the 1st, for the previous month")),
        ),
        widget=forms.RadioSelect,
    )
    field_order = ("area", "every", "hour", "language", "recipients")

    def __init__(self, *args: Any, kind: ReportKind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        self.fields["every"].initial = kind.every
        self.fields["language"].initial = get_language()
        self.set_recipients(kind)


def staff_for(kind: ReportKind) -> list[User]:
    """Return the staff who may see reports of a kind now."""
    staff = Staff.objects.filter(is_active=True, user__is_active=True).select_related("user")
    tenant = current_tenant()
    return [each.user for each in staff if may_see(access_to(each.user, tenant), kind.name)]
