"""Doors: the list, a door, its status read now, and its commands."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.budget.priorities import Priority
from portal.core.intents import nonces
from portal.core.intents.asking import Button, once, seen_at
from portal.core.intents.models import Intent
from portal.core.intents.nonces import Nonce, NotAsked
from portal.core.intents.record import Asker
from portal.core.log.happened import Happened
from portal.core.mirror import reading
from portal.core.mirror.models import PassController
from portal.core.mirror.places import places
from portal.core.mirror.queries import get_door
from portal.core.ui import watching
from portal.devices import actions, board, ends, holds, queries, sight
from portal.devices.actions import Command
from portal.devices.lists import Doors
from portal.devices.wall import Wall
from tenants import carrying, unsent
from tenants.access import TenantRequest, tenant_view
from tenants.carrying import Carried
from tenants.connections.service import current_connection
from tenants.roles import Permission


@tenant_view(Permission.DEVICES_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """All doors: as a board that follows what is learned of them, or as a list."""
    chosen = board.view_of(request)
    shown = board.Board(request)
    if chosen == "board" and watching.is_asked(request):
        return _board_anew(request, shown)
    context = {"views": board.views(request, chosen)}
    if chosen == "list":
        return Doors(request, queries.by_calm()).respond("devices/index.html", context)
    return render(request, "devices/index.html", context | {"board": shown})


@tenant_view(Permission.DEVICES_VIEW)
def wall(request: TenantRequest) -> HttpResponse:
    """The board for a screen on a wall, which follows as the board does."""
    shown = Wall(request)
    sight.mark()
    if watching.has_seen(request, shown.seen):
        return watching.unchanged()
    return render(
        request, "devices/wall_now.html" if watching.is_asked(request) else "devices/wall.html", {"wall": shown}
    )


def _board_anew(request: TenantRequest, shown: board.Board) -> HttpResponse:
    """Answer a board that asks by itself: with the whole of it, or nothing where it shows just that."""
    sight.mark()
    if watching.has_seen(request, shown.seen):
        return watching.unchanged()
    return render(request, "devices/board.html", {"board": shown})


@tenant_view(Permission.DEVICES_VIEW)
def door(request: TenantRequest, device_id: str) -> HttpResponse:
    """A door's page; while somebody looks, what is known of the door, its log and what was asked of it."""
    found = get_door(device_id)
    context = _followed(request, found)
    if watching.has_seen(request, context["seen"]):
        return watching.unchanged()
    if watching.is_asked(request):
        return render(request, "devices/now.html", context | {"fresh": True})
    if carrying.ASKED in request.GET:  # confirming came back without carrying anything through
        messages.info(request, _("Nothing was sent by this confirmation. Check the latest commands, then try again."))
    connection = current_connection()
    context |= {
        "areas": places().get(device_id, []),
        "sees_areas": request.access.can(Permission.AREAS_VIEW),
        "commands": [each for each in Command if each is not Command.HOLD],
        "hold": Command.HOLD,
        "ends": ends.offered(),
        "connection": connection,
        "licensed": connection.has_licence_key,
    }
    return render(request, "devices/door.html", context)


@tenant_view(Permission.DEVICES_VIEW)
def status(request: TenantRequest, device_id: str) -> HttpResponse:
    """All that follows a door, read from the service within budget; without an answer, what is known last and why."""
    get_door(device_id)  # one that is not there is not asked for
    trouble = reading.status_for_page(lambda line: reading.door_status(line, device_id, Priority.PEOPLE))
    found = get_door(device_id)  # whatever came of the reading: others may have learned something meanwhile
    context = _followed(request, found) | {"trouble": trouble, "fresh": True, "read": True}
    response = render(request, "devices/now.html", context)
    # The page looks once more: the banners say what was read, too, and this answer may be the older one of two.
    response["HX-Trigger-After-Settle"] = "seen-again"
    return response


def carried(request: TenantRequest, device_id: str) -> Carried | None:
    """The command of a posted form, to be carried through; None for a form that could not be used anyway."""
    wanted, door = request.POST.get("control", ""), get_door(device_id)
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce:
        return None
    if wanted not in Command.values:
        return None
    end = {name: request.POST.get(name, "") for name in ("end", "moment")} if wanted == Command.HOLD else {}
    slug = request.tenant.slug
    return Carried(
        title=Command(wanted).of(door),
        page=reverse("devices:door", args=[slug, device_id]),
        through=f"{__name__}.carry_through",
        values={"tenant": slug, "device_id": device_id, "control": wanted, "nonce": nonce.value, **end},
    )


def carry_through(request: TenantRequest, values: dict[str, str]) -> HttpResponseBase:
    """Send the command within 15 seconds of the confirming click, as the same person asked for it before."""
    nonce = Nonce(values["nonce"], nonces.clicked_at(request))
    end = {name: values[name] for name in ("end", "moment") if name in values}
    control = Command(values["control"])
    return _send(request, values["tenant"], device_id=values["device_id"], control=control, nonce=nonce, end=end)


@tenant_view(Permission.DOORS_OPERATE, methods=["POST"])
def _send(
    request: TenantRequest, device_id: str, control: Command, nonce: Nonce, end: Mapping[str, str]
) -> HttpResponseBase:
    page = reverse("devices:door", args=[request.tenant.slug, device_id])
    try:
        intent = _command(get_door(device_id), control, end, by=Asker.of(request), nonce=nonce)
    except NotAsked as reason:
        messages.error(request, str(reason))
        return redirect(page)
    return redirect(seen_at(page, intent))


def _command(door: PassController, control: Command, end: Mapping[str, str], *, by: Asker, nonce: Nonce) -> Intent:
    """Ask for a command; a hold until the end that was chosen. Raises NotAsked without one."""
    until = ends.until_of(end.get("end", ""), end.get("moment", "")) if control is Command.HOLD else None
    return actions.command(door=door, command=control, by=by, nonce=nonce, until=until)


@tenant_view(Permission.DOORS_OPERATE, methods=["POST"], carries=carried)
def command(request: TenantRequest, device_id: str) -> HttpResponse:
    found, page = get_door(device_id), reverse("devices:door", args=[request.tenant.slug, device_id])
    wanted = request.POST.get("control", "")
    if wanted not in Command.values:
        messages.error(request, _("This command is not available. Nothing was sent."))
        return redirect(page)
    intent = once(request, Button(request), partial(_command, found, Command(wanted), request.POST))
    if intent is not None:
        return redirect(seen_at(page, intent))
    return unsent.refuse(request, page) if wanted == Command.HOLD else redirect(page)


def _followed(request: TenantRequest, door: PassController) -> dict[str, Any]:
    """What is shown of a door while somebody looks, and the mark that it is known by."""
    intents = queries.latest_commands(door)
    held = holds.standing([door.device_id]).get(door.device_id) if queries.is_held(door) else None
    here = Happened(request, "device", [door.device_id], follow=False)
    return {
        "door": door,
        "intents": intents,
        "happened": here,
        "seen": queries.mark_of(door, here, intents, held),
        "held": held,
        "held_words": queries.told(held) if held is not None else "",
        "state": queries.state_of(door, request.tenant.environment.catalogue.states),
        "words": queries.words_of(door, request.tenant.environment.catalogue.states),
        "may_operate": request.access.can(Permission.DOORS_OPERATE),
    }
