"""Views of doors: the list, a door's page, reading its status, and its commands."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.ui import live_updates
from portal.base.ui.url_lookup import is_row_number, url_in_tenant
from portal.base.ui.value_words import add_side
from portal.devices import actions, board, holds, queries, status_reading
from portal.devices.actions import DoorCommand
from portal.devices.lists import DoorList
from portal.domain.budget.priorities import Priority
from portal.domain.history.lists import RecentRecords, link_html
from portal.domain.intents.form_handling import command_to_confirm, submit_command
from portal.domain.intents.models import Intent
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Requester
from portal.domain.places.models import PassController
from portal.domain.places.queries import DoorArea, areas_by_door, get_door
from portal.domain.sync import single_reads
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.pending_commands import PendingCommand
from tenants.roles import Permission


@tenant_view(Permission.DEVICES_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """Show all doors, as a board that updates or as a list."""
    chosen = board.chosen_view(request)
    board_view = board.DoorBoard(request)
    if chosen == "board" and request.htmx.target == "board" and not request.htmx.history_restore_request:
        status_reading.record_board_viewer()
        return live_updates.render_update(request, board_view.version, "devices/board.html", {"board": board_view})
    context = {"views": board.view_links(request, chosen)}
    if chosen == "list":
        return DoorList(request, queries.by_urgency()).respond("devices/index.html", context)
    return render(request, "devices/index.html", context | {"board": board_view})


@tenant_view(Permission.DEVICES_VIEW)
def wall(request: TenantRequest) -> HttpResponse:
    """Show the board for a wall screen, which also updates."""
    wall_view = board.DoorWall(request)
    status_reading.record_board_viewer()
    page = "devices/wall_now.html" if live_updates.is_poll(request) else "devices/wall.html"
    return live_updates.render_update(request, wall_view.version, page, {"wall": wall_view})


@tenant_view(Permission.DEVICES_VIEW)
def door(request: TenantRequest, device_id: str) -> HttpResponse:
    """Show a door's page. While it is open, the state, records and commands are updated."""
    found = get_door(device_id)
    context = live_context(request, found)
    if live_updates.is_poll(request):
        context |= {"fresh": True, "is_of_alert": request.GET.get("of") == "alert"}
        return live_updates.render_update(request, context["version"], "devices/now.html", context)
    connection, areas = current_connection(), areas_by_door().get(device_id, [])
    context |= {
        "areas": areas,
        "area_names": _area_names(request, areas),
        "may_lock_down": request.access.can(Permission.LOCKDOWN) and connection.has_licence_key,
        "commands": [each for each in DoorCommand if each is not DoorCommand.HOLD],
        "hold": DoorCommand.HOLD,
        "ends": holds.available_ends(),
        "connection": connection,
        "licensed": connection.has_licence_key,
    }
    return render(request, "devices/door.html", context)


def _area_names(request: TenantRequest, areas: Sequence[DoorArea]) -> list[str]:
    """Return the names of a door's areas with the door's side, as links for people who may see areas."""
    slug, may_view = request.tenant.slug, request.access.can(Permission.AREAS_VIEW)
    links = [url_in_tenant("areas:area", slug, each.area_id) if may_view else "" for each in areas]
    return [add_side(link_html(each.name, href), each.side) for each, href in zip(areas, links, strict=True)]


@tenant_view(Permission.DEVICES_VIEW)
def status(request: TenantRequest, device_id: str) -> HttpResponse:
    """Read the door's status within the budget and show it.

    Without an answer, show the stored status and the reason.
    """
    get_door(device_id)  # a missing door must not cost a call
    trouble = single_reads.read_status_for_page(
        lambda line: single_reads.read_door_status(line, device_id, Priority.PEOPLE)
    )
    found = get_door(device_id)  # load again: the reading or others may have changed the row
    context = live_context(request, found) | {"trouble": trouble, "fresh": True, "read": True}
    response = render(request, "devices/now.html", context)
    # The page then updates once more, for the banners and in case this answer arrives late.
    response["HX-Trigger-After-Settle"] = "update-now"
    return response


def pending_command(request: TenantRequest, device_id: str) -> PendingCommand | None:
    """Return the posted command, to be confirmed and sent; None for an invalid form."""
    control, door = request.POST.get("control", ""), get_door(device_id)
    if control not in DoorCommand.values:
        return None
    return command_to_confirm(request, DoorCommand(control).title_for(door), _page_of(request, door))


def _send_command(
    door: PassController, control: DoorCommand, end: Mapping[str, str], *, by: Requester, nonce: Nonce
) -> Intent:
    """Send a command; a hold with the chosen end. Raises NotSubmitted for an invalid end."""
    until = holds.chosen_end(end.get("end", ""), end.get("moment", "")) if control is DoorCommand.HOLD else None
    return actions.send_command(door=door, command=control, by=by, nonce=nonce, until=until)


@tenant_view(Permission.DOORS_OPERATE, methods=["POST"], find_command=pending_command)
def command(request: TenantRequest, device_id: str) -> HttpResponse:
    door, control = get_door(device_id), request.POST.get("control", "")
    page = _page_of(request, door)
    if control not in DoorCommand.values:
        messages.error(request, _("This command is not available. Nothing was sent. Reload the page and try again."))
        return redirect(page)
    action = partial(_send_command, door, DoorCommand(control), request.POST)
    return submit_command(request, action, page, keeps_values=control == DoorCommand.HOLD)


def _page_of(request: TenantRequest, door: PassController) -> str:
    """Return the page that a command is sent from: the door's, or an alert's."""
    if is_row_number(alert := request.POST.get("alert", "")):
        return reverse("alerts:alert", args=[request.tenant.slug, alert])
    return reverse("devices:door", args=[request.tenant.slug, door.device_id])


def live_context(request: TenantRequest, door: PassController) -> dict[str, Any]:
    """Return the parts of a door's page that update, with their version mark."""
    intents = queries.latest_commands(door)
    hold = holds.active_holds([door.device_id]).get(door.device_id) if queries.is_held(door) else None
    records = RecentRecords(request, "device", [door.device_id], is_polling=False)
    return {
        "door": door,
        "intents": intents,
        "happened": records,
        "version": queries.version_of(door, records, intents, hold),
        "held": hold,
        "held_words": queries.describe_hold(hold, door) if hold is not None else "",
        "relock_words": queries.describe_relock(hold) if hold is not None else "",
        "state": queries.state_of(door, request.tenant.environment.catalogue.states),
        "words": queries.words_of(door, request.tenant.environment.catalogue.states),
        "may_operate": request.access.can(Permission.DOORS_OPERATE),
    }
