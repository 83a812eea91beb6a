"""What rows are compared and found by: hashes under keys of the tenant, which tell nothing of what was hashed."""

import hashlib
import json
import marshal
from collections.abc import Mapping
from typing import Any

from tenants import vault


class Keys:
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
        return hashed(self.of(purpose), text, 32)


def hashed(key: bytes, text: str, size: int) -> bytes:
    """Return so many bytes that only who has the key can work out for a text."""
    return hashlib.blake2b(text.encode(), digest_size=size, key=key).digest()


def digest(key: bytes, item: Mapping[str, Any]) -> bytes:
    """Equal when the service says the same of something again."""
    # Version 2 of marshal: the bytes follow from the values alone.
    return hashlib.blake2b(marshal.dumps(item, 2), digest_size=16, key=key).digest()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
