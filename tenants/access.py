"""Access of people to tenants. Every view under /t/<tenant>/ is declared with `tenant_view`."""

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

from tenants import interrupted_requests, pending_commands, roles
from tenants.audit import AuditAuthor
from tenants.duplicate_posts import respond_once
from tenants.models import Staff, SupportSession, Tenant, User
from tenants.pending_commands import PendingCommand
from tenants.postgresql.compiled_queries import CompiledQuery
from tenants.reauthentication import (
    SAFE_METHODS,
    ProofRequired,
    is_recently_authenticated,
    nearest_page,
    redirect_to_reauthentication,
    redirect_to_sign_in,
)
from tenants.roles import REQUIREMENTS, Permission, Proof, Role
from tenants.scope import across_tenants, tenant_scope

FirstPage = Callable[[str, frozenset[Permission]], str]


def _tenant_address(slug: str, allowed: frozenset[Permission]) -> str:
    return f"/t/{slug}/"


_first_page: FirstPage = _tenant_address


def register_first_page(first_page: FirstPage) -> None:
    """Register `first_page(slug, permissions)`, which returns the address of the first page.

    The site calls this once.
    """
    global _first_page
    _first_page = first_page


def first_page_of(tenant: Tenant, allowed: frozenset[Permission]) -> str:
    """Return the address of the first page in the tenant for a person with these permissions."""
    return _first_page(tenant.slug, allowed)


View = Callable[..., HttpResponseBase]

_tenant = CompiledQuery[Tenant](
    lambda slug: Tenant.objects.select_related("environment").filter(slug=slug)[:1], slug=""
)
# Joined with everything that each page shows.
_staff = CompiledQuery[Staff](
    lambda user: Staff.objects.select_related("tenant__environment", "tenant__connection").filter(
        user=user, is_active=True
    )[:1],
    user=0,
)
# IDs of tenants that were entered before, by slug. The tenant found by an ID must still have that slug.
_tenant_ids: dict[str, int] = {}


class SignedInRequest(HttpRequest):
    """The request of a view for signed-in people."""

    user: User


class TenantRequest(HttpRequest):
    """The request of a view that is declared with `tenant_view`."""

    user: User
    tenant: Tenant
    access: Access
    htmx: HtmxDetails


def in_tenant(request: HttpRequest) -> TypeGuard[TenantRequest]:
    """Return whether the request is for a page of a tenant, which has `tenant` and `access`."""
    return hasattr(request, "access")


class AccessDenied(PermissionDenied):
    """The person is in the tenant but does not have this permission. The text is the reason, shown to the person."""


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
        """Return whether the person has this permission. For templates and code that hides what is not allowed."""
        return Permission(permission) in self.role.permissions

    @property
    def audit_author(self) -> AuditAuthor:
        """Return the author for the audit log: `audit.record(**access.audit_author, …)`."""
        return {"tenant": self.tenant, "by": self.user, "support_session": self.support_session}

    def check(self, permission: Permission | str) -> None:
        """Raise AccessDenied with the reason unless the person has this permission. For actions."""
        if not self.can(permission):
            raise AccessDenied(
                _("This needs the permission “%(permission)s”, which the role “%(role)s” does not have.")
                % {"permission": Permission(permission).label, "role": self.role.title}
            )


def access_to(user: User, tenant: Tenant) -> Access | None:
    """Return the person's current access, read from the database each time; None without access.

    The tenant's own staff come first. Platform staff have access only while they have an open support session.
    """
    if not user.is_active or not tenant.pk:
        return None
    if staff := _find_staff_access(user, tenant.pk):
        return staff
    if not user.platform_role:
        return None
    with tenant_scope(tenant):
        now = timezone.now()
        session = SupportSession.objects.filter(user=user, ended_at=None, expires_at__gt=now).order_by("-pk").first()
    if session is None:
        return None
    session.user = user
    return Access(user, tenant, roles.find_role(user.platform_role), session)


def _find_staff_access(user: User, tenant_id: int) -> Access | None:
    with tenant_scope(tenant_id):
        staff = next(iter(_staff.rows(user=user.pk)), None)
    return Access(user, staff.tenant, roles.find_role(staff.role)) if staff is not None else None


