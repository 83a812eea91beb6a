"""The editor of one member's rights, and the words that follow it."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accessapi.permissions import by_schedule
from accessapi.permissions.passes import sort_key
from portal.core.intents.asking import ask
from portal.core.mirror.models import Member
from portal.core.mirror.queries import get_member
from portal.core.rights import keeping, places, posting, words
from portal.core.rights.editing import act_on_sheet
from portal.core.rights.laying import board, modes, samples
from portal.core.rights.places import Places
from portal.core.rights.reading import Rights, known
from portal.core.rights.sheet import Sheet
from portal.core.ui.sealed import seal, unseal_or_none
from portal.core.ui.vocabulary import joined
from portal.rights import actions
from portal.rights.actions import Editor, Meanwhile
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof

_NO_TIMES = sort_key(by_schedule())


@tenant_view(Permission.MEMBERS_VIEW, methods=["GET", "POST"], writes=Permission.RIGHTS_EDIT, redraws={"act": "show"})
def edit(request: TenantRequest, member_id: str) -> HttpResponse:
    """The editor; without the permission to edit, the same screen to look at."""
    member, may_edit = get_member(member_id), request.access.can(Permission.RIGHTS_EDIT)
    if request.method == "POST":
        return _posted(request, member)
    read, trouble = actions.read(member) if may_edit or member.rights is None else (known(member), "")
    told = actions.opened_up(read, request.GET.getlist("open"))
    return _page(request, Editor(member, read, Sheet.of(told), trouble=[trouble]))


def _posted(request: TenantRequest, member: Member) -> HttpResponse:
    was, act = actions.seen(member, request.POST.get("seen", "")), request.POST.get("act", "")
    if was is None:
        read, trouble = actions.read(member)
        words_ = _("This form has expired. Nothing was sent. Try again.")
        return _page(request, Editor(member, read, Sheet.of(read.told if read else {}), trouble=[words_, trouble]))
    editor = Editor(member, was, posting.sheet(request.POST), unsaved=True)
    if act:
        mine = unseal_or_none(request.POST.get("mine", ""), "mine") if act == "mine" else None
        if isinstance(mine, dict):
            editor.sheet = Sheet.of({**was.told, **mine})
        act_on_sheet(act, editor.sheet)
    elif editor.sheet.is_wrong:
        editor.add_error(None, _("Some times need correcting. See the messages beside them."))
    elif emptied := [each.place for each in _changes(was, editor.sheet) if sort_key(each.drawn[1]) == _NO_TIMES]:
        words_ = _("%(places)s: enter at least one line of days and times. For no access, choose “Never”.")
        editor.add_error(None, words_ % {"places": joined(emptied)})
    elif answer := _save(request, editor, was):
        return answer
    return _page(request, editor)


def _save(request: TenantRequest, editor: Editor, was: Rights) -> HttpResponse | None:
    """Nothing is sent unless the service still has what the person saw."""
    member, body = editor.member, actions.body_of(was, editor.sheet.rights())
    if not body:
        messages.info(request, _("No changes. Nothing was sent."))
        return redirect("members:page", request.tenant.slug, member.member_id)
    act = partial(actions.change, member=member, was=was, body=body)
    return ask(request, editor, act, body=body, **actions.TO_MEMBER)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def followed(request: TenantRequest, member_id: str) -> JsonResponse:
    """What the posted form says in words, and what it would change: for the script that follows the drawing."""
    member = get_member(member_id)
    was, sheet, named = actions.seen(member, request.POST.get("seen", "")), posting.sheet(request.POST), places.known()
    answer = _spoken(sheet)
    if was is not None and not sheet.is_wrong:
        answer["changes"] = [[each.place, each.before, each.after] for each in _changes(was, sheet, named)]
        answer["summary"] = words.summary(sheet.rights(), named)
    return JsonResponse(answer)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def phrases(request: TenantRequest) -> JsonResponse:
    """The same for forms with a single pass: every schedule of the form in words. `prefix` is the field's name."""
    prefix = request.POST.get("prefix", "")[:100]
    return JsonResponse(_spoken(Sheet(pool=posting.pool_of(request.POST, prefix))))


def _changes(was: Rights, sheet: Sheet, named: Places | None = None) -> list[words.Changed]:
    return words.changes(was.told, {**was.told, **sheet.rights()}, named or places.known())


def _spoken(sheet: Sheet) -> dict[str, Any]:
    spoken = {}
    for choice, schedule in sheet.pool.schedules.items():
        pass_ = schedule.pass_()
        problems = {slot.number: slot.problems for slot in schedule.slots if slot.problems}
        text = _("Some times need correcting.") if schedule.is_wrong else words.when(pass_)
        spoken[choice] = {"text": text, "problems": problems}
    return {"schedules": spoken}


def _page(request: TenantRequest, editor: Editor) -> HttpResponse:
    named, read = places.known(), editor.read
    shown: dict[str, Any] = {
        "member": editor.member,
        "read": read,
        "trouble": [*filter(None, editor.trouble)],
        "may_edit": request.access.can(Permission.RIGHTS_EDIT) and read is not None,
        "unsaved": editor.unsaved,
        "summary": words.summary(editor.sheet.rights(), named),
    }
    if read is not None:
        shown |= _form(editor.member, read, editor.sheet, named)
    if editor.clash is not None:
        shown["clash"] = _clash(editor.clash, named)
    return render(request, "rights/edit.html", shown)


def _form(member: Member, read: Rights, sheet: Sheet, named: Places) -> dict[str, Any]:
    kept = list(keeping.templates())
    return {
        "board": board(sheet, named),
        "seen": actions.token(member, read),
        "device_modes": modes("devices", sheet.devices.whole) if sheet.devices else [],
        "key_modes": modes("keys", sheet.keys.whole) if sheet.keys else [],
        "schedule_templates": [each for each in kept if each.schedule is not None],
        "rights_templates": [each for each in kept if each.schedule is None],
        **samples(),
        "changes": _changes(read, sheet, named),
    }


def _clash(clash: Meanwhile, named: Places) -> dict[str, Any]:
    return {
        "disagree": clash.disagree,
        "theirs": words.changes(clash.was.told, clash.now.told, named),
        "mine": words.changes(clash.was.told, clash.mine, named),
        "sealed": seal(clash.mine, "mine"),
    }
