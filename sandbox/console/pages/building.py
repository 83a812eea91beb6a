"""/console/t/<tenant_id>/: one tenant's building, and everything that a person can do in it."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from sandbox import behaviour, clock
from sandbox.engine import steps
from sandbox.faults import store
from sandbox.seeding.tenants import describe

from . import devices, people, records, words
from .actions import respond
from .base import console_page, is_live, read_text, render, tenant_of
from .building_actions import ACTIONS, BuildingSelection
from .forms import FormState


@console_page
def building(request: HttpRequest, tenant_id: str) -> HttpResponse:
    """Return the building with a chosen device and person (GET ?at=&who=&q=), or act there (POST act=…)."""
    tenant = tenant_of(tenant_id)
    with behaviour.using_clock_of(tenant.pk):
        steps.advance(tenant)
        chosen = BuildingSelection(
            tenant, read_text(request.GET, "at"), read_text(request.GET, "who"), words.words_for(request)
        )

        def show(forms: dict[str, FormState], status: int) -> HttpResponse:
            return render(request, "house", _context(request, chosen) | {"forms": forms}, status)

        return respond(request, ACTIONS, show, chosen)


def _context(request: HttpRequest, chosen: BuildingSelection) -> dict[str, Any]:
    """Return the data of the page; as functions if a live part may not need it."""
    tenant, said, now = chosen.tenant, chosen.words, clock.now()
    query = read_text(request.GET, "q", 80)
    return {
        "tenant": tenant,
        "page": "house",
        "access": describe(tenant),
        "now": now,
        "offset_seconds": behaviour.behaviour_of(tenant.pk).clock_offset,
        "faults_left": sum(
            fault["left"] for fault in store.list_remaining() if fault["tenant_id"] in (None, tenant.pk)
        ),
        "plan": devices.areas_with_doors(tenant, now, said),
        "boxes": devices.key_boxes(tenant, now, said),
        "cameras": devices.cameras(request, tenant, now),
        "door": devices.door_view(chosen.door, now, said) if chosen.door else None,
        "box": devices.key_box_view(chosen.box, now, said) if chosen.box else None,
        "who": people.describe(chosen.person) if chosen.person else None,
        "carried": people.credentials_of(chosen.person, now, said) if chosen.person else [],
        "query": query,
        "found": [] if chosen.person or is_live(request) else people.search(tenant, query),
        "log": records.log(tenant, now, said),
        "held": records.count_held_back(tenant),
        "deliveries": records.deliveries(tenant, said),
        "requests": records.requests(tenant, now, said),
        "commands": records.commands(tenant, said),
        "mails": records.mails(tenant),
        "calls": records.calls(tenant),
    }
