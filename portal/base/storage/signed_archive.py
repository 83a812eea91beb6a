"""Signed ZIP files. They are written in one pass, so that no plain bytes are stored on the way.

`manifest.sha256` lists the SHA-256 of every file in the format of `sha256sum -c`. `manifest.sha256.sig` is its Ed25519
signature. The ZIP's comment, its last 64 bytes, is the signature of the SHA-256 of all bytes before it. It reveals
changes anywhere in the file, also between its files. `check_export.py` checks both signatures.
"""

import hashlib
import zipfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse

from portal.base.storage.check_export import MANIFEST, SEAL, SIGNATURE, STAMP, TAIL
from tenants import signing

# Compression of text; video and pictures are compressed already.
_QUICK, _NONE = 1, 0


class _Sink(Protocol):
    def write(self, data: bytes) -> int: ...


class _TailBuffer:
    """A writer that passes on all bytes except the last 64, which the signature replaces, and computes their digest."""

    def __init__(self, sink: _Sink) -> None:
        self.sink, self.digest, self._held = sink, hashlib.sha256(), b""

    def write(self, data: bytes) -> int:
        content = self._held + bytes(data)
        passed, self._held = content[:-TAIL], content[-TAIL:]
        self.digest.update(passed)
        self.sink.write(passed)
        return len(data)

    def flush(self) -> None:
        """Do nothing: only the last bytes are held back."""


class SignedArchive:
    """A ZIP that is written into `sink`.

    Call `add` for each file, then `close` with the manifest's time stamp, if any.
    """

    def __init__(self, sink: _Sink, at: datetime) -> None:
        self._tail = _TailBuffer(sink)
        unseekable: Any = self._tail
        self._zip = zipfile.ZipFile(unseekable, "w", zipfile.ZIP_DEFLATED)
        self._at = at.timetuple()[:6]
        self._digests: list[tuple[str, str]] = []

    def add(self, name: str, pieces: Iterable[bytes], *, is_compressed: bool = False) -> str:
        """Write one file, list it in the manifest and return its SHA-256.

        `is_compressed` means no further compression.
        """
        digest = self._write(name, pieces, _NONE if is_compressed else _QUICK)
        self._digests.append((name, digest))
        return digest

    @property
    def manifest(self) -> bytes:
        """Return the list of the files added so far."""
        return "".join(f"{digest}  {name}\n" for name, digest in self._digests).encode()

    def close(self, stamp: bytes | None) -> tuple[str, str]:
        """Write the manifest with signature and time stamp, then sign the whole file.

        Return the manifest's SHA-256 and the name of the signing key.
        """
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
        # Without a level, zipfile would use its slow default; the archive's level applies to other calls only.
        entry._compresslevel = level
        digest = hashlib.sha256()
        with self._zip.open(entry, "w", force_zip64=True) as file:
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()


@login_not_required
def check_program(request: HttpRequest) -> HttpResponse:
    """Return the program that checks a signed file without the portal."""
    program = Path(__file__).with_name("check_export.py").read_bytes()
    answer = HttpResponse(program, content_type="text/x-python; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="check_export.py"'
    return answer
