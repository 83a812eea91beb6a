"""Forms the portal's way: the service's limits as help, unknown values kept, errors summed on top with links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

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
    """How a field is laid out: check, choices, select, area, file, password, or text."""
    return next((kind for widget, kind in _KINDS if isinstance(bound.field.widget, widget)), "text")


def limit(bound: BoundField) -> str:
    """The field's limit in words, as the service sets it: "At most 20 characters"."""
    most = getattr(bound.field, "max_length", None)
    plain = kind_of(bound) in {"text", "area"} and not isinstance(bound.field, forms.EmailField)
    if most and plain:
        return ngettext("At most %(n)d character", "At most %(n)d characters", most) % {"n": most}
    low, high = getattr(bound.field, "min_value", None), getattr(bound.field, "max_value", None)
    if low is not None and high is not None:
        return _("%(low)s to %(high)s") % {"low": low, "high": high}
    return ""


def control(bound: BoundField, **extra: Any) -> str:
    """The widget of `bound`, tied to its help and its errors for screen readers.

    A limit is told and counted, not enforced by `maxlength`: that would cut what is pasted without a word.
    """
    attrs: dict[str, Any] = {"class": _CLASSES.get(kind_of(bound), "form-control"), "maxlength": False}
    described = [f"{bound.auto_id}_help"] if bound.help_text or limit(bound) else []
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
    """A line of the summary on top: the field's name, its error and where to find it."""

    label: str
    error: str
    href: str


def problems(form: forms.BaseForm) -> list[Problem]:
    """Every error of a bound form in the order of its fields, those of the whole form first."""
    if not form.is_bound:
        return []
    found = [Problem("", str(error), "") for error in form.non_field_errors()]
    for bound in form:
        place = (
            f"#{bound.auto_id}_errors" if kind_of(bound) == "choices" or bound.is_hidden else f"#{bound.id_for_label}"
        )
        found += [Problem(str(bound.label), str(error), place) for error in bound.errors]
    return found


def with_current(choices: Iterable[tuple[str, Any]], *current: str) -> list[tuple[str, Any]]:
    """`choices`, with values in use that it lacks added at the end and named as unknown, so that saving keeps them."""
    known = list(choices)
    strange = [value for value in dict.fromkeys(current) if value and value not in dict(known)]
    return [*known, *((value, _("%(value)s (unknown)") % {"value": value}) for value in strange)]


def unknown(values: Mapping[str, Any], known: Sequence[str]) -> list[tuple[str, Any]]:
    """What the service sent beyond the `known` names, for `{% unknown_values %}`."""
    return [(name, value) for name, value in values.items() if name not in set(known)]
