"""The "as of … refresh" of every page's footer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from portal.core.mirror import freshness
from portal.core.mirror.freshness import Freshness
from portal.core.mirror.kinds import Kind
from portal.core.ui import frame, together
from portal.core.ui.addresses import within
from tenants.roles import Permission

_REFRESH = "mirror:refresh"


@dataclass(frozen=True)
class _Shown:
    """What an area of work shows, and the name of the address that asks for newer."""

    kind: Kind
    refresh: str = _REFRESH


_SHOWS = {"groups": _Shown(Kind.GROUPS), "devices": _Shown(Kind.PASS_CONTROLLERS)}


def shows(app_name: str, kind: Kind, *, refresh: str = _REFRESH) -> None:
    """An area of work whose footer is about `kind`. `refresh` takes the tenant's slug and a kind, like the mirror's own
    (`views.refreshing`): for people who may not enter the rest of the tenant.
    """
    _SHOWS[app_name] = _Shown(kind, refresh)


def known(request: HttpRequest) -> Freshness:
    """The freshness of the request's tenant, read once a page."""
    found: Freshness | None = getattr(request, "mirror_freshness", None)
    if found is None:
        found = freshness.of(request.tenant, together.told(request, "freshness"))  # type: ignore[attr-defined]
        request.mirror_freshness = found  # type: ignore[attr-defined]
    return found


def facts(request: HttpRequest) -> Mapping[str, Any]:
    """How fresh what this area of work shows is, and where to ask for newer."""
    tenant = request.tenant  # type: ignore[attr-defined]
    match = request.resolver_match
    shown = _SHOWS.get(match.app_name if match else "", _Shown(Kind.MEMBERS))
    kind = shown.kind
    fresh = known(request)
    return {
        "as_of": fresh[kind].as_of,
        "last_sync": fresh.last_sync,
        "running": fresh[kind].running,
        "refresh_url": within(_refresh(request, shown), tenant.slug, str(kind)),
    }


def _refresh(request: HttpRequest, shown: _Shown) -> str:
    """Whoever may see the tenant asks there; an area's own address is for people who may enter nothing else."""
    return _REFRESH if request.access.can(Permission.TENANT_VIEW) else shown.refresh  # type: ignore[attr-defined]


def register() -> None:
    together.ask("freshness", freshness.states)
    frame.register("freshness", facts)
