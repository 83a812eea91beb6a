"""The leavers' lists."""

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from portal.core.mirror.frame import known
from portal.core.mirror.kinds import Kind
from portal.members import exporting, leavers
from portal.members.leavers import Leavers, Which
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.MEMBERS_VIEW)
def index(request: HttpRequest, which: str = Which.ENDING) -> HttpResponseBase:
    """One list, with its neighbours as tabs. How many each has comes a moment later: counting may take longer."""
    if which not in Which.values:
        raise Http404
    if request.htmx and request.htmx.target == "leaver-tabs":
        told = {"tabs": _tabs(which, leavers.counts(request.tenant))}
        return render(request, "members/leaver_tabs.html", told)
    table = Leavers(request, Which(which))
    if table.wanted_file:
        return exporting.respond(request, table, table.wanted_file)
    context = {
        "which": which,
        "tabs": _tabs(which, {}),
        "purpose": leavers.PURPOSES[Which(which)],
        "log": known(request)[Kind.HISTORIES],
    }
    return table.respond("members/leavers.html", context)


def _tabs(here: str, counts: dict[str, int]) -> list[dict[str, object]]:
    return [
        {
            "value": which.value,
            "label": which.label,
            "current": which.value == here,
            "count": counts.get(which.value),
            "many": counts.get(which.value, 0) > leavers.COUNTED,
        }
        for which in Which
    ]
