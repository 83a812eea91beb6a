"""Parts of a file (RFC 9110, Range Requests): players fetch videos in pieces."""

import hashlib
import re
from dataclasses import dataclass

from sandbox.errors import ApiError

_RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})\Z")


class Unsatisfiable(ApiError):
    """The range begins after the file's end."""

    def __init__(self, size: int) -> None:
        super().__init__(416, "41601", f"Range: the file has {size} bytes")
        self.size = size


@dataclass(frozen=True)
class ByteRange:
    """Bytes of a file from `start` on; `size` is the whole file's."""

    content: bytes
    start: int
    size: int
    etag: str
    status: int

    @classmethod
    def whole_file(cls, content: bytes) -> "ByteRange":
        return cls(content, 0, len(content), _etag_of(content), 200)

    @property
    def fraction(self) -> float:
        """Return the fraction of the file, from 0 to 1."""
        return len(self.content) / self.size

    def headers(self) -> dict[str, str]:
        """Return the headers that describe these bytes."""
        found = {"Content-Length": str(len(self.content)), "Accept-Ranges": "bytes", "ETag": self.etag}
        if self.status == 206:
            found["Content-Range"] = f"bytes {self.start}-{self.start + len(self.content) - 1}/{self.size}"
        return found


def requested_range(content: bytes, asked: str, unless_changed: str) -> ByteRange:
    """Return the bytes for the headers Range and If-Range: one range, or the whole file for anything else.

    Raises Unsatisfiable.
    """
    found = _RANGE.match(asked)
    whole = ByteRange.whole_file(content)
    if found is None or found[0] == "bytes=-" or (unless_changed and unless_changed != whole.etag):
        return whole
    size = len(content)
    if not found[1]:
        start, end = max(0, size - int(found[2])), size - 1
    else:
        start, end = int(found[1]), min(int(found[2] or size), size - 1)
    if found[2] and found[1] and int(found[2]) < int(found[1]):
        return whole
    if start >= size:
        raise Unsatisfiable(size)
    return ByteRange(content[start : end + 1], start, size, whole.etag, 206)


def _etag_of(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:24]}"'
