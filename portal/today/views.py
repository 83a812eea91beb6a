"""Views of the desk: the board with its steps, visits by host, people in the building, the month, and settings."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.files.cells import CellValue
from portal.base.files.writing import download_recorder, send_file
from portal.base.ui import charts, live_updates
from portal.base.ui.times import local, time_tag
from portal.domain.intents.recording import Requester
from portal.domain.presence import people
from portal.domain.safety.changing import change_with_feedback
from portal.domain.visits import checking_in
from portal.domain.visits import queries as visits
from portal.domain.visits.days import Month
from portal.domain.visits.models import Visit
from portal.today import actions, boards, building, erasing, months
from portal.today.actions import BoardNotice, SettingsForm
from portal.today.boards import BoardView
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof
from tenants.sentences import Sentence, coded_sentence

STEPS = {
    "arrived": checking_in.check_in,
    "left": checking_in.check_out,
    "back": checking_in.undo_check_out,
    "not-arrived": checking_in.undo_check_in,
}


@tenant_view(Permission.GUESTS_VIEW)
def today(request: TenantRequest) -> HttpResponse:
    """Show the whole desk page."""
    state = BoardView.from_values(request.GET)
    done = request.GET.get("done", "")
    visit = Visit.objects.filter(pk=int(done)).first() if done.isdecimal() and len(done) < 18 else None
    context = _board_context(request, state)
    may_act = request.access.can(Permission.GUESTS_DESK)
    notice = actions.notice_after(visit, Requester.from_request(request), state.day) if visit and may_act else None
    return render(request, "guests/today/index.html", context | {"notice": notice})


@tenant_view(Permission.GUESTS_VIEW)
def board(request: TenantRequest) -> HttpResponse:
    """Show only the board, for automatic updates and while typing. 204 if nothing changed."""
    state = BoardView.from_values(request.GET)
    context = _board_context(request, state)
    if live_updates.is_up_to_date(request, context["version"]):
        return live_updates.unchanged_response()
    response = HttpResponse(context["drawn"])
    if not live_updates.is_poll(request):
        response["HX-Replace-Url"] = _address(request, state)
    return response


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def step(request: TenantRequest, visit_id: int, step: str) -> HttpResponse:
    """Save a step: the guest came, left, is here again, or did not come. Show the board with an undo button.

    If the step was made on the guest's page, redirect there.
    """
    visit = visits.get_visit_row(visit_id)
    if step not in STEPS:
        raise Http404
    try:
        more = {"use_suggested_time": True} if request.POST.get("suggested") and step in ("arrived", "left") else {}
        if request.POST.get("together") and step == "arrived":
            more["whole_party"] = True
        STEPS[step](visit=visit, by=Requester.from_request(request), **more)
        visit.refresh_from_db()
        notice = actions.notice_after(visit, Requester.from_request(request), _state_of(request).day)
    except checking_in.NotPossible as refusal:
        notice = BoardNotice(str(refusal), is_refusal=True)
    return _response_after(request, visit, notice)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def undo(request: TenantRequest) -> HttpResponse:
    """Undo this person's latest step; the next call undoes the one before."""
    by = Requester.from_request(request)
    notice = actions.notice_of_undo(checking_in.undo_last_action(by), by, _state_of(request).day)
    return _response_after(request, notice.visit, notice)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def close(request: TenantRequest) -> HttpResponse:
    """Set the departure of guests who are overdue from days before."""
    number = checking_in.check_out_overdue(by=Requester.from_request(request))
    text = ngettext("%(n)d guest from earlier days checked out.", "%(n)d guests from earlier days checked out.", number)
    messages.success(request, text % {"n": number})
    return redirect("guests:index", request.tenant.slug)


def _address(request: TenantRequest, state: BoardView) -> str:
    return reverse("guests:index", args=[request.tenant.slug]) + state.query(page=state.page)


def _state_of(request: TenantRequest) -> BoardView:
    """Return the view that was on the screen when a button was clicked."""
    return BoardView.from_values(QueryDict(request.POST.get("back", "").lstrip("?")[:1000]))


def _response_after(request: TenantRequest, visit: Visit | None, notice: BoardNotice) -> HttpResponse:
    if request.POST.get("page") == "guest" and visit is not None and visit.guest_id is not None:
        (messages.error if notice.is_refusal else messages.success)(request, notice.text)
        return redirect("guests:guest", request.tenant.slug, visit.guest_id)
    state = _state_of(request)
    if request.htmx:
        context = _board_context(request, state)
        html = render_to_string("guests/today/notice.html", {"notice": notice, "is_late": True, **context}, request)
        return HttpResponse(context["drawn"] + html)
    address = _address(request, state)
    if notice.is_refusal or visit is None:
        messages.error(request, notice.text)
        return redirect(address)
    return redirect(f"{address}{'&' if '?' in address else '?'}done={visit.pk}")


def _board_context(request: TenantRequest, state: BoardView) -> dict[str, Any]:
    """Return the board as HTML, and its version."""
    as_of = actions.request_refresh(request.tenant)
    may_act = request.access.can(Permission.GUESTS_DESK)
    made = boards.load_board(request.tenant.slug, state, timezone.now(), may_act=may_act)
    context = {
        "board": made,
        "state": state,
        "now_query": state.query(show="now"),
        "yesterday": state.query(day=state.day.plus_days(-1), text="", show="now"),
        "tomorrow": state.query(day=state.day.plus_days(1), text="", show="now"),
        "new_url": reverse("guests:new", args=[request.tenant.slug]),
        "here": state.query(page=state.page),
        "as_of": as_of,
        "may_act": may_act,
        "may_manage": request.access.can(Permission.GUESTS_MANAGE),
    }
    drawn = render_to_string("guests/today/board.html", context, request)
    version = live_updates.version_of(drawn)
    return context | {"drawn": drawn.replace("VERSION", version, 1), "version": version}


