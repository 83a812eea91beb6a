"""Signed addresses of media, which cannot be forged and are valid for a limited time."""

from dataclasses import astuple, dataclass

from django.core.signing import BadSignature, Signer
from django.http import HttpRequest

from sandbox.errors import not_found

SNAPSHOT, LIVE, RECORDING, VIDEO = "snapshot.jpg", "live.m3u8", "recording.m3u8", "video.mp4"
_PREFIX = "/files/cameras/"
_signer = Signer(salt="sandbox.cameras")


@dataclass(frozen=True)
class MediaGrant:
    """The media that an address gives access to: pictures of a camera from `since` to `until`, in seconds of the epoch.

    `file` is one of the names above; segments are beside their playlist. Valid before the second `expires`.
    """

    tenant_id: str
    camera_id: str
    file: str
    since: int
    until: int
    expires: int


def media_address(request: HttpRequest, grant: MediaGrant) -> str:
    """Return the file's address, at the host that the caller used."""
    return request.build_absolute_uri(f"{_PREFIX}{_signer.sign_object(list(astuple(grant)))}/{grant.file}")


def read_grant(token: str) -> MediaGrant:
    """Return the grant in an address's token. Raises not_found if it was not signed here."""
    try:
        return MediaGrant(*_signer.unsign_object(token))
    except (BadSignature, ValueError):
        raise not_found("file") from None
