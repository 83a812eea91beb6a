"""The secret of a link: the encrypted tenant ID and 128 random bits. Only its digest is stored.

It uses AES-SIV with a key of the site. Without the key, no one can create a token, read its tenant, or see whether two
tokens have the same tenant. So the tenant is known before any query.
"""

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.utils.crypto import salted_hmac

_SALT = "portal.codes.link"
# The parts of a token, in bytes.
_TENANT_LENGTH, _RANDOM_LENGTH, _TAG_LENGTH = 8, 16, 16


@dataclass(frozen=True)
class Token:
    """The secret of a link: `text` is in the address, `digest` finds its row."""

    text: str
    tenant_id: int
    digest: bytes


# The token for invalid texts. No tenant has this ID, so nothing is found after the same number of steps.
NO_TOKEN = Token("", 0, hashlib.sha256(b"").digest())


def create_token(tenant_id: int) -> Token:
    plain = tenant_id.to_bytes(_TENANT_LENGTH, "big") + secrets.token_bytes(_RANDOM_LENGTH)
    return _token(plain, AESSIV(_token_keys()[0]).encrypt(plain, None))


def parse_token(text: str) -> Token:
    """Return the token in an address, or NO_TOKEN if this site did not create it."""
    try:
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return NO_TOKEN
    if len(sealed) != _TENANT_LENGTH + _RANDOM_LENGTH + _TAG_LENGTH:
        return NO_TOKEN
    for key in _token_keys():
        try:
            plain = AESSIV(key).decrypt(sealed, None)
        except InvalidTag:
            continue
        found = _token(plain, sealed)
        return found if found.text == text else NO_TOKEN
    return NO_TOKEN


def _token(plain: bytes, sealed: bytes) -> Token:
    text = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    return Token(text, int.from_bytes(plain[:_TENANT_LENGTH], "big"), hashlib.sha256(plain).digest())


def _token_keys() -> list[bytes]:
    names = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac(_SALT, "", secret=name, algorithm="sha256").digest() for name in names]
