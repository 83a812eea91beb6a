"""Check a notification's signature: HMAC-SHA256 of the raw body.

The format of signatures is not published. Hexadecimal and base64 (both alphabets) are accepted, with or without a name
like `sha256=` or `v1=`, single or in a list (`t=1700000000,v1=…`, `v1,…`). One valid signature of a list is enough: a
service with two valid secrets signs with both. A repeated header counts as such a list.
"""

import base64
import hmac
import re
from collections.abc import Iterable, Iterator

_HEX_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_BASE64_DIGEST = re.compile(r"[A-Za-z0-9+/_-]{43}=?")
_SIGNATURE_NAME = re.compile(r"(?:sha256|hmac-sha256|v[0-9]{1,2}|s|sig|signature)=", re.IGNORECASE)
_SIGNATURE_SEPARATOR = re.compile(r"[,;\s]+")
_URL_SAFE_TO_USUAL = str.maketrans("-_", "+/")
# The most entries of a list that are checked: each needs a comparison.
MAX_SIGNATURES = 10


def is_signed(body: bytes, signature: str, keys: Iterable[bytes]) -> bool:
    """Check whether the body was signed with one of the keys. All are compared, in constant time."""
    told = list(_digests(signature))
    right = False
    for key in keys:
        digest = hmac.digest(key, body, "sha256")
        for each in told:
            right |= hmac.compare_digest(digest, each)
    return right


def _digests(signature: str) -> Iterator[bytes]:
    """Yield the digests in a header."""
    for entry in _SIGNATURE_SEPARATOR.split(signature.strip(), MAX_SIGNATURES)[:MAX_SIGNATURES]:
        text = _SIGNATURE_NAME.sub("", entry, 1) if _SIGNATURE_NAME.match(entry) else entry
        if _HEX_DIGEST.fullmatch(text):
            yield bytes.fromhex(text)
        elif _BASE64_DIGEST.fullmatch(text):
            yield base64.b64decode(text.rstrip("=").translate(_URL_SAFE_TO_USUAL) + "=")
