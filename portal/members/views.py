"""Views of members: the list, a member's page with the actions of staff, and credentials."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.files.pictures import send_picture
from portal.base.ui import confirmation
from portal.base.ui.value_words import join_values
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.history.lists import prefetch_recent_records
from portal.domain.intents.form_handling import (
    UNDER_WAY_OR_DONE,
    ErrorTarget,
    redirect_or_show_errors,
    submit_and_redirect,
    submit_once,
)
from portal.domain.intents.models import Intent, State
from portal.domain.intents.nonces import nonce_inputs
from portal.domain.intents.recording import Requester
from portal.domain.people.models import Member
from portal.domain.people.queries import get_member
from portal.domain.places.queries import key_boxes
from portal.domain.rights.forms import NewMemberRightsForm
from portal.domain.sync.freshness import freshness_for
from portal.domain.sync.single_reads import ReadFailed, read_member_for_page
from portal.members import actions, faces, forms, lists, qr_codes, queries, temporary_keys
from portal.members.forms import DeleteForm, ExportForm, FaceForm, MemberForm, ProfileForm
from portal.members.lists import CleanupList, CleanupMembers, Members
from portal.members.queries import back_to_member
from portal.members.temporary_keys import TemporaryKeysForm
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof


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
    visible = lists.review_lists_for(request.access)
    if request.htmx and request.htmx.target == "leaver-tabs":
        tab_context = {
            "tabs": lists.review_tabs(
                which, visible, lists.count_members_to_review(request.tenant, visible, freshness_for(request))
            )
        }
        return render(request, "members/leaver_tabs.html", tab_context)
    table = CleanupMembers(request, CleanupList(which))
    if table.requested_file:
        return table.export(table.requested_file)
    context = {
        "which": which,
        "tabs": lists.review_tabs(which, visible, {}),
        "kept_back": [
            (each.label, needed.label) for each, needed in lists.REVIEW_PERMISSIONS.items() if each not in visible
        ],
        "purpose": lists.REVIEW_PURPOSES[CleanupList(which)],
        "log": lists.log_period_text(freshness_for(request)[MirrorKind.HISTORIES])
        if which == CleanupList.NEVER
        else "",
    }
    return table.respond("members/leavers.html", context)


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponse:
    chosen = {"membergroup_id": request.GET.get("group", "")}
    rights = request.access.can(Permission.RIGHTS_EDIT)
    form = MemberForm(request.POST or None, groups=queries.group_choices(), rights=rights, initial=chosen)
    rights_form = NewMemberRightsForm(request.POST or None) if rights else None
    if form.is_bound and (body := _new_body(form, rights_form)) is not None:
        action = forms.learning_from(form, partial(actions.create, body=body))
        if answer := submit_and_redirect(request, form, action, back_to_member(request), body=body):
            return answer
    return render(request, "members/new.html", {"form": form, "rights_form": rights_form})


def _new_body(form: MemberForm, rights_form: NewMemberRightsForm | None) -> dict[str, Any] | None:
    """Return the request body for a new member with the chosen rights; None if the form has errors."""
    is_valid = all([form.is_valid(), rights_form is None or rights_form.is_valid()])
    rights = rights_form.body_for(form.cleaned_data["membergroup_id"]) if is_valid and rights_form is not None else {}
    return form.body() | rights if is_valid and rights is not None else None


@tenant_view(Permission.MEMBERS_VIEW)
def page(request: TenantRequest, member_id: str) -> HttpResponse:
    prefetch_recent_records(request)
    return render(request, "members/page.html", queries.page_context(request, get_member(member_id, include_gone=True)))


@tenant_view(Permission.MEMBERS_VIEW)
def reading(request: TenantRequest, member_id: str) -> HttpResponse:
    """Read the member from the service, within the API budget, and show the page (for htmx only its facts)."""
    member, trouble = get_member(member_id, include_gone=True), ""
    try:
        answer = read_member_for_page(member_id)
        faces.save_portrait_address(request.tenant, member_id, answer.profile_image_url)
    except ReadFailed as why:
        trouble = why.text
    member.refresh_from_db()
    result = {"trouble": trouble, "read": not trouble}
    if request.htmx:
        return render(request, "members/facts.html", queries.member_facts(request, member) | result)
    return render(request, "members/page.html", queries.page_context(request, member) | result)


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
        action = forms.learning_from(form, partial(actions.update, member=member, body=body))
        if answer := submit_and_redirect(request, form, action, back_to_member(request), body=body):
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
        after = replace(back_to_member(request), to=partial(_deleted, request))
        if answer := redirect_or_show_errors(form, intent, after, body=None):
            return answer
    return confirmation.ask(
        request,
        _("Delete %(name)s?") % {"name": member},
        submit=_("Delete member"),
        question=join_values(filter(None, [str(member), member.member_code, member.membergroup_name])),
        consequences=_losses_with(member),
        crumbs=[(_("Members"), "members:index"), (member, "members:page", member_id)],
        cancel=reverse("members:page", args=[request.tenant.slug, member_id]),
        refuses=("members", "delete_member"),
        **_deletion(request, form),
    )


def _losses_with(member: Member) -> Iterator[str]:
    """Yield what else is lost when a member is deleted."""
    yield _("The service deletes the member at once. You cannot undo this.")
    if member.has_card:
        yield _("The card stops opening doors.")
    if member.has_qr:
        yield _("The QR code stops opening doors.")
    if member.has_face:
        yield _("The registered face image is deleted too.")
    else:
        yield _("If a face image is registered, it is deleted too.")


def _deletion(request: TenantRequest, form: DeleteForm) -> dict[str, Any]:
    return {"form": form, "fields": {"confirmed": "1"}, "nonce": nonce_inputs(request)}


def _deleted(request: TenantRequest, intent: Intent) -> str:
    messages.success(request, _("Done: %(title)s") % {"title": intent.title})
    return reverse("members:index", args=[request.tenant.slug])


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"])
def reveal(request: TenantRequest, member_id: str, what: str) -> HttpResponse:
    """Show a secret unmasked: a fragment for htmx, else the member's page with it."""
    if what not in ("card", "qr"):
        raise Http404
    member = get_member(member_id)
    value = actions.reveal(member=member, what=what, by=Requester.from_request(request))
    # QR data is also drawn as a QR code, if it fits into one.
    drawn = qr_codes.draw_qr(value, str(member)) if what == "qr" and value else None
    if request.htmx:
        context = {"member": member, "what": what, "value": value, "drawn": drawn}
        return render(request, "members/secret.html", context)
    revealed = {what: value, f"{what}_drawn": drawn}
    return render(request, "members/page.html", queries.page_context(request, member) | {"shown": revealed})


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"])
def one_time(request: TenantRequest, member_id: str) -> HttpResponse:
    """Show the present one-time code. This is recorded in the audit log."""
    member = get_member(member_id)
    context = _current_code(member, Priority.PEOPLE)
    if "code" in context:
        actions.reveal(member=member, what="one_time", by=Requester.from_request(request))
        context["permit"] = qr_codes.renewal_permit(request, member)
    return _render_code(request, member, context)


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"], proof=Proof.NONE)
def one_time_next(request: TenantRequest, member_id: str) -> HttpResponse:
    """Return the next one-time code. The page requests it automatically for some minutes, if enough API calls are left.

    The permit was issued with the first code, after a proof of identity. It replaces another proof.
    """
    member = get_member(member_id)
    if not qr_codes.may_renew(request, member):
        return _render_code(request, member, {"pause": _("Shown for ten minutes.")})
    context = _current_code(member, Priority.JOBS)
    if "code" in context:
        context["permit"] = request.POST["permit"]
    return _render_code(request, member, context)


