"""Views of groups: the list, a new group, and a group's page with its members and name."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django import forms
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render

from portal.base.files.writing import download_recorder
from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.tables import file_response
from portal.domain.intents import queries as intents
from portal.domain.intents.form_handling import ALL_STATES, AfterSubmit, address_of_target, submit_and_redirect
from portal.domain.intents.models import Intent, target_of
from portal.domain.people.member_fields import GROUP_NAME, MEMBERGROUP
from portal.domain.people.models import Group
from portal.domain.people.queries import get_group
from portal.groups import actions, rights_comparison
from portal.groups.lists import GroupMembers, Groups, group_count
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission
from tenants.sentences import coded_sentence

_LATEST = 5


class GroupNameForm(forms.Form):
    """The name of a new group."""

    membergroup_name = GROUP_NAME.form_field(
        strip=True, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )
    refused: Intent | None = None


class RenameForm(ConflictForm, GroupNameForm):
    """The new name of an existing group."""


@tenant_view(Permission.GROUPS_VIEW)
def index(request: TenantRequest) -> HttpResponseBase:
    may_edit = request.access.can(Permission.GROUPS_EDIT)
    groups = Groups(request, Group.objects.all(), total=group_count)
    if groups.requested_file:
        return _file(request, groups)
    return groups.respond("groups/index.html", {"may_edit": may_edit})


def _file(request: TenantRequest, groups: Groups) -> HttpResponseBase:
    kind, count = groups.requested_file, groups.matching_rows.order_by().count()
    details = {"rows": count, "filter": groups.address.match_query, "format": kind}
    summary = coded_sentence("groups.export", n=count, kind=kind.upper())
    record = download_recorder(request, "groups.export", target="groups", summary=summary, after=details)
    return file_response(groups, kind, record=record)


@tenant_view(Permission.GROUPS_EDIT, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponse:
    form = GroupNameForm(request.POST or None)
    answer = _submit_name(request, form, actions.create, _TO_GROUP) if form.is_valid() else None
    return answer or render(request, "groups/new.html", {"form": form})


_TO_GROUP = AfterSubmit(
    to=partial(address_of_target, route="groups:group", name="membergroup_id"), inputs=MEMBERGROUP.input_names
)


def _submit_name(
    request: TenantRequest, form: GroupNameForm, action: Callable[..., Intent], after: AfterSubmit
) -> HttpResponse | None:
    """Request the name and redirect to the group's page."""
    name = form.cleaned_data["membergroup_name"]
    return submit_and_redirect(request, form, partial(action, name=name), after, body={"membergroup_name": name})


@tenant_view(Permission.GROUPS_VIEW)
def group(request: TenantRequest, membergroup_id: str) -> HttpResponse:
    found = get_group(membergroup_id)
    return _page(request, found, _rename_form(found))


@tenant_view(Permission.GROUPS_EDIT, methods=["POST"])
def rename(request: TenantRequest, membergroup_id: str) -> HttpResponse:
    found = get_group(membergroup_id)
    form = _rename_form(found, request.POST)
    action, after = partial(actions.rename, group=found), replace(_TO_GROUP, shows=ALL_STATES)
    answer = _submit_name(request, form, action, after) if form.is_valid() else None
    return answer or _page(request, found, form)


def _rename_form(found: Group, posted: QueryDict | None = None) -> RenameForm:
    return RenameForm(posted, initial={"membergroup_name": found.membergroup_name})


def _page(request: TenantRequest, found: Group, form: GroupNameForm) -> HttpResponse:
    sees_members = request.access.can(Permission.MEMBERS_VIEW)
    sees_rights = sees_members and request.access.can(Permission.AREAS_VIEW)
    rights = rights_comparison.compare_rights(found) if sees_rights else None
    latest = intents.latest_intents(target_of("membergroup", found.membergroup_id))
    context = {
        "group": found,
        "form": form,
        "may_edit": request.access.can(Permission.GROUPS_EDIT),
        "sees_members": sees_members,
        "rights": rights,
        "intents": list(latest.select_related("tenant")[:_LATEST]),
    }
    if not sees_members:
        return render(request, "groups/group.html", context)
    return GroupMembers(request, found, rights).respond("groups/group.html", context)
