"""Signatures with the installation's key (Ed25519), and the public keys with which anyone can verify them.

For a large file its SHA-256 digest, 32 bytes, is signed, so that it can be verified without loading it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.contrib.auth.decorators import login_not_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from tenants.models import SigningKey


@dataclass(frozen=True)
class Signature:
    """The 64 bytes of a signature, and the name of its key."""

    value: bytes
    key: str


def sign(message: bytes) -> Signature:
    """Return the signature of a message with the current key; the first call creates the key."""
    key = _current_key()
    return Signature(Ed25519PrivateKey.from_private_bytes(key.private).sign(message), key.name)


def public_pem(key: SigningKey) -> bytes:
    """Return a key's public half as PEM."""
    public = Ed25519PublicKey.from_public_bytes(bytes(key.public))
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@login_not_required
def public_keys(request: HttpRequest) -> HttpResponse:
    """Return the public keys as PEM, each below its name, without sign-in: people who verify an export need them."""
    keys = SigningKey.objects.defer("private").order_by("-made_at")
    texts = [f"# {key.name}  {key.made_at:%Y-%m-%d}\n{public_pem(key).decode()}" for key in keys]
    return HttpResponse("\n".join(texts), content_type="text/plain; charset=utf-8")


def _current_key() -> SigningKey:
    found = SigningKey.objects.filter(retired_at=None).first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            return _create_key()
    except IntegrityError:  # another process created it at the same time
        return SigningKey.objects.get(retired_at=None)


def _create_key() -> SigningKey:
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    name = hashlib.sha256(public).hexdigest()[:32]
    return SigningKey.objects.create(name=name, public=public, private=private.private_bytes_raw())
