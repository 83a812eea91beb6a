"""Views of lockdowns. A submitted action first needs a recent proof of identity, then it is run."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.ui import live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.intents import nonces
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.safety.changing import change_with_feedback
from portal.lockdown import actions
from portal.lockdown.actions import change_settings, evacuation_doors
from portal.lockdown.forms import SettingsForm
from portal.lockdown.lockdown_pages import LockdownPage, Lockdowns
from portal.lockdown.models import Kind, Lockdown, current_setting
from portal.lockdown.preview import DoorSelection, LockdownPreview, form_choices
from tenants import pending_commands
from tenants.access import TenantRequest, tenant_view
from tenants.pending_commands import PendingCommand
from tenants.roles import Permission

Values = Mapping[str, str]


@tenant_view(Permission.DEVICES_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    may = {"may_lock": request.access.can(Permission.LOCKDOWN), "setting": current_setting()}
    return Lockdowns(request).respond("lockdown/index.html", may)


@tenant_view(Permission.LOCKDOWN)
def new(request: TenantRequest) -> HttpResponse:
    """Show the choice of doors and the API calls that locking them uses. Nothing is sent by opening this page."""
    try:
        wanted = DoorSelection.from_query(request.GET)
    except NotSubmitted:
        wanted = None
    preview = LockdownPreview.of(wanted.doors()) if wanted is not None else None
    _warn_nothing_sent(request)
    context = {"preview": preview, "second": current_setting().needs_second_person(Kind.LOCKDOWN)}
    return render(request, "lockdown/new.html", form_choices(wanted) | context)


@tenant_view(Permission.LOCKDOWN)
def evacuation(request: TenantRequest) -> HttpResponse:
    """Show the doors that an evacuation unlocks, and the API calls it uses. Nothing is sent by opening this page."""
    kept = current_setting()
    preview = LockdownPreview.of(evacuation_doors().doors()) if kept.evacuation else None
    _warn_nothing_sent(request)
    context = {"preview": preview, "setting": kept, "second": kept.needs_second_person(Kind.EVACUATION)}
    return render(request, "lockdown/evacuation.html", context)


@tenant_view(Permission.LOCKDOWN)
def settings(request: TenantRequest) -> HttpResponse:
    return render(request, "lockdown/settings.html", {"form": SettingsForm(current_setting())})


@tenant_view(Permission.LOCKDOWN, methods=["POST"])
def save_settings(request: TenantRequest) -> HttpResponseBase:
    """Change the evacuation's doors and what a second person confirms."""
    form = SettingsForm(current_setting(), request.POST)
    if form.is_valid():
        wanted = partial(change_settings, **form.wanted, by=Requester.from_request(request))
        if change_with_feedback(request, wanted, _("Settings saved."), form):
            return redirect("lockdown:settings", request.tenant.slug)
    return render(request, "lockdown/settings.html", {"form": form})


@tenant_view(Permission.DEVICES_VIEW)
def page(request: TenantRequest, order_id: int) -> HttpResponse:
    """Show a lockdown with each door's outcome. It is updated while the page is open."""
    sheet = LockdownPage(_order_or_404(order_id))
    if live_updates.is_up_to_date(request, sheet.version):
        return live_updates.unchanged_response()
    may = {"may_lock": request.access.can(Permission.LOCKDOWN), "is_mine": sheet.order.started_by == request.user}
    context = {"sheet": sheet, "order": sheet.order, **may}
    if live_updates.is_poll(request):
        return render(request, "lockdown/now.html", context)
    _warn_nothing_sent(request)
    return render(request, "lockdown/page.html", context)


def _warn_nothing_sent(request: TenantRequest) -> None:
    if pending_commands.TOKEN_PARAMETER in request.GET:  # back from the confirmation page, but nothing was run
        messages.info(request, _("Nothing was sent by this confirmation. Try again."))


def _order_or_404(order_id: int) -> Lockdown:
    return get_row_or_404(
        Lockdown.objects.select_related("started_by", "by", "confirmed_by", "ended_by", "tenant__environment"),
        pk=order_id,
    )


# Actions of buttons


class LockdownAction(NamedTuple):
    """A button's action: its title for the confirmation page, how the form is read, and the function to run."""

    title: str | Promise
    read: Callable[[TenantRequest], Values]
    run: Callable[[Values, Requester, Nonce], Lockdown]


def _lockdown_values(request: TenantRequest) -> Values:
    return {"kind": Kind.LOCKDOWN.value, **DoorSelection.from_query(request.POST).as_values}


def _evacuation_values(_request: TenantRequest) -> Values:
    return {"kind": Kind.EVACUATION.value, **evacuation_doors().as_values}


def _no_values(_request: TenantRequest) -> Values:
    return {}


