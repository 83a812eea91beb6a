"""The desk's day: the board, what is done on it, and the board again as a fragment."""

import hashlib

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from portal.core.intents.record import Asker
from portal.core.visits import acts, presence
from portal.core.visits.access import get_visit_row
from portal.core.visits.models import Visit
from portal.today import boards, freshening, notices
from portal.today.boards import State
from portal.today.notices import Notice
from tenants.access import tenant_view
from tenants.roles import Permission

STEPS = {
    "arrived": presence.arrive,
    "left": presence.leave,
    "back": presence.come_back,
    "not-arrived": presence.unarrive,
}


@tenant_view(Permission.GUESTS_VIEW)
def today(request: HttpRequest) -> HttpResponse:
    """The desk: everything on one page."""
    state = State.of(request.GET)
    done = request.GET.get("done", "")
    visit = Visit.objects.filter(pk=int(done)).first() if done.isdecimal() and len(done) < 18 else None
    context = _drawn(request, state)
    may_act = request.access.can(Permission.GUESTS_DESK)
    notice = notices.after(visit, Asker.of(request), state.day) if visit and may_act else None
    return render(request, "guests/today/index.html", context | {"notice": notice})


@tenant_view(Permission.GUESTS_VIEW)
def board(request: HttpRequest) -> HttpResponse:
    """The board alone, every few seconds and as somebody types: 204 when it would look the same."""
    state = State.of(request.GET)
    context = _drawn(request, state)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    response = HttpResponse(context["drawn"])
    if "seen" not in request.GET:
        response["HX-Replace-Url"] = reverse("guests:index", args=[request.tenant.slug]) + state.query(page=state.page)
    return response


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def step(request: HttpRequest, visit_id: int, step: str) -> HttpResponse:
    """Somebody came, left, is here again, or did not come after all; then the board again, with a way back, or the
    guest's page when it was pressed there.
    """
    visit = get_visit_row(visit_id)
    if step not in STEPS:
        raise Http404
    try:
        more = {"suggested": True} if request.POST.get("suggested") and step in ("arrived", "left") else {}
        if request.POST.get("together") and step == "arrived":
            more["together"] = True
        STEPS[step](visit=visit, by=Asker.of(request), **more)
        visit.refresh_from_db()
        notice = notices.after(visit, Asker.of(request), _state_of(request).day)
    except presence.NotPossible as refusal:
        notice = Notice(str(refusal), is_refusal=True)
    return _after(request, visit, notice)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def undo(request: HttpRequest) -> HttpResponse:
    """Take this person's newest step back; pressed again, the one before."""
    by = Asker.of(request)
    notice = notices.undone(acts.undo(by), by, _state_of(request).day)
    return _after(request, notice.visit, notice)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def close(request: HttpRequest) -> HttpResponse:
    """Mark as left whoever is overdue from days before."""
    number = presence.close_days(by=Asker.of(request))
    words = ngettext(
        "%(n)d guest from earlier days checked out.", "%(n)d guests from earlier days checked out.", number
    )
    messages.success(request, words % {"n": number})
    return redirect("guests:index", request.tenant.slug)


def _state_of(request: HttpRequest) -> State:
    """What was on the screen when a button was pressed."""
    return State.of(QueryDict(request.POST.get("back", "").lstrip("?")[:1000]))


def _after(request: HttpRequest, visit: Visit | None, notice: Notice) -> HttpResponse:
    if request.POST.get("page") == "guest" and visit is not None and visit.guest_id is not None:
        (messages.error if notice.is_refusal else messages.success)(request, notice.text)
        return redirect("guests:guest", request.tenant.slug, visit.guest_id)
    state = _state_of(request)
    if request.htmx:
        context = _drawn(request, state)
        told = render_to_string("guests/today/notice.html", {"notice": notice, "is_late": True, **context}, request)
        return HttpResponse(context["drawn"] + told)
    if notice.is_refusal or visit is None:
        messages.error(request, notice.text)
        return redirect(reverse("guests:index", args=[request.tenant.slug]) + state.query(page=state.page))
    query = state.query(page=state.page)
    joint = "&" if query else "?"
    return redirect(f"{reverse('guests:index', args=[request.tenant.slug])}{query}{joint}done={visit.pk}")


def _drawn(request: HttpRequest, state: State) -> dict[str, object]:
    """The board as HTML, and a mark by which two that look the same are known."""
    as_of = freshening.look(request.tenant, request.user)
    may_act = request.access.can(Permission.GUESTS_DESK)
    made = boards.board(request.tenant.slug, state, timezone.now(), may_act=may_act)
    context = {
        "board": made,
        "state": state,
        "now_query": state.query(show="now"),
        "yesterday": state.query(day=state.day.moved(-1), text="", show="now"),
        "tomorrow": state.query(day=state.day.moved(1), text="", show="now"),
        "new_url": reverse("guests:new", args=[request.tenant.slug]),
        "here": state.query(page=state.page),
        "as_of": as_of,
        "may_act": may_act,
        "may_manage": request.access.can(Permission.GUESTS_MANAGE),
    }
    drawn = render_to_string("guests/today/board.html", context, request)
    seen = hashlib.blake2s(drawn.encode(), digest_size=9).hexdigest()
    return context | {"drawn": drawn.replace("SEEN", seen, 1), "seen": seen}
