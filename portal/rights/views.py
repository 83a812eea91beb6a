"""Views of rights: the editor of a member's rights, comparing and copying, and templates."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accessapi.permissions import by_schedule
from accessapi.permissions.passes import sort_key
from portal.base.ui import confirmation
from portal.base.ui.shown_values import seal, unseal_or_none
from portal.base.ui.value_words import join_values
from portal.domain.intents.form_handling import redirect_or_show_errors, submit_and_redirect, submit_once
from portal.domain.intents.recording import Requester
from portal.domain.jobs import kinds
from portal.domain.people import queries
from portal.domain.people.member_fields import DOORS_AND_KEYS
from portal.domain.people.models import Member
from portal.domain.people.queries import find_members, get_member
from portal.domain.rights import editing, member_rights, words
from portal.domain.rights.editing import apply_edit_to_sheet
from portal.domain.rights.editor_view import modes, sample_rows, sheet_view
from portal.domain.rights.forms import TemplateForm
from portal.domain.rights.member_rights import MemberRights, canonical, rights_in_mirror
from portal.domain.rights.models import RightsTemplate
from portal.domain.rights.schedules import week_of
from portal.domain.rights.sheet import RightsSheet
from portal.domain.rights.words import PlaceNames
from portal.rights import actions, comparing
from portal.rights.actions import Problems, RightsConflict, RightsEditor
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof

_NO_TIMES = sort_key(by_schedule())


@tenant_view(
    Permission.MEMBERS_VIEW,
    methods=["GET", "POST"],
    write_permission=Permission.RIGHTS_EDIT,
    redraw_values={"act": "show"},
)
def edit(request: TenantRequest, member_id: str) -> HttpResponse:
    """Show the editor, with one more area if the address has one (?area=…).

    Without the permission to edit, the same page is read-only.
    """
    member, may_edit = get_member(member_id), request.access.can(Permission.RIGHTS_EDIT)
    if request.method == "POST":
        return _posted(request, member)
    read, trouble = actions.read_rights(member) if may_edit or member.rights is None else (rights_in_mirror(member), "")
    parts = actions.with_missing_parts(read, request.GET.getlist("open"))
    editor = RightsEditor(member, read, RightsSheet.of(parts), problems=[trouble])
    if may_edit and (area_id := request.GET.get("area")):
        editor.is_unsaved = editing.add_area(editor.sheet, area_id, words.load_place_names().areas)
    return _page(request, editor)


def _posted(request: TenantRequest, member: Member) -> HttpResponse:
    base, edit = actions.unseal_read(member, request.POST.get("seen", "")), request.POST.get("act", "")
    if base is None:
        read, trouble = actions.read_rights(member)
        expired = _("This form has expired. Nothing was sent. Try again.")
        return _page(
            request, RightsEditor(member, read, RightsSheet.of(read.parts if read else {}), problems=[expired, trouble])
        )
    editor = RightsEditor(member, base, editing.parse_sheet(request.POST), is_unsaved=True)
    if edit:
        changes = unseal_or_none(request.POST.get("mine", ""), "mine") if edit == "mine" else None
        if isinstance(changes, dict):
            editor.sheet = RightsSheet.of({**base.parts, **changes})
        apply_edit_to_sheet(edit, editor.sheet)
    elif editor.sheet.is_wrong:
        editor.add_error(None, _("Some times need correcting. See the messages beside them."))
    elif emptied := [each.place for each in _changes(base, editor.sheet) if sort_key(each.passes[1]) == _NO_TIMES]:
        message = _("%(places)s: enter at least one line of days and times. For no access, choose “Never”.")
        editor.add_error(None, message % {"places": join_values(emptied)})
    elif answer := _save(request, editor, base):
        return answer
    return _page(request, editor)


def _save(request: TenantRequest, editor: RightsEditor, read: MemberRights) -> HttpResponse | None:
    """Save the rights, only if the service still has what the person saw. Return None to show the form again."""
    member, body = editor.member, actions.changed_parts(read, editor.sheet.to_body())
    if not body:
        messages.info(request, _("No changes. Nothing was sent."))
        return redirect("members:page", request.tenant.slug, member.member_id)
    action = partial(actions.change_rights, member=member, read=read, body=body)
    return submit_and_redirect(request, editor, action, actions.REDIRECT_TO_MEMBER, body=body)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def preview(request: TenantRequest, member_id: str) -> JsonResponse:
    """Return the posted form in words and its changes, for the script of the drawing."""
    member = get_member(member_id)
    read, sheet, named = (
        actions.unseal_read(member, request.POST.get("seen", "")),
        editing.parse_sheet(request.POST),
        words.load_place_names(),
    )
    answer = _schedule_texts(sheet)
    if read is not None and not sheet.is_wrong:
        answer["changes"] = [[each.place, each.before, each.after] for each in _changes(read, sheet, named)]
        answer["summary"] = words.summary_lines(sheet.to_body(), named)
    return JsonResponse(answer)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def preview_schedules(request: TenantRequest) -> JsonResponse:
    """Return every schedule of a form with a single pass in words. `prefix` is the field's name."""
    prefix = request.POST.get("prefix", "")[:100]
    return JsonResponse(_schedule_texts(RightsSheet(pool=editing.parse_pool(request.POST, prefix))))


