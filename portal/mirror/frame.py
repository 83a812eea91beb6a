"""The "as of … refresh" of every page's footer."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from portal.mirror import freshness
from portal.mirror.freshness import Freshness
from portal.mirror.kinds import Kind
from portal.ui import frame

_SHOWS = {"groups": Kind.GROUPS, "devices": Kind.PASS_CONTROLLERS}


def known(request: HttpRequest) -> Freshness:
    """The freshness of the request's tenant, read once a page."""
    found: Freshness | None = getattr(request, "mirror_freshness", None)
    if found is None:
        found = request.mirror_freshness = freshness.of(request.tenant)  # type: ignore[attr-defined]
    return found


def facts(request: HttpRequest) -> Mapping[str, Any]:
    """How fresh what this area of work shows is, and where to ask for newer."""
    tenant = request.tenant  # type: ignore[attr-defined]
    match = request.resolver_match
    kind = _SHOWS.get(match.app_name if match else "", Kind.MEMBERS)
    fresh = known(request)
    return {
        "as_of": fresh[kind].as_of,
        "last_sync": fresh.last_sync,
        "running": fresh[kind].running,
        "refresh_url": reverse("mirror:refresh", args=[tenant.slug, str(kind)]),
    }


def register() -> None:
    frame.register("freshness", facts)
