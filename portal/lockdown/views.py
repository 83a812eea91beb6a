"""Views and the settings' form of lockdowns. An action first needs a recent proof of identity, then it is run."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from django import forms
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui import live_updates
from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.intents.form_handling import ErrorsAsMessages, command_to_confirm, submit_once
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.places.models import PassController
from portal.domain.safety.changing import change_with_feedback
from portal.lockdown import actions
from portal.lockdown.actions import change_settings, evacuation_doors
from portal.lockdown.lockdown_pages import LockdownPage, Lockdowns
from portal.lockdown.models import Kind, Lockdown, LockdownSetting, SecondPersonRule, current_setting
from portal.lockdown.preview import DoorSelection, LockdownPreview, form_choices
from tenants.access import TenantRequest, tenant_view
from tenants.pending_commands import PendingCommand
from tenants.roles import Permission


@tenant_view(Permission.DEVICES_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    may = {
        "may_lock": request.access.can(Permission.LOCKDOWN),
        "may_set": request.access.can(Permission.LOCKDOWN_MANAGE),
    }
    return Lockdowns(request).respond("lockdown/index.html", may | {"setting": current_setting()})


@tenant_view(Permission.LOCKDOWN)
def new(request: TenantRequest) -> HttpResponse:
    """Show the choice of doors and the API calls that locking them uses. Nothing is sent by opening this page."""
    try:
        selection = DoorSelection.from_query(request.GET)
    except NotSubmitted:
        selection = None
    preview = LockdownPreview.of(selection.doors()) if selection is not None else None
    context = {"preview": preview, "second": current_setting().needs_second_person(Kind.LOCKDOWN)}
    return render(request, "lockdown/new.html", form_choices(selection) | context)


@tenant_view(Permission.LOCKDOWN)
def evacuation(request: TenantRequest) -> HttpResponse:
    """Show the doors that an evacuation unlocks, and the API calls it uses. Nothing is sent by opening this page."""
    setting = current_setting()
    preview = LockdownPreview.of(evacuation_doors().doors()) if setting.evacuation else None
    context = {"preview": preview, "setting": setting, "second": setting.needs_second_person(Kind.EVACUATION)}
    return render(request, "lockdown/evacuation.html", context)


@tenant_view(Permission.LOCKDOWN_MANAGE)
def settings(request: TenantRequest) -> HttpResponse:
    return render(request, "lockdown/settings.html", {"form": SettingsForm(current_setting())})


@tenant_view(Permission.LOCKDOWN_MANAGE, methods=["POST"])
def save_settings(request: TenantRequest) -> HttpResponseBase:
    """Change the evacuation's doors and what a second person confirms."""
    form = SettingsForm(current_setting(), request.POST)
    if form.is_valid():
        command = partial(change_settings, **form.values, by=Requester.from_request(request))
        if change_with_feedback(request, command, _("Settings saved."), form):
            return redirect("lockdown:settings", request.tenant.slug)
    return render(request, "lockdown/settings.html", {"form": form})


@tenant_view(Permission.DEVICES_VIEW)
def page(request: TenantRequest, order_id: int) -> HttpResponse:
    """Show a lockdown with each door's outcome. It is updated while the page is open."""
    lockdown_page = LockdownPage(_order_or_404(order_id))
    order = lockdown_page.order
    may = {"may_lock": request.access.can(Permission.LOCKDOWN), "is_mine": order.started_by == request.user}
    context = {"page": lockdown_page, "order": order, **may}
    if live_updates.is_poll(request):
        return live_updates.render_update(request, lockdown_page.version, "lockdown/now.html", context)
    return render(request, "lockdown/page.html", context)


def _order_or_404(order_id: int) -> Lockdown:
    return get_row_or_404(
        Lockdown.objects.select_related("started_by", "by", "confirmed_by", "ended_by", "tenant__environment"),
        pk=order_id,
    )


# Actions of buttons


class LockdownAction(NamedTuple):
    """A button's action: its title for the confirmation page, how the doors are chosen, and the function to run.

    `run` is called with the order of the page, or with the chosen doors, and `by` and `nonce`.
    """

    title: str | Promise
    run: Callable[..., Lockdown]
    select: Callable[[TenantRequest], DoorSelection] | None = None


def _selected_doors(request: TenantRequest) -> DoorSelection:
    return DoorSelection.from_query(request.POST)


