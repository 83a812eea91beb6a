"""The command palette (Ctrl-K). Areas of work register sources; pages and tenants are found here.

    command_palette.register("members", _("Members"), lambda request, text: [Hit(name, href, icon="user"), …],
                             Permission.MEMBERS_VIEW,
                             lambda request: freshness.describe_unread(request, MirrorKind.MEMBERS))

A source is called inside the tenant with the typed text (never empty), for people with its permission. It returns a few
hits, from one short query of the mirror.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from portal.base.ui import nav
from tenants.access import TenantRequest, in_tenant, tenants_of
from tenants.models import User
from tenants.roles import Permission

Text = str | Promise
MAX_HITS = 6
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Hit:
    """One result, with the URL of its page."""

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
Hint = Callable[[TenantRequest, str], str]
_sources: dict[str, tuple[Text, Source, Permission, DescribeUnread, Hint]] = {}


def register(
    name: str,
    label: Text,
    source: Source,
    permission: Permission,
    describe_unread: DescribeUnread,
    hint: Hint = lambda _request, _text: "",
) -> None:
    """Add a source of hits, shown under `label` in the order of registration.

    When nothing is found, `describe_unread` says which of its data is not loaded, to people with `permission`, and
    `hint` why the text may have found nothing.
    """
    _sources[name] = (label, source, permission, describe_unread, hint)


def find_hits(request: HttpRequest, text: str) -> list[HitGroup]:
    """Return the hits for `text` for this person, grouped; only pages and tenants while nothing is typed."""
    text = text.strip()[:_LONGEST].replace("\x00", "")
    groups = []
    if in_tenant(request):
        if text:
            mine = [each for each in _sources.values() if request.access.can(each[2])]
            groups = [HitGroup(label, list(source(request, text))[:MAX_HITS]) for label, source, *_describe in mine]
        groups.append(HitGroup(pgettext("portal", "Pages"), _pages(request, text)))
    groups.append(HitGroup(_("Tenants"), _tenants(request, text)))
    return [group for group in groups if group.hits]


def explain_no_hits(request: HttpRequest, text: str) -> list[str]:
    """Return hints about the text, and which data is not loaded of the searched lists that this person may see."""
    if not in_tenant(request):
        return []
    mine = [each for each in _sources.values() if request.access.can(each[2])]
    hints = [hint(request, text) for *_others, hint in mine]
    return list(filter(None, [*hints, *(describe(request) for *_others, describe, _hint in mine)]))


def _pages(request: HttpRequest, text: str) -> list[Hit]:
    links = [link for link in nav.links(request) if text.casefold() in str(link.entry.label).casefold()]
    return [Hit(link.entry.label, link.href, link.entry.icon) for link in links]


def _tenants(request: HttpRequest, text: str) -> list[Hit]:
    current = request.tenant.pk if in_tenant(request) else None
    folded = text.casefold()
    hits = []
    for tenant, role in tenants_of(cast(User, request.user)):
        if tenant.pk != current and (folded in tenant.name.casefold() or folded in tenant.slug):
            address = nav.address_of_kind("home", tenant.slug, role.permissions)
            hits.append(Hit(tenant.name, address, hint=role.title, tenant=tenant))
    return hits[:MAX_HITS]
