"""Download pictures from the addresses that the service returns, only from the environment's media hosts.

An address is a secret: anyone who has it can see the picture. Never log it or put it into an error; store it encrypted.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2

from portal.base.files import downloads
from portal.base.files.downloads import DownloadRefused, TooLarge
from tenants.models import ServiceEnvironment

PICTURE_MAX, VIDEO_MAX = 8 * 1024 * 1024, 512 * 1024 * 1024
_KINDS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}


class NotFetched(Exception):
    """Nothing was downloaded. The text is a key of TROUBLES and does not contain the address."""


def media_hosts(environment: ServiceEnvironment) -> tuple[str, ...]:
    """Return the origins that media may come from: those of the overrides, otherwise the service's own."""
    service = urlsplit(environment.base_url)
    named = environment.catalogue.media.hosts or (service.netloc,)
    return tuple(f"{service.scheme}://{host.lower()}" for host in named)


def is_media_address(environment: ServiceEnvironment, address: str) -> bool:
    """Return True if an address is on one of the environment's media hosts and contains no user name or password."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return "@" not in parts.netloc and f"{parts.scheme}://{parts.netloc.lower()}" in media_hosts(environment)


def stream_media(environment: ServiceEnvironment, address: str, most: int) -> Iterator[bytes]:
    """Yield the content of an address, at most `most` bytes. Raises NotFetched, also after the first bytes."""
    if not is_media_address(environment, address):
        raise NotFetched("other_host")
    try:
        yield from downloads.stream_download(address, most, seconds=10, connect=3)
    except DownloadRefused as answer:
        raise NotFetched("expired" if answer.status in (401, 403, 404, 410) else "not_fetched") from None
    except TooLarge:
        raise NotFetched("too_large") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
        raise NotFetched("not_fetched") from None


def fetch_media(environment: ServiceEnvironment, address: str, most: int) -> bytes:
    """Return the content of an address, at most `most` bytes. Raises NotFetched."""
    return b"".join(stream_media(environment, address, most))


def content_type_of(content: bytes) -> str:
    """Return the content type of a picture from its first bytes; "" for unsupported types."""
    return next((kind for head, kind in _KINDS.items() if content.startswith(head)), "")
