"""/console/t/<tenant_id>/: one tenant's house, and everything that a person can do in it."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from sandbox import behaviour, clock
from sandbox.engine import steps
from sandbox.faults import store
from sandbox.seeding.tenants import describe

from . import devices, people, records, words
from .actions import answered
from .forms import Form
from .house_actions import ACTS, Chosen
from .page import is_live, page, render, tenant_of, text


@page
def house(request: HttpRequest, tenant_id: str) -> HttpResponse:
    """GET ?at=&who=&q=: the house, with a device and a person chosen. POST act=…: something is done there."""
    tenant = tenant_of(tenant_id)
    with behaviour.clock_of(tenant.pk):
        steps.advance(tenant)
        chosen = Chosen(tenant, text(request.GET, "at"), text(request.GET, "who"), words.of(request))

        def show(forms: dict[str, Form], status: int) -> HttpResponse:
            return render(request, "house", _seen(request, chosen) | {"forms": forms}, status)

        return answered(request, ACTS, show, chosen)


def _seen(request: HttpRequest, chosen: Chosen) -> dict[str, Any]:
    """Return everything the page shows; as functions where a live part may not need it."""
    tenant, said, now = chosen.tenant, chosen.words, clock.now()
    query = text(request.GET, "q", 80)
    return {
        "tenant": tenant,
        "page": "house",
        "access": describe(tenant),
        "now": now,
        "offset_seconds": behaviour.of(tenant.pk).clock_offset,
        "faults_left": sum(fault["left"] for fault in store.left() if fault["tenant_id"] in (None, tenant.pk)),
        "plan": devices.plan(tenant, now, said),
        "boxes": devices.boxes(tenant, now, said),
        "cameras": devices.cameras(request, tenant, now),
        "door": devices.door_sight(chosen.door, now, said) if chosen.door else None,
        "box": devices.box_sight(chosen.box, now, said) if chosen.box else None,
        "who": people.about(chosen.who) if chosen.who else None,
        "carried": people.carried(chosen.who, now, said) if chosen.who else [],
        "query": query,
        "found": [] if chosen.who or is_live(request) else people.search(tenant, query),
        "log": records.log(tenant, now, said),
        "held": records.held(tenant),
        "deliveries": records.deliveries(tenant, said),
        "requests": records.requests(tenant, now, said),
        "commands": records.commands(tenant),
        "mails": records.mails(tenant),
        "calls": records.calls(tenant),
    }
