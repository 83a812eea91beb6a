"""Forms to start or change a review, and to delegate items."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.times import today
from portal.domain.places.models import Area
from portal.reviews import assigning
from portal.reviews.models import NOTE_MAX
from tenants.models import User

MAX_AREAS = 100
_GROUP = "group-"


class ReviewerField(forms.ModelChoiceField):  # type: ignore[type-arg]  # takes no parameters at run time
    """A choice of the staff who may decide in reviews."""

    def __init__(self, **more: Any) -> None:
        super().__init__(queryset=User.objects.none(), **more)

    @staticmethod
    def set_people(field: Any, people: Sequence[User]) -> None:
        field.queryset = User.objects.filter(pk__in=[each.pk for each in people]).order_by("name", "email")


class _PlanForm(forms.Form):
    """The base form with title and due date. An unchanged date may be in the past, a new one may not."""

    title = forms.CharField(label=pgettext_lazy("review", "Title"), max_length=100)
    due_on = forms.DateField(
        label=_("Due date"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("Reviewers are reminded by e-mail 7 days and 1 day before, and once when it is overdue."),
    )

    def clean_due_on(self) -> Any:
        found = self.cleaned_data["due_on"]
        if found < today() and found != self.initial.get("due_on"):
            raise forms.ValidationError(_t("Choose today or a later date."))
        return found


class ChangeForm(ConflictForm, _PlanForm):
    """The form for values that can be changed while a review runs."""


class StartForm(_PlanForm):
    """The form to start a review. The same `nonce` starts only one."""

    field_order = ("title", "areas", "due_on", "split", "reviewers", "nonce")
    areas: Any = forms.ModelMultipleChoiceField(
        label=_("Areas"), queryset=None, widget=forms.CheckboxSelectMultiple, to_field_name="area_id"
    )
    split = forms.ChoiceField(
        label=pgettext_lazy("review", "Who reviews"),
        choices=(
            ("even", _("Split evenly among the reviewers below")),
            ("area", _("One reviewer per area: first area, first reviewer, and so on")),
        ),
        initial="even",
        widget=forms.RadioSelect,
        help_text=_("All rights of one person go to the same reviewer. You can assign groups and single items later."),
    )
    reviewers = forms.ModelMultipleChoiceField(
        label=_("Reviewers"), queryset=User.objects.none(), widget=forms.CheckboxSelectMultiple
    )
    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["areas"]
        chosen.queryset = Area.objects.order_by("pk")
        ReviewerField.set_people(self.fields["reviewers"], assigning.reviewers())

    def clean_areas(self) -> list[Area]:
        found = list(self.cleaned_data["areas"])
        if len(found) > MAX_AREAS:
            raise forms.ValidationError(
                _t("One review covers up to %(n)s areas. Select fewer areas.") % {"n": MAX_AREAS}
            )
        return found

    @property
    def rules(self) -> dict[str, Any]:
        """Return the rules that assign the reviewers: an area or group may have its own, `even` share the rest."""
        people = [each.pk for each in self.cleaned_data["reviewers"]]
        areas = self.cleaned_data["areas"] if self.cleaned_data["split"] == "area" else ()
        by_area = {area.area_id: people[n % len(people)] for n, area in enumerate(areas)}
        return {"even": people, "areas": by_area, "groups": {}}


class DelegateForm(forms.Form):
    to = ReviewerField(label=_("New reviewer"))
    note = forms.CharField(label=pgettext_lazy("review", "Note"), max_length=NOTE_MAX, required=False)

    def __init__(self, *args: Any, exclude: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ReviewerField.set_people(self.fields["to"], [each for each in assigning.reviewers() if each != exclude])


class GroupsForm(ConflictForm, forms.Form):
    """The form with a reviewer for each group, by the group's ID."""

    def __init__(self, data: Any, *, groups: Iterable[tuple[str, str, int]], assigned: Mapping[str, int]) -> None:
        super().__init__(data)
        self.assigned, self.people = assigned, {str(each.pk): each for each in assigning.reviewers()}
        choices = [("", _t("No change")), *((key, str(each)) for key, each in self.people.items())]
        self.waiting: dict[str, tuple[str, int]] = {}
        for group_id, name, count in groups:
            self.fields[f"{_GROUP}{group_id}"] = forms.ChoiceField(
                label=name or _t("No group"),
                choices=choices,
                initial=str(assigned.get(group_id, "")),
                required=False,
                widget=forms.Select(attrs={"class": "form-select"}),
            )
            before = self.waiting.get(f"{_GROUP}{group_id}", ("", 0))[1]  # the group may have been renamed since then
            self.waiting[f"{_GROUP}{group_id}"] = group_id, before + count

    @staticmethod
    def group_ids(data: Iterable[str]) -> list[str]:
        """Return the group IDs in a posted form."""
        return [name.removeprefix(_GROUP) for name in data if name.startswith(_GROUP)]

    def field_rows(self) -> list[tuple[forms.BoundField, int]]:
        """Return each group's field with its number of waiting items."""
        return [(self[name], count) for name, (_group_id, count) in self.waiting.items()]

    @property
    def chosen(self) -> dict[str, User]:
        """Return the groups whose reviewer was changed in the form, by ID. Other people's changes are kept."""
        selected = {group_id: self.cleaned_data[name] for name, (group_id, _count) in self.waiting.items()}
        return {key: self.people[pk] for key, pk in selected.items() if pk and str(pk) != str(self.assigned.get(key))}


class EverywhereForm(forms.Form):
    everywhere = forms.BooleanField(required=False)
