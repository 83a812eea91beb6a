"""Inputs of forms with their limits and errors, and the renderer that draws form controls."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.forms import BoundField
from django.forms.renderers import DjangoTemplates
from django.utils.formats import localize
from django.utils.html import conditional_escape as escaped
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accessapi.moments import is_in_range
from accessapi.resources import compose

TOO_LONG = _("At most %(limit_value)d characters (currently %(show_value)d).")
# How every form that takes a start and an end of day reads them.
ENDS_NEXT_DAY = _("An end before the start is on the next day.")
# Invisible letters: Hangul fillers and the blank Braille pattern.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"
_MOMENT = "%Y-%m-%dT%H:%M:%S"
_DOTS = re.compile(r"\.{2,}")
# Marks that turn the direction of the text around them: a name would read differently.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def validate_one_line(value: str) -> None:
    """Raise ValidationError for line breaks, control characters and marks of direction."""
    if any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") or one in _TURNS for one in value):
        raise ValidationError(_("Line breaks and control characters cannot be used here."))


def validate_multiline(value: str) -> None:
    """Raise ValidationError for control characters except line breaks."""
    validate_one_line(value.replace("\n", "").replace("\r", ""))


def validate_visible(value: str) -> None:
    """Raise ValidationError for a text without visible characters: no one could find or greet such a person."""
    if not any(unicodedata.category(one)[0] not in "CZ" and one not in _BLANK for one in value):
        raise ValidationError(_("This text has no visible characters. Enter it again."))


def fold_address(text: str) -> str:
    """Return an e-mail address with half-width characters: ume＠example。com is ume@example.com."""
    return unicodedata.normalize("NFKC", text).replace("。", ".").strip()


def validate_address(value: str) -> None:
    """Raise ValidationError for what is no e-mail address.

    Old addresses of Japanese carriers have two dots in a row, or a dot before the @. The service decides about them.
    """
    local, _at, domain = value.rpartition("@")
    validate_email(f"{_DOTS.sub('.', local).strip('.')}@{domain}")


def is_address(text: str) -> bool:
    """Return whether a text is an e-mail address (`validate_address`)."""
    try:
        validate_address(text)
    except ValidationError:
        return False
    return True


class AddressField(forms.EmailField):
    """A field for an e-mail address. Full-width characters become half-width ones."""

    default_validators = [validate_address]

    def to_python(self, value: Any) -> Any:
        return fold_address(super().to_python(value) or "")


def validate_year(at: datetime | None) -> None:
    """Raise ValidationError for years that the service's calendars do not accept."""
    if at is not None and not is_in_range(at):
        raise ValidationError(_("Enter a year from 1900 to 9998."))


class TextField(forms.CharField):
    """A field for text. Letters with accents count as one character each, however they were typed."""

    def to_python(self, value: Any) -> str:
        text: str = compose(super().to_python(value))
        return text


def line_field(
    label: Any,
    max_length: int,
    required_message: Any = "",
    *,
    validators: Sequence[Callable[[str], None]] = (),
    field_class: type[forms.CharField] = TextField,
    **more: Any,
) -> forms.CharField:
    """Return a field for one line of text. With `required_message`, the field is required and this is its error."""
    return field_class(
        label=label,
        max_length=max_length,
        validators=[validate_one_line, *validators],
        error_messages={"max_length": TOO_LONG, "required": required_message},
        required=bool(required_message),
        **more,
    )


def multiline_field(label: Any, max_length: int, **more: Any) -> forms.CharField:
    """Return an optional field for a text of several lines."""
    return TextField(
        label=label,
        max_length=max_length,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        validators=[validate_multiline],
        error_messages={"max_length": TOO_LONG},
        **more,
    )


def moment_field(label: Any, *, required: bool = False, **more: Any) -> forms.DateTimeField:
    """Return a field for a date and time of the service (+09:00), with seconds: an end of day is 23:59:59."""
    return forms.DateTimeField(
        label=label,
        required=required,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format=_MOMENT),
        validators=[validate_year],
        error_messages={"required": _("Enter a date and time.")},
        **more,
    )


_KINDS: tuple[tuple[type[forms.Widget], str], ...] = (
    (forms.CheckboxSelectMultiple, "choices"),
    (forms.RadioSelect, "choices"),
    (forms.CheckboxInput, "check"),
    (forms.SelectMultiple, "select"),
    (forms.Select, "select"),
    (forms.Textarea, "area"),
    (forms.ClearableFileInput, "file"),
    (forms.FileInput, "file"),
    (forms.PasswordInput, "password"),
)
_CLASSES = {"check": "form-check-input", "choices": "choice", "select": "form-select"}


def kind_of(bound: BoundField) -> str:
    """Return how a field is laid out: check, choices, select, area, file, password, or text."""
    return next((kind for widget, kind in _KINDS if isinstance(bound.field.widget, widget)), "text")


# A larger limit is shown only in the error of a value that exceeds it. A day has this many minutes.
_MOST_SHOWN = 1440


