"""Pages that play video: they let the environment's media hosts in, and no other page does."""

from typing import Any

from django.http import HttpResponse

from portal.core.cameras import media
from tenants.access import TenantRequest


def with_media(request: TenantRequest, response: HttpResponse) -> HttpResponse:
    """Let exactly the environment's media hosts into a page."""
    hosts = list(media.hosts_of(request.tenant.environment))
    policy: Any = response
    policy._csp_update = {"media-src": ["blob:", *hosts], "connect-src": hosts}
    return response
