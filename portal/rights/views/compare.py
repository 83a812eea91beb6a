"""Views to compare two members, and to copy the rights of one to others."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.domain.intents.form_handling import redirect_or_show_errors, submit_once
from portal.domain.intents.recording import Requester
from portal.domain.jobs import kinds
from portal.domain.mirror import queries
from portal.domain.mirror.models import Member
from portal.domain.mirror.queries import find_members, get_member
from portal.domain.rights import places, words
from portal.domain.rights.member_rights import rights_in_mirror
from portal.rights import actions, comparing
from portal.rights.actions import Problems
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

PARTS = ("areas", "keys", "privileges")


@tenant_view(Permission.MEMBERS_VIEW)
def compare(request: TenantRequest) -> HttpResponse:
    """Show two members: ?a=…&b=…, each an ID. If one is missing, show a search (?q=…)."""
    chosen = {side: _chosen(request, side) for side in ("a", "b")}
    shown: dict[str, Any] = {**chosen, "q": request.GET.get("q", ""), "trouble": []}
    if missing := [side for side, member in chosen.items() if member is None]:
        taken = tuple(member.member_id for member in chosen.values() if member)
        shown |= {
            "missing": missing[0],
            "hits": comparing.find_members(shown["q"], exclude=taken)[: comparing.MAX_HITS],
        }
        return render(request, "rights/compare.html", shown)
    rights = {side: _rights(member, shown["trouble"]) for side, member in chosen.items() if member}
    if all(rights.values()):
        found = comparing.compare(rights["a"].parts, rights["b"].parts, places.load_place_names())
        shown |= {
            "differs": [p for p in found if not p.is_same],
            "alike": [p for p in found if p.is_same],
            "rights": rights,
        }
    shown["may_edit"] = request.access.can(Permission.RIGHTS_EDIT)
    return render(request, "rights/compare.html", shown)


def _chosen(request: TenantRequest, side: str) -> Member | None:
    asked = request.GET.get(side, "")
    return get_member(asked) if asked else None


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
    told = _rights(source, trouble)
    given = request.POST if request.method == "POST" else request.GET
    parts = [part for part in given.getlist("part") if part in PARTS] or list(PARTS)
    body = comparing.body_of(told.parts, parts) if told else {}
    targets, named = _targets(given.getlist("to"), source), places.load_place_names()
    shown = {
        "source": source, "told": told, "trouble": trouble, "parts": _parts(parts), "targets": targets,
        "q": request.GET.get("q", ""), "group": request.GET.get("group", ""), "most": comparing.MAX_TARGETS,
        "groups": queries.groups(), "saying": words.summary_lines(body, named),
    }  # fmt: skip
    if request.method == "POST" and told and targets and body:
        answer = _submit_copy(request, Problems(problems=trouble), source, targets, body)
        if answer is not None:
            return answer
    taken = (source.member_id, *(member.member_id for member in targets))
    rows = comparing.find_members(shown["q"], group=shown["group"], exclude=taken)
    limit = comparing.MAX_TARGETS if shown["group"] else comparing.MAX_HITS
    shown |= {"hits": rows[:limit], "preview": _preview(targets, body, named)}
    return render(request, "rights/copy.html", shown)


def _submit_copy(
    request: TenantRequest, form: Problems, source: Member, targets: list[Member], body: dict[str, Any]
) -> HttpResponse | None:
    """Send the rights to one member at once, or create a job for several. Return None if the form has an error."""
    if len(targets) > 1:
        job = comparing.prepare_job(source=source, targets=targets, body=body, by=Requester.from_request(request))
        return redirect(kinds.page_address(job))
    act = partial(actions.replace_rights, member=targets[0], body=body)
    try:
        intent = submit_once(request, form, act)
    except actions.NothingToChange:
        messages.info(request, _("They already have the same rights. Nothing was sent."))
        return redirect("members:page", request.tenant.slug, targets[0].member_id)
    if intent is None:
        return None
    return redirect_or_show_errors(form, intent, body=intent.body, **actions.REDIRECT_TO_MEMBER)


def _targets(ids: list[str], source: Member) -> list[Member]:
    """Return the chosen members, each once, without the source. Raises Http404 for an unknown ID."""
    asked = list(dict.fromkeys(ids[: comparing.MAX_TARGETS]))
    found = {member.member_id: member for member in find_members(asked)}
    if found.keys() != set(asked):
        raise Http404
    return [found[member_id] for member_id in asked if member_id != source.member_id]


def _preview(targets: list[Member], body: dict[str, Any], named: places.PlaceNames) -> list[dict[str, Any]]:
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
