"""Views of keys: the list, a key box with its commands, and a key with its history."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.ui import live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.alerts import overdue_keys
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.history.lists import RecentRecords
from portal.domain.intents.form_handling import command_to_confirm, submit_command
from portal.domain.people import queries as people_queries
from portal.domain.places.models import KeyBox
from portal.domain.sync import freshness, single_reads
from portal.keys import actions, queries
from portal.keys.actions import KeyCommand
from portal.keys.lists import Keys
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.pending_commands import PendingCommand
from tenants.roles import Permission

_MAX_FOUND = 8


@tenant_view(Permission.DEVICES_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """Show all keys of all boxes. Discrepancies, overdue keys and keys that are out come first."""
    return Keys(request, queries.KeySummary(request)).respond("keys/index.html")


@tenant_view(Permission.DEVICES_VIEW)
def box(request: TenantRequest, key_device_id: str) -> HttpResponse:
    """Show a key box. Its keys and requests are updated while the page is open."""
    found = _box(key_device_id)
    context = _box_context(request, found)
    if live_updates.is_poll(request):
        return live_updates.render_update(request, context["version"], "keys/now.html", context | {"fresh": True})
    context |= {"licensed": current_connection().has_licence_key, "commands": list(KeyCommand)}
    return render(request, "keys/box.html", context)


@tenant_view(Permission.DEVICES_VIEW)
def status(request: TenantRequest, key_device_id: str) -> HttpResponse:
    """Read the box from the service within the API budget and show it.

    On failure, show the last state and the reason.
    """
    _box(key_device_id)  # 404 for an unknown box, before any request to the service
    trouble = single_reads.read_status_for_page(
        lambda line: single_reads.read_key_box_status(line, key_device_id, Priority.PEOPLE)
    )
    context = _box_context(request, _box(key_device_id)) | {"trouble": trouble, "fresh": True, "read": True}
    response = render(request, "keys/now.html", context)
    response["HX-Trigger-After-Settle"] = "update-now"
    return response


@tenant_view(Permission.DEVICES_VIEW)
def key(request: TenantRequest, key_device_id: str, unit_no: str) -> HttpResponse:
    """Show a key's position by key box and by log, and its history. It is updated while the page is open."""
    rows = queries.visible_keys(request).filter(key_box__key_device_id=key_device_id, unit_no=unit_no)
    found = next(iter(queries.describe_keys(request, rows)), None)
    if found is None:
        raise Http404
    context = _key_context(request, found)
    if live_updates.is_poll(request):
        return live_updates.render_update(request, context["version"], "keys/key_now.html", context | {"fresh": True})
    return render(request, "keys/key.html", context | _lending_context(request) | {"commands": list(KeyCommand)})


def _key_context(request: TenantRequest, found: queries.ShownKey) -> dict[str, Any]:
    """Return the part of a key's page that is updated automatically, and its version."""
    box, (chain, has_more) = _box(found.key.key_box.key_device_id), queries.custody(request, found.key)
    log, state = (
        freshness.freshness_for(request)[MirrorKind.HISTORIES],
        overdue_keys.state_of_box(box, queries.states_of(request)),
    )
    newest = [(each.name, each.since, each.until) for each in chain[:1]]
    known = (found.key.known_at, found.key.read_at, found.chip, found.holder, state)
    return {
        "shown": found,
        "key": found.key,
        "box": box,
        "box_state": state,
        "may_look": visibility.may_view_log(request.access),
        "since_today": visibility.visible_since(request.access),
        "chain": chain,
        "has_more": has_more,
        "log": log,
        "version": live_updates.version_of(*known, newest, log.as_of, log.error),
    }


def _lending_context(request: TenantRequest) -> dict[str, Any]:
    """Return the links for lending the key."""
    access, who = request.access, request.GET.get("who", "")
    may_lend = access.can(Permission.DOORS_OPERATE) and access.can(Permission.MEMBERS_VIEW)
    return {
        "may_lend": may_lend,
        "who": who,
        "members": list(people_queries.search_for_reader(access, who)[:_MAX_FOUND]) if may_lend and who else [],
        "may_operate": access.can(Permission.KEYS_OPERATE),
        "licensed": current_connection().has_licence_key,
    }


def pending_command(request: TenantRequest, key_device_id: str) -> PendingCommand | None:
    """Return the posted command, to be confirmed and sent; None for an invalid form."""
    control, box, numbers = request.POST.get("control", ""), _box(key_device_id), request.POST.getlist("unit")
    if control not in KeyCommand.values or not numbers:
        return None
    return command_to_confirm(request, KeyCommand(control).title_for(box, numbers), _page_of(request, box))


@tenant_view(Permission.KEYS_OPERATE, methods=["POST"], find_command=pending_command)
def command(request: TenantRequest, key_device_id: str) -> HttpResponse:
    box, control = _box(key_device_id), request.POST.get("control", "")
    page = _page_of(request, box)
    if control not in KeyCommand.values:
        messages.error(request, _("This command is not available. Nothing was sent. Reload the page and try again."))
        return redirect(page)
    action = partial(actions.send_command, box=box, numbers=request.POST.getlist("unit"), command=KeyCommand(control))
    return submit_command(request, action, page, keeps_values=True)


def _page_of(request: TenantRequest, box: KeyBox) -> str:
    return reverse("keys:box", args=[request.tenant.slug, box.key_device_id])


def _box(key_device_id: str) -> KeyBox:
    return get_row_or_404(KeyBox.objects.select_related("tenant__environment"), key_device_id=key_device_id)


def _box_context(request: TenantRequest, box: KeyBox) -> dict[str, Any]:
    """Return the part of a box's page that is updated automatically, and its version."""
    intents, records = (
        queries.latest_commands(box),
        RecentRecords(request, "device", [box.key_device_id], is_polling=False),
    )
    rows = queries.visible_keys(request).filter(key_box=box).order_by("number_order")
    keys = queries.describe_keys(request, rows)
    key_states = [(each.key.known_at, each.chip, each.holder) for each in keys]
    return {
        "box": box,
        "keys": keys,
        "intents": intents,
        "happened": records,
        "state": overdue_keys.state_of_box(box, queries.states_of(request)),
        "version": live_updates.version_of(
            box.status_as_of, key_states, records.version, intents[0].pk if intents else 0
        ),
        "may_operate": request.access.can(Permission.KEYS_OPERATE),
    }
