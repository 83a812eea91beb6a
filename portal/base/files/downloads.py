"""Download files from addresses of others: without token, redirect or proxy, and limited in size."""

from collections.abc import Iterator

import httpx2

from accessapi.transport import tls_context


class DownloadRefused(ValueError):
    """The status of the answer is not 200."""

    def __init__(self, status: int) -> None:
        super().__init__("no file there")
        self.status = status


class TooLarge(ValueError):
    """The file is larger than the limit."""


def stream_download(
    address: str, most: int, *, seconds: float, connect: float | None = None, accept: str = "*/*"
) -> Iterator[bytes]:
    """Yield the content of an address, at most `most` bytes. Raises DownloadRefused, TooLarge and httpx2's errors.

    Each silence may last `seconds`, connecting `connect` (default: `seconds`). The caller must check the address.
    """
    timeout = httpx2.Timeout(seconds, connect=connect or seconds)
    with (
        httpx2.Client(timeout=timeout, follow_redirects=False, trust_env=False, verify=tls_context()) as client,
        client.stream("GET", address, headers={"Accept": accept}) as answer,
    ):
        if answer.status_code != 200:
            raise DownloadRefused(answer.status_code)
        size = 0
        for piece in answer.iter_bytes():
            size += len(piece)
            if size > most:
                raise TooLarge("too large")
            yield piece


def download(address: str, most: int, *, seconds: float, connect: float | None = None, accept: str = "*/*") -> bytes:
    """Return the content of an address in one piece."""
    return b"".join(stream_download(address, most, seconds=seconds, connect=connect, accept=accept))
