"""The desk's forms, and the fields that they share: names one per line, areas and keys to choose from."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accessapi import limits
from portal.base.ui import inputs

MOST_GUESTS = 50


class LinesField(forms.CharField):
    """A field for names, one per line; cleaned to a list without empty lines."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            widget=forms.Textarea(attrs={"rows": 3}), required=False, validators=[inputs.validate_multiline], **more
        )

    def clean(self, value: Any) -> list[str]:
        names = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(names) >= MOST_GUESTS:
            raise ValidationError(_("A visit can have at most %(n)d guests."), params={"n": MOST_GUESTS})
        long = [str(place) for place, name in enumerate(names, 1) if len(name) > limits.GUEST_NAME_MAX]
        for name in names:
            inputs.validate_visible(name)
        if long:
            words = _("Names can have at most %(most)d characters. Too long: line %(lines)s.")
            raise ValidationError(words, params={"most": limits.GUEST_NAME_MAX, "lines": ", ".join(long)})
        return names


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


def offer(form: forms.Form, **choices: Iterable[Any]) -> None:
    """Set the choices of these fields of a form."""
    for name, listed in choices.items():
        field = form.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = list(listed)
