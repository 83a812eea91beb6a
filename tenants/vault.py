"""Encryption of stored secrets: AES-256-GCM, bound to tenant, model and field, under keys that can be rotated.

`VAULT_KEYS` is "id:base64,id2:base64": the first key encrypts, all of them decrypt. A secret of one tenant or field
does not open in another. Fingerprints (to find a secret without storing it) use the entry named `fingerprint` if there
is one, else the last key. So a new key in front changes no fingerprint.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac
import json
import os
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.exceptions import FieldError, ImproperlyConfigured
from django.db import models
from django.db.models.query_utils import DeferredAttribute

_VERSION = 1
_KEY_BYTES = 32
_NONCE_BYTES = 12
_TAG_BYTES = 16
FINGERPRINT_ENTRY = "fingerprint"


class VaultError(Exception):
    """A secret that cannot be decrypted or encrypted. Its value is never part of the message."""


class KeyRing:
    """The keys of VAULT_KEYS. Raises ImproperlyConfigured if they are unusable.

    The message has the number of an entry, not its ID: if the colon is missing, the ID would be the key itself.
    """

    def __init__(self, text: str) -> None:
        keys: dict[str, bytes] = {}
        for number, item in enumerate(filter(None, (part.strip() for part in text.split(","))), start=1):
            name, _, encoded = item.partition(":")
            if not name or len(name.encode()) > 255 or name in keys or len(_decode_base64(name)) >= _KEY_BYTES // 2:
                raise ImproperlyConfigured(f"VAULT_KEYS: entry {number} needs an id of its own before the colon.")
            key = _decode_base64(encoded)
            if len(key) != _KEY_BYTES:
                raise ImproperlyConfigured(
                    f"VAULT_KEYS: the key of entry {number} must be {_KEY_BYTES} bytes in base64."
                )
            keys[name] = key
        root = keys.pop(FINGERPRINT_ENTRY, None)
        if not keys:
            raise ImproperlyConfigured("VAULT_KEYS holds no key. It looks like id:base64, of 32 random bytes.")
        self.current = next(iter(keys))
        self.ciphers = {name: AESGCM(key) for name, key in keys.items()}
        root = root or list(keys.values())[-1]
        self.fingerprint_key = hmac.digest(root, b"portal fingerprint v1", "sha256")


def _decode_base64(text: str) -> bytes:
    """Return the bytes of a text in base64; empty if it is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


@functools.lru_cache(maxsize=4)
def _key_ring_of(text: str) -> KeyRing:
    return KeyRing(text)


def key_ring() -> KeyRing:
    """Return the key ring of the settings."""
    return _key_ring_of(settings.VAULT_KEYS)


def seal(plain: bytes, *, bound_to: str) -> bytes:
    """Encrypt under the current key: version, key id, nonce, ciphertext with tag."""
    keys, nonce = key_ring(), os.urandom(_NONCE_BYTES)
    name = keys.current.encode()
    head = bytes([_VERSION, len(name)]) + name
    return head + nonce + keys.ciphers[keys.current].encrypt(nonce, plain, head + bound_to.encode())


def open_sealed(sealed: bytes, *, bound_to: str) -> bytes:
    """Decrypt a result of `seal` for the same binding. Raises VaultError: unknown key, wrong place or changed bytes."""
    name, start = _key_of(sealed)
    cipher = key_ring().ciphers.get(name)
    if cipher is None:
        raise VaultError(f"A secret is sealed under the key {name!r}, which VAULT_KEYS does not hold.")
    nonce, body = sealed[start : start + _NONCE_BYTES], sealed[start + _NONCE_BYTES :]
    try:
        return cipher.decrypt(nonce, body, sealed[:start] + bound_to.encode())
    except InvalidTag:
        raise VaultError("A secret does not open here: it was changed, or belongs to another place.") from None


def key_name(sealed: bytes) -> str:
    """Return the ID of the key of this secret. Raises VaultError if this vault did not encrypt it."""
    return _key_of(sealed)[0]


def current_prefix() -> bytes:
    """Return the bytes with which everything encrypted under the current key begins."""
    name = key_ring().current.encode()
    return bytes([_VERSION, len(name)]) + name


def _key_of(sealed: bytes) -> tuple[str, int]:
    if len(sealed) < 2 or sealed[0] != _VERSION or len(sealed) < 2 + sealed[1] + _NONCE_BYTES + _TAG_BYTES:
        raise VaultError("What should be a sealed secret is not one.")
    start = 2 + sealed[1]
    try:
        return sealed[2:start].decode(), start
    except UnicodeDecodeError:
        raise VaultError("What should be a sealed secret is not one.") from None


