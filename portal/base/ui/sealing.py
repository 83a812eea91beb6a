"""Signed hidden values of forms, readable only by the same tenant and for the same purpose."""

from typing import Any

from django import forms
from django.core import signing

from tenants.scope import current_tenant_id

_SALT = "portal.base.ui.sealing"


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
        told = unseal_or_none(self.data.get("seen", ""), self._about) if self.is_bound else None
        self.shown_values = told if isinstance(told, dict) else current

    @property
    def shown_token(self) -> str:
        """Return the value of the hidden input; "" if nothing was shown."""
        return seal(self.shown_values, self._about) if self._about else ""