def tenants_of(user: User) -> list[tuple[Tenant, type[Role]]]:
    """Return every tenant that the person has access to now, with their role there, by name."""
    now = timezone.now()
    with across_tenants("the switcher lists all tenants of one person"):
        staff = Staff.objects_across_tenants.filter(user=user, is_active=True).select_related("tenant")
        found = {row.tenant.pk: (row.tenant, roles.find_role(row.role)) for row in staff}
        if user.platform_role:
            open_now = SupportSession.objects_across_tenants.filter(user=user, ended_at=None, expires_at__gt=now)
            for session in open_now.select_related("tenant"):
                found.setdefault(session.tenant.pk, (session.tenant, roles.find_role(user.platform_role)))
    return sorted(found.values(), key=lambda pair: (pair[0].name, pair[0].pk))


def tenant_view(
    permission: Permission,
    *,
    methods: Iterable[str] = ("GET",),
    write_permission: Permission | None = None,
    proof: Proof | None = None,
    is_file: bool = False,
    secret_fields: Iterable[str] = (),
    redraw_values: Mapping[str, str] | None = None,
    find_command: Callable[..., PendingCommand | None] | None = None,
) -> Callable[[View], View]:
    """Declare a view under /t/<slug:tenant>/, called as view(request, **rest of the address) in the tenant's scope.

    `methods`: GET includes HEAD. `write_permission`: for writes, if reading needs less. `proof`: instead of the proof
    of identity that `roles.REQUIREMENTS` has for the permission of a POST, or that a file (`is_file`) requires.
    `secret_fields`: typed values that are not shown again. `redraw_values`: the values with which a POST only draws the
    page again; empty ones are left out. `find_command(request, **rest)` returns the command whose POST is repeated
    after the proof; no other POST is.
    """
    allowed = {method.upper() for method in methods}
    writes = write_permission or permission
    level = Proof.SHORT if is_file else REQUIREMENTS[writes].proof if allowed - SAFE_METHODS else Proof.NONE
    rule = _ViewRule(
        permission=permission,
        writes=writes,
        methods=frozenset(allowed | ({"HEAD"} if "GET" in allowed else set())),
        proof=proof or level,
        file=is_file,
        secrets=frozenset(secret_fields),
        redraw_values=redraw_values or {},
        find_command=find_command,
    )
    return rule.guard


