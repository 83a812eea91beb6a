"""What rows are compared and found by: hashes under keys of the tenant, which tell nothing of what was hashed."""

import hashlib
import json
import marshal
from collections.abc import Mapping
from typing import Any


def hashed(key: bytes, text: str, size: int) -> bytes:
    """Return so many bytes that only who has the key can work out for a text."""
    return hashlib.blake2b(text.encode(), digest_size=size, key=key).digest()


def digest(key: bytes, item: Mapping[str, Any]) -> bytes:
    """Equal when the service says the same of something again."""
    # Version 2 of marshal: the bytes follow from the values alone.
    return hashlib.blake2b(marshal.dumps(item, 2), digest_size=16, key=key).digest()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