def _evacuation_doors(_request: TenantRequest) -> DoorSelection:
    return evacuation_doors()


_open, _rehearse_open = (partial(action, kind=Kind.EVACUATION) for action in (actions.start, actions.rehearse))
ACTIONS: Mapping[str, LockdownAction] = {
    "start": LockdownAction(gettext_lazy("Start lockdown"), actions.start, _selected_doors),
    "rehearse": LockdownAction(gettext_lazy("Rehearse lockdown"), actions.rehearse, _selected_doors),
    "open": LockdownAction(gettext_lazy("Unlock doors for an evacuation"), _open, _evacuation_doors),
    "rehearse_open": LockdownAction(gettext_lazy("Rehearse evacuation unlock"), _rehearse_open, _evacuation_doors),
    "again": LockdownAction(gettext_lazy("Send again"), actions.send_again),
    "release": LockdownAction(gettext_lazy("Release"), actions.release),
    "confirm": LockdownAction(gettext_lazy("Confirm as the second person"), actions.confirm),
    "withdraw": LockdownAction(pgettext_lazy("lockdown", "Cancel request"), actions.withdraw),
}


def _pending_action(name: str, request: TenantRequest, order_id: int | None = None) -> PendingCommand | None:
    """Return the submitted action, to be confirmed and run; None for an invalid form."""
    action = ACTIONS[name]
    try:
        if action.select is not None:
            action.select(request)
    except NotSubmitted:
        return None
    return command_to_confirm(request, str(action.title), _page(request, order_id))


def _action_view(name: str) -> Callable[..., HttpResponseBase]:
    @tenant_view(Permission.LOCKDOWN, methods=["POST"], find_command=partial(_pending_action, name))
    def view(request: TenantRequest, order_id: int | None = None) -> HttpResponseBase:
        """Run the action and redirect to the lockdown. An error is shown on the page with the button."""
        action = ACTIONS[name]

        def run(by: Requester, nonce: Nonce) -> Lockdown:
            if action.select is not None:
                return action.run(selection=action.select(request), by=by, nonce=nonce)
            return action.run(order=_order_or_404(order_id or 0), by=by, nonce=nonce)

        order = submit_once(request, ErrorsAsMessages(request), run)
        return redirect(_page(request, order_id if order is None else order.pk))

    return view


def _page(request: TenantRequest, order_id: int | None) -> str:
    """Return the page with the button: the order's page, or the list for new orders."""
    slug = request.tenant.slug
    return reverse("lockdown:page", args=[slug, order_id]) if order_id else reverse("lockdown:index", args=[slug])


start, rehearse, open_doors, rehearse_open = map(_action_view, ("start", "rehearse", "open", "rehearse_open"))
again, release, confirm, withdraw = map(_action_view, ("again", "release", "confirm", "withdraw"))


class _Doors(forms.MultipleChoiceField):
    """A choice of doors. Doors that no longer exist are left out."""

    def to_python(self, value: Any) -> list[str]:
        return [each for each in super().to_python(value) if self.valid_value(each)]


class SettingsForm(ConflictForm, forms.Form):
    """The form for the evacuation's doors and for what a second person confirms."""

    evacuation = forms.BooleanField(label=gettext_lazy("Allow the evacuation unlock of these doors"), required=False)
    door = _Doors(label=gettext_lazy("Doors of the evacuation unlock"), required=False)
    second = forms.ChoiceField(
        label=gettext_lazy("Second confirmation required for"),
        choices=SecondPersonRule.choices,
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy("Nothing was changed. Choose what requires a second confirmation.")
        },
    )

    def __init__(self, setting: LockdownSetting, data: QueryDict | None = None) -> None:
        doors = PassController.objects.order_by("name_order", "pk").only("tenant_id", "device_id", "device_name")
        choices = [(door.device_id, str(door)) for door in doors]
        listed = [key for key, _name in choices if key in setting.doors]
        super().__init__(data, initial={"evacuation": setting.evacuation, "door": listed, "second": setting.second})
        self.fields["door"].choices = choices  # type: ignore[attr-defined]  # a choice field

    @property
    def values(self) -> dict[str, Any]:
        """Return the chosen values, as arguments of `change_settings`."""
        cleaned = self.cleaned_data
        return {
            "evacuation": cleaned["evacuation"],
            "doors": cleaned["door"],
            "second": SecondPersonRule(cleaned["second"]),
        }
