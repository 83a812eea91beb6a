"""By host, in the building, the month, and the settings."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.core.intents.record import Asker
from portal.core.ui import charts as bars
from portal.core.visits import queries
from portal.core.visits.days import Month
from portal.core.visits.models import DeskSettings
from portal.today import building, charts, exports, hosts, keeping, months
from portal.today.boards import State
from portal.today.forms import SettingsForm
from tenants.access import tenant_view
from tenants.roles import Permission
from tenants.wording import say


@tenant_view(Permission.GUESTS_VIEW)
def by_host(request: HttpRequest) -> HttpResponse:
    """Today's visitors, host by host."""
    state = State.of(request.GET)
    found, total = hosts.hosts(request.tenant.slug, state.day, state.text, timezone.now(), state.page)
    context = {
        "state": state,
        "hosts": found,
        "total": total,
        "before": (state.query(page=state.page - 1) or "?") if state.page > 1 else "",
        "after": state.query(page=state.page + 1) if state.page * hosts.MOST < total else "",
    }
    return render(request, "guests/today/by_host.html", context | _common(request))


@tenant_view(Permission.BUILDING_VIEW)
def in_the_building(request: HttpRequest) -> HttpResponse:
    """The list for an evacuation: big, printable, from this database alone."""
    order = request.GET.get("by", "")
    order = order if order in building.ORDERS else "host"
    found = building.building(timezone.now(), order)
    context = {"found": found, "order": order, "orders": building.labels()}
    return render(request, "guests/today/building.html", context | _common(request))


@tenant_view(Permission.BUILDING_VIEW)
def building_file(request: HttpRequest, kind: str) -> HttpResponseBase:
    """The same list as a file; taking names along is written down."""
    found = building.building(timezone.now(), request.GET.get("by", ""))
    guests = len(found.here) + len(found.unsure)
    return exports.respond(
        request, kind, "in-the-building", _("On site"), building.lines(found),
        summary=say("guests.building_exported", n=guests, kind=kind.upper()), guests=guests,
    )  # fmt: skip


@tenant_view(Permission.GUESTS_VIEW)
def month(request: HttpRequest) -> HttpResponse:
    """A month of visits as a picture and the table behind it."""
    chosen = Month.named(request.GET.get("month", ""))
    found = months.figures(chosen, timezone.now())
    context = {
        "found": found,
        "chart": charts.month(found),
        "hours": bars.by_hour(_("Arrivals by hour"), found.hours, unit=_("arrivals")),
    }
    return render(request, "guests/today/month.html", context | _common(request))


@tenant_view(Permission.GUESTS_VIEW)
def month_file(request: HttpRequest, kind: str) -> HttpResponseBase:
    """The table behind the picture: counts, no names."""
    chosen = Month.named(request.GET.get("month", ""))
    found = months.figures(chosen, timezone.now())
    return exports.respond(
        request, kind, f"visits-{chosen.name}", _("Visits"), months.lines(found),
        summary=say("guests.month_exported", n=found.total, month=chosen.name, kind=kind.upper()), guests=found.total,
    )  # fmt: skip


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """How this desk works, and for how long it remembers guests."""
    row = DeskSettings.objects.first() or queries.desk_settings()
    form = SettingsForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        changed = keeping.save(form=form, by=Asker.of(request))
        messages.success(request, _("Saved.") if changed else _("Nothing was changed."))
        return redirect("guests:settings", request.tenant.slug)
    context = {"form": form, "kept": keeping.kept()} | _common(request)
    return render(request, "guests/today/settings.html", context, status=422 if request.method == "POST" else 200)


def _common(request: HttpRequest) -> dict[str, object]:
    return {
        "sees_guests": request.access.can(Permission.GUESTS_VIEW),
        "may_manage": request.access.can(Permission.GUESTS_MANAGE),
        "may_act": request.access.can(Permission.GUESTS_DESK),
    }
