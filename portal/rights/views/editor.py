"""Views of the editor of one member's rights, and of its preview in words."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accessapi.permissions import by_schedule
from accessapi.permissions.passes import sort_key
from portal.base.ui.sealing import seal, unseal_or_none
from portal.base.ui.value_words import join_values
from portal.domain.intents.form_handling import submit_and_redirect
from portal.domain.mirror.models import Member
from portal.domain.mirror.queries import get_member
from portal.domain.rights import form_parsing, places, sources, words
from portal.domain.rights.editing import apply_edit_to_sheet
from portal.domain.rights.editor_view import modes, sample_rows, sheet_view
from portal.domain.rights.member_rights import MemberRights, rights_in_mirror
from portal.domain.rights.places import PlaceNames
from portal.domain.rights.sheet import RightsSheet
from portal.rights import actions
from portal.rights.actions import RightsConflict, RightsEditor
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
    """Show the editor. Without the permission to edit, the same page is read-only."""
    member, may_edit = get_member(member_id), request.access.can(Permission.RIGHTS_EDIT)
    if request.method == "POST":
        return _posted(request, member)
    read, trouble = actions.read_rights(member) if may_edit or member.rights is None else (rights_in_mirror(member), "")
    told = actions.with_missing_parts(read, request.GET.getlist("open"))
    return _page(request, RightsEditor(member, read, RightsSheet.of(told), problems=[trouble]))


def _posted(request: TenantRequest, member: Member) -> HttpResponse:
    was, act = actions.unseal_read(member, request.POST.get("seen", "")), request.POST.get("act", "")
    if was is None:
        read, trouble = actions.read_rights(member)
        words_ = _("This form has expired. Nothing was sent. Try again.")
        return _page(
            request, RightsEditor(member, read, RightsSheet.of(read.parts if read else {}), problems=[words_, trouble])
        )
    editor = RightsEditor(member, was, form_parsing.parse_sheet(request.POST), is_unsaved=True)
    if act:
        mine = unseal_or_none(request.POST.get("mine", ""), "mine") if act == "mine" else None
        if isinstance(mine, dict):
            editor.sheet = RightsSheet.of({**was.parts, **mine})
        apply_edit_to_sheet(act, editor.sheet)
    elif editor.sheet.is_wrong:
        editor.add_error(None, _("Some times need correcting. See the messages beside them."))
    elif emptied := [each.place for each in _changes(was, editor.sheet) if sort_key(each.passes[1]) == _NO_TIMES]:
        words_ = _("%(places)s: enter at least one line of days and times. For no access, choose “Never”.")
        editor.add_error(None, words_ % {"places": join_values(emptied)})
    elif answer := _save(request, editor, was):
        return answer
    return _page(request, editor)


def _save(request: TenantRequest, editor: RightsEditor, was: MemberRights) -> HttpResponse | None:
    """Save the rights, only if the service still has what the person saw. Return None to show the form again."""
    member, body = editor.member, actions.changed_parts(was, editor.sheet.to_body())
    if not body:
        messages.info(request, _("No changes. Nothing was sent."))
        return redirect("members:page", request.tenant.slug, member.member_id)
    act = partial(actions.change_rights, member=member, was=was, body=body)
    return submit_and_redirect(request, editor, act, body=body, **actions.REDIRECT_TO_MEMBER)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def preview(request: TenantRequest, member_id: str) -> JsonResponse:
    """Return the posted form in words and its changes, for the script of the drawing."""
    member = get_member(member_id)
    was, sheet, named = (
        actions.unseal_read(member, request.POST.get("seen", "")),
        form_parsing.parse_sheet(request.POST),
        places.load_place_names(),
    )
    answer = _schedule_texts(sheet)
    if was is not None and not sheet.is_wrong:
        answer["changes"] = [[each.place, each.before, each.after] for each in _changes(was, sheet, named)]
        answer["summary"] = words.summary_lines(sheet.to_body(), named)
    return JsonResponse(answer)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def preview_schedules(request: TenantRequest) -> JsonResponse:
    """Return every schedule of a form with a single pass in words. `prefix` is the field's name."""
    prefix = request.POST.get("prefix", "")[:100]
    return JsonResponse(_schedule_texts(RightsSheet(pool=form_parsing.parse_pool(request.POST, prefix))))


def _changes(was: MemberRights, sheet: RightsSheet, named: PlaceNames | None = None) -> list[words.RightsDifference]:
    return words.differences(was.parts, {**was.parts, **sheet.to_body()}, named or places.load_place_names())


def _schedule_texts(sheet: RightsSheet) -> dict[str, Any]:
    spoken = {}
    for choice, schedule in sheet.pool.schedules.items():
        pass_ = schedule.to_pass()
        problems = {slot.number: slot.problems for slot in schedule.slots if slot.problems}
        text = _("Some times need correcting.") if schedule.is_wrong else words.pass_text(pass_)
        spoken[choice] = {"text": text, "problems": problems}
    return {"schedules": spoken}


def _page(request: TenantRequest, editor: RightsEditor) -> HttpResponse:
    named, read = places.load_place_names(), editor.read
    shown: dict[str, Any] = {
        "member": editor.member,
        "read": read,
        "trouble": [*filter(None, editor.problems)],
        "may_edit": request.access.can(Permission.RIGHTS_EDIT) and read is not None,
        "unsaved": editor.is_unsaved,
        "summary": words.summary_lines(editor.sheet.to_body(), named),
    }
    if read is not None:
        shown |= _form(editor.member, read, editor.sheet, named)
    if editor.clash is not None:
        shown["clash"] = _conflict_context(editor.clash, named)
    return render(request, "rights/edit.html", shown)


def _form(member: Member, read: MemberRights, sheet: RightsSheet, named: PlaceNames) -> dict[str, Any]:
    kept = list(sources.all_templates())
    return {
        "board": sheet_view(sheet, named),
        "seen": actions.seal_read(member, read),
        "device_modes": modes("devices", sheet.devices.raw) if sheet.devices else [],
        "key_modes": modes("keys", sheet.keys.raw) if sheet.keys else [],
        "schedule_templates": [each for each in kept if each.schedule is not None],
        "rights_templates": [each for each in kept if each.schedule is None],
        **sample_rows(),
        "changes": _changes(read, sheet, named),
    }


def _conflict_context(clash: RightsConflict, named: PlaceNames) -> dict[str, Any]:
    return {
        "disagree": clash.is_contradictory,
        "theirs": words.differences(clash.before.parts, clash.now.parts, named),
        "mine": words.differences(clash.before.parts, clash.mine, named),
        "sealed": seal(clash.mine, "mine"),
    }
