"""Views of the tenant's templates: list, create, change, delete, and create from a member's rights."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accessapi.permissions import by_schedule
from portal.domain.intents.recording import Requester
from portal.domain.mirror.fields.members import DOORS_AND_KEYS
from portal.domain.mirror.queries import get_member
from portal.domain.rights import places, saved_templates, sources, words
from portal.domain.rights.forms import TemplateForm
from portal.domain.rights.member_rights import canonical
from portal.domain.rights.models import RightsTemplate
from portal.domain.rights.weeks import week_of
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

Kind = RightsTemplate.Kind
_REDRAWS = {"schedule.act": "show"}


@tenant_view(Permission.MEMBERS_VIEW)
def templates(request: TenantRequest) -> HttpResponse:
    named = places.load_place_names()
    kept = [{"template": each, **_drawn(each, named)} for each in sources.all_templates()]
    ready = (
        [] if kept else [{"ready": each, "week": week_of(each.pass_)} for each in saved_templates.suggested_templates()]
    )
    may_edit = request.access.can(Permission.RIGHTS_EDIT)
    return render(request, "rights/templates.html", {"kept": kept, "ready": ready, "may_edit": may_edit})


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"], redraw_values=_REDRAWS)
def new_template(request: TenantRequest) -> HttpResponse:
    """Create a schedule template. `?suggested_templates=office` starts with a suggested one."""
    form = TemplateForm(request.POST or None, initial=_suggested_values(request.GET.get("ready", "")))
    if answer := _save_template(request, form, kind=Kind.SCHEDULE):
        return answer
    return render(request, "rights/template.html", {"form": form})


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"], redraw_values=_REDRAWS)
def edit_template(request: TenantRequest, pk: int) -> HttpResponse:
    template = sources.get_template(pk)
    started = {"name": template.name, "name_ja": template.name_ja, "schedule": template.schedule}
    form = TemplateForm(request.POST or None, initial=started, template=template)
    if answer := _save_template(request, form, template=template):
        return answer
    shown = {"form": form, "template": template, **_drawn(template, places.load_place_names())}
    return render(request, "rights/template.html", shown)


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"])
def delete_template(request: TenantRequest, pk: int) -> HttpResponse:
    template = sources.get_template(pk)
    if request.method == "POST":
        saved_templates.delete_template(template=template, by=Requester.from_request(request))
        messages.success(request, _("Template deleted: %(name)s") % {"name": template})
        return redirect("rights:templates", request.tenant.slug)
    return render(request, "rights/template_delete.html", {"template": template})


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"])
def template_from_member(request: TenantRequest, member_id: str) -> HttpResponse:
    """Save a member's rights from the mirror as a template. Show an error if they are not loaded."""
    member = get_member(member_id)
    form = TemplateForm(request.POST or None, template=RightsTemplate(kind=Kind.RIGHTS))
    whole = canonical(member.rights or {})
    values = {each.name: whole[each.name] for each in DOORS_AND_KEYS}
    if member.rights is not None and (answer := _save_template(request, form, kind=Kind.RIGHTS, **values)):
        return answer
    lines = words.group_by_time(words.rights_lines(values, places.load_place_names()))
    return render(request, "rights/template.html", {"form": form, "member": member, "lines": lines})


def _suggested_values(key: str) -> dict[str, Any]:
    for each in saved_templates.suggested_templates():
        if each.key == key:
            return {"name": each.name, "name_ja": each.name_ja, "schedule": each.pass_}
    return {"schedule": by_schedule()} if key == "empty" else {}


def _save_template(request: TenantRequest, form: TemplateForm, **values: Any) -> HttpResponse | None:
    """Save the template and go back to the list.

    Return None to show the form again: to add a line, or because of an error or a name that is already used.
    """
    field = form.fields.get("schedule")
    editing = field is not None and field.widget.is_editing(request.POST, "schedule")
    if editing or not form.is_valid():
        return None
    try:
        saved_templates.save_template(by=Requester.from_request(request), **values, **form.cleaned_data)
    except saved_templates.NameTaken:
        form.add_error("name", _("A template with this name already exists."))
        return None
    messages.success(request, _("Template saved: %(name)s") % {"name": form.cleaned_data["name"]})
    return redirect("rights:templates", request.tenant.slug)


def _drawn(template: RightsTemplate, named: places.PlaceNames) -> dict[str, Any]:
    if template.kind == Kind.SCHEDULE:
        return {"week": week_of(template.schedule), "lines": []}
    told = {"devices_pass": template.devices_pass, "keys_pass": template.keys_pass}
    return {"week": None, "lines": words.summary_lines(told, named)}
