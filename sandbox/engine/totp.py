"""One-time codes: TOTP of RFC 6238, six digits of HMAC-SHA-1 (published), and the text of their QR code.

Seeds are base32, as the single read shows them; `timestep` is in seconds, `skew` counts windows before and after.
"""

import base64
import hmac
import re
from datetime import datetime

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from accessapi import limits

VERSION = "1"
_DIGITS = 6
_TEXT = re.compile(
    rf"{limits.ONE_TIME_QR_PREFIX}\?v={VERSION}&data=(?P<data>.*)&totp=(?P<code>[0-9]{{{_DIGITS}}})", re.DOTALL
)


def code_at(seed: str, at: datetime, timestep: int) -> str:
    """Return the code of the window that contains `at`."""
    return _code(_generator(seed, timestep), _window(at, timestep), timestep).decode()


def is_valid(seed: str, given: str, at: datetime, timestep: int, skew: int) -> bool:
    """Return whether `given` is the code of this window or of one at most `skew` windows away.

    Every window is compared in constant time, so that the duration reveals nothing about the code.
    """
    generator, window, found = _generator(seed, timestep), _window(at, timestep), False
    text = given.encode(errors="replace")
    for number in range(max(0, window - skew), window + skew + 1):
        found |= hmac.compare_digest(_code(generator, number, timestep), text)
    return found


def seconds_left(at: datetime, timestep: int) -> int:
    """Return the seconds until the window that contains `at` ends: 1 to `timestep`."""
    return timestep - int(at.timestamp()) % timestep


def write_qr_text(data: str, one_time_code: str) -> str:
    """Return the text of the QR code (specification: operation 12). `data` is not escaped: the format is given."""
    return f"{limits.ONE_TIME_QR_PREFIX}?v={VERSION}&data={data}&totp={one_time_code}"


def read_qr_text(text: str) -> tuple[str, str] | None:
    """Return (data, code) of a text of `write_qr_text`; None for any other."""
    found = _TEXT.fullmatch(text)
    return (found["data"], found["code"]) if found else None


def _generator(seed: str, timestep: int) -> TOTP:
    key = base64.b32decode(seed + "=" * (-len(seed) % 8))
    return TOTP(key, _DIGITS, SHA1(), timestep, enforce_key_length=False)  # noqa: S303 - RFC 6238 has it so


def _window(at: datetime, timestep: int) -> int:
    return int(at.timestamp()) // timestep


def _code(generator: TOTP, window: int, timestep: int) -> bytes:
    return generator.generate(window * timestep)
