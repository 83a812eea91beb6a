"""What a form carries of what it was made from, signed: readable by the same tenant, for the same purpose."""

from typing import Any

from django import forms
from django.core import signing

from tenants.scope import current_tenant_id

_SALT = "portal.core.ui.sealing"


class InvalidSeal(ValueError):
    """A form's sealed value was not made by this portal for this tenant and purpose."""


def seal(value: Any, purpose: str = "kept") -> str:
    """Return a JSON value as the text of a hidden input."""
    return signing.dumps([current_tenant_id(), purpose, value], salt=_SALT, compress=True)


def unseal(text: str, purpose: str = "kept") -> Any:
    """Return what `seal` was given. Raises NotOurs."""
    try:
        tenant_id, meant, value = signing.loads(text, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise InvalidSeal("not sealed here") from error
    if (tenant_id, meant) != (current_tenant_id(), purpose):
        raise InvalidSeal("sealed for something else")
    return value


def unseal_or_none(text: str, purpose: str = "kept") -> Any:
    """Return what `seal` was given, or None for anything else."""
    try:
        return unseal(text, purpose) if text else None
    except InvalidSeal:
        return None


class ShownValuesForm(forms.Form):
    """A form that changes something, and carries what its person was shown of it in the hidden input `shown_values`.

    What others changed meanwhile is then neither sent nor overwritten. Of something new nothing was shown.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._about, self.shown_values = "", dict[str, Any]()

    def set_shown(self, about: str, current: dict[str, Any]) -> None:
        """Set `shown_values`: what a posted form was filled with, and what is there now for a fresh one. `about`
        names it."""
        self._about = f"seen {about}"
        told = unseal_or_none(self.data.get("seen", ""), self._about) if self.is_bound else None
        self.shown_values = told if isinstance(told, dict) else current

    @property
    def shown_token(self) -> str:
        """What the hidden input holds; nothing where nothing was shown."""
        return seal(self.shown_values, self._about) if self._about else ""
