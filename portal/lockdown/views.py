"""The pages of lockdowns. What is pressed there waits for a fresh proof of identity and is then carried through."""

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

from portal.core.intents import nonces
from portal.core.intents.nonces import Nonce, NotAsked
from portal.core.intents.record import Asker
from portal.core.safety.answering import answer
from portal.core.ui import watching
from portal.core.ui.addresses import row_or_404
from portal.lockdown import actions, keeping
from portal.lockdown.forms import SettingsForm
from portal.lockdown.keeping import evacuation_doors
from portal.lockdown.lists import Lockdowns
from portal.lockdown.models import Kind, Lockdown, setting
from portal.lockdown.preview import Preview, Wanted, choices
from portal.lockdown.sheet import Sheet
from tenants import carrying
from tenants.access import TenantRequest, tenant_view
from tenants.carrying import Carried
from tenants.roles import Permission

Values = Mapping[str, str]


@tenant_view(Permission.DEVICES_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    may = {"may_lock": request.access.can(Permission.LOCKDOWN), "setting": setting()}
    return Lockdowns(request).respond("lockdown/index.html", may)


@tenant_view(Permission.LOCKDOWN)
def new(request: TenantRequest) -> HttpResponse:
    """Which doors, and what locking them takes; nothing is sent from here without a press."""
    try:
        wanted = Wanted.of(request.GET)
    except NotAsked:
        wanted = None
    preview = Preview.of(wanted.doors()) if wanted is not None else None
    _say_nothing_was_sent(request)
    context = {"preview": preview, "second": setting().needs_second(Kind.LOCKDOWN)}
    return render(request, "lockdown/new.html", choices(wanted) | context)


@tenant_view(Permission.LOCKDOWN)
def evacuation(request: TenantRequest) -> HttpResponse:
    """The doors that an evacuation unlocks, and what that takes; nothing is sent from here without a press."""
    kept = setting()
    preview = Preview.of(evacuation_doors().doors()) if kept.evacuation else None
    _say_nothing_was_sent(request)
    context = {"preview": preview, "setting": kept, "second": kept.needs_second(Kind.EVACUATION)}
    return render(request, "lockdown/evacuation.html", context)


@tenant_view(Permission.LOCKDOWN)
def settings(request: TenantRequest) -> HttpResponse:
    return render(request, "lockdown/settings.html", {"form": SettingsForm(setting())})


@tenant_view(Permission.LOCKDOWN, methods=["POST"])
def save_settings(request: TenantRequest) -> HttpResponseBase:
    """Change whether and which doors an evacuation unlocks, and what a second person confirms."""
    form = SettingsForm(setting(), request.POST)
    if form.is_valid():
        wanted = partial(keeping.change, **form.wanted, by=Asker.of(request))
        if answer(request, wanted, _("Settings saved."), form):
            return redirect("lockdown:settings", request.tenant.slug)
    return render(request, "lockdown/settings.html", {"form": form})


@tenant_view(Permission.DEVICES_VIEW)
def page(request: TenantRequest, order_id: int) -> HttpResponse:
    """A lockdown with each door's outcome, followed while somebody looks."""
    sheet = Sheet(_found(order_id))
    if watching.has_seen(request, sheet.seen):
        return watching.unchanged()
    may = {"may_lock": request.access.can(Permission.LOCKDOWN), "is_mine": sheet.order.started_by == request.user}
    context = {"sheet": sheet, "order": sheet.order, **may}
    if watching.is_asked(request):
        return render(request, "lockdown/now.html", context)
    _say_nothing_was_sent(request)
    return render(request, "lockdown/page.html", context)


def _say_nothing_was_sent(request: TenantRequest) -> None:
    if carrying.ASKED in request.GET:  # confirming came back without carrying anything through
        messages.info(request, _("Nothing was sent by this confirmation. Try again."))


def _found(order_id: int) -> Lockdown:
    return row_or_404(
        Lockdown.objects.select_related("started_by", "by", "confirmed_by", "ended_by", "tenant__environment"),
        pk=order_id,
    )


# What is pressed


class Act(NamedTuple):
    """What a button asks for: its title for whoever is asked to confirm, what its form says, and the doing."""

    title: str | Promise
    read: Callable[[TenantRequest], Values]
    do: Callable[[Values, Asker, Nonce], Lockdown]


def _wanted(request: TenantRequest) -> Values:
    return {"kind": Kind.LOCKDOWN.value, **Wanted.of(request.POST).values}


def _of_evacuation(_request: TenantRequest) -> Values:
    return {"kind": Kind.EVACUATION.value, **evacuation_doors().values}


def _nothing(_request: TenantRequest) -> Values:
    return {}


def _start(values: Values, by: Asker, nonce: Nonce) -> Lockdown:
    return actions.start(kind=Kind(values["kind"]), wanted=Wanted.from_values(values), by=by, nonce=nonce)


def _rehearse(values: Values, by: Asker, nonce: Nonce) -> Lockdown:
    return actions.rehearse(kind=Kind(values["kind"]), wanted=Wanted.from_values(values), by=by, nonce=nonce)


def _again(values: Values, by: Asker, nonce: Nonce) -> Lockdown:
    order = _found(int(values["order"]))
    actions.send_again(order=order, by=by, nonce=nonce)
    return order


def _release(values: Values, by: Asker, nonce: Nonce) -> Lockdown:
    return actions.release(order=_found(int(values["order"])), by=by, nonce=nonce)


def _confirm(values: Values, by: Asker, nonce: Nonce) -> Lockdown:
    order = _found(int(values["order"]))
    actions.confirm(order=order, by=by, nonce=nonce)
    return order


def _withdraw(values: Values, by: Asker, _nonce: Nonce) -> Lockdown:
    order = _found(int(values["order"]))
    actions.withdraw(order=order, by=by)
    return order


ACTS: Mapping[str, Act] = {
    "start": Act(gettext_lazy("Start lockdown"), _wanted, _start),
    "rehearse": Act(gettext_lazy("Rehearse lockdown"), _wanted, _rehearse),
    "open": Act(gettext_lazy("Unlock doors for an evacuation"), _of_evacuation, _start),
    "rehearse_open": Act(gettext_lazy("Rehearse evacuation unlock"), _of_evacuation, _rehearse),
    "again": Act(gettext_lazy("Send again"), _nothing, _again),
    "release": Act(gettext_lazy("Release"), _nothing, _release),
    "confirm": Act(gettext_lazy("Confirm as the second person"), _nothing, _confirm),
    "withdraw": Act(gettext_lazy("Do not confirm"), _nothing, _withdraw),
}


def _carried(act: str, request: TenantRequest, order_id: int | None = None) -> Carried | None:
    """What was pressed, to be carried through; None for a form that could not be used anyway."""
    try:
        values, nonce = ACTS[act].read(request), nonces.check(request)
    except NotAsked:
        return None
    return Carried(
        title=str(ACTS[act].title),
        page=_page(request, order_id),
        through=f"{__name__}.carry_through",
        values={
            **values,
            "tenant": request.tenant.slug,
            "act": act,
            "order": "" if order_id is None else str(order_id),
            "nonce": nonce.value,
        },
    )


def carry_through(request: TenantRequest, values: dict[str, str]) -> HttpResponseBase:
    """Do what was pressed before, within 15 seconds of the confirming click."""
    nonce = Nonce(values["nonce"], nonces.clicked_at(request))
    return _confirmed(request, values["tenant"], values=values, nonce=nonce)


@tenant_view(Permission.LOCKDOWN, methods=["POST"])
def _confirmed(request: TenantRequest, values: dict[str, str], nonce: Nonce) -> HttpResponseBase:
    return _done(request, values["act"], values, lambda: nonce)


def _pressed(act: str) -> Callable[..., HttpResponseBase]:
    @tenant_view(Permission.LOCKDOWN, methods=["POST"], carries=partial(_carried, act))
    def view(request: TenantRequest, order_id: int | None = None) -> HttpResponseBase:
        order = "" if order_id is None else str(order_id)
        return _done(request, act, {"order": order}, lambda: nonces.check(request), read=ACTS[act].read)

    return view


def _done(
    request: TenantRequest, act: str, values: Values, nonce: Callable[[], Nonce],
    *, read: Callable[[TenantRequest], Values] = _nothing,
) -> HttpResponseBase:  # fmt: skip
    """Do it and show the lockdown; what stands against it is said on the page that it was asked from."""
    try:
        order = ACTS[act].do({**values, **read(request)}, Asker.of(request), nonce())
    except NotAsked as reason:
        messages.error(request, str(reason))
        return redirect(_page(request, int(values["order"]) if values["order"] else None))
    return redirect(_page(request, order.pk))


def _page(request: TenantRequest, order_id: int | None) -> str:
    """Where a button stands: the page of its order, else the list, from which each is started."""
    slug = request.tenant.slug
    return reverse("lockdown:page", args=[slug, order_id]) if order_id else reverse("lockdown:index", args=[slug])


start, rehearse, open_doors, rehearse_open = map(_pressed, ("start", "rehearse", "open", "rehearse_open"))
again, release, confirm, withdraw = map(_pressed, ("again", "release", "confirm", "withdraw"))
