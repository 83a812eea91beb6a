"""What makes an address and a signature: nobody can guess either."""

import hashlib
import secrets


def create() -> str:
    """Return 43 characters: the last part of an address, or what notifications are signed with (at most 64)."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> bytes:
    """Return what an address is found by without being kept."""
    return hashlib.sha256(token.encode()).digest()
