"""Fetching a file from an address that somebody else gave: without token, redirect or proxy, and not too much of it."""

from collections.abc import Iterator

import httpx2

from accessapi.transport import tls_context


class DownloadRefused(ValueError):
    """The address was answered with another status than 200."""

    def __init__(self, status: int) -> None:
        super().__init__("no file there")
        self.status = status


class TooLarge(ValueError):
    """The file is larger than wanted."""


def stream_download(
    address: str, most: int, *, seconds: float, connect: float | None = None, accept: str = "*/*"
) -> Iterator[bytes]:
    """Yield what stands at an address, at most `most` bytes. Raises NotThere, TooLarge and httpx2's errors.

    Each silence may last `seconds`, connecting `connect` (the same without it). Where an address may lead is the
    caller's to check.
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
    """Return the same in one piece."""
    return b"".join(stream_download(address, most, seconds=seconds, connect=connect, accept=accept))
