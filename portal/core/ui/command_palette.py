"""What Ctrl-K finds. Areas of work register what they know; pages and tenants are found here.

    palette.register("members", _("Members"), lambda request, text: [Hit(name, href, icon="user", hint=code), …],
                     Permission.MEMBERS_VIEW, lambda request: freshness.unread(request, Kind.MEMBERS))

A source is called inside the tenant with what was typed (never empty) for those with its permission, answers from the
mirror in one short query, and gives at most a handful of hits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from portal.core.ui import nav
from tenants.access import TenantRequest, in_tenant, tenants_of
from tenants.models import User
from tenants.roles import Permission

Text = str | Promise
MAX_HITS = 6
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found, with the page it leads to."""

    title: Text
    href: str
    icon: str = "arrow-right"
    hint: Text = ""
    tenant: Any = None


@dataclass(frozen=True, slots=True)
class HitGroup:
    label: Text
    hits: list[Hit]


Source = Callable[[TenantRequest, str], Iterable[Hit]]
DescribeUnread = Callable[[TenantRequest], str]
_sources: dict[str, tuple[Text, Source, Permission, DescribeUnread]] = {}


def register(name: str, label: Text, source: Source, permission: Permission, describe_unread: DescribeUnread) -> None:
    """Add a source of hits, shown under `label` in the order of registration.

    Where nothing is found, `describe_unread` says what is not known of its list, to those with `permission`.
    """
    _sources[name] = (label, source, permission, describe_unread)


def find_hits(request: HttpRequest, text: str) -> list[HitGroup]:
    """What `text` finds for this person, grouped; pages and tenants alone while nothing is typed."""
    text = text.strip()[:_LONGEST].replace("\x00", "")
    groups = []
    if in_tenant(request):
        if text:
            mine = [each for each in _sources.values() if request.access.can(each[2])]
            groups = [HitGroup(label, list(source(request, text))[:MAX_HITS]) for label, source, *_said in mine]
        groups.append(HitGroup(pgettext("portal", "Pages"), _pages(request, text)))
    groups.append(HitGroup(_("Tenants"), _tenants(request, text)))
    return [group for group in groups if group.hits]


def describe_unread(request: HttpRequest) -> list[str]:
    """Return what is not known of the lists that were searched, as far as this person may know of them."""
    if not in_tenant(request):
        return []
    told = (said(request) for _label, _source, may, said in _sources.values() if request.access.can(may))
    return list(filter(None, told))


def _pages(request: HttpRequest, text: str) -> list[Hit]:
    links = [link for link in nav.links(request) if text.casefold() in str(link.entry.label).casefold()]
    return [Hit(link.entry.label, link.href, link.entry.icon) for link in links]


def _tenants(request: HttpRequest, text: str) -> list[Hit]:
    here = request.tenant.pk if in_tenant(request) else None
    wanted = text.casefold()
    hits = []
    for tenant, role in tenants_of(cast(User, request.user)):
        if tenant.pk != here and (wanted in tenant.name.casefold() or wanted in tenant.slug):
            address = nav.address_of_kind("home", tenant.slug, role.permissions)
            hits.append(Hit(tenant.name, address, hint=role.title, tenant=tenant))
    return hits[:MAX_HITS]
