"""The editor of one member's rights, and the words that follow it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.intents import nonces
from portal.core.intents.addresses import seen_at
from portal.core.intents.models import Intent
from portal.core.intents.record import Asker
from portal.core.intents.states import State
from portal.core.jobs.parts import under_way
from portal.core.mirror.access import get_member
from portal.core.mirror.models import Member
from portal.core.rights import keeping, places, posting, words
from portal.core.rights.digests import unseal_or_none
from portal.core.rights.editing import act_on_sheet
from portal.core.rights.laying import board, modes, samples
from portal.core.rights.places import Places
from portal.core.rights.reading import Rights, known
from portal.core.rights.sheet import Sheet
from portal.rights import actions, saving
from portal.rights.saving import Meanwhile
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_UNSENT = (State.FAILED, State.CANCELLED, State.EXPIRED)


@tenant_view(Permission.MEMBERS_VIEW, methods=["GET", "POST"])
def edit(request: TenantRequest, member_id: str) -> HttpResponse:
    """The editor; without the permission to edit, the same screen to look at."""
    if request.method == "POST":
        request.access.check(Permission.RIGHTS_EDIT)
    member = get_member(member_id)
    if request.method == "POST":
        return _posted(request, member)
    if request.access.can(Permission.RIGHTS_EDIT) or member.rights is None:
        read, trouble = saving.read(member)
    else:
        read, trouble = known(member), ""
    told = saving.opened_up(read, request.GET.getlist("open"))
    return _page(request, member, read, Sheet.of(told), [trouble] if trouble else [])


def _posted(request: TenantRequest, member: Member) -> HttpResponse:
    was = saving.seen(member, request.POST.get("seen", ""))
    if was is None:
        read, trouble = saving.read(member)
        words_ = _("This form is too old or incomplete. Nothing was sent; please try again.")
        return _page(request, member, read, Sheet.of(read.told if read else {}), [words_, *filter(None, [trouble])])
    sheet, act = posting.sheet(request.POST), request.POST.get("act", "")
    if act:
        mine = unseal_or_none(request.POST.get("mine", ""), "mine") if act == "mine" else None
        if isinstance(mine, dict):
            sheet = Sheet.of({**was.told, **mine})
        act_on_sheet(act, sheet)
        return _page(request, member, was, sheet, [], unsaved=True)
    if sheet.is_wrong:
        return _page(request, member, was, sheet, [_("Some times need correcting: see beside them.")], unsaved=True)
    return _save(request, member, was, sheet)


def _save(request: TenantRequest, member: Member, was: Rights, sheet: Sheet) -> HttpResponse:
    """Nothing is sent unless the service still has what the person saw."""
    body = saving.body_of(was, sheet.rights())
    if not body:
        messages.info(request, _("Nothing was changed, so that nothing was sent."))
        return redirect("members:page", request.tenant.slug, member.member_id)
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce as refusal:
        return _page(request, member, was, sheet, [str(refusal)], unsaved=True)
    earlier = Intent.objects.filter(nonce=nonce.value).first()
    if earlier is None:
        if under_way(member.member_id):
            return _page(request, member, was, sheet, [saving.busy()], unsaved=True)
        now, trouble = saving.read(member)
        if now is None or trouble:
            said = _("What the service has now could not be read, so nothing was sent.")
            return _page(request, member, was, sheet, [f"{said} {trouble}".strip()], unsaved=True)
        if clash := saving.meanwhile(was, now, body):
            return _page(request, member, now, clash.sheet, [], unsaved=True, clash=clash)
    intent = earlier or actions.change(member=member, body=body, read=was, by=Asker.of(request), nonce=nonce)
    return _after(request, member, was, sheet, intent, body)


def _after(
    request: TenantRequest, member: Member, was: Rights, sheet: Sheet, intent: Intent, body: dict[str, Any]
) -> HttpResponse:
    if intent.body != body:
        said = _("This form was used before. What stands below was not sent: send it again to do so.")
        return _page(request, member, was, sheet, [said], unsaved=True)
    if intent.state in _UNSENT:
        return _page(request, member, was, sheet, [saving.refusal(intent)], unsaved=True)
    if intent.state != State.SUCCEEDED:
        return redirect("intents:page", request.tenant.slug, intent.pk)
    return redirect(seen_at(reverse("members:page", args=[request.tenant.slug, member.member_id]), intent))


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"])
def followed(request: TenantRequest, member_id: str) -> JsonResponse:
    """What the posted form says in words, and what it would change: for the script that follows the drawing."""
    member = get_member(member_id)
    was, sheet, named = saving.seen(member, request.POST.get("seen", "")), posting.sheet(request.POST), places.known()
    answer = _spoken(sheet)
    if was is not None and not sheet.is_wrong:
        changed = words.changes(was.told, {**was.told, **sheet.rights()}, named)
        answer["changes"] = [[each.place, each.before, each.after] for each in changed]
        answer["summary"] = [words.upper(text) for text in words.gathered(words.lines(sheet.rights(), named))]
    return JsonResponse(answer)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"])
def phrases(request: TenantRequest) -> JsonResponse:
    """The same for forms with a single pass: every schedule of the form in words. `prefix` is the field's name."""
    prefix = request.POST.get("prefix", "")[:100]
    return JsonResponse(_spoken(Sheet(pool=posting.pool_of(request.POST, prefix))))


def _spoken(sheet: Sheet) -> dict[str, Any]:
    spoken = {}
    for choice, schedule in sheet.pool.schedules.items():
        pass_ = schedule.pass_()
        problems = {slot.number: slot.problems for slot in schedule.slots if slot.problems}
        text = _("Some times need correcting.") if schedule.is_wrong else words.when(pass_)
        spoken[choice] = {"text": text, "problems": problems}
    return {"schedules": spoken}


def _page(
    request: TenantRequest,
    member: Member,
    read: Rights | None,
    sheet: Sheet,
    trouble: list[str],
    *,
    unsaved: bool = False,
    clash: Meanwhile | None = None,
) -> HttpResponse:
    named, may_edit = places.known(), request.access.can(Permission.RIGHTS_EDIT)
    shown: dict[str, Any] = {
        "member": member,
        "read": read,
        "trouble": trouble,
        "may_edit": may_edit and read is not None,
        "unsaved": unsaved,
        "summary": [words.upper(text) for text in words.gathered(words.lines(sheet.rights(), named))],
    }
    if read is not None:
        shown |= _form(request, member, read, sheet, named)
    if clash is not None:
        shown["clash"] = _clash(clash, named)
    return render(request, "rights/edit.html", shown)


def _form(request: TenantRequest, member: Member, read: Rights, sheet: Sheet, named: Places) -> dict[str, Any]:
    kept = list(keeping.templates())
    return {
        "board": board(sheet, named),
        "seen": saving.token(member, read),
        "device_modes": modes("devices", sheet.devices.whole) if sheet.devices else [],
        "key_modes": modes("keys", sheet.keys.whole) if sheet.keys else [],
        "schedule_templates": [each for each in kept if each.schedule is not None],
        "rights_templates": [each for each in kept if each.schedule is None],
        **samples(),
        "changes": words.changes(read.told, {**read.told, **sheet.rights()}, named),
    }


def _clash(clash: Meanwhile, named: Places) -> dict[str, Any]:
    return {
        "disagree": clash.disagree,
        "theirs": words.changes(clash.was.told, clash.now.told, named),
        "mine": words.changes(clash.was.told, clash.mine, named),
        "sealed": saving.seal(clash.mine, "mine"),
    }
