"""Open the parts of an XLSX file: a ZIP archive, whose directory is checked before anything is unpacked."""

import posixpath
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from xml.parsers import expat

from portal.base.files import file_limits
from portal.base.files.file_limits import FileFault

_SHEETS = "xl/worksheets/"
_READ_BYTES = 64 * 1024
# The part by which the archive of another program is known.
_OTHER_FORMATS = {
    "xl/workbook.bin": "binary_excel",
    "content.xml": "open_document",
    "word/document.xml": "no_spreadsheet",
    "ppt/presentation.xml": "no_spreadsheet",
}


class XlsxArchive:
    """An archive whose parts are within the limits. Raises FileFault `xlsx` or `bomb`."""

    def __init__(self, source: BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(source)
            self._parts = {_part_name(info.filename): info for info in self._zip.infolist()}
        except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, OSError):
            raise FileFault("xlsx") from None
        if len(self._parts) > file_limits.MAX_PARTS:
            raise FileFault("bomb")
        for name, info in self._parts.items():
            if info.flag_bits & 1:
                raise FileFault("password")
            if name.endswith((".xml", ".rels")) and info.file_size > _max_bytes(name):
                raise FileFault("bomb")

    def __contains__(self, name: str) -> bool:
        return _part_name(name) in self._parts

    def other_format(self) -> str:
        """Return the fault of an archive without a workbook: the program that wrote it, if it is known."""
        for name, code in _OTHER_FORMATS.items():
            if name in self._parts:
                return code
        if any(name.endswith(".iwa") for name in self._parts):
            return "numbers"
        return "xlsx" if "[content_types].xml" in self._parts else "zip"

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a part, which yields at most the bytes that the directory announced. Raises FileFault `xlsx`."""
        info = self._parts.get(_part_name(name))
        if info is None or info.file_size > _max_bytes(name.lower()):
            raise FileFault("xlsx" if info is None else "bomb")
        try:
            with self._zip.open(info) as part:
                yield part  # type: ignore[misc]  # IO[bytes] is what the stubs call it
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
            raise FileFault("xlsx") from None
        except Exception as error:
            # The decompressors have their own error classes (zlib.error, lzma.LZMAError).
            if type(error).__module__ in ("zlib", "_lzma", "_bz2", "lzma", "bz2"):
                raise FileFault("xlsx") from None
            raise


def _part_name(name: str) -> str:
    """Return the name of a part as it is compared. Some programs write backslashes."""
    return name.replace("\\", "/").lower().lstrip("/")


def _max_bytes(name: str) -> int:
    if name.startswith(_SHEETS) or "/worksheets/" in name:
        return file_limits.MAX_SHEET_BYTES
    return file_limits.MAX_STRINGS_BYTES if name.endswith("sharedstrings.xml") else file_limits.MAX_SMALL_PART_BYTES


def parse_part(
    part: BinaryIO,
    start: Callable[[str, dict[str, str]], Any] | None = None,
    end: Callable[[str], Any] | None = None,
    text: Callable[[str], Any] | None = None,
) -> Iterator[None]:
    """Parse a part with the handlers, names without namespaces. Yield after each piece, and refuse entities.

    Raises FileFault `xlsx` for what is not well-formed.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.EntityDeclHandler = _no_entities
    if start is not None:
        parser.StartElementHandler = lambda name, attributes: start(_local_name(name), attributes)
    if end is not None:
        parser.EndElementHandler = lambda name: end(_local_name(name))
    if text is not None:
        parser.CharacterDataHandler = text
    try:
        while piece := part.read(_READ_BYTES):
            parser.Parse(piece, False)
            yield
        parser.Parse(b"", True)
        yield
    except (expat.ExpatError, LookupError, ValueError):  # the latter two for an encoding that Python does not know
        raise FileFault("xlsx") from None


def read_elements(package: XlsxArchive, name: str) -> list[tuple[str, dict[str, str]]]:
    """Return the elements of a small part, in order, with their attributes."""
    found: list[tuple[str, dict[str, str]]] = []
    with package.open(name) as part:
        for _piece in parse_part(part, start=lambda tag, attributes: found.append((tag, attributes))):
            if len(found) > 200_000:
                raise FileFault("bomb")
    return found


def resolve_target(base: str, target: str) -> str:
    """Return the target of a relationship as a name in the archive."""
    target = target.replace("\\", "/")
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), target))


def _local_name(name: str) -> str:
    return name.rpartition(" ")[2]


def _no_entities(*_declared: Any) -> None:
    raise FileFault("bomb")
