"""Create random tokens for webhook addresses and signatures."""

import hashlib
import secrets


def create_token() -> str:
    """Return 43 random characters: the last part of an address, or a webhook secret (at most 64 characters)."""
    return secrets.token_urlsafe(32)


def digest_token(token: str) -> bytes:
    """Return the digest by which an address is found, so that the token is not stored in plain text."""
    return hashlib.sha256(token.encode()).digest()
