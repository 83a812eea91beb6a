"""The forms of bulk changes, and their effect on each chosen member.

The functions at the end return the body to send and the former values of a member, or the reason to skip the member.
They only read the mirror. Times are aware, and are written in service time (+09:00).
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi.limits import LATEST_YEAR
from accessapi.moments import is_in_range
from accessapi.resources import write_moment
from portal.base.ui.inputs import set_choices
from portal.base.ui.times import TOKYO
from portal.domain.jobs import suspensions
from portal.domain.jobs.forms import StartForm
from portal.domain.people.member_fields import CODE, END, GROUP, NAME
from portal.domain.people.models import UNREADABLE, Group, Member
from portal.domain.people.queries import group_names
from portal.domain.rights import replacing
from portal.domain.rights.forms import RightsSourceForm

Body = dict[str, Any]
# The result for one member: the body and the values that it replaces, or the code of the reason to skip it.
RowOrReason = tuple[Body, Body] | str
DecideMember = Callable[[Member], RowOrReason]
# The shortest use period that the service certainly accepts.
_SHORTEST = timedelta(seconds=1)
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
        return end_use_at((self.starts_at or timezone.now()).replace(microsecond=0))


class ResumeForm(ChangeForm):
    end = forms.ChoiceField(
        label=_("End of use"),
        choices=[
            ("former", _("The end before the suspension (members not suspended here are skipped)")),
            ("none", _("No end date")),
        ],
        initial="former",
        widget=forms.RadioSelect,
    )

    def decide(self, members: Iterable[Member]) -> DecideMember:
        how = self.cleaned_data["end"]
        former = suspensions.former_ends(members) if how == "former" else {}
        return resume_use(how, former, self.starts_at or timezone.now())


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
            return extend_by(self.cleaned_data["days"])
        return extend_to(datetime.combine(self.cleaned_data["day"], time(23, 59, 59), TOKYO))


class MoveForm(ChangeForm):
    group = forms.ChoiceField(label=_("Group"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, group=[("", _t("Choose a group")), *group_names()])

    @property
    def options(self) -> dict[str, Any]:
        group = Group.objects.filter(membergroup_id=self.cleaned_data["group"]).first()
        return {"group": str(group or self.cleaned_data["group"])}

    def decide(self, members: Iterable[Member]) -> DecideMember:
        return move_to_group(self.cleaned_data["group"])


class RightsForm(RightsSourceForm, ChangeForm):
    @property
    def options(self) -> dict[str, Any]:
        return {"source": self.source_name}

    def decide(self, members: Iterable[Member]) -> DecideMember:
        return replace_rights(self.rights)


class DeleteForm(ChangeForm):
    def decide(self, members: Iterable[Member]) -> DecideMember:
        return delete_if_unchanged


def end_use_at(at: datetime) -> DecideMember:
    """Return the function that ends the use at a moment. Members who have ended are skipped.

    If the use begins later, it ends one second after it begins, because the service may refuse an empty period.
    """

    def decide(member: Member) -> RowOrReason:
        if member.use_end_key == UNREADABLE:
            return "unreadable"
        if member.use_date_end is not None and member.use_date_end <= at:
            return "ended"
        start = member.use_date_start
        return _set_end(member, start + _SHORTEST if start is not None and start >= at else at)

    return decide


def resume_use(how: str, former: Mapping[str, datetime | None], now: datetime) -> DecideMember:
    """Return the function that resumes the use.

    `how` is "former" (with the end from before the suspension, if known) or "none" (without an end).
    """

    def decide(member: Member) -> RowOrReason:
        if how == "none":
            return _remove_end(member, now)
        if member.member_id not in former:
            return "no_former"
        end = former[member.member_id]
        if end is not None and end <= now:
            return "former_over"
        return "same" if end == member.use_date_end else _set_end(member, end)

    return decide


def _remove_end(member: Member, now: datetime) -> RowOrReason:
    """Remove the end, unless the use has not ended: resuming must not give more than the member had."""
    if member.use_end_key == UNREADABLE:
        return "unreadable"
    if member.use_date_end is None:
        return "same"
    return "goes_on" if member.use_date_end > now else _set_end(member, None)


def extend_to(end: datetime) -> DecideMember:
    """Return the function that sets the same end for all."""

    def decide(member: Member) -> RowOrReason:
        if member.use_date_start is not None and member.use_date_start >= end:
            return "begins_later"
        if member.use_date_end is not None and member.use_date_end > end:
            return "ends_later"
        return "same" if member.use_date_end == end else _set_end(member, end)

    return decide


def extend_by(days: int) -> DecideMember:
    """Return the function that moves each end by this number of days."""

    def decide(member: Member) -> RowOrReason:
        if member.use_end_key == UNREADABLE:
            return "unreadable"
        if member.use_date_end is None:
            return "never_ends"
        if member.use_date_end.year + days // 365 + 1 > LATEST_YEAR:
            return "unreadable"
        return _set_end(member, member.use_date_end + timedelta(days=days))

    return decide


def move_to_group(membergroup_id: str) -> DecideMember:
    """Return the function that moves members into a group."""

    def decide(member: Member) -> RowOrReason:
        if member.membergroup_id == membergroup_id:
            return "same"
        return {GROUP.name: membergroup_id}, {GROUP.name: member.membergroup_id}

    return decide


def replace_rights(body: Mapping[str, Any]) -> DecideMember:
    """Return the function that replaces the rights. Unknown former rights are read before anything is sent."""

    def decide(member: Member) -> RowOrReason:
        return "same" if replacing.is_same(member, body) else (dict(body), replacing.current_parts(member, body))

    return decide


def delete_if_unchanged(member: Member) -> RowOrReason:
    """Return an empty body with the values shown in the preview, to delete only a member who is unchanged."""
    return {}, {field.name: field.written_value(member) for field in (NAME, CODE, GROUP, END)}


def _set_end(member: Member, end: datetime | None) -> tuple[Body, Body]:
    return {END.name: end and write_moment(end)}, {END.name: END.written_value(member)}