def _start(values: Values, by: Requester, nonce: Nonce) -> Lockdown:
    return actions.start(kind=Kind(values["kind"]), wanted=DoorSelection.from_values(values), by=by, nonce=nonce)


def _rehearse(values: Values, by: Requester, nonce: Nonce) -> Lockdown:
    return actions.rehearse(kind=Kind(values["kind"]), wanted=DoorSelection.from_values(values), by=by, nonce=nonce)


def _again(values: Values, by: Requester, nonce: Nonce) -> Lockdown:
    order = _order_or_404(int(values["order"]))
    actions.send_again(order=order, by=by, nonce=nonce)
    return order


def _release(values: Values, by: Requester, nonce: Nonce) -> Lockdown:
    return actions.release(order=_order_or_404(int(values["order"])), by=by, nonce=nonce)


def _confirm(values: Values, by: Requester, nonce: Nonce) -> Lockdown:
    order = _order_or_404(int(values["order"]))
    actions.confirm(order=order, by=by, nonce=nonce)
    return order


def _withdraw(values: Values, by: Requester, _nonce: Nonce) -> Lockdown:
    order = _order_or_404(int(values["order"]))
    actions.withdraw(order=order, by=by)
    return order


ACTIONS: Mapping[str, LockdownAction] = {
    "start": LockdownAction(gettext_lazy("Start lockdown"), _lockdown_values, _start),
    "rehearse": LockdownAction(gettext_lazy("Rehearse lockdown"), _lockdown_values, _rehearse),
    "open": LockdownAction(gettext_lazy("Unlock doors for an evacuation"), _evacuation_values, _start),
    "rehearse_open": LockdownAction(gettext_lazy("Rehearse evacuation unlock"), _evacuation_values, _rehearse),
    "again": LockdownAction(gettext_lazy("Send again"), _no_values, _again),
    "release": LockdownAction(gettext_lazy("Release"), _no_values, _release),
    "confirm": LockdownAction(gettext_lazy("Confirm as the second person"), _no_values, _confirm),
    "withdraw": LockdownAction(gettext_lazy("Do not confirm"), _no_values, _withdraw),
}


def _pending_action(act: str, request: TenantRequest, order_id: int | None = None) -> PendingCommand | None:
    """Return the submitted action, to be confirmed and run; None for an invalid form."""
    try:
        values, nonce = ACTIONS[act].read(request), nonces.check_nonce(request)
    except NotSubmitted:
        return None
    return PendingCommand(
        title=str(ACTIONS[act].title),
        page=_page(request, order_id),
        handler=f"{__name__}.carry_through",
        values={
            **values,
            "tenant": request.tenant.slug,
            "act": act,
            "order": "" if order_id is None else str(order_id),
            "nonce": nonce.value,
        },
    )


def carry_through(request: TenantRequest, values: dict[str, str]) -> HttpResponseBase:
    """Run a confirmed action, within 15 seconds of the confirming click."""
    nonce = Nonce(values["nonce"], nonces.clicked_at(request))
    return _run_confirmed(request, values["tenant"], values=values, nonce=nonce)


@tenant_view(Permission.LOCKDOWN, methods=["POST"])
def _run_confirmed(request: TenantRequest, values: dict[str, str], nonce: Nonce) -> HttpResponseBase:
    return _run(request, values["act"], values, lambda: nonce)


def _action_view(act: str) -> Callable[..., HttpResponseBase]:
    @tenant_view(Permission.LOCKDOWN, methods=["POST"], find_command=partial(_pending_action, act))
    def view(request: TenantRequest, order_id: int | None = None) -> HttpResponseBase:
        order = "" if order_id is None else str(order_id)
        return _run(request, act, {"order": order}, lambda: nonces.check_nonce(request), read=ACTIONS[act].read)

    return view


def _run(
    request: TenantRequest, act: str, values: Values, nonce: Callable[[], Nonce],
    *, read: Callable[[TenantRequest], Values] = _no_values,
) -> HttpResponseBase:  # fmt: skip
    """Run the action and redirect to the lockdown. An error is shown on the page with the button."""
    try:
        order = ACTIONS[act].run({**values, **read(request)}, Requester.from_request(request), nonce())
    except NotSubmitted as reason:
        messages.error(request, str(reason))
        return redirect(_page(request, int(values["order"]) if values["order"] else None))
    return redirect(_page(request, order.pk))


def _page(request: TenantRequest, order_id: int | None) -> str:
    """Return the page with the button: the order's page, or the list for new orders."""
    slug = request.tenant.slug
    return reverse("lockdown:page", args=[slug, order_id]) if order_id else reverse("lockdown:index", args=[slug])


start, rehearse, open_doors, rehearse_open = map(_action_view, ("start", "rehearse", "open", "rehearse_open"))
again, release, confirm, withdraw = map(_action_view, ("again", "release", "confirm", "withdraw"))