def limit_words(bound: BoundField) -> str:
    """Return the field's limit in words: "At most 20 characters". Limits that no usual value reaches are left out."""
    most = getattr(bound.field, "max_length", None)
    plain = kind_of(bound) in {"text", "area"} and not isinstance(bound.field, forms.EmailField)
    if most and plain and most <= _MOST_SHOWN:
        return ngettext("At most %(n)d character", "At most %(n)d characters", most) % {"n": most}
    low, high = getattr(bound.field, "min_value", None), getattr(bound.field, "max_value", None)
    if low is not None and high is not None and high <= _MOST_SHOWN:
        return _t("%(low)s to %(high)s") % {"low": low, "high": high}
    return ""


def draw_control(bound: BoundField, **extra: Any) -> str:
    """Return the HTML of `bound`'s widget, linked to its help and its errors for screen readers.

    A length limit is shown and counted, but not set as `maxlength`, which cuts pasted text without notice.
    """
    attrs: dict[str, Any] = {"class": _CLASSES.get(kind_of(bound), "form-control"), "maxlength": False}
    described = [f"{bound.auto_id}_help"] if bound.help_text or limit_words(bound) else []
    if bound.errors:
        described.insert(0, f"{bound.auto_id}_errors")
        attrs["class"] += " is-invalid"
    if described:
        attrs["aria-describedby"] = " ".join(described)
    most = getattr(bound.field, "max_length", None)
    if most and kind_of(bound) in {"text", "area"}:
        attrs["data-count"] = most
    return str(bound.as_widget(attrs=attrs | extra))


@dataclass(frozen=True, slots=True)
class Problem:
    """A line of the error summary: the field's name, its error and a link to it."""

    label: str
    error: str
    href: str


def problems(form: forms.BaseForm) -> list[Problem]:
    """Return the errors of a bound form in the order of its fields, those of the whole form first."""
    if not form.is_bound:
        return []
    found = [Problem("", str(error), "") for error in form.non_field_errors()]
    for bound in form:
        place = (
            f"#{bound.auto_id}_errors" if kind_of(bound) == "choices" or bound.is_hidden else f"#{bound.id_for_label}"
        )
        found += [Problem(str(bound.label), str(error), place) for error in bound.errors]
    return found


def set_choices(form: forms.BaseForm, **choices: Iterable[tuple[str, Any]]) -> None:
    """Set the choices of fields of the form."""
    for name, offered in choices.items():
        field = form.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = list(offered)


def add_current_choices(choices: Iterable[tuple[str, Any]], *current: str) -> list[tuple[str, Any]]:
    """Return `choices` and, at the end, current values that they lack, marked as unknown.

    So saving the form keeps these values.
    """
    known = list(choices)
    strange = [value for value in dict.fromkeys(current) if value and value not in dict(known)]
    return [*known, *((value, _t("%(value)s (unknown)") % {"value": value}) for value in strange)]


_INPUTS = ("text", "number", "email", "password", "hidden", "search", "url", "tel", "date", "time", "checkbox", "file")


class Renderer(DjangoTemplates):
    """A form renderer that writes inputs, selects and text areas itself; Django renders all others."""

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> SafeString:
        write = _WRITERS.get(template_name)
        if write is None:
            return SafeString(super().render(template_name, context, request))
        return mark_safe(write(context["widget"]))  # noqa: S308 - each part is escaped below


def _attributes(attrs: Mapping[str, Any]) -> str:
    return "".join(
        f" {escaped(name)}" if value is True else f' {escaped(name)}="{escaped(str(value))}"'
        for name, value in attrs.items()
        if value is not False
    )


def _input(widget: Mapping[str, Any]) -> str:
    value = "" if widget["value"] is None else f' value="{escaped(str(widget["value"]))}"'
    return f'<input type="{widget["type"]}" name="{escaped(widget["name"])}"{value}{_attributes(widget["attrs"])}>'


def _text_area(widget: Mapping[str, Any]) -> str:
    text = escaped(widget["value"] or "")
    return f'<textarea name="{escaped(widget["name"])}"{_attributes(widget["attrs"])}>\n{text}</textarea>'


def _select(widget: Mapping[str, Any]) -> str:
    groups = "".join(_group(name, options) for name, options, _ in widget["optgroups"])
    return f'<select name="{escaped(widget["name"])}"{_attributes(widget["attrs"])}>{groups}\n</select>'


def _group(name: Any, options: list[Mapping[str, Any]]) -> str:
    written = "".join(f"\n  {_option(each)}" for each in options)
    return f'\n  <optgroup label="{escaped(localize(name))}">{written}\n  </optgroup>' if name else written


def _option(option: Mapping[str, Any]) -> str:
    label = escaped(localize(option["label"]))
    return f'<option value="{escaped(str(option["value"]))}"{_attributes(option["attrs"])}>{label}</option>'


_WRITERS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    **{f"django/forms/widgets/{name}.html": _input for name in _INPUTS},
    "django/forms/widgets/textarea.html": _text_area,
    "django/forms/widgets/select.html": _select,
}
