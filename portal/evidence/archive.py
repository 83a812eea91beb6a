"""A signed ZIP, written from front to back: no file of it and no plain byte rests anywhere on the way.

`manifest.sha256` lists the SHA-256 of every file as `sha256sum -c` reads it, `manifest.sha256.sig` is its Ed25519
signature. The ZIP's comment, its last 64 bytes, is the signature of the SHA-256 of all bytes before: with it, a change
anywhere in the file is found, also between its files. `check_export.py` checks both.
"""

import hashlib
import zipfile
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Protocol

from portal.evidence.check_export import MANIFEST, SEAL, SIGNATURE, STAMP, TAIL
from tenants import signing

# Of text; video and pictures are compressed already, and are only wrapped.
_QUICK, _NONE = 1, 0


class _Sink(Protocol):
    def write(self, data: bytes) -> int: ...


class _TailBuffer:
    """Passes bytes on but for the last 64, which the signature replaces, and takes their digest."""

    def __init__(self, sink: _Sink) -> None:
        self.sink, self.digest, self._held = sink, hashlib.sha256(), b""

    def write(self, data: bytes) -> int:
        told = self._held + bytes(data)
        passed, self._held = told[:-TAIL], told[-TAIL:]
        self.digest.update(passed)
        self.sink.write(passed)
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back but the tail."""


class Archive:
    """A ZIP that is written into `sink`; `add` files, then `close` with the time stamp of the `manifest`, if any."""

    def __init__(self, sink: _Sink, at: datetime) -> None:
        self._tail = _TailBuffer(sink)
        unseekable: Any = self._tail
        self._zip = zipfile.ZipFile(unseekable, "w", zipfile.ZIP_DEFLATED)
        self._at = at.timetuple()[:6]
        self._digests: list[tuple[str, str]] = []

    def add(self, name: str, pieces: Iterable[bytes], *, is_compressed: bool = False) -> str:
        """Write one file and list it in the manifest; return its SHA-256. `is_compressed`: it is compressed already."""
        digest = self._write(name, pieces, _NONE if is_compressed else _QUICK)
        self._digests.append((name, digest))
        return digest

    @property
    def manifest(self) -> bytes:
        """The list of what was added so far."""
        return "".join(f"{digest}  {name}\n" for name, digest in self._digests).encode()

    def close(self, stamp: bytes | None) -> tuple[str, str]:
        """Write the manifest with its signature and time stamp, then seal the whole; return its SHA-256 and the key."""
        signed = signing.sign(self.manifest)
        digest = self._write(MANIFEST, [self.manifest])
        self._write(SIGNATURE, [signed.value])
        if stamp is not None:
            self._write(STAMP, [stamp])
        self._zip.comment = bytes(TAIL)
        self._zip.close()
        self._tail.sink.write(signing.sign(SEAL + self._tail.digest.digest()).value)
        return digest, signed.key

    def _write(self, name: str, pieces: Iterable[bytes], level: int = _QUICK) -> str:
        entry: Any = zipfile.ZipInfo(name, self._at)
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        # Without it zipfile takes its own default, slow as it is; that of the archive is for names alone.
        entry._compresslevel = level
        digest = hashlib.sha256()
        with self._zip.open(entry, "w", force_zip64=True) as file:
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()
