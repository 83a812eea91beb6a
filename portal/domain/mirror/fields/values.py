"""Functions that read, mask and hash single values from the service and from spreadsheets."""

import hashlib
import json
import marshal
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from accessapi.moments import read_moment, to_service_time
from accessapi.resources import write_moment
from portal.base.files import date_parsing
from tenants import vault

# Shown instead of a secret, before and after a change. They differ, so that a change is visible.
OLD_MASK, NEW_MASK = "•••", "••••"
Item = Mapping[str, Any]
Unexpected = dict[str, Any]  # unchanged values that do not have their field's type, by name


def item_text(item: Item, name: str, odd: Unexpected) -> str:
    """Return a text, or a number as text; "" for no value. A value of another type is put into `odd`."""
    value = item.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    odd[name] = value
    return ""


def item_moment(item: Item, name: str, odd: Unexpected) -> datetime | None:
    """Return a datetime of the service, or None. A value that is no datetime is put into `odd` unchanged."""
    value = item.get(name)
    if value is None or value == "":
        return None
    read = to_service_time(value) if isinstance(value, datetime) else read_moment(value)
    if read is None:
        odd[name] = value
    return read


@lru_cache(maxsize=10_000)
def moment_of_cell(cell: str, ends: bool) -> str | None:
    """Return the written moment for a cell, or None. A date alone means its start or, with `ends`, its last second."""
    found = date_parsing.parse_moment(cell, end=ends)
    try:
        return write_moment(found) if found is not None else None
    except (ValueError, OverflowError):
        return None


def without_seed(code: Any) -> Any:
    """Return a QR code without the seed of a one-time code, with which anyone could create its codes."""
    if isinstance(code, dict):
        return {key: without_seed(value) for key, value in code.items() if key != "totp_seed"}
    return code


def mask_secret(secret: str) -> str:
    """Return a mask and the last 4 characters of a secret; only the mask if the secret is shorter than 8 characters."""
    return NEW_MASK + secret[-4:] if len(secret) >= 8 else NEW_MASK


def mask_email(email: str, mask: str = NEW_MASK) -> str:
    """Return the first letter of an e-mail address and a mask; "" for no address."""
    return f"{email[:1]}{mask}" if email else ""


def is_contained(wanted: Any, told: Any) -> bool:
    """Return whether the second value contains everything in `wanted`; it may contain more."""
    if isinstance(wanted, dict):
        return isinstance(told, dict) and all(is_contained(value, told.get(name)) for name, value in wanted.items())
    return bool(wanted == told)


class TenantKeys:
    """A tenant's derived keys, one for each purpose. They do not change when the vault's sealing keys rotate."""

    def __init__(self, tenant_id: int) -> None:
        self._tenant_id = tenant_id
        self._known: dict[str, bytes] = {}

    def of(self, purpose: str) -> bytes:
        if purpose not in self._known:
            self._known[purpose] = vault.fingerprint(self._tenant_id, "mirror", purpose)
        return self._known[purpose]

    def fingerprint(self, purpose: str, text: str) -> bytes:
        """Return the hash of a text for searching and comparing."""
        return keyed_hash(self.of(purpose), text, 32)


def keyed_hash(key: bytes, text: str, size: int) -> bytes:
    """Return the keyed hash of a text, `size` bytes long."""
    return hashlib.blake2b(text.encode(), digest_size=size, key=key).digest()


def keyed_digest(key: bytes, item: Mapping[str, Any]) -> bytes:
    """Return the keyed hash of an item, 16 bytes long, to detect changes between readings."""
    # Version 2 of marshal, because its bytes depend on the values alone.
    return hashlib.blake2b(marshal.dumps(dict(item), 2), digest_size=16, key=key).digest()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
