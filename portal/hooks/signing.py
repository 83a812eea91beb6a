"""Whether a notification was signed with a secret: HMAC-SHA256 of the raw body.

How the service writes the signature is not shown: hexadecimal and base64 (both alphabets) are taken, with or without
`sha256=` before them.
"""

import base64
import hmac
import re
from collections.abc import Iterable

_HEX = re.compile(r"[0-9a-fA-F]{64}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{43}=?")
_PREFIX = "sha256="
_OTHER_ALPHABET = str.maketrans("-_", "+/")


def signed(body: bytes, signature: str, secrets: Iterable[bytes]) -> bool:
    """Return whether the signature was made from this body with one of the secrets. Looks at all, in constant time."""
    told = _digest(signature)
    right = False
    for secret in secrets:
        right |= hmac.compare_digest(hmac.digest(secret, body, "sha256"), told)
    return right


def _digest(signature: str) -> bytes:
    """Return the digest that a header holds; nothing that equals a digest where it holds none."""
    text = signature.strip()
    if text[: len(_PREFIX)].lower() == _PREFIX:
        text = text[len(_PREFIX) :]
    if _HEX.fullmatch(text):
        return bytes.fromhex(text)
    if _BASE64.fullmatch(text):
        return base64.b64decode(text.rstrip("=").translate(_OTHER_ALPHABET) + "=")
    return b""
