"""Access to a tenant: who may enter it, and what they may do there. `tenant_view` declares every view under
/t/<tenant>/.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseNotAllowed, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.response import SimpleTemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from tenants import roles, unsent
from tenants.carrying import Carried
from tenants.kept import KeptQuery
from tenants.landing import home_of
from tenants.models import Staff, SupportSession, Tenant, User
from tenants.once import once
from tenants.reauthentication import (
    SAFE,
    Unproven,
    nearest_page,
    recently_authenticated,
    redirect_to_reauthentication,
    redirect_to_sign_in,
)
from tenants.roles import ASKS, Permission, Proof, Role
from tenants.scope import across_tenants, tenant_scope

View = Callable[..., HttpResponseBase]

_tenant = KeptQuery[Tenant](lambda slug: Tenant.objects.select_related("environment").filter(slug=slug)[:1], slug="")
# With all that every page shows something of.
_staff = KeptQuery[Staff](
    lambda user: Staff.objects.select_related("tenant__environment", "tenant__connection").filter(
        user=user, is_active=True
    )[:1],
    user=0,
)
# The keys of tenants that somebody entered, by the name in their address: what is found by one is compared with it.
_keys: dict[str, int] = {}


class SignedInRequest(HttpRequest):
    """The request of a view for signed-in people."""

    user: User


class TenantRequest(HttpRequest):
    """The request of a view declared with `tenant_view`."""

    user: User
    tenant: Tenant
    access: Access
    htmx: HtmxDetails


def in_tenant(request: HttpRequest) -> TypeGuard[TenantRequest]:
    """Return whether the request is for a page of a tenant, which has `tenant` and `access`."""
    return hasattr(request, "access")


class Refused(PermissionDenied):
    """The person is in the tenant but may not do this. The text is the reason, for them to read."""


@dataclass(frozen=True)
class Access:
    """One person in one tenant, at one request."""

    user: User
    tenant: Tenant
    role: type[Role]
    support_session: SupportSession | None = None

    @property
    def permissions(self) -> frozenset[Permission]:
        return self.role.permissions

    def can(self, permission: Permission | str) -> bool:
        """Return whether the person may do this. For templates and code that hides what is not allowed."""
        return Permission(permission) in self.role.permissions

    def check(self, permission: Permission | str) -> None:
        """Raise Refused with the reason unless the person may do this. For actions."""
        if not self.can(permission):
            raise Refused(
                _("This needs the permission “%(permission)s”, which the role “%(role)s” does not have.")
                % {"permission": Permission(permission).label, "role": self.role.title}
            )


def access_to(user: User, tenant: Tenant) -> Access | None:
    """Return the person's access now, read from the database each time; None for strangers.

    Staff come first; platform staff have access only while a support session of theirs is open.
    """
    if not user.is_active or not tenant.pk:
        return None
    if staff := _access_of_staff(user, tenant.pk):
        return staff
    if not user.platform_role:
        return None
    with tenant_scope(tenant):
        now = timezone.now()
        session = SupportSession.objects.filter(user=user, ended_at=None, expires_at__gt=now).order_by("-pk").first()
    if session is None:
        return None
    session.user = user
    return Access(user, tenant, roles.role(user.platform_role), session)


def _access_of_staff(user: User, tenant_id: int) -> Access | None:
    with tenant_scope(tenant_id):
        staff = next(iter(_staff.rows(user=user.pk)), None)
    return Access(user, staff.tenant, roles.role(staff.role)) if staff is not None else None


def tenants_of(user: User) -> list[tuple[Tenant, type[Role]]]:
    """Return every tenant that the person may enter now, with their role there, by name: for the switcher."""
    now = timezone.now()
    with across_tenants("the switcher lists all tenants of one person"):
        staff = Staff.objects_across_tenants.filter(user=user, is_active=True).select_related("tenant")
        found = {row.tenant.pk: (row.tenant, roles.role(row.role)) for row in staff}
        if user.platform_role:
            open_now = SupportSession.objects_across_tenants.filter(user=user, ended_at=None, expires_at__gt=now)
            for session in open_now.select_related("tenant"):
                found.setdefault(session.tenant.pk, (session.tenant, roles.role(user.platform_role)))
    return sorted(found.values(), key=lambda pair: (pair[0].name, pair[0].pk))


def tenant_view(
    permission: Permission,
    *,
    methods: Iterable[str] = ("GET",),
    writes: Permission | None = None,
    proof: Proof | None = None,
    file: bool = False,
    secrets: Iterable[str] = (),
    redraws: Mapping[str, str] | None = None,
    carries: Callable[..., Carried | None] | None = None,
) -> Callable[[View], View]:
    """Declare a view under /t/<slug:tenant>/: who may call it, and how.

    The view is called as view(request, **rest of the address) inside the tenant's scope, with `request.tenant` and
    `request.access` set. Strangers get the 404 of a tenant that does not exist; members without the permission a 403
    page with the reason. HEAD comes with GET. `writes` is the permission to change something, where looking at the
    same page needs less.

    A view that takes a POST asks for the proof of identity that `roles.ASKS` names for its permission, one with `file`,
    whose answer is one, as every file does; another `proof` may be named. Who gave it too long ago is sent to do so and
    comes back to the page: also from the page of a form, before anything is typed. A POST is not repeated then, except
    the command that `carries(request, **rest)` returns (tenants.carrying): what was typed is shown again, but for the
    fields named as `secrets` (tenants.unsent). A page that is drawn by what is posted to it says by which values a
    POST only `redraws` it; empty ones are left out.
    """
    allowed = {method.upper() for method in methods}
    allowed |= {"HEAD"} if "GET" in allowed else set()
    asked = proof or (Proof.SHORT if file else ASKS[writes or permission].proof if allowed - SAFE else Proof.NONE)

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def guarded(request: HttpRequest, tenant: str, **rest: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_sign_in(request)
            access = _enter(request.user, tenant)
            vars(request).update(tenant=access.tenant, access=access)
            with tenant_scope(access.tenant):
                response = _inside(request, access, rest)
            add_never_cache_headers(response)
            return response

        def _inside(request: HttpRequest, access: Access, rest: dict[str, Any]) -> HttpResponseBase:
            if request.method not in allowed:
                return _not_allowed(request, allowed)
            try:
                access.check(permission)
                if writes and request.method not in SAFE:
                    access.check(writes)
                if needs_second_factor(access.user, access.permissions):
                    return redirect("mfa_index")
                if access.can(writes or permission) and not recently_authenticated(request, asked, ahead=not file):
                    return _prove(request, access, carries(request, **rest) if carries else None, file=file)
                if redraws and (typed := unsent.typed(request)):
                    access.check(writes or permission)
                    _repost(request, typed, redraws)
                return _rendered_inside(once(request, lambda: view(request, **rest)), access.tenant)
            except Unproven:
                return _prove(request, access, file=True)
            except PermissionDenied as refusal:
                return render(request, "403.html", {"exception": str(refusal), "reason": str(refusal)}, status=403)
            except Http404 as missing:
                return render(request, "404.html", {"exception": str(missing)}, status=404)

        declared = {"permission": permission, "writes": writes or permission, "proof": asked, "file": file}
        vars(guarded).update(declared, secrets=frozenset(secrets), methods=frozenset(allowed))
        return guarded

    return decorate


def _not_allowed(request: HttpRequest, allowed: Iterable[str]) -> HttpResponseBase:
    """Answer another method than the `allowed`: a person who opens the address of a form is led to its page."""
    if request.method != "GET" or getattr(request, "htmx", False):
        return HttpResponseNotAllowed(sorted(allowed))
    response = render(request, "405.html", {"page": nearest_page(request.path)}, status=405)
    response["Allow"] = ", ".join(sorted(allowed))
    return response


def platform_view(*names: str, methods: Iterable[str] = ("GET",)) -> Callable[[View], View]:
    """Declare a view outside of any tenant for platform staff of these roles; everybody else gets a 404.

    A view that takes a POST asks for fresh proof of identity, as `tenant_view` does: it leads into a tenant.
    """
    allowed = {method.upper() for method in methods} | {"HEAD"}
    asked = Proof.SHORT if allowed - SAFE else Proof.NONE

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def guarded(request: HttpRequest, **rest: Any) -> HttpResponseBase:
            user = request.user
            if not user.is_authenticated:
                return redirect_to_sign_in(request)
            if user.platform_role not in names:
                raise Http404
            if request.method not in allowed:
                return _not_allowed(request, allowed)
            if needs_second_factor(user):
                return redirect("mfa_index")
            if not recently_authenticated(request, asked, ahead=True):
                home = reverse("platform:index")
                return redirect_to_reauthentication(request, within=home, home=home)
            response = view(request, **rest)
            add_never_cache_headers(response)
            return response

        vars(guarded).update(platform_roles=names, methods=frozenset(allowed), proof=asked, file=False)
        return guarded

    return decorate


def needs_second_factor(user: User, permissions: frozenset[Permission] = frozenset()) -> bool:
    """Return whether the person must first set up a second factor: platform staff, and everybody with a permission
    that asks for one.
    """
    asked = user.platform_role or any(each.needs_second_factor for each in permissions)
    return bool(settings.REQUIRE_MFA and asked and not is_mfa_enabled(user))


def why_second_factor(user: User) -> list[tuple[Tenant | None, type[Role], list[Permission]]]:
    """Return why the person must have a second factor: roles, each with its tenant and the permissions that ask for
    one. The role of platform staff comes first, without a tenant; where none is required, there is no reason.
    """
    if not settings.REQUIRE_MFA:
        return []
    platform = roles.role(user.platform_role) if user.platform_role else None
    held = [(tenant, role, role.for_second_factor()) for tenant, role in tenants_of(user) if not role.platform]
    return [*([(None, platform, [])] if platform else []), *(each for each in held if each[2])]


def _prove(
    request: HttpRequest, access: Access, carried: Carried | None = None, *, file: bool = False
) -> HttpResponseBase:
    home, within = home_of(access.tenant, access.permissions), access.tenant.get_absolute_url()
    return redirect_to_reauthentication(request, within=within, home=home, carried=carried, file=file)


def _repost(request: HttpRequest, typed: QueryDict, redraws: Mapping[str, str]) -> None:
    """Let the view draw its page by the values that were typed in it, and do nothing else with them."""
    for name, value in redraws.items():
        typed.pop(name, None)
        if value:
            typed[name] = value
    vars(request).update(method="POST", _post=typed, _files=MultiValueDict())


def _enter(user: User, slug: str) -> Access:
    """Return the person's access now. One statement finds staff together with a tenant that somebody entered before."""
    key = _keys.get(slug)
    access = _access_of_staff(user, key) if key and user.is_active else None
    if access is None or access.tenant.slug != slug:
        tenant = next(iter(_tenant.rows(slug=slug)), None)
        access = access_to(user, tenant) if tenant else None
        if access is None:
            raise Http404
        _keys[slug] = access.tenant.pk
    return access


def _rendered_inside(response: HttpResponseBase, tenant: Tenant) -> HttpResponseBase:
    """Produce late templates and streamed exports inside the tenant's scope."""
    if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
        return response.render()
    streamed: Any = response
    if response.streaming and not streamed.is_async:
        streamed.streaming_content = _inside_scope(tenant, iter(streamed.streaming_content))
    return response


def _inside_scope(tenant: Tenant, parts: Iterator[bytes]) -> Iterator[bytes]:
    while True:
        with tenant_scope(tenant):
            try:
                part = next(parts)
            except StopIteration:
                return
        yield part