@dataclass(frozen=True, kw_only=True)
class _ViewRule:
    """The permissions, methods and proof of a tenant's view. Its values are also attributes of the view.

    People outside the tenant get a 404, as for an unknown tenant. People without the permission get a 403 page with the
    reason. If the proof is too old, the person confirms and returns to the page, also when a form's page is opened.
    """

    permission: Permission
    writes: Permission
    methods: frozenset[str]
    proof: Proof
    file: bool
    secrets: frozenset[str]
    redraw_values: Mapping[str, str]
    find_command: Callable[..., PendingCommand | None] | None

    def guard(self, view: View) -> View:
        """Return the view with this rule before it, in the tenant's scope."""

        @functools.wraps(view)
        def guarded(request: HttpRequest, tenant: str, **arguments: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_sign_in(request)
            access = _find_access(request.user, tenant)
            vars(request).update(tenant=access.tenant, access=access)
            with tenant_scope(access.tenant):
                response = self._respond(view, request, access, arguments)
            add_never_cache_headers(response)
            return response

        vars(guarded).update(vars(self))
        return guarded

    def _is_proven(self, request: HttpRequest) -> bool:
        return is_recently_authenticated(request, self.proof, with_margin=not self.file)

    def _respond(self, view: View, request: HttpRequest, access: Access, arguments: dict[str, Any]) -> HttpResponseBase:
        if request.method not in self.methods:
            return _not_allowed(request, self.methods)
        try:
            access.check(self.permission)
            if request.method not in SAFE_METHODS:
                access.check(self.writes)
            if needs_second_factor(access.user, access.permissions):
                return redirect("mfa_index")
            if access.can(self.writes) and not self._is_proven(request):
                command = self.find_command(request, **arguments) if self.find_command else None
                return _ask_for_proof(request, access, command, file=self.file)
            if self.redraw_values and (typed := interrupted_requests.typed_values(request)):
                access.check(self.writes)
                _restore_post(request, typed, self.redraw_values)
            pending_commands.warn_if_nothing_sent(request)
            return _render_in_scope(respond_once(request, lambda: view(request, **arguments)), access.tenant)
        except ProofRequired:
            return _ask_for_proof(request, access, file=True)
        except PermissionDenied as refusal:
            if first := _page_instead(request, access):
                return redirect(first)
            return render(request, "403.html", {"exception": str(refusal), "reason": str(refusal)}, status=403)
        except Http404 as missing:
            return render(request, "404.html", {"exception": str(missing)}, status=404)


def _not_allowed(request: HttpRequest, allowed: Iterable[str]) -> HttpResponseBase:
    """Return the response to a method that is not `allowed`.

    A GET of a form's address gets a page that links to the form.
    """
    if request.method != "GET" or getattr(request, "htmx", False):
        return HttpResponseNotAllowed(sorted(allowed))
    response = render(request, "405.html", {"page": nearest_page(request.path)}, status=405)
    response["Allow"] = ", ".join(sorted(allowed))
    return response


def platform_view(*names: str, methods: Iterable[str] = ("GET",)) -> Callable[[View], View]:
    """Declare a view outside of tenants for platform staff with these roles; all other people get a 404.

    A view that takes a POST requires fresh proof of identity, as `tenant_view` does, because it leads into a tenant.
    """
    allowed = {method.upper() for method in methods} | {"HEAD"}
    proof = Proof.SHORT if allowed - SAFE_METHODS else Proof.NONE

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def guarded(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
            user = request.user
            if not user.is_authenticated:
                return redirect_to_sign_in(request)
            if user.platform_role not in names:
                raise Http404
            if request.method not in allowed:
                return _not_allowed(request, allowed)
            if needs_second_factor(user):
                return redirect("mfa_index")
            if not is_recently_authenticated(request, proof, with_margin=True):
                home = reverse("platform:index")
                return redirect_to_reauthentication(request, within=home, home=home)
            response = view(request, **arguments)
            add_never_cache_headers(response)
            return response

        vars(guarded).update(platform_roles=names, methods=frozenset(allowed), proof=proof, file=False)
        return guarded

    return decorate


def needs_second_factor(user: User, permissions: frozenset[Permission] = frozenset()) -> bool:
    """Return whether the person must set up a second factor first.

    Platform staff need one, and so do people with a permission that requires one.
    """
    is_required = user.platform_role or any(each.needs_second_factor for each in permissions)
    return bool(settings.REQUIRE_MFA and is_required and not is_mfa_enabled(user))


def second_factor_reasons(user: User) -> list[tuple[Tenant | None, type[Role], list[Permission]]]:
    """Return why the person needs a second factor: roles, each with its tenant and the permissions that require one.

    The role of platform staff comes first, without a tenant. The list is empty if no second factor is required.
    """
    if not settings.REQUIRE_MFA:
        return []
    platform = roles.find_role(user.platform_role) if user.platform_role else None
    held = [
        (tenant, role, role.second_factor_permissions()) for tenant, role in tenants_of(user) if not role.is_platform
    ]
    return [*([(None, platform, [])] if platform else []), *(each for each in held if each[2])]


def _ask_for_proof(
    request: HttpRequest, access: Access, command: PendingCommand | None = None, *, file: bool = False
) -> HttpResponseBase:
    home, within = first_page_of(access.tenant, access.permissions), access.tenant.get_absolute_url()
    return redirect_to_reauthentication(request, within=within, home=home, command=command, is_file=file)


def _page_instead(request: HttpRequest, access: Access) -> str:
    """Return the first page of the person's role, at the address of the tenant itself; empty at other addresses."""
    first, root = first_page_of(access.tenant, access.permissions), access.tenant.get_absolute_url()
    return first if request.method in SAFE_METHODS and request.path == root != first else ""


def _restore_post(request: HttpRequest, typed: QueryDict, redraws: Mapping[str, str]) -> None:
    """Replace the request's POST data with the typed values, so that the view only draws its page again."""
    for name, value in redraws.items():
        typed.pop(name, None)
        if value:
            typed[name] = value
    vars(request).update(method="POST", _post=typed, _files=MultiValueDict())


def _find_access(user: User, slug: str) -> Access:
    """Return the person's current access.

    For a tenant that was entered before, one query loads staff and tenant together.
    """
    key = _tenant_ids.get(slug)
    access = _find_staff_access(user, key) if key and user.is_active else None
    if access is None or access.tenant.slug != slug:
        tenant = next(iter(_tenant.rows(slug=slug)), None)
        access = access_to(user, tenant) if tenant else None
        if access is None:
            raise Http404
        _tenant_ids[slug] = access.tenant.pk
    return access


def _render_in_scope(response: HttpResponseBase, tenant: Tenant) -> HttpResponseBase:
    """Render lazy templates and streamed exports inside the tenant's scope."""
    if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
        return response.render()
    streamed: Any = response
    if response.streaming and not streamed.is_async:
        streamed.streaming_content = _iterate_in_scope(tenant, iter(streamed.streaming_content))
    return response


def _iterate_in_scope(tenant: Tenant, parts: Iterator[bytes]) -> Iterator[bytes]:
    while True:
        with tenant_scope(tenant):
            try:
                part = next(parts)
            except StopIteration:
                return
        yield part
