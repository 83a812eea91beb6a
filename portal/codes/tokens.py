"""The secret of a link: whose it is, sealed, and 128 random bits. What is kept of it is a digest.

AES-SIV under a key of the site: nobody without it can make a token, read the tenant out of one, or see that two belong
to the same tenant. So the tenant can be entered without asking any table first.
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
_TENANT, _RANDOM, _TAG = 8, 16, 16
LENGTH = (_TENANT + _RANDOM + _TAG) * 8 // 6 + 1


@dataclass(frozen=True)
class Token:
    """`text` travels in the address; `digest` finds its row."""

    text: str
    tenant_id: int
    digest: bytes


# What an unusable token is taken for: no tenant has this id, so that nothing is found, in as many steps.
NO_TOKEN = Token("", 0, hashlib.sha256(b"").digest())


def new(tenant_id: int) -> Token:
    plain = tenant_id.to_bytes(_TENANT, "big") + secrets.token_bytes(_RANDOM)
    return _token(plain, AESSIV(_keys()[0]).encrypt(plain, None))


def parse(text: str) -> Token:
    """The token of an address, or NOBODY when this site never made it."""
    try:
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return NO_TOKEN
    if len(sealed) != _TENANT + _RANDOM + _TAG:
        return NO_TOKEN
    for key in _keys():
        try:
            plain = AESSIV(key).decrypt(sealed, None)
        except InvalidTag:
            continue
        found = _token(plain, sealed)
        return found if found.text == text else NO_TOKEN
    return NO_TOKEN


def _token(plain: bytes, sealed: bytes) -> Token:
    text = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    return Token(text, int.from_bytes(plain[:_TENANT], "big"), hashlib.sha256(plain).digest())


def _keys() -> list[bytes]:
    names = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac(_SALT, "", secret=name, algorithm="sha256").digest() for name in names]
