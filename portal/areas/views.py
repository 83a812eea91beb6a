"""Areas: the list, and the page of one with its doors, its people and what happened there."""

from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.areas import actions, loading, pages, queries
from portal.areas.lists import Areas
from portal.areas.look import Look
from portal.areas.people import People
from portal.core.intents.actions import Asker
from portal.core.jobs import kinds
from portal.core.mirror import queries as mirror
from portal.core.mirror.access import get_area
from portal.core.mirror.models import Area
from portal.core.ui.tables import Table, files
from portal.core.ui.times import local, read
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.AREAS_VIEW)
def index(request: HttpRequest) -> HttpResponseBase:
    table = Areas(request, Area.objects.all())
    if table.wanted_file:
        return _file(request, table)
    context = {"read": queries.rights_read, "offer": partial(pages.offer, request, table.loaded)}
    return table.respond("areas/index.html", context)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"])
def load(request: HttpRequest) -> HttpResponse:
    """Have the rights that are not loaded yet read by a job."""
    job = loading.load(by=Asker.of(request))
    if job is None:
        messages.info(request, _("The rights of all members are loaded."))
        return redirect("areas:index", request.tenant.slug)
    return redirect(kinds.page(job))


@tenant_view(Permission.AREAS_VIEW)
def area(request: HttpRequest, area_id: str) -> HttpResponseBase:
    found = get_area(area_id)
    asked = read(request.GET.get("at", "")) if request.GET.get("at") else None
    look = Look.of(found, asked or local(timezone.now()), mirror.holidays())
    loaded = loading.Loaded(look.told.known, pages.everybody(request))
    people = People(request, look.holders(), look=look, total=look.roll.total, loaded=loaded)
    if people.wanted_file:
        return _file(request, people, found)
    # The list alone, which htmx asks for, does without what stands around it: the template calls for that.
    around = partial(pages.around, request, found)
    context = {"area": found, "look": look, "roll": look.roll, "asked": asked, "around": around, "loaded": loaded}
    may = look.roll.may_enter
    context |= {"may": loaded.count(may), "at_least": loaded.sentence(may)}
    context |= {"offer": partial(pages.offer, request, loaded)}
    return people.respond("areas/area.html", context)


def _file(request: HttpRequest, table: Table, area: Area | None = None) -> HttpResponseBase:
    kind, count = table.wanted_file, table.matching.order_by().count()
    told = {"area": area, "count": count, "kind": kind, "match": table.address.match}
    return files.respond(table, kind, record=partial(actions.exported, by=Asker.of(request), **told))