def _current_code(member: Member, priority: Priority) -> dict[str, object]:
    try:
        return {"code": qr_codes.current_code(member, priority)}
    except qr_codes.NoOneTimeCode as reason:
        return {"pause" if reason.is_temporary else "trouble": str(reason)}


def _render_code(request: TenantRequest, member: Member, context: dict[str, object]) -> HttpResponse:
    """Render a fragment for htmx, else the member's page with it."""
    context = {"member": member, "may_reveal": True, "is_requested": True, **context}
    if request.htmx:
        return render(request, "members/one_time.html", context)
    return render(request, "members/page.html", queries.page_context(request, member) | {"one_time": context})


@tenant_view(Permission.DOORS_OPERATE, methods=["GET", "POST"])
def keys(request: TenantRequest, member_id: str) -> HttpResponse:
    """Request temporary keys. Identity is proven before the form is shown, so that no input is lost."""
    request.access.check(Permission.MEMBERS_VIEW)
    member = get_member(member_id)
    boxes, chosen = list(key_boxes().defer("status")[:200]), request.GET.getlist("units")
    form = TemporaryKeysForm(request.POST or None, member=member, boxes=boxes, chosen=chosen)
    if form.is_valid():
        body = form.body(Requester.from_request(request))
        action = partial(temporary_keys.request_keys, member=member, body=body)
        after = replace(back_to_member(request), shows=UNDER_WAY_OR_DONE)
        if answer := submit_and_redirect(request, form, action, after, body=body):
            return answer
    running = temporary_keys.running_uses(queries.intents_about(member))
    return render(request, "members/keys.html", {"member": member, "form": form, "running": running})


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face(request: TenantRequest, member_id: str) -> HttpResponse:
    """Register or replace a face. Requests in progress are followed here."""
    member = get_member(member_id)
    form = FaceForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if form.is_valid():
        action = partial(
            faces.replace_face if member.has_face else faces.register_face, member=member, picture=form.picture
        )
        if answer := _ask_for_face(request, form, action, member, form.picture.metadata):
            return answer
    state = faces.face_state(member, queries.intents_about(member))
    response = render(request, "members/face.html", {"member": member, "form": form, "face": state})
    response["Permissions-Policy"] = "camera=(self), microphone=(), geolocation=()"
    return response


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face_delete(request: TenantRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    action = partial(faces.delete_face, member=member)
    answer = _ask_for_face(request, form, action, member, None) if form.is_valid() else None
    if answer:
        return answer
    if member.has_card or member.has_qr:
        doors = _("The member's card and QR code still open doors.")
    else:
        doors = _("The member has no card or QR code, so they will not be able to open any door.")
    crumbs = [(_("Members"), "members:index"), (member, "members:page", member_id)]
    return confirmation.ask(
        request,
        _("Delete the face of %(name)s?") % {"name": member},
        submit=_("Delete face"),
        consequences=[
            _("The service deletes the image. You cannot undo this, but you can register a new picture."),
            doors,
        ],
        crumbs=[*crumbs, (_("Face"), "members:face", member_id)],
        cancel=reverse("members:face", args=[request.tenant.slug, member_id]),
        **_deletion(request, form),
    )


def _ask_for_face(
    request: TenantRequest,
    form: ErrorTarget,
    action: Callable[..., Intent],
    member: Member,
    body: Mapping[str, object] | None,
) -> HttpResponse | None:
    page = reverse("members:face", args=[request.tenant.slug, member.member_id])
    after = replace(back_to_member(request), to=page, shows=UNDER_WAY_OR_DONE)
    return submit_and_redirect(request, form, action, after, body=body)


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def picture_edit(request: TenantRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = ProfileForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if form.is_valid():
        action = partial(faces.set_profile_picture, member=member, picture=form.picture)
        if answer := submit_and_redirect(request, form, action, back_to_member(request), body=form.picture.metadata):
            return answer
    return render(request, "members/picture.html", {"member": member, "form": form})


@tenant_view(Permission.MEMBERS_VIEW)
def picture(request: TenantRequest, member_id: str) -> HttpResponse:
    """Return the profile picture from the portal's own address."""
    member = get_member(member_id, include_gone=True)
    content = faces.portrait_content(request.tenant, member.member_id)
    if content is None:
        raise Http404
    return send_picture(content)