def _changes(read: MemberRights, sheet: RightsSheet, named: PlaceNames | None = None) -> list[words.RightsDifference]:
    return words.differences(read.parts, {**read.parts, **sheet.to_body()}, named or words.load_place_names())


def _schedule_texts(sheet: RightsSheet) -> dict[str, Any]:
    texts = {}
    for choice, schedule in sheet.pool.schedules.items():
        pass_ = schedule.to_pass()
        problems = {slot.number: slot.problems for slot in schedule.slots if slot.problems}
        text = _("Some times need correcting.") if schedule.is_wrong else words.pass_text(pass_)
        texts[choice] = {"text": text, "problems": problems}
    return {"schedules": texts}


def _page(request: TenantRequest, editor: RightsEditor) -> HttpResponse:
    named, read = words.load_place_names(), editor.read
    context: dict[str, Any] = {
        "member": editor.member,
        "read": read,
        "trouble": [*filter(None, editor.problems)],
        "may_edit": request.access.can(Permission.RIGHTS_EDIT) and read is not None,
        "unsaved": editor.is_unsaved,
        "summary": words.summary_lines(editor.sheet.to_body(), named),
    }
    if read is not None:
        context |= _form(editor.member, read, editor.sheet, named)
    if editor.clash is not None:
        context["clash"] = _conflict_context(editor.clash, named)
    return render(request, "rights/edit.html", context)


def _form(member: Member, read: MemberRights, sheet: RightsSheet, named: PlaceNames) -> dict[str, Any]:
    saved = list(member_rights.all_templates())
    return {
        "board": sheet_view(sheet, named),
        "shown_token": actions.seal_read(member, read),
        "device_modes": modes("devices", sheet.devices.raw) if sheet.devices else [],
        "key_modes": modes("keys", sheet.keys.raw) if sheet.keys else [],
        "schedule_templates": [each for each in saved if each.schedule is not None],
        "rights_templates": [each for each in saved if each.schedule is None],
        **sample_rows(),
        "changes": _changes(read, sheet, named),
    }


def _conflict_context(clash: RightsConflict, named: PlaceNames) -> dict[str, Any]:
    return {
        "disagree": clash.is_contradictory,
        "other_changes": words.differences(clash.before.parts, clash.now.parts, named),
        "own_changes": words.differences(clash.before.parts, clash.edited, named),
        "sealed": seal(clash.edited, "mine"),
    }


PARTS = ("areas", "keys", "privileges")


@tenant_view(Permission.MEMBERS_VIEW)
def compare(request: TenantRequest) -> HttpResponse:
    """Show two members: ?a=…&b=…, each an ID. If one is missing, show a search (?q=…)."""
    chosen = {side: _chosen(request, side) for side in ("a", "b")}
    context: dict[str, Any] = {**chosen, "q": request.GET.get("q", ""), "trouble": []}
    if missing := [side for side, member in chosen.items() if member is None]:
        taken = tuple(member.member_id for member in chosen.values() if member)
        context |= {
            "missing": missing[0],
            "hits": comparing.find_members(context["q"], exclude=taken)[: comparing.MAX_HITS],
        }
        return render(request, "rights/compare.html", context)
    rights = {side: _rights(member, context["trouble"]) for side, member in chosen.items() if member}
    if all(rights.values()):
        found = comparing.compare(rights["a"].parts, rights["b"].parts, words.load_place_names())
        context |= {
            "differs": [p for p in found if not p.is_same],
            "alike": [p for p in found if p.is_same],
            "rights": rights,
        }
    context["may_edit"] = request.access.can(Permission.RIGHTS_EDIT)
    return render(request, "rights/compare.html", context)


