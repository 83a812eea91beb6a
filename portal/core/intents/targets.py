"""What requests and the audit trail call a thing of the service: its kind and its ID."""

import hashlib

_LONGEST = 120


def target_of(kind: str, identifier: object) -> str:
    """`member:M1` and the like, at most 200 characters. An ID of absurd length is named by its digest."""
    name = str(identifier)
    return f"{kind}:{name if len(name) <= _LONGEST else hashlib.sha256(name.encode()).hexdigest()}"
