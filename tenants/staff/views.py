"""The staff page of a tenant, its roles page, and the page to accept an invitation."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from tenants import roles
from tenants.access import Access, TenantRequest, first_page_of, tenant_view
from tenants.models import Invitation, Staff, SupportSession, User
from tenants.roles import Permission
from tenants.staff import actions
from tenants.staff.forms import AcceptForm, InviteForm, RoleForm


def _page(request: TenantRequest, access: Access, form: InviteForm | None = None) -> HttpResponse:
    people = list(Staff.objects.filter(is_active=True).select_related("user").order_by("user__name", "user__email"))
    invitations = Invitation.objects.filter(accepted_at=None, revoked_at=None).select_related("invited_by")
    sessions = SupportSession.objects.select_related("user", "ended_by").order_by("-pk")
    context = {
        "people": [
            (person, roles.find_role(person.role), RoleForm(initial={"role": person.role})) for person in people
        ],
        "invitations": [each for each in invitations.order_by("-pk") if actions.has_valid_sender(each)],
        "form": form or InviteForm(),
        "sessions": sessions[:10],
        "may_manage": access.can(Permission.STAFF_MANAGE),
        "may_end_support": access.can(Permission.SUPPORT_MANAGE),
    }
    return render(request, "tenants/staff/index.html", context)


@tenant_view(Permission.STAFF_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return _page(request, request.access)


@tenant_view(Permission.STAFF_MANAGE, methods=["POST"])
def invite(request: TenantRequest) -> HttpResponse:
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, request.access, form)
    try:
        invited = actions.invite(access=request.access, **form.cleaned_data)
    except actions.StaffError as refusal:
        form.add_error("email", str(refusal))
        return _page(request, request.access, form)
    if invited.is_mailed:
        messages.success(request, _("Invitation e-mailed to %(email)s.") % {"email": invited.invitation.email})
    else:
        text = _("%(email)s is invited, but the e-mail could not be sent. Invite again to resend it.")
        messages.error(request, text % {"email": invited.invitation.email})
    return redirect("staff:index", request.tenant.slug)


@tenant_view(Permission.STAFF_MANAGE, methods=["POST"])
def uninvite(request: TenantRequest, pk: int) -> HttpResponse:
    invitation = get_object_or_404(Invitation.objects.all(), pk=pk)
    actions.revoke_invitation(access=request.access, invitation=invitation)
    messages.success(request, _("Invitation cancelled."))
    return redirect("staff:index", request.tenant.slug)


@tenant_view(Permission.STAFF_MANAGE, methods=["POST"])
def change_role(request: TenantRequest, pk: int) -> HttpResponse:
    person = get_object_or_404(Staff.objects.filter(is_active=True), pk=pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose one of the roles. Nothing was changed."))
        return redirect("staff:index", request.tenant.slug)
    if form.cleaned_data["shown"] not in ("", person.role):
        text = _("Another person changed this role to “%(role)s”. Nothing was changed. Choose again.")
        messages.error(request, text % {"role": roles.find_role(person.role).title})
        return redirect("staff:index", request.tenant.slug)
    try:
        actions.change_role(access=request.access, staff=person, role=form.cleaned_data["role"])
        messages.success(request, _("Role changed. It takes effect with the next click."))
    except actions.StaffError as refusal:
        messages.error(request, str(refusal))
    return redirect("staff:index", request.tenant.slug)


@tenant_view(Permission.STAFF_MANAGE, methods=["GET", "POST"])
def remove(request: TenantRequest, pk: int) -> HttpResponse:
    """Remove a person; a GET shows the confirmation first."""
    person = get_object_or_404(Staff.objects.filter(is_active=True).select_related("user"), pk=pk)
    if request.method != "POST":
        return render(request, "components/confirm.html", _removal(request.access, person))
    try:
        actions.remove(access=request.access, staff=person)
        messages.success(request, _("This person no longer has access, from the next click."))
    except actions.StaffError as refusal:
        messages.error(request, str(refusal))
    return redirect("staff:index", request.tenant.slug)


def _removal(access: Access, person: Staff) -> dict[str, object]:
    return {
        "heading": _("Remove %(name)s") % {"name": person.user},
        "question": _("Remove %(email)s from this tenant?") % {"email": person.user.email},
        "consequences": [
            _("Takes effect with the next click, including where this person is signed in now."),
            _("The account and its audit log entries are kept."),
            _("You can invite this person again."),
        ],
        "submit": pgettext("staff", "Remove"),
        "danger": True,
        "cancel": reverse("staff:index", args=[access.tenant.slug]),
    }


@tenant_view(Permission.TENANT_VIEW)
def roles_page(request: TenantRequest) -> HttpResponse:
    """Show the matrix of `tenants.roles`, with the reader's own role and the permissions that need a second factor."""
    required: bool = settings.REQUIRE_MFA
    needing = [role.is_platform or bool(role.second_factor_permissions()) for role in roles.ROLES]
    context = {
        "roles": roles.ROLES,
        "own": request.access.role,
        "second_factor": needing if required else [],
        "rows": [
            (each.label, required and each.needs_second_factor, [each in role.permissions for role in roles.ROLES])
            for each in Permission
        ],
    }
    return render(request, "tenants/staff/roles.html", context)


@login_not_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation: with a new account, or as the signed-in account with the invited address."""
    if request.method not in {"GET", "HEAD", "POST"}:
        return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
    found = actions.find_open_invitation(token)
    if found is None:
        response = render(request, "tenants/staff/invitation_closed.html", status=404)
    else:
        response = _accept(request, found)
    add_never_cache_headers(response)
    # The address is the key, so it is not sent anywhere. With "no-referrer", browsers post forms with `Origin: null`,
    # which is refused as from another site.
    response["Referrer-Policy"] = "strict-origin"
    request.path = "/invitations/…/"  # nor is it logged
    return response


def _accept(request: HttpRequest, found: Invitation) -> HttpResponse:
    known = User.objects.filter(email=found.email).first()
    user = request.user if request.user.is_authenticated else None
    context = {"invitation": found, "role": roles.find_role(found.role)}
    if user is not None and user != known:
        return _ask_who(request, context)
    form = None if known else AcceptForm(request.POST or None, email=found.email)
    context |= {"form": form, "known": known, "fits": user is not None}
    ready = user is not None if known else form is not None and form.is_valid()
    if request.method != "POST" or not ready:
        return _invitation(request, context, status=422 if request.method == "POST" else 200)
    try:
        if form is None:
            actions.accept(invitation=found, user=known)
        else:
            actions.accept(invitation=found, **form.cleaned_data)
    except actions.StaffError as refusal:
        messages.error(request, str(refusal))
        return _invitation(request, context, status=409)
    messages.success(request, _("Welcome. You now work in %(tenant)s.") % {"tenant": found.tenant.name})
    return redirect(first_page_of(found.tenant, roles.find_role(found.role).permissions))


def _ask_who(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    """Ask who is here: another person is signed in to this browser, so no one joins yet."""
    if request.method == "POST" and "sign_out" in request.POST:
        get_adapter().logout(request)
        return redirect(request.path)
    return _invitation(request, context | {"other": request.user}, status=422 if request.method == "POST" else 200)


def _invitation(request: HttpRequest, context: dict[str, object], status: int) -> HttpResponse:
    return render(request, "tenants/staff/invitation.html", context, status=status)
