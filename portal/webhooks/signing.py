"""Whether a notification was signed with a secret: HMAC-SHA256 of the raw body.

How the service writes the signature is not shown: hexadecimal and base64 (both alphabets) are taken, with or without a
name like `sha256=` or `v1=` before them, one or several in a list (`t=1700000000,v1=…`, `v1,…`). Of a list one right
signature is enough: a service that has two secrets for a while signs with both. A header that comes twice is such a
list, too.
"""

import base64
import hmac
import re
from collections.abc import Iterable, Iterator

_HEX = re.compile(r"[0-9a-fA-F]{64}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{43}=?")
_NAME = re.compile(r"(?:sha256|hmac-sha256|v[0-9]{1,2}|s|sig|signature)=", re.IGNORECASE)
_SEPARATOR = re.compile(r"[,;\s]+")
_OTHER_ALPHABET = str.maketrans("-_", "+/")
#: So many entries of a list are looked at: each costs a comparison.
MAX_SIGNATURES = 10


def is_signed(body: bytes, signature: str, secrets: Iterable[bytes]) -> bool:
    """Return whether a signature was made from this body with one of the secrets. Looks at all, in constant time."""
    told = list(_digests(signature))
    right = False
    for secret in secrets:
        digest = hmac.digest(secret, body, "sha256")
        for each in told:
            right |= hmac.compare_digest(digest, each)
    return right


def _digests(signature: str) -> Iterator[bytes]:
    """Yield the digests that a header holds."""
    for entry in _SEPARATOR.split(signature.strip(), MAX_SIGNATURES)[:MAX_SIGNATURES]:
        text = _NAME.sub("", entry, 1) if _NAME.match(entry) else entry
        if _HEX.fullmatch(text):
            yield bytes.fromhex(text)
        elif _BASE64.fullmatch(text):
            yield base64.b64decode(text.rstrip("=").translate(_OTHER_ALPHABET) + "=")
