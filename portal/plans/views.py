"""Views of floor plans: the list, a plan with its devices, its picture, and the forms."""

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.files.pictures import send_picture
from portal.base.ui import confirmation, live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.base.ui.value_words import join_values
from portal.domain.intents.recording import Requester
from portal.plans import actions, plan_devices
from portal.plans.forms import DrawingForm, NameForm, NewPlanForm, PlacementRows
from portal.plans.models import FloorPlan
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_CONFLICT_TEXT = gettext_lazy(
    "Nothing was saved. Another person moved or removed %(names)s. Your positions are shown. Save again to use them."
)


@tenant_view(Permission.DEVICES_VIEW)
def index(request: TenantRequest) -> HttpResponseBase:
    """Show the tenant's plans by name. If there is only one, redirect to it."""
    plans = list(FloorPlan.objects.defer("content").order_by("name"))
    if len(plans) == 1:
        return redirect(_page(request, plans[0]))
    return render(request, "plans/index.html", {"plans": plans, **_may(request)})


@tenant_view(Permission.DEVICES_VIEW)
def plan(request: TenantRequest, pk: int) -> HttpResponse:
    """Show a plan with its devices. It is updated while the page is open."""
    drawing = plan_devices.draw(request.tenant, _plan_or_404(pk))
    if live_updates.is_poll(request):
        return live_updates.render_update(request, drawing.version, "plans/now.html", {"drawing": drawing})
    others = FloorPlan.objects.only("name").order_by("name")
    return render(request, "plans/plan.html", {"drawing": drawing, "plans": others, **_may(request)})


@tenant_view(Permission.DEVICES_VIEW)
def picture(request: TenantRequest, pk: int, mark: str) -> HttpResponse:
    """Return a plan's picture. Its address changes with the picture."""
    found = get_row_or_404(FloorPlan.objects.all(), pk=pk, mark=mark)
    return send_picture(found.content)


@tenant_view(Permission.PLANS_EDIT, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponseBase:
    form = NewPlanForm(request.POST, request.FILES) if request.method == "POST" else NewPlanForm()
    if form.is_valid():
        try:
            made = actions.add(name=form.cleaned_data["name"], picture=form.picture, by=Requester.from_request(request))
        except actions.PlanNotSaved as why:
            form.add_error("name", str(why))
        else:
            messages.success(request, _("Floor plan added. Now place doors on it."))
            return redirect("plans:edit", request.tenant.slug, made.pk)
    return render(request, "plans/new.html", {"form": form})


@tenant_view(Permission.PLANS_EDIT, methods=["GET", "POST"])
def replace(request: TenantRequest, pk: int) -> HttpResponseBase:
    found = _plan_or_404(pk)
    form = DrawingForm(request.POST, request.FILES) if request.method == "POST" else DrawingForm()
    if form.is_valid():
        actions.replace(plan=found, picture=form.picture, by=Requester.from_request(request))
        messages.success(request, _("Drawing replaced. Check the positions of all devices."))
        return redirect("plans:edit", request.tenant.slug, pk)
    return render(request, "plans/replace.html", {"form": form, "plan": found})


@tenant_view(Permission.PLANS_EDIT, methods=["GET", "POST"])
def edit(request: TenantRequest, pk: int) -> HttpResponseBase:
    found = _plan_or_404(pk)
    posted = request.POST if request.method == "POST" else None
    form = NameForm(posted, initial={"name": found.name})
    places = PlacementRows(request.tenant, found, posted)
    if places.is_valid() & form.is_valid():
        try:
            values = {"name": form.cleaned_data["name"], "placed": places.rows(), "previous": places.previous}
            actions.edit(plan=found, **values, by=Requester.from_request(request))
        except actions.PlanNotSaved as why:
            form.add_error("name", str(why))
        except actions.PlacementConflict as meanwhile:
            names = {"names": join_values(places.apply_others(meanwhile.keys))}
            form.add_error(None, _CONFLICT_TEXT % names)
        else:
            messages.success(request, _("Floor plan saved."))
            return redirect("plans:edit" if form.cleaned_data["camera"] else "plans:plan", request.tenant.slug, pk)
    context = {"form": form, "places": places, "plan": found}
    context |= {"height": plan_devices.height_of(found), "sight": plan_devices.view_box_of(found)}
    return render(request, "plans/edit.html", context)


@tenant_view(Permission.PLANS_EDIT, methods=["GET", "POST"])
def delete(request: TenantRequest, pk: int) -> HttpResponseBase:
    found = _plan_or_404(pk)
    if request.method == "POST":
        actions.delete(plan=found, by=Requester.from_request(request))
        messages.success(request, _("Floor plan deleted."))
        return redirect("plans:index", request.tenant.slug)
    return confirmation.ask(
        request,
        _("Delete “%(name)s”?") % {"name": found},
        submit=_("Delete floor plan"),
        question=_("The drawing and all positions are deleted for everyone. The devices are not affected."),
        cancel=reverse("plans:edit", args=[request.tenant.slug, pk]),
        crumbs=[(_("Floor plans"), "plans:index"), (found, "plans:plan", pk)],
    )


def _plan_or_404(pk: int) -> FloorPlan:
    return get_row_or_404(FloorPlan.objects.defer("content"), pk=pk)


def _page(request: TenantRequest, found: FloorPlan) -> str:
    return reverse("plans:plan", args=[request.tenant.slug, found.pk])


def _may(request: TenantRequest) -> dict[str, bool]:
    return {"may_edit": request.access.can(Permission.PLANS_EDIT)}
