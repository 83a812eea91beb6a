"""The desk's forms, and the fields that they share: areas and keys to choose from."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accessapi import limits


class AreasField(forms.MultipleChoiceField):
    """Areas as check boxes, limited to the service's maximum."""

    most, too_many = limits.GUEST_AREAS_MAX, _("You can select at most %(n)d areas.")

    def __init__(self, label: Any) -> None:
        said = {"invalid_choice": _("A selected area no longer exists. Choose again.")}
        super().__init__(label=label, required=False, widget=forms.CheckboxSelectMultiple, error_messages=said)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if len(set(value)) > self.most:
            raise ValidationError(self.too_many, params={"n": self.most})


class KeysField(AreasField):
    """Keys as check boxes, grouped by key box and limited to the service's maximum of boxes."""

    most, too_many = limits.GUEST_KEY_DEVICES_MAX, _("You can select keys from at most %(n)d key boxes.")

    def validate(self, value: Any) -> None:
        forms.MultipleChoiceField.validate(self, value)
        if len({each.partition("@")[2] for each in value}) > self.most:
            raise ValidationError(self.too_many, params={"n": self.most})
