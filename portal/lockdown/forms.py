"""The form of the lockdown settings."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from portal.base.ui.shown_values import ConflictForm
from portal.domain.places.models import PassController
from portal.lockdown.models import LockdownSetting, Second


class _Doors(forms.MultipleChoiceField):
    """A choice of doors. Doors that no longer exist are left out."""

    def to_python(self, value: Any) -> list[str]:
        return [each for each in super().to_python(value) if self.valid_value(each)]


class SettingsForm(ConflictForm, forms.Form):
    """The form for the evacuation's doors and for what a second person confirms."""

    evacuation = forms.BooleanField(label=_("Allow the evacuation unlock of these doors"), required=False)
    door = _Doors(label=_("Doors of the evacuation unlock"), required=False)
    second = forms.ChoiceField(
        label=_("A second person has to confirm"),
        choices=Second.choices,
        required=False,
        error_messages={"invalid_choice": _("Choose what a second person confirms. Nothing was changed.")},
    )

    def __init__(self, kept: LockdownSetting, data: QueryDict | None = None) -> None:
        doors = PassController.objects.order_by("name_order", "pk").only("tenant_id", "device_id", "device_name")
        choices = [(door.device_id, str(door)) for door in doors]
        there = [key for key, _name in choices if key in kept.doors]
        super().__init__(data, initial={"evacuation": kept.evacuation, "door": there, "second": kept.second})
        self.fields["door"].choices = choices  # type: ignore[attr-defined]  # a choice field

    @property
    def wanted(self) -> dict[str, Any]:
        """Return the chosen values, as arguments of `change_settings`."""
        given = self.cleaned_data
        return {"evacuation": given["evacuation"], "doors": given["door"], "second": Second(given["second"])}
