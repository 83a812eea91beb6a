"""Profile pictures: the address comes from single reads; the picture is loaded once and shown from our own address."""

import ipaddress
import socket
from datetime import timedelta
from urllib.parse import urlsplit

import httpx2
import structlog
from django.utils import timezone

from portal.base.files import pictures
from portal.base.files.downloads import download
from portal.domain.mirror.models import Member
from portal.members.models import Portrait
from tenants import vault
from tenants.models import Tenant

log = structlog.get_logger(__name__)

SIDE = 320
_RETRY_AFTER = timedelta(minutes=5)
_TIMEOUT_SECONDS = 5.0


def save_portrait_address(tenant: Tenant, member_id: str, address: str | None) -> None:
    """Save the picture's address from a single read; with None, delete the picture."""
    if not address:
        Portrait.objects.filter(member_id=member_id).delete()
        return
    mark = vault.fingerprint(tenant.pk, "portrait", address).hex()[:32]
    if Portrait.objects.filter(member_id=member_id, mark=mark).exists():
        return
    fresh = {"address": address, "mark": mark, "content": None, "tried_at": None}
    Portrait.objects.update_or_create(tenant=tenant, member_id=member_id, defaults=fresh)


def delete_portraits(member_ids: list[str]) -> None:
    Portrait.objects.filter(member_id__in=member_ids).delete()


def delete_orphan_portraits(_tenant: Tenant) -> None:
    """Delete pictures whose member no longer exists. Called after each complete list of members."""
    Portrait.objects.exclude(member_id__in=Member.objects.values("member_id")).delete()


def portrait_content(tenant: Tenant, member_id: str) -> bytes | None:
    """Return the picture as a JPEG of up to 320 x 320 pixels. It is loaded on first use, which uses no API call."""
    kept = Portrait.objects.filter(member_id=member_id).first()
    if kept is None or kept.content is not None:
        return kept.content if kept else None
    if kept.tried_at is not None and kept.tried_at > timezone.now() - _RETRY_AFTER:
        return None
    content = _fetch(kept.address, tenant.environment.base_url)
    fields = Portrait.objects.filter(pk=kept.pk, mark=kept.mark)
    sealed = Portrait._meta.get_field("content").seal(tenant.pk, content)
    fields.update(content=sealed, tried_at=timezone.now())
    return content


def _fetch(address: str, base_url: str) -> bytes | None:
    """Load the picture, check it and make it smaller; None if it cannot be shown. The address is never logged."""
    try:
        if not _is_allowed(address, base_url):
            raise ValueError("not an address of the service or of the open internet")
        content = download(address, pictures.PROFILE_MAX, seconds=_TIMEOUT_SECONDS, accept="image/jpeg, image/png")
        return pictures.prepare_picture(content, SIDE).content
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        log.warning("portrait_not_fetched", error=type(error).__name__)
        return None


def _is_allowed(address: str, base_url: str) -> bool:
    """Check the address: the service's host, or a public host by HTTPS. Addresses of our network are refused."""
    parts, ours = urlsplit(address), urlsplit(base_url)
    if parts.username or parts.password or parts.scheme not in ("http", "https"):
        return False
    if (parts.scheme, parts.hostname, parts.port) == (ours.scheme, ours.hostname, ours.port):
        return True
    if parts.scheme != "https" or not parts.hostname:
        return False
    found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    return all(ipaddress.ip_address(str(each[4][0])).is_global for each in found)
