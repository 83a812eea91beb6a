"""Views of the list of members and of a member's page, with the actions of staff."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.domain.intents.form_handling import redirect_or_show_errors, submit_and_redirect, submit_once
from portal.domain.intents.models import Intent
from portal.domain.intents.states import State
from portal.domain.log.recent_records import prefetch_recent_records
from portal.domain.mirror.freshness import freshness_for
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.queries import get_member
from portal.domain.mirror.single_reads import ReadFailed, read_member_for_page
from portal.domain.rights.forms import NewMemberRightsForm
from portal.members import actions, cleanup_lists, learned_limits, member_page, portraits, queries
from portal.members.cleanup_lists import CleanupList
from portal.members.forms import DeleteForm, ExportForm, MemberForm
from portal.members.lists import CleanupMembers, Members
from portal.members.member_page import back_to_member
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


@tenant_view(Permission.MEMBERS_VIEW)
def index(request: TenantRequest) -> HttpResponseBase:
    table = Members(request)
    if table.requested_file:
        return table.export(table.requested_file)
    return table.respond("members/index.html", {"may_edit": request.access.can(Permission.MEMBERS_EDIT)})


@tenant_view(Permission.MEMBERS_EXPORT, methods=["GET", "POST"])
def export(request: TenantRequest) -> HttpResponseBase:
    """Show the export form. It asks for confirmation, because the file may contain secrets."""
    request.access.check(Permission.SECRETS_REVEAL)
    table = Members(request, query=QueryDict(request.GET.urlencode()))
    form = ExportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return table.export(form.cleaned_data["kind"], secrets=form.cleaned_data["secrets"])
    return render(request, "members/export.html", {"form": form, "count": table.matching_rows.order_by().count()})


@tenant_view(Permission.MEMBERS_VIEW)
def review(request: TenantRequest, which: str = CleanupList.ENDING) -> HttpResponseBase:
    """Show one list of members to review, with the others as tabs.

    The numbers are loaded later: counting may be slow.
    """
    if which not in CleanupList.values:
        raise Http404
    visible = cleanup_lists.review_lists_for(request.access)
    if request.htmx and request.htmx.target == "leaver-tabs":
        told = {
            "tabs": cleanup_lists.review_tabs(
                which, visible, cleanup_lists.count_members_to_review(request.tenant, visible, freshness_for(request))
            )
        }
        return render(request, "members/leaver_tabs.html", told)
    table = CleanupMembers(request, CleanupList(which))
    if table.requested_file:
        return table.export(table.requested_file)
    context = {
        "which": which,
        "tabs": cleanup_lists.review_tabs(which, visible, {}),
        "kept_back": [
            (each.label, needed.label)
            for each, needed in cleanup_lists.REVIEW_PERMISSIONS.items()
            if each not in visible
        ],
        "purpose": cleanup_lists.REVIEW_PURPOSES[CleanupList(which)],
        "log": cleanup_lists.log_period_text(freshness_for(request)[MirrorKind.HISTORIES])
        if which == CleanupList.NEVER
        else "",
    }
    return table.respond("members/leavers.html", context)


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponse:
    chosen = {"membergroup_id": request.GET.get("group", "")}
    rights = request.access.can(Permission.RIGHTS_EDIT)
    form = MemberForm(request.POST or None, groups=queries.group_choices(), rights=rights, initial=chosen)
    given = NewMemberRightsForm(request.POST or None) if rights else None
    if form.is_bound and (body := _new_body(form, given)) is not None:
        act = learned_limits.learning_from(form, partial(actions.create, body=body))
        if answer := submit_and_redirect(request, form, act, body=body, **back_to_member(request)):
            return answer
    return render(request, "members/new.html", {"form": form, "given": given})


def _new_body(form: MemberForm, given: NewMemberRightsForm | None) -> dict[str, Any] | None:
    """Return the request body for a new member with the chosen rights; None if the form has errors."""
    sound = all([form.is_valid(), given is None or given.is_valid()])
    rights = given.body_for(form.cleaned_data["membergroup_id"]) if sound and given is not None else {}
    return form.body() | rights if sound and rights is not None else None


@tenant_view(Permission.MEMBERS_VIEW)
def page(request: TenantRequest, member_id: str) -> HttpResponse:
    prefetch_recent_records(request)
    return render(
        request, "members/page.html", member_page.page_context(request, get_member(member_id, include_gone=True))
    )


@tenant_view(Permission.MEMBERS_VIEW)
def reading(request: TenantRequest, member_id: str) -> HttpResponse:
    """Read the member from the service, within the API budget, and show the page (for htmx only its facts)."""
    member, trouble = get_member(member_id, include_gone=True), ""
    try:
        told = read_member_for_page(member_id)
        portraits.save_portrait_address(request.tenant, member_id, told.profile_image_url)
    except ReadFailed as why:
        trouble = str(why)
    member.refresh_from_db()
    shown = {"trouble": trouble, "read": not trouble}
    if request.htmx:
        return render(request, "members/facts.html", member_page.member_facts(request, member) | shown)
    return render(request, "members/page.html", member_page.page_context(request, member) | shown)


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def edit(request: TenantRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    rights = request.access.can(Permission.RIGHTS_EDIT)
    form = MemberForm(request.POST or None, groups=queries.group_choices(), member=member, rights=rights)
    if form.is_valid():
        body = form.body()
        if not body:
            messages.info(request, _("No changes. Nothing was sent."))
            return redirect("members:page", request.tenant.slug, member_id)
        act = learned_limits.learning_from(form, partial(actions.update, member=member, body=body))
        if answer := submit_and_redirect(request, form, act, body=body, **back_to_member(request)):
            return answer
    return render(request, "members/edit.html", {"form": form, "member": member})


@tenant_view(Permission.MEMBERS_DELETE, methods=["GET", "POST"])
def delete(request: TenantRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and (intent := submit_once(request, form, partial(actions.delete, member=member))):
        if intent.state == State.FAILED and intent.http_status == 404:  # already gone, as wanted
            messages.info(request, _("This member was already deleted from the service."))
            return redirect("members:index", request.tenant.slug)
        on = back_to_member(request) | {"to": partial(_deleted, request)}
        if answer := redirect_or_show_errors(form, intent, body=None, **on):
            return answer
    return render(request, "members/delete.html", {"form": form, "member": member})


def _deleted(request: TenantRequest, intent: Intent) -> str:
    messages.success(request, _("Done: %(title)s") % {"title": intent.title})
    return reverse("members:index", args=[request.tenant.slug])
