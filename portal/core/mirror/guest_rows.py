"""From a guest as the service tells it to the columns of the mirror. Whatever it says about one field, none raises."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portal.core.mirror.folding import fold
from portal.core.mirror.keyed import digest, hashed
from portal.core.mirror.models import Guest
from portal.core.mirror.models.state import sealing_field
from portal.core.mirror.rows import moment, unknown
from tenants import vault

# Which columns follow from which field of the service.
COLUMNS = {
    "guest_name": ("guest_name", "name_key"),
    "email": ("email",),
    "use_date_start": ("use_date_start",),
    "use_date_end": ("use_date_end",),
    "key_return_date_end": ("key_return_date_end",),
    "is_for_reserve": ("is_for_reserve",),
    "qrcode_data": ("qrcode_data", "qr_fingerprint"),
}
# Told by the single read or our own writing alone (Guest.detail).
DETAIL = ("area_id_list", "key_devices_list", "return_grace_period", "remarks", "devices_pass", "keys_pass")
_NAMED = {"guest_id", "qrcode_issuing_method", *COLUMNS, *DETAIL}
_MOMENTS = ("use_date_start", "use_date_end", "key_return_date_end")


@dataclass
class GuestReader:
    """Reads the guests of one tenant. Keeps the tenant's derived keys."""

    tenant_id: int

    def __post_init__(self) -> None:
        self._digest_key, self._qr_key = (
            vault.fingerprint(self.tenant_id, "mirror", purpose) for purpose in ("guest digest", "guest qr")
        )
        self._bindings = {name: sealing_field(Guest, name).binding(self.tenant_id) for name in ("email", "qrcode_data")}

    def digest(self, item: Mapping[str, Any]) -> bytes:
        """Equal exactly when the service says the same of a guest again."""
        return digest(self._digest_key, item)

    def fingerprint(self, qrcode_data: str) -> bytes:
        """By what two codes are compared without opening either."""
        return hashed(self._qr_key, qrcode_data, 32)

    def seal(self, name: str, value: str | None) -> bytes | None:
        """The value of an encrypted column as it rests, for rows that are written in SQL."""
        return None if value is None else vault.seal(value.encode(), bound_to=self._bindings[name])

    def values(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """All columns that follow from an item, secrets in clear."""
        odd = unknown(item, _NAMED)
        name = _text(item, "guest_name", odd) or ""
        code = _text(item, "qrcode_data", odd)
        reserve = item.get("is_for_reserve")
        if reserve is not None and not isinstance(reserve, bool):
            odd["is_for_reserve"] = reserve
        return {
            "guest_name": name,
            "name_key": fold(name),
            "email": _text(item, "email", odd),
            **{key: moment(item, key, odd) for key in _MOMENTS},
            "is_for_reserve": reserve if isinstance(reserve, bool) else None,
            "qrcode_data": code,
            "qr_fingerprint": self.fingerprint(code) if code else None,
            "extra": odd,
        }


def _text(item: Mapping[str, Any], key: str, odd: dict[str, Any]) -> str | None:
    """A text, None for none and for an empty one; a number as its digits."""
    value = item.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None or isinstance(value, str):
        return value or None
    if key not in ("email", "qrcode_data"):  # what should be a secret is not kept in clear
        odd[key] = value
    return None
