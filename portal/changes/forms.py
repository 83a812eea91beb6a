"""The forms of bulk changes, which are filled in before the preview."""

from collections.abc import Callable, Iterable
from datetime import datetime, time
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi.limits import LATEST_YEAR
from accessapi.moments import is_in_range
from portal.base.ui.inputs import set_choices
from portal.base.ui.times import TOKYO
from portal.changes import plans
from portal.domain.jobs import suspensions
from portal.domain.jobs.forms import StartForm
from portal.domain.mirror.models import Group, Member
from portal.domain.mirror.queries import groups
from portal.domain.rights.forms import RightsSourceForm

DecideMember = Callable[[Member], plans.RowOrReason]
_LAST_DAY = datetime(LATEST_YEAR, 12, 31, tzinfo=TOKYO)


class ChangeForm(StartForm):
    """The common part of all forms: the start time. `decide` and `options` define the rows of the job."""

    @property
    def options(self) -> dict[str, Any]:
        return {}

    def decide(self, members: Iterable[Member]) -> DecideMember:
        raise NotImplementedError


class SuspendForm(ChangeForm):
    why = forms.CharField(
        label=_("Reason"), max_length=200, required=False, help_text=_("Staff see it on the member's page.")
    )

    @property
    def options(self) -> dict[str, Any]:
        why = str(self.cleaned_data["why"]).strip()
        return {"why": why} if why else {}

    def decide(self, members: Iterable[Member]) -> DecideMember:
        return plans.suspend((self.starts_at or timezone.now()).replace(microsecond=0))


class ResumeForm(ChangeForm):
    end = forms.ChoiceField(
        label=_("End of use"),
        choices=[
            ("former", _("As before the suspension (members not suspended here are skipped)")),
            ("none", _("No end date")),
        ],
        initial="former",
        widget=forms.RadioSelect,
    )

    def decide(self, members: Iterable[Member]) -> DecideMember:
        how = self.cleaned_data["end"]
        former = suspensions.former_ends(members) if how == "former" else {}
        return plans.resume(how, former, self.starts_at or timezone.now())


class ExtendForm(ChangeForm):
    how = forms.ChoiceField(
        label=_("New end date"),
        choices=[("to", _("Same date for all:")), ("by", _("Extend by a number of days:"))],
        initial="to",
        widget=forms.RadioSelect,
    )
    day = forms.DateField(
        label=_("Last day"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("Until 23:59:59 of that day."),
    )
    days = forms.IntegerField(
        label=_("Number of days"),
        required=False,
        min_value=1,
        max_value=3660,
        help_text=_("Counted from each member's end date. Members without an end date are skipped."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        field = "day" if cleaned.get("how") == "to" else "days"
        if cleaned.get("how") and field not in self.errors and not cleaned.get(field):
            self.add_error(field, _t("Enter a date.") if field == "day" else _t("Enter the number of days."))
        day = cleaned.get("day")
        if field == "day" and day is not None and not is_in_range(day):
            self.add_error("day", _t("The service does not support this date."))
        return cleaned

    def decide(self, members: Iterable[Member]) -> DecideMember:
        if self.cleaned_data["how"] == "by":
            return plans.extend_by(self.cleaned_data["days"])
        return plans.extend_to(datetime.combine(self.cleaned_data["day"], time(23, 59, 59), TOKYO))


class MoveForm(ChangeForm):
    group = forms.ChoiceField(label=_("Group"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = groups().values_list("membergroup_id", "membergroup_name")
        set_choices(self, group=[("", _t("Choose a group")), *known])

    @property
    def options(self) -> dict[str, Any]:
        group = Group.objects.filter(membergroup_id=self.cleaned_data["group"]).first()
        return {"group": str(group or self.cleaned_data["group"])}

    def decide(self, members: Iterable[Member]) -> DecideMember:
        return plans.move(self.cleaned_data["group"])


class RightsForm(RightsSourceForm, ChangeForm):
    @property
    def options(self) -> dict[str, Any]:
        return {"source": self.source_name}

    def decide(self, members: Iterable[Member]) -> DecideMember:
        return plans.rights(self.rights)


class DeleteForm(ChangeForm):
    def decide(self, members: Iterable[Member]) -> DecideMember:
        return plans.delete
