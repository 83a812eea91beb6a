"""Members: the list, a member's page, and what staff do to a member."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.intents.asking import ask, lead, once
from portal.core.intents.models import Intent
from portal.core.intents.record import Asker
from portal.core.intents.states import State
from portal.core.mirror.access import get_member
from portal.core.rights.giving import NewRights
from portal.members import actions, bounds, exporting, fresh, pages, queries
from portal.members.forms import DeleteForm, ExportForm, MemberForm
from portal.members.lists import Members
from portal.members.pages import back_to_member
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.MEMBERS_VIEW)
def index(request: HttpRequest) -> HttpResponseBase:
    table = Members(request)
    if table.wanted_file:
        return exporting.respond(request, table, table.wanted_file)
    return table.respond("members/index.html", {"may_edit": request.access.can(Permission.MEMBERS_EDIT)})


@tenant_view(Permission.MEMBERS_EXPORT, methods=["GET", "POST"])
def export(request: HttpRequest) -> HttpResponseBase:
    """The export that asks first, because it may hold secrets."""
    request.access.check(Permission.SECRETS_REVEAL)
    table = Members(request, query=QueryDict(request.GET.urlencode()))
    form = ExportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        return exporting.respond(request, table, wanted["kind"], secrets=wanted["secrets"])
    return render(request, "members/export.html", {"form": form, "count": table.matching.order_by().count()})


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    chosen = {"membergroup_id": request.GET.get("group", "")}
    rights = request.access.can(Permission.RIGHTS_EDIT)
    form = MemberForm(request.POST or None, groups=queries.group_choices(), rights=rights, initial=chosen)
    given = NewRights(request.POST or None) if rights else None
    body = _new_body(form, given) if form.is_bound else None
    act = bounds.heeded(form, partial(actions.create, body=body))
    answer = None if body is None else ask(request, form, act, body=body, **back_to_member(request))
    return answer or render(request, "members/new.html", {"form": form, "given": given})


def _new_body(form: MemberForm, given: NewRights | None) -> dict[str, Any] | None:
    """What creates the member, with the rights chosen on the same page; None while something has to be corrected."""
    sound = all([form.is_valid(), given is None or given.is_valid()])
    rights = given.body_for(form.cleaned_data["membergroup_id"]) if sound and given is not None else {}
    return form.body() | rights if sound and rights is not None else None


@tenant_view(Permission.MEMBERS_VIEW)
def page(request: HttpRequest, member_id: str) -> HttpResponse:
    return render(request, "members/page.html", pages.context(request, get_member(member_id, gone=True)))


@tenant_view(Permission.MEMBERS_VIEW)
def reading(request: HttpRequest, member_id: str) -> HttpResponse:
    """The same page, or its facts alone when htmx asks, after reading the service once within budget."""
    member = get_member(member_id, gone=True)
    trouble = fresh.read(request.tenant, member)
    member.refresh_from_db()
    told = {"trouble": trouble, "read": not trouble}
    if request.htmx:
        return render(request, "members/facts.html", pages.facts(request, member) | told)
    return render(request, "members/page.html", pages.context(request, member) | told)


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def edit(request: HttpRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    rights = request.access.can(Permission.RIGHTS_EDIT)
    form = MemberForm(request.POST or None, groups=queries.group_choices(), member=member, rights=rights)
    body = form.body() if form.is_valid() else None
    if body == {}:
        messages.info(request, _("No changes. Nothing was sent."))
        return redirect("members:page", request.tenant.slug, member_id)
    act = bounds.heeded(form, partial(actions.update, member=member, body=body))
    answer = None if body is None else ask(request, form, act, body=body, **back_to_member(request))
    return answer or render(request, "members/edit.html", {"form": form, "member": member})


@tenant_view(Permission.MEMBERS_DELETE, methods=["GET", "POST"])
def delete(request: HttpRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    answer = None
    if form.is_valid() and (intent := once(request, form, partial(actions.delete, member=member))):
        on = back_to_member(request) | {"to": partial(_deleted, request)}
        answer = _nothing_deleted(request, intent) or lead(form, intent, body=None, **on)
    return answer or render(request, "members/delete.html", {"form": form, "member": member})


def _deleted(request: HttpRequest, intent: Intent) -> str:
    messages.success(request, _("Done: %(title)s") % {"title": intent.title})
    return reverse("members:index", args=[request.tenant.slug])


def _nothing_deleted(request: HttpRequest, intent: Intent) -> HttpResponse | None:
    """Back to the list, where the service knew no such member: that is what was wanted."""
    if intent.state != State.FAILED or intent.http_status != 404:
        return None
    messages.info(request, _("This member was already deleted from the service."))
    return redirect("members:index", request.tenant.slug)


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"])
def reveal(request: HttpRequest, member_id: str, what: str) -> HttpResponse:
    """A secret in clear: a fragment for htmx, else the member's page with it."""
    if what not in ("card", "qr"):
        raise Http404
    member = get_member(member_id)
    value = actions.reveal(member=member, what=what, by=Asker.of(request))
    told = pages.secret(member, what, value)
    if request.htmx:
        return render(request, "members/secret.html", {"member": member, "what": what, **told})
    shown = {what: told["value"], f"{what}_drawn": told["drawn"]}
    return render(request, "members/page.html", pages.context(request, member) | {"shown": shown})
