"""Fields that the desk's forms share: one line of text, moments of service time, names one per line."""

import unicodedata
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accessapi import limits
from portal.guests import hours

MOST_GUESTS = 50


def one_line(value: str) -> None:
    """Raise ValidationError for line breaks and control characters."""
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value):
        raise ValidationError(_("Line breaks and control characters cannot be used here."))


def plain(value: str) -> None:
    """The same for a text of several lines, in which line breaks may stand."""
    one_line(value.replace("\n", "").replace("\r", ""))


# Letters of no width or none to see: Hangul fillers and the blank of Braille.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"


def seen(value: str) -> None:
    """Raise ValidationError for a text of which nothing would be seen: nobody could find or greet such a guest."""
    if not any(unicodedata.category(one)[0] not in "CZ" and one not in _BLANK for one in value):
        raise ValidationError(_("Nothing can be seen of this text. Type it again."))


TOO_LONG = _("At most %(limit_value)d characters fit; these are %(show_value)d.")


def text(label: Any, most: int, needed: Any = "", **more: Any) -> forms.CharField:
    """A line of text with the service's limit; `needed` is what to say when it is missing."""
    said = {"max_length": TOO_LONG, "required": needed}
    return forms.CharField(
        label=label,
        max_length=most,
        validators=[one_line, *([seen] if needed else [])],
        error_messages=said,
        required=bool(needed),
        **more,
    )


class LinesField(forms.CharField):
    """Names, one per line; cleaned to a list without empty lines."""

    def __init__(self, **more: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 3}), required=False, validators=[plain], **more)

    def clean(self, value: Any) -> list[str]:
        names = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(names) >= MOST_GUESTS:
            raise ValidationError(_("At most %(n)d guests fit into one visit."), params={"n": MOST_GUESTS})
        long = [str(place) for place, name in enumerate(names, 1) if len(name) > limits.GUEST_NAME_MAX]
        for name in names:
            seen(name)
        if long:
            words = _("At most %(most)d characters fit into a name; too long: line %(lines)s.")
            raise ValidationError(words, params={"most": limits.GUEST_NAME_MAX, "lines": ", ".join(long)})
        return names


def moment(label: Any, *, required: bool = False, **more: Any) -> forms.DateTimeField:
    """A moment of service time (+09:00) in the browser's own control."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S")
    said = {"required": _("Give a date and a time.")}
    return forms.DateTimeField(label=label, required=required, widget=widget, error_messages=said, **more)


def sensible(at: datetime | None) -> datetime | None:
    """Raise ValidationError for years that no calendar of the service takes."""
    if at is not None and not hours.EARLIEST_YEAR <= at.year <= hours.LATEST_YEAR:
        raise ValidationError(_("Give a year from 1900 to 9998."))
    return at


class Areas(forms.MultipleChoiceField):
    """Areas as check boxes; at most as many as the service takes."""

    most, too_many = limits.GUEST_AREAS_MAX, _("At most %(n)d areas can be given.")

    def __init__(self, label: Any) -> None:
        said = {"invalid_choice": _("An area was chosen that is not there any more. Look again.")}
        super().__init__(label=label, required=False, widget=forms.CheckboxSelectMultiple, error_messages=said)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if len(set(value)) > self.most:
            raise ValidationError(self.too_many, params={"n": self.most})


class Keys(Areas):
    """Units of key boxes as check boxes, grouped by box; at most as many boxes as the service takes."""

    most, too_many = limits.GUEST_KEY_DEVICES_MAX, _("Keys of at most %(n)d key boxes can be given.")

    def validate(self, value: Any) -> None:
        forms.MultipleChoiceField.validate(self, value)
        if len({each.partition("@")[2] for each in value}) > self.most:
            raise ValidationError(self.too_many, params={"n": self.most})


def grace() -> forms.IntegerField:
    return forms.IntegerField(
        label=_("Minutes to return keys"),
        min_value=0,
        max_value=limits.GRACE_MINUTES_MAX,
        required=False,
        help_text=_("How long after the end keys can still be brought back."),
        error_messages={"invalid": _("Give a whole number of minutes.")},
    )


def email(label: Any, **more: Any) -> forms.EmailField:
    return forms.EmailField(label=label, max_length=limits.EMAIL_MAX, required=False, **more)
