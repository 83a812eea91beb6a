"""Signed hidden values of forms, and forms for stored data that two people may edit at once.

A signed value is readable only by the same tenant and for the same purpose. A `ConflictForm` has the values that its
page showed in such a field. When it is posted, a field that only another person changed keeps that newer value. A field
that both changed is an error with both values; posting the form again replaces the other person's value. So the later
person sees the other's change and decides.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.core import signing
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.times import local
from portal.base.ui.value_words import join_values
from tenants.scope import current_tenant_id

_SALT = "portal.base.ui.shown_values"


class InvalidSeal(ValueError):
    """Raised for a form's signed value that is not from this portal, tenant and purpose."""


def seal(value: Any, purpose: str = "kept") -> str:
    """Return a JSON value as signed text for a hidden input."""
    return signing.dumps([current_tenant_id(), purpose, value], salt=_SALT, compress=True)


def unseal(text: str, purpose: str = "kept") -> Any:
    """Return the value that `seal` was given. Raises InvalidSeal."""
    try:
        tenant_id, meant, value = signing.loads(text, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise InvalidSeal("not sealed here") from error
    if (tenant_id, meant) != (current_tenant_id(), purpose):
        raise InvalidSeal("sealed for something else")
    return value


def unseal_or_none(text: str, purpose: str = "kept") -> Any:
    """Return the value that `seal` was given, or None for any other text."""
    try:
        return unseal(text, purpose) if text else None
    except InvalidSeal:
        return None


class ShownValuesForm(forms.Form):
    """A form for changes that has the values shown to its person, in a hidden input (`shown_values`).

    Values that others changed since are neither sent nor overwritten. For something new, nothing was shown.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._about, self.shown_values = "", dict[str, Any]()

    def set_shown(self, about: str, current: dict[str, Any]) -> None:
        """Set `shown_values` from the posted form, or to the `current` values for a new one.

        `about` names the edited thing.
        """
        self._about = f"seen {about}"
        posted = unseal_or_none(self.data.get("seen", ""), self._about) if self.is_bound else None
        self.shown_values = posted if isinstance(posted, dict) else current

    @property
    def shown_token(self) -> str:
        """Return the value of the hidden input; "" if nothing was shown."""
        return seal(self.shown_values, self._about) if self._about else ""

    def merge(self, name: str, stored: Any) -> None:
        """Replace the value of a field that only another person changed; add an error if both changed it."""
        if merge_stored(self.cleaned_data, name, _canonical(self.shown_values.get(name)), stored):
            self.add_conflict(name, name, stored, stored)

    def add_conflict(self, name: str, input_name: str, stored: Any, text: Any) -> None:
        """Add an error with another person's value. The next time, it counts as shown."""
        self.add_error(input_name, conflict_text(self.fields[input_name], text))
        self.shown_values = {**self.shown_values, name: stored}


FIELD = "shown"
ShownValues = Mapping[str, Any]


class ConflictForm(forms.BaseForm):
    """A form whose `initial` is the stored data, also when it is bound."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[FIELD] = forms.CharField(required=False, widget=forms.HiddenInput, initial=self._seal)

    def _clean_form(self) -> None:
        self.cleaned_data.pop(FIELD, None)
        super()._clean_form()  # type: ignore[misc]  # Django's method, missing in its stubs
        shown_values = unseal_or_none(self.data.get(self.add_prefix(FIELD), ""), self._purpose)
        if not isinstance(shown_values, dict):
            return
        now = self._stored_values
        given = self.cleaned_data
        clashes = [
            name for name in now if name in shown_values and merge_stored(given, name, shown_values[name], now[name])
        ]
        for name in clashes:
            self.add_error(name, conflict_text(self.fields[name], now[name]))
        if clashes:
            # When this page is posted again, it counts as having shown the current values.
            sent: Any = self.data
            self.data = sent = sent.copy()
            sent[self.add_prefix(FIELD)] = self._seal()

    @property
    def _stored_values(self) -> dict[str, Any]:
        """Return the stored values by field, also of fields that the form adds when it is created."""
        fields = {name: field for name, field in self.fields.items() if name != FIELD}
        return {name: self.get_initial_for_field(field, name) for name, field in fields.items()}

    @property
    def _purpose(self) -> str:
        return f"stored {type(self).__qualname__}"

    def _seal(self) -> str:
        return seal({name: _canonical(value) for name, value in self._stored_values.items()}, self._purpose)


def merge_stored(given: dict[str, Any], name: str, shown_value: str, stored: Any) -> bool:
    """Give a field that only another person changed the stored value. Return True if both changed it: a conflict."""
    now = _canonical(stored)
    if now == shown_value or name not in given:
        return False
    typed = _canonical(given[name])
    if typed == shown_value and type(given[name]) is type(stored):
        given[name] = stored
        return False
    return typed != now


def conflict_text(field: forms.Field, value: Any) -> str:
    """Return the error for a field that was changed to `value` after its page was opened."""
    text = _("Changed to “%(value)s” after you opened this page. Save again to replace it with your entry.")
    return text % {"value": _text_of(field, value)}


def add_conflicts(
    form: ShownValuesForm, entries: Iterable[tuple[Any, str, Any]], current: ShownValues, texts: ShownValues
) -> None:
    """Add an error to each field of the service that another person changed as well.

    `current` are the field's values now, `texts` the same by input. `entries` are (described field, input name, new
    value).
    """
    for each, name, value in entries:
        before, after = form.shown_values.get(each.name), current.get(each.name)
        if not (each.is_same(before, after) or each.is_same(value, before) or each.is_same(value, after)):
            form.add_conflict(each.name, name, after, texts.get(name))


def _canonical(value: Any) -> str:
    """Return a text that is equal for equal values, typed or stored."""
    if value is None or value is False:
        return ""
    if value is True:
        return "1"
    if isinstance(value, datetime):
        return str(int(value.timestamp()))  # forms show whole seconds
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, default=str)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return json.dumps(sorted(_canonical(each) for each in value))
    return str(getattr(value, "pk", value)).strip().replace("\r\n", "\n")


def _text_of(field: forms.Field, value: Any) -> str:
    """Return a value as text for people."""
    if hasattr(field, "read"):
        return str(field.read(value))
    if isinstance(field, forms.BooleanField):
        return pgettext("setting", "on") if value else pgettext("setting", "off")
    if isinstance(field, forms.ChoiceField):
        chosen = value if isinstance(value, list | tuple | set) else [value]
        labels = {str(key): str(label) for key, label in _flat(field.choices)}
        return join_values(labels.get(_canonical(each), _canonical(each)) for each in chosen)
    if isinstance(value, datetime):
        return f"{local(value):%Y-%m-%d %H:%M:%S}"
    return _canonical(value) or pgettext("value", "empty")


def _flat(choices: Any) -> Iterable[tuple[Any, Any]]:
    for key, label in choices:
        if isinstance(label, list | tuple):
            yield from label
        else:
            yield key, label
