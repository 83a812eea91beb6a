"""Where an uploaded file rests: in the database, encrypted, in pieces, so that any worker can stream it."""

import hashlib
from collections.abc import Iterable, Iterator

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from portal.core.files import bounds, reading
from portal.core.files.faults import FileFault
from portal.imports.models import ImportChunk, ImportFile
from tenants import vault
from tenants.scope import current_tenant_id


def store(upload: UploadedFile) -> ImportFile:
    """Take over an uploaded file. Raises FileFault; then nothing is kept."""
    if (upload.size or 0) > bounds.MAX_FILE_BYTES:
        raise FileFault("size")
    shape = reading.look(lambda: upload.chunks(bounds.CHUNK_BYTES))
    with transaction.atomic():
        digest, size = hashlib.sha256(), 0
        for chunk in upload.chunks(bounds.CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
        file = ImportFile.objects.create(
            name=(upload.name or "")[-200:].replace("\x00", ""),
            size=size,
            fingerprint=vault.fingerprint(current_tenant_id(), "imports.file", digest.hexdigest()),
            kind=shape.kind,
            encoding=shape.encoding,
            delimiter=shape.delimiter,
            headings=shape.headings,
            sample=shape.sample,
        )
        for number, chunk in enumerate(upload.chunks(bounds.CHUNK_BYTES)):
            ImportChunk.objects.create(file=file, number=number, body=chunk)
    return file


def chunks(file: ImportFile) -> Iterable[bytes]:
    """The file's bytes, a piece at a time."""
    count = ImportChunk.objects.filter(file=file).count()
    for number in range(count):
        yield ImportChunk.objects.get(file=file, number=number).body


def opened(file: ImportFile) -> tuple[list[str], Iterator[reading.Line]]:
    """The headings and the rows of a kept file. Raises FileFault, also while the rows are read."""
    return reading.opened(file.kind, file.encoding, file.delimiter, lambda: chunks(file))