def _chosen(request: TenantRequest, side: str) -> Member | None:
    member_id = request.GET.get(side, "")
    return get_member(member_id) if member_id else None


def _rights(member: Member, trouble: list[str]) -> Any:
    """Return the rights from the mirror. If they were never loaded, read them now with one API call."""
    if member.rights is not None:
        return rights_in_mirror(member)
    read, why = actions.read_rights(member)
    if why:
        trouble.append(_("%(name)s: %(why)s") % {"name": member, "why": why})
    return read


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"])
def copy(request: TenantRequest) -> HttpResponse:
    """Copy rights: ?from=…, and recipients ?to=… (several). They are found with ?q=… or ?group=…"""
    source = get_member(request.GET.get("from", "") or request.POST.get("from", ""))
    trouble: list[str] = []
    source_rights = _rights(source, trouble)
    query = request.POST if request.method == "POST" else request.GET
    parts = [part for part in query.getlist("part") if part in PARTS] or list(PARTS)
    body = comparing.body_of(source_rights.parts, parts) if source_rights else {}
    targets, named = _targets(query.getlist("to"), source), words.load_place_names()
    context = {
        "source": source, "source_rights": source_rights, "trouble": trouble, "parts": _parts(parts),
        "targets": targets, "q": request.GET.get("q", ""), "group": request.GET.get("group", ""),
        "most": comparing.MAX_TARGETS, "groups": queries.groups(), "saying": words.summary_lines(body, named),
    }  # fmt: skip
    if request.method == "POST" and source_rights and targets and body:
        answer = _submit_copy(request, Problems(problems=trouble), source, targets, body)
        if answer is not None:
            return answer
    taken = (source.member_id, *(member.member_id for member in targets))
    rows = comparing.find_members(context["q"], group=context["group"], exclude=taken)
    limit = comparing.MAX_TARGETS if context["group"] else comparing.MAX_HITS
    context |= {"hits": rows[:limit], "preview": _preview(targets, body, named)}
    return render(request, "rights/copy.html", context)


def _submit_copy(
    request: TenantRequest, form: Problems, source: Member, targets: list[Member], body: dict[str, Any]
) -> HttpResponse | None:
    """Send the rights to one member at once, or create a job for several. Return None if the form has an error."""
    if len(targets) > 1:
        job = comparing.prepare_job(source=source, targets=targets, body=body, by=Requester.from_request(request))
        return redirect(kinds.page_address(job))
    action = partial(actions.replace_rights, member=targets[0], body=body)
    try:
        intent = submit_once(request, form, action)
    except actions.NothingToChange:
        messages.info(request, _("They already have the same rights. Nothing was sent."))
        return redirect("members:page", request.tenant.slug, targets[0].member_id)
    if intent is None:
        return None
    return redirect_or_show_errors(form, intent, actions.REDIRECT_TO_MEMBER, body=intent.body)


def _targets(ids: list[str], source: Member) -> list[Member]:
    """Return the chosen members, each once, without the source. Raises Http404 for an unknown ID."""
    member_ids = list(dict.fromkeys(ids[: comparing.MAX_TARGETS]))
    found = {member.member_id: member for member in find_members(member_ids)}
    if found.keys() != set(member_ids):
        raise Http404
    return [found[member_id] for member_id in member_ids if member_id != source.member_id]


def _preview(targets: list[Member], body: dict[str, Any], named: words.PlaceNames) -> list[dict[str, Any]]:
    """Return the changes for each member, as far as their rights are known."""
    return [
        {
            "member": member,
            "unread": member.rights is None,
            "changes": words.differences(member.rights, {**member.rights, **body}, named) if member.rights else [],
        }
        for member in targets
    ]


