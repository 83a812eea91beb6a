"""Single values as the service tells them and as spreadsheets hold them: read or left as they came, masked, hashed."""

import hashlib
import json
import marshal
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from accessapi.moments import read_moment, to_service_time
from accessapi.resources import write_moment
from portal.core.files import date_parsing
from tenants import vault

# What stands for a secret, before and after a change: they differ, so that a change shows as one.
OLD_MASK, NEW_MASK = "•••", "••••"
Item = Mapping[str, Any]
Unexpected = dict[str, Any]  # what is not of its field's type, as it came


def item_text(item: Item, name: str, odd: Unexpected) -> str:
    """Return a text; empty for none and for what is none, which goes to `odd`. A number counts as its digits."""
    value = item.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    odd[name] = value
    return ""


def item_moment(item: Item, name: str, odd: Unexpected) -> datetime | None:
    """Return a datetime of the service; what is none goes to `odd` as it came."""
    value = item.get(name)
    if value is None or value == "":
        return None
    read = to_service_time(value) if isinstance(value, datetime) else read_moment(value)
    if read is None:
        odd[name] = value
    return read


@lru_cache(maxsize=10_000)
def moment_of_cell(cell: str, ends: bool) -> str | None:
    """Return the moment that a cell means, as written; None for none. A day alone begins or, as an end, ends."""
    found = date_parsing.parse_moment(cell, end=ends)
    try:
        return write_moment(found) if found is not None else None
    except (ValueError, OverflowError):
        return None


def without_seed(code: Any) -> Any:
    """Return a QR code as it may rest: with the seed of a one-time code in hand, anyone could make its codes."""
    if isinstance(code, dict):
        return {key: without_seed(value) for key, value in code.items() if key != "totp_seed"}
    return code


def mask_secret(secret: str) -> str:
    """Return enough of a secret to recognise it by, and too little to make another."""
    return NEW_MASK + secret[-4:] if len(secret) >= 8 else NEW_MASK


def mask_email(email: str, mask: str = NEW_MASK) -> str:
    """Return `y••••` for an e-mail address; empty for none."""
    return f"{email[:1]}{mask}" if email else ""


def is_contained(wanted: Any, told: Any) -> bool:
    """Whether everything wanted is told, and perhaps more."""
    if isinstance(wanted, dict):
        return isinstance(told, dict) and all(is_contained(value, told.get(name)) for name, value in wanted.items())
    return bool(wanted == told)


class TenantKeys:
    """A tenant's derived keys, one for each purpose, each derived once: they stay what they are when the vault's
    sealing keys rotate.
    """

    def __init__(self, tenant_id: int) -> None:
        self._tenant_id = tenant_id
        self._known: dict[str, bytes] = {}

    def of(self, purpose: str) -> bytes:
        """Return the key for this purpose."""
        if purpose not in self._known:
            self._known[purpose] = vault.fingerprint(self._tenant_id, "mirror", purpose)
        return self._known[purpose]

    def fingerprint(self, purpose: str, text: str) -> bytes:
        """Return what a text is found and compared by, without telling it."""
        return keyed_hash(self.of(purpose), text, 32)


def keyed_hash(key: bytes, text: str, size: int) -> bytes:
    """Return so many bytes that only who has the key can work out for a text."""
    return hashlib.blake2b(text.encode(), digest_size=size, key=key).digest()


def keyed_digest(key: bytes, item: Mapping[str, Any]) -> bytes:
    """Equal when the service says the same of something again."""
    # Version 2 of marshal: the bytes follow from the values alone.
    return hashlib.blake2b(marshal.dumps(dict(item), 2), digest_size=16, key=key).digest()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
