"""The store of files: each file is encrypted with its own random key, which only the database has.

A file is split into pieces of PIECE bytes, each sealed with AES-256-GCM. The nonce contains the piece's number and
whether it is the last, so pieces cannot be swapped or left out. The bytes are in the storage "evidence" of the settings
(files or an S3 store). Without its key a file is unreadable, so deleting the row deletes it for good.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import IO
from uuid import uuid4

import structlog
from botocore.exceptions import BotoCoreError, ClientError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.core.files import File
from django.core.files.storage import Storage, storages
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

from portal.base.storage.models import StoredFile
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import DueRows
from tenants.reauthentication import require_proof_for_file
from tenants.scope import across_tenants, current_tenant_id

log = structlog.get_logger(__name__)
PIECE = 1024 * 1024
# Errors of a store that is unreachable or does not have a file.
STORE_ERRORS = (OSError, ClientError, BotoCoreError)
_TAG = 16
_KEY = 32
# A file that is incomplete after this time belongs to a worker that died.
_LONGEST_WRITE = timedelta(hours=2)
_AT_ONCE = 50
_DELETE_AGAIN = timedelta(minutes=10)


class FileUnreadable(Exception):
    """The error for stored bytes that are missing or were changed."""


def _storage() -> Storage:
    return storages["evidence"]


class FileWriter:
    """A writer of one file: `with FileWriter("video/mp4") as file: file.write(…)`. Afterwards `file.row` is its row.

    The row has a deletion date until `retain` is called, in the transaction that adds the reference to it. Neither
    memory nor disk holds more than one piece of the plain bytes.
    """

    def __init__(self, content_type: str = "") -> None:
        path = f"{current_tenant_id()}/{uuid4().hex}"
        self.row = StoredFile.objects.create(
            path=path, key=os.urandom(_KEY), content_type=content_type, delete_at=database_now() + _LONGEST_WRITE
        )
        self._cipher, self._digest = AESGCM(self.row.key), hashlib.sha256()
        self._sealed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._waiting, self._number, self.size = bytearray(), 0, 0

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, why: object, where: TracebackType | None) -> None:
        with self._sealed:
            if kind is None:
                self._finish()
            else:
                schedule_deletion(StoredFile.objects.filter(pk=self.row.pk))

    def write(self, data: bytes) -> int:
        """Encrypt and write the next bytes."""
        self._digest.update(data)
        self.size += len(data)
        self._waiting += data
        while len(self._waiting) > PIECE:
            self._seal(bytes(self._waiting[:PIECE]), last=False)
            del self._waiting[:PIECE]
        return len(data)

    def flush(self) -> None:
        """Do nothing: the bytes are written at the end."""

    def _seal(self, piece: bytes, *, last: bool) -> None:
        self._sealed.write(self._cipher.encrypt(_nonce(self._number, last=last), piece, None))
        self._number += 1

    def _finish(self) -> None:
        self._seal(bytes(self._waiting), last=True)
        self._sealed.seek(0)
        _storage().save(self.row.path, File(self._sealed))
        self.row.sha256, self.row.size = self._digest.hexdigest(), self.size
        self.row.save(update_fields=["sha256", "size", "content_type"])


def retain(row: StoredFile) -> None:
    """Keep a written file. Call it in the transaction that adds the first reference to the file."""
    row.delete_at = None
    row.save(update_fields=["delete_at"])


def read_file(row: StoredFile, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield the plain bytes of a file from `start` to before `end`.

    Raises FileUnreadable, also after the first bytes.
    """
    end = row.size if end is None else min(end, row.size)
    pieces = _pieces(row.size)
    try:
        key = row.key or b""
        cipher = AESGCM(key)
        with _storage().open(row.path) as sealed:
            sealed.seek(start // PIECE * (PIECE + _TAG))
            for number in range(start // PIECE, pieces):
                begins = number * PIECE
                if begins >= end and row.size:
                    return
                data = sealed.read(PIECE + _TAG)
                plain = cipher.decrypt(_nonce(number, last=number == pieces - 1), data, None)
                yield plain[max(start - begins, 0) : end - begins]
    except (*STORE_ERRORS, ValueError, InvalidTag):
        raise FileUnreadable(row.path) from None


def has_file(path: str, size: int) -> bool:
    """Return whether the store has a complete file of `size` plain bytes, without reading its content."""
    try:
        return _storage().size(path) == size + _pieces(size) * _TAG
    except STORE_ERRORS:
        return False


def download_response(
    request: HttpRequest, row: StoredFile, name: str, *, record: Callable[[], object]
) -> StreamingHttpResponse:
    """Return a response with the whole file as `name`, after `record` has written the audit entry.

    Raises ProofRequired without a recent proof of identity, before anything is recorded.
    """
    require_proof_for_file(request)
    record()
    heads = {"Content-Length": str(row.size), "Content-Disposition": str(content_disposition_header(True, name))}
    return StreamingHttpResponse(read_file(row), content_type=row.content_type, headers=heads)


def schedule_deletion(rows: QuerySet[StoredFile]) -> None:
    """Mark files as to be deleted. Their keys are deleted in this transaction, their bytes soon after."""
    rows.update(delete_at=ClockTime(), key=None)


def _pieces(size: int) -> int:
    return max(-(-size // PIECE), 1)


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


def _to_delete() -> QuerySet[StoredFile]:
    return StoredFile.objects_across_tenants.filter(delete_at__lte=ClockTime())


def delete_due() -> int:
    """Delete the due files of all tenants. Return their number."""
    return sum(_delete(row) for batch in FILES_DUE.claim_batches() for row in batch)


def _delete(row: StoredFile) -> bool:
    """Delete a file and its row. Return False, and keep the row for a later try, if the store is unreachable."""
    try:
        _storage().delete(row.path)
    except STORE_ERRORS as error:
        log.warning("stored_file_not_deleted", error=type(error).__name__)
        return False
    with across_tenants("files of all tenants are deleted together"):
        StoredFile.objects_across_tenants.filter(pk=row.pk, delete_at__isnull=False).delete()
    return True


FILES_DUE: DueRows[StoredFile] = DueRows(
    rows=_to_delete,
    claim_values=lambda: {"delete_at": ClockTime() + _DELETE_AGAIN},
    columns=("path",),
    order=("delete_at",),
    batch_size=_AT_ONCE,
)
