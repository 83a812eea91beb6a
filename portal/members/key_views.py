"""Temporary keys of a member, and the one-time code of this moment: what opens something at once."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from portal.core.budget.priorities import Priority
from portal.core.intents.asking import FOLLOWED, ask
from portal.core.intents.record import Asker
from portal.core.mirror import queries as mirror
from portal.core.mirror.access import get_member
from portal.core.mirror.models import Member
from portal.members import actions, codes, pages, queries, temporary
from portal.members.key_forms import TemporaryForm
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.DOORS_OPERATE, methods=["GET", "POST"])
def keys(request: HttpRequest, member_id: str) -> HttpResponse:
    """Let the member take keys for a while. Asked who it is before the form, so that what is filled in is not lost."""
    request.access.check(Permission.MEMBERS_VIEW)
    member = get_member(member_id)
    form = TemporaryForm(request.POST or None, member=member, boxes=list(mirror.key_boxes().defer("status")[:200]))
    body = form.body(Asker.of(request)) if form.is_valid() else None
    act = partial(temporary.ask, member=member, body=body)
    back = pages.back_to_member(request)
    answer = None if body is None else ask(request, form, act, body=body, shows=FOLLOWED, **back)
    running = temporary.running(queries.intents_about(member))
    return answer or render(request, "members/keys.html", {"member": member, "form": form, "running": running})


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"])
def one_time(request: HttpRequest, member_id: str) -> HttpResponse:
    """The one-time code of this moment, shown to a person who asked for it; written into the audit trail."""
    member = get_member(member_id)
    told = _told(request, member, Priority.PEOPLE)
    if "code" in told:
        actions.reveal(member=member, what="one_time", by=Asker.of(request))
        told["permit"] = codes.permit(request, member)
    return _shown(request, member, told)


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"], reauth=False)
def one_time_next(request: HttpRequest, member_id: str) -> HttpResponse:
    """The next code, which the page asks for by itself: for some minutes, and while the hour's calls are not short.

    The permit that came with the first one, for which proof was asked, stands for it.
    """
    member = get_member(member_id)
    if not codes.is_permitted(request, member):
        return _shown(request, member, {"pause": _("Shown for ten minutes.")})
    told = _told(request, member, Priority.JOBS)
    if "code" in told:
        told["permit"] = request.POST["permit"]
    return _shown(request, member, told)


def _told(request: HttpRequest, member: Member, priority: Priority) -> dict[str, object]:
    try:
        return {"code": codes.current(member, priority)}
    except codes.NoCode as reason:
        return {"pause": str(reason)} if reason.short else {"trouble": str(reason)}


def _shown(request: HttpRequest, member: Member, told: dict[str, object]) -> HttpResponse:
    """A fragment for htmx, else the member's page with it."""
    told = {"member": member, "may_reveal": True, "asked": True, **told}
    if request.htmx:
        return render(request, "members/one_time.html", told)
    return render(request, "members/page.html", pages.context(request, member) | {"one_time": told})
