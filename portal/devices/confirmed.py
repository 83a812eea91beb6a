"""A door's command that first needs its person confirmed: what waits, and carrying it through.

The nonce is the one of the form, so that the command is one intent however often it is confirmed; the 15 seconds begin
with the click that confirms.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from portal.core.intents import nonces
from portal.core.intents.asking import seen_at
from portal.core.intents.nonces import Nonce
from portal.core.intents.record import Asker
from portal.core.mirror.access import get_door
from portal.devices import actions
from portal.devices.commands import Command
from tenants.access import tenant_view
from tenants.carrying import Carried
from tenants.roles import Permission


def carried(request: HttpRequest, device_id: str) -> Carried | None:
    """The command of a posted form, to be carried through; None for a form that could not be used anyway."""
    wanted, door = request.POST.get("control", ""), get_door(device_id)
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce:
        return None
    if wanted not in Command.values:
        return None
    slug = request.tenant.slug  # type: ignore[attr-defined]
    return Carried(
        title=Command(wanted).of(door),
        page=reverse("devices:door", args=[slug, device_id]),
        through=f"{__name__}.carry_through",
        values={"tenant": slug, "device_id": device_id, "control": wanted, "nonce": nonce.value},
    )


def carry_through(request: HttpRequest, values: dict[str, str]) -> HttpResponseBase:
    """Send the command within 15 seconds of the confirming click, as the same person asked for it before."""
    nonce = Nonce(values["nonce"], nonces.clicked_at(request))
    return _send(request, values["tenant"], device_id=values["device_id"], control=values["control"], nonce=nonce)


@tenant_view(Permission.DOORS_OPERATE, methods=["POST"])
def _send(request: HttpRequest, device_id: str, control: str, nonce: Nonce) -> HttpResponseBase:
    door = get_door(device_id)
    intent = actions.command(door=door, command=Command(control), by=Asker.of(request), nonce=nonce)
    page = reverse("devices:door", args=[request.tenant.slug, device_id])  # type: ignore[attr-defined]
    return redirect(seen_at(page, intent))
