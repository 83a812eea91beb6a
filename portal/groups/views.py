"""Groups: the list, a new one, and the page of one with its members and its name."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.files.sending import written_down
from portal.core.intents import nonces, refusals
from portal.core.intents.addresses import seen_at
from portal.core.intents.models import Intent
from portal.core.intents.record import Asker
from portal.core.intents.states import State
from portal.core.mirror.access import get_group
from portal.core.mirror.fields.groups import GROUP
from portal.core.mirror.models import Group
from portal.core.ui.tables import files
from portal.groups import actions, alike, queries
from portal.groups.forms import NameForm
from portal.groups.lists import GroupMembers, Groups
from tenants.access import tenant_view
from tenants.roles import Permission
from tenants.wording import say

_UNSENT = (State.FAILED, State.EXPIRED, State.CANCELLED)


@tenant_view(Permission.GROUPS_VIEW)
def index(request: HttpRequest) -> HttpResponseBase:
    may_edit = request.access.can(Permission.GROUPS_EDIT)
    groups = Groups(request, Group.objects.all(), total=queries.total)
    if groups.wanted_file:
        return _file(request, groups)
    return groups.respond("groups/index.html", {"may_edit": may_edit})


def _file(request: HttpRequest, groups: Groups) -> HttpResponseBase:
    kind, count = groups.wanted_file, groups.matching.order_by().count()
    told = {"rows": count, "filter": groups.address.match, "format": kind}
    summary = say("groups.export", n=count, kind=kind.upper())
    record = written_down(request, "groups.export", target="groups", summary=summary, after=told)
    return files.respond(groups, kind, record=record)


@tenant_view(Permission.GROUPS_EDIT, methods=["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    form, intent = NameForm(request.POST or None), None
    if form.is_valid():
        intent = _asked(form, lambda **asked: actions.create(**asked), request)
    if intent is None or _is_refused(form, intent):
        return render(request, "groups/new.html", {"form": form, "refused": intent})
    if intent.state == State.SUCCEEDED and intent.result.get("membergroup_id"):
        return redirect("groups:group", request.tenant.slug, intent.result["membergroup_id"])
    return redirect("intents:page", request.tenant.slug, intent.pk)


@tenant_view(Permission.GROUPS_VIEW)
def group(request: HttpRequest, membergroup_id: str) -> HttpResponse:
    found = get_group(membergroup_id)
    return _page(request, found, NameForm(initial={"membergroup_name": found.membergroup_name}))


@tenant_view(Permission.GROUPS_EDIT, methods=["POST"])
def rename(request: HttpRequest, membergroup_id: str) -> HttpResponse:
    found, form, intent = get_group(membergroup_id), NameForm(request.POST), None
    if form.is_valid():
        intent = _asked(form, lambda **asked: actions.rename(group=found, **asked), request)
    if intent is None or _is_refused(form, intent):
        return _page(request, found, form)
    return redirect(seen_at(reverse("groups:group", args=[request.tenant.slug, membergroup_id]), intent))


def _asked(form: NameForm, ask, request: HttpRequest) -> Intent | None:
    """What came of asking, or None with the reason in the form when the form could not be used."""
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce as refusal:
        form.add_error(None, str(refusal))
        return None
    name = form.cleaned_data["membergroup_name"]
    intent = ask(name=name, by=Asker.of(request), nonce=nonce)
    if intent.body != {"membergroup_name": name}:
        form.add_error(None, _("This form was already sent, with another name. Nothing was sent now."))
        return None
    return intent


def _is_refused(form: NameForm, intent: Intent) -> bool:
    """Whether it was surely not applied; the form then says why."""
    if intent.state not in _UNSENT:
        return False
    refusals.show(form, intent, GROUP.inputs)
    return True


def _page(request: HttpRequest, found: Group, form: NameForm) -> HttpResponse:
    sees_members = request.access.can(Permission.MEMBERS_VIEW)
    sees_rights = sees_members and request.access.can(Permission.AREAS_VIEW)
    rights = alike.of(found) if sees_rights else None
    context = {
        "group": found,
        "form": form,
        "may_edit": request.access.can(Permission.GROUPS_EDIT),
        "sees_members": sees_members,
        "rights": rights,
        "intents": queries.latest_intents(found),
    }
    if not sees_members:
        return render(request, "groups/group.html", context)
    return GroupMembers(request, found, rights).respond("groups/group.html", context)
