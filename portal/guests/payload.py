"""The code that the portal makes for a guest: short, dense, and not to be guessed.

26 characters of base32 are 130 bits. Capitals and digits alone let a QR code use its alphanumeric mode: 25 x 25 modules
at the second highest error correction, which a reader takes from a scratched phone at arm's length.
"""

import base64
import secrets

LENGTH = 26


def new() -> str:
    """A code that nobody has seen before."""
    return base64.b32encode(secrets.token_bytes(17)).decode()[:LENGTH]
