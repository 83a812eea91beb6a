"""Inputs that forms share: a line of text, a text of several lines, a moment of service time."""

import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

TOO_LONG = _("At most %(limit_value)d characters (currently %(show_value)d).")
# Years that a calendar of the service takes.
EARLIEST_YEAR, LATEST_YEAR = 1900, 9998
# Letters of no width or none to see: Hangul fillers and the blank of Braille.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"
_MOMENT = "%Y-%m-%dT%H:%M:%S"


def one_line(value: str) -> None:
    """Raise ValidationError for line breaks and control characters."""
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value):
        raise ValidationError(_("Line breaks and control characters cannot be used here."))


def plain(value: str) -> None:
    """The same for a text of several lines, in which line breaks may stand."""
    one_line(value.replace("\n", "").replace("\r", ""))


def seen(value: str) -> None:
    """Raise ValidationError for a text of which nothing would be seen: nobody could find or greet such a person."""
    if not any(unicodedata.category(one)[0] not in "CZ" and one not in _BLANK for one in value):
        raise ValidationError(_("This text has no visible characters. Enter it again."))


def sensible(at: datetime | None) -> None:
    """Raise ValidationError for years that no calendar of the service takes."""
    if at is not None and not EARLIEST_YEAR <= at.year <= LATEST_YEAR:
        raise ValidationError(_("Enter a year from 1900 to 9998."))


def line(
    label: Any, most: int, missing: Any = "", *, validators: Sequence[Callable[[str], None]] = (), **more: Any
) -> forms.CharField:
    """A line of text of at most so many characters; `missing` is what to say when it must be given and is not."""
    return forms.CharField(
        label=label,
        max_length=most,
        validators=[one_line, *validators],
        error_messages={"max_length": TOO_LONG, "required": missing},
        required=bool(missing),
        **more,
    )


def lines(label: Any, most: int, **more: Any) -> forms.CharField:
    """A text of several lines, which may be left out."""
    return forms.CharField(
        label=label,
        max_length=most,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        validators=[plain],
        error_messages={"max_length": TOO_LONG},
        **more,
    )


def moment(label: Any, *, required: bool = False, **more: Any) -> forms.DateTimeField:
    """A moment of service time (+09:00), in the browser's own control, with seconds: an end of day is 23:59:59."""
    return forms.DateTimeField(
        label=label,
        required=required,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format=_MOMENT),
        validators=[sensible],
        error_messages={"required": _("Enter a date and time.")},
        **more,
    )