def _parts(chosen: list[str]) -> list[tuple[str, str, bool]]:
    names = {"areas": _("Areas"), "keys": _("Keys"), "privileges": _("Privileges")}
    return [(part, name, part in chosen) for part, name in names.items()]


Kind = RightsTemplate.Kind
_REDRAWS = {"schedule.act": "show"}


@tenant_view(Permission.MEMBERS_VIEW)
def templates(request: TenantRequest) -> HttpResponse:
    named = words.load_place_names()
    saved = [{"template": each, **_drawn(each, named)} for each in member_rights.all_templates()]
    ready = [] if saved else [{"ready": each, "week": week_of(each.pass_)} for each in actions.suggested_templates()]
    may_edit = request.access.can(Permission.RIGHTS_EDIT)
    return render(request, "rights/templates.html", {"saved": saved, "ready": ready, "may_edit": may_edit})


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"], redraw_values=_REDRAWS)
def new_template(request: TenantRequest) -> HttpResponse:
    """Create a schedule template. `?suggested_templates=office` starts with a suggested one."""
    form = TemplateForm(request.POST or None, initial=_suggested_values(request.GET.get("ready", "")))
    if answer := _save_template(request, form, kind=Kind.SCHEDULE):
        return answer
    return render(request, "rights/template.html", {"form": form})


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"], redraw_values=_REDRAWS)
def edit_template(request: TenantRequest, pk: int) -> HttpResponse:
    template = member_rights.get_template(pk)
    started = {"name": template.name, "name_ja": template.name_ja, "schedule": template.schedule}
    form = TemplateForm(request.POST or None, initial=started, template=template)
    if answer := _save_template(request, form, template=template):
        return answer
    context = {"form": form, "template": template, **_drawn(template, words.load_place_names())}
    return render(request, "rights/template.html", context)


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"])
def delete_template(request: TenantRequest, pk: int) -> HttpResponse:
    template = member_rights.get_template(pk)
    if request.method == "POST":
        actions.delete_template(template=template, by=Requester.from_request(request))
        messages.success(request, _("Template deleted: %(name)s") % {"name": template})
        return redirect("rights:templates", request.tenant.slug)
    return confirmation.ask(
        request,
        _("Delete “%(name)s”?") % {"name": template},
        submit=_("Delete template"),
        consequences=[_("Rights already set from it do not change.")],
        cancel=reverse("rights:templates", args=[request.tenant.slug]),
        crumbs=[(_("Rights templates"), "rights:templates")],
    )


@tenant_view(Permission.RIGHTS_EDIT, methods=["GET", "POST"])
def template_from_member(request: TenantRequest, member_id: str) -> HttpResponse:
    """Save a member's rights from the mirror as a template. Show an error if they are not loaded."""
    member = get_member(member_id)
    form = TemplateForm(request.POST or None, template=RightsTemplate(kind=Kind.RIGHTS))
    parts = canonical(member.rights or {})
    values = {each.name: parts[each.name] for each in DOORS_AND_KEYS}
    if member.rights is not None and (answer := _save_template(request, form, kind=Kind.RIGHTS, **values)):
        return answer
    lines = words.group_by_time(words.rights_lines(values, words.load_place_names()))
    return render(request, "rights/template.html", {"form": form, "member": member, "lines": lines})


def _suggested_values(key: str) -> dict[str, Any]:
    for each in actions.suggested_templates():
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
        actions.save_template(by=Requester.from_request(request), **values, **form.cleaned_data)
    except actions.NameTaken:
        form.add_error("name", _("A template with this name already exists. Enter a different name."))
        return None
    messages.success(request, _("Template saved: %(name)s") % {"name": form.cleaned_data["name"]})
    return redirect("rights:templates", request.tenant.slug)


def _drawn(template: RightsTemplate, named: words.PlaceNames) -> dict[str, Any]:
    if template.kind == Kind.SCHEDULE:
        return {"week": week_of(template.schedule), "lines": []}
    parts = {"devices_pass": template.devices_pass, "keys_pass": template.keys_pass}
    return {"week": None, "lines": words.summary_lines(parts, named)}