def fingerprint(tenant_id: int, purpose: str, value: str) -> bytes:
    """Return a keyed 32-byte digest to find a secret value by.

    It is the same only for the same tenant and purpose.
    """
    message = json.dumps([tenant_id, purpose, value], ensure_ascii=False).encode()
    return hmac.new(key_ring().fingerprint_key, message, hashlib.sha256).digest()


def is_unreadable(row: models.Model) -> bool:
    """Return whether a secret of this row does not open with the keys of this process."""
    try:
        for field in row._meta.local_fields:
            if isinstance(field, EncryptedField):
                getattr(row, field.attname)
    except VaultError:
        return True
    return False


class Sealed:
    """An encrypted secret as it is stored. Its repr shows nothing, and only its own field decrypts it."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __repr__(self) -> str:
        return "<sealed>"


class _DecryptingAttribute(DeferredAttribute):
    """Decrypts the secret each time it is read from an instance, so that it is in memory no longer than needed."""

    field: EncryptedField

    def __get__(self, instance: models.Model | None, cls: Any = None) -> Any:
        value = super().__get__(instance, cls)
        if instance is not None and isinstance(value, Sealed):
            return self.field.open(instance.tenant_id, value)  # type: ignore[attr-defined]  # such models have it
        return value

    def __set__(self, instance: models.Model, value: Any) -> None:
        instance.__dict__[self.field.attname] = value


class EncryptedField(models.BinaryField):  # type: ignore[type-arg]  # takes no parameters at run time
    """A secret column (bytea) of a model with a `tenant_id`. Reads and writes plain values on instances.

    Querysets return `Sealed`. SQL can query it only with `isnull`. `update()` and COPY take what `seal()` returns.
    Reading raises VaultError for anything that was not encrypted for this row's tenant and this field.
    """

    descriptor_class = _DecryptingAttribute

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["editable"] = False
        super().__init__(*args, **kwargs)

    def to_bytes(self, value: Any) -> bytes:
        raise NotImplementedError

    def from_bytes(self, data: bytes) -> Any:
        raise NotImplementedError

    def binding(self, tenant_id: int) -> str:
        return f"{tenant_id}|{self.model._meta.label_lower}|{self.name}"

    def seal(self, tenant_id: int, value: Any) -> Sealed | None:
        """Return the value encrypted for this field of one tenant; None stays None."""
        if value is None or isinstance(value, Sealed):
            return value
        return Sealed(seal(self.to_bytes(value), bound_to=self.binding(tenant_id)))

    def open(self, tenant_id: int, sealed: Sealed) -> Any:
        """Return the plain value. Raises VaultError."""
        return self.from_bytes(open_sealed(sealed.data, bound_to=self.binding(tenant_id)))

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = model_instance.__dict__.get(self.attname)
        return self.seal(model_instance.tenant_id, value)  # type: ignore[attr-defined]  # such models have it

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if value is None:
            return None
        if not isinstance(value, Sealed):
            raise VaultError(f"{self.name} is written through an instance, or sealed first.")
        return connection.Database.Binary(value.data)

    def to_python(self, value: Any) -> Any:
        return value  # validation sees the plain value; the binary field below would read a text as base64

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Sealed | None:
        return None if value is None else Sealed(bytes(value))

    def get_lookup(self, lookup_name: str) -> Any:
        if lookup_name != "isnull":
            raise FieldError(f"{self.name} is encrypted: it cannot be searched. Store a fingerprint beside it.")
        return super().get_lookup(lookup_name)

    def value_to_string(self, obj: models.Model) -> str:
        raise VaultError(f"{self.name} is a secret and is not serialised.")


class EncryptedText(EncryptedField):
    """A secret text, or None."""

    def to_bytes(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise VaultError(f"{self.name} takes text.")
        return value.encode()

    def from_bytes(self, data: bytes) -> str:
        return data.decode()


class EncryptedJSON(EncryptedField):
    """A secret JSON value, or None."""

    def to_bytes(self, value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def from_bytes(self, data: bytes) -> Any:
        return json.loads(data)


class EncryptedBytes(EncryptedField):
    """Secret bytes, or None."""

    def to_bytes(self, value: bytes) -> bytes:
        return value

    def from_bytes(self, data: bytes) -> bytes:
        return data