@tenant_view(Permission.GUESTS_VIEW)
def by_host(request: TenantRequest) -> HttpResponse:
    """Show today's visits by host."""
    state = BoardView.from_values(request.GET)
    found, total = boards.load_hosts(request.tenant.slug, state.day, state.text, timezone.now(), state.page)
    context = {
        "state": state,
        "hosts": found,
        "total": total,
        "before": (state.query(page=state.page - 1) or "?") if state.page > 1 else "",
        "after": state.query(page=state.page + 1) if state.page * boards.HOSTS_PER_PAGE < total else "",
    }
    return render(request, "guests/today/by_host.html", context | _permissions(request))


@tenant_view(Permission.BUILDING_VIEW)
def in_the_building(request: TenantRequest) -> HttpResponse:
    """Show the evacuation list: large, printable, and only from the portal's database."""
    return render(request, "guests/today/building.html", _building_context(request) | _permissions(request))


@tenant_view(Permission.BUILDING_VIEW)
def building_board(request: TenantRequest) -> HttpResponse:
    """Show only the list, for automatic updates and while filtering. 204 if nothing changed."""
    context = _building_context(request)
    if live_updates.is_up_to_date(request, context["version"]):
        return live_updates.unchanged_response()
    response = HttpResponse(context["drawn"])
    if not live_updates.is_poll(request):
        response["HX-Replace-Url"] = reverse("guests:building", args=[request.tenant.slug]) + context["look"].query
    return response


def _building_context(request: TenantRequest) -> dict[str, Any]:
    look = building.OccupancyFilter.from_query(request.GET)
    found = building.load_occupancy(request, look)
    context = {
        "found": found,
        "look": look,
        "orders": building.order_choices(),
        "kinds": people.PersonKind.choices,
        "certainties": people.Certainty.choices,
        "day_begins": people.day_start_of(found.guests.at),
    }
    drawn = render_to_string("guests/today/building_board.html", context, request)
    version = live_updates.version_of(drawn.replace(time_tag(found.guests.at), ""))
    return context | {"drawn": drawn.replace("VERSION", version, 1), "version": version}


@tenant_view(Permission.BUILDING_VIEW)
def building_file(request: TenantRequest, kind: str) -> HttpResponseBase:
    """Send the same list as a file. This is recorded in the audit log, because it has names."""
    look = building.OccupancyFilter.from_query(request.GET)
    found = building.load_occupancy(request, look)
    guests = len(found.guests.on_site) + len(found.guests.unsure)
    members = len(found.members or [])
    return _export(
        request, kind, "in-the-building", _("On site"), building.file_lines(found), building.file_notes(found),
        summary=coded_sentence("guests.building_exported", n=guests + members, kind=kind.upper()), guests=guests,
        **({"members": members} if found.members is not None else {}),
    )  # fmt: skip


@tenant_view(Permission.GUESTS_VIEW)
def month(request: TenantRequest) -> HttpResponse:
    """Show a month of visits as a chart and a table."""
    chosen = Month.parse(request.GET.get("month", ""))
    found = months.load_figures(chosen, timezone.now())
    context = {
        "found": found,
        "unknown": months.missing_texts(request, chosen),
        "chart": months.draw_chart(found),
        "hours": charts.hourly_bar_chart(_("Arrivals by hour"), found.hours, unit=_("arrivals")),
    }
    return render(request, "guests/today/month.html", context | _permissions(request))


@tenant_view(Permission.GUESTS_VIEW)
def month_file(request: TenantRequest, kind: str) -> HttpResponseBase:
    """Send the month's table as a file, without names."""
    chosen = Month.parse(request.GET.get("month", ""))
    found = months.load_figures(chosen, timezone.now())
    return _export(
        request, kind, f"visits-{chosen.name}", _("Visits"), months.file_lines(found),
        months.missing_texts(request, chosen),
        summary=coded_sentence("guests.month_exported", n=found.total, month=chosen.name, kind=kind.upper()),
        guests=found.total,
    )  # fmt: skip


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"], proof=Proof.SHORT)
def settings(request: TenantRequest) -> HttpResponse:
    """Change the desk's settings and the retention of guests' data."""
    form = SettingsForm(request.POST or None, instance=visits.desk_settings())
    command = partial(actions.save_settings, form=form, by=Requester.from_request(request))
    if request.method == "POST" and form.is_valid() and change_with_feedback(request, command, _("Saved."), form):
        return redirect("guests:settings", request.tenant.slug)
    context = {"form": form, "kept": erasing.retention_figures()} | _permissions(request)
    return render(request, "guests/today/settings.html", context)


def _permissions(request: TenantRequest) -> dict[str, object]:
    return {
        "sees_guests": request.access.can(Permission.GUESTS_VIEW),
        "may_manage": request.access.can(Permission.GUESTS_MANAGE),
        "may_act": request.access.can(Permission.GUESTS_DESK),
    }


def _export(
    request: TenantRequest,
    kind: str,
    name: str,
    title: str,
    lines: Iterable[list[CellValue]],
    notes: Iterable[str],
    *,
    summary: Sentence,
    **counts: int,
) -> HttpResponseBase:
    """Send a file and record that first.

    Raises Http404 for an unknown kind. `name` starts the file's name, in ASCII.
    """
    full = f"{request.tenant.slug}-{name}-{local(timezone.now()):%Y%m%d-%H%M}"
    after = {"kind": kind, **counts}
    record = download_recorder(request, "guests.exported", target="guests", summary=summary, after=after)
    return send_file(request, lines, kind=kind, name=full, title=title, record=record, notes=notes)
