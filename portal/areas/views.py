"""Areas: the list, the page of one, and editing its access: choose members, see what it would do, start, take back."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.permissions import always
from portal.areas import actions, loading, queries, working
from portal.areas.forms import GrantForm, WithdrawForm
from portal.areas.lists import Areas, Preview
from portal.areas.people import Choice, People
from portal.areas.rolls import AreaAt
from portal.core.intents.actions import Asker
from portal.core.jobs import acts, kinds
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import JobState
from portal.core.jobs.views import Pages
from portal.core.log import happened
from portal.core.mirror import queries as mirror
from portal.core.mirror.models import Area, Member
from portal.core.mirror.queries import get_area
from portal.core.ui.tables import Selection, Table, chosen, file_response
from portal.core.ui.times import local, read
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof


@tenant_view(Permission.AREAS_VIEW)
def index(request: TenantRequest) -> HttpResponseBase:
    table = Areas(request, Area.objects.all())
    if table.wanted_file:
        return _file(request, table)
    context = {"read": queries.rights_read, "offer": partial(queries.offer, request, table.loaded)}
    return table.respond("areas/index.html", context)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def load(request: TenantRequest) -> HttpResponse:
    """Have the rights that are not loaded yet read by a job."""
    job = loading.load(by=Asker.of(request))
    if job is None:
        messages.info(request, _("The rights of all members are loaded."))
        return redirect("areas:index", request.tenant.slug)
    return redirect(kinds.page(job))


@tenant_view(Permission.AREAS_VIEW)
def area(request: TenantRequest, area_id: str) -> HttpResponseBase:
    happened.want(request)
    found = get_area(area_id)
    asked = read(request.GET.get("at", "")) if request.GET.get("at") else None
    look = AreaAt.of(found, asked or local(timezone.now()), mirror.holidays())
    loaded = queries.loaded(request, look.told.known)
    people = People(request, look.holders(), look=look, total=look.roll.total, loaded=loaded)
    if people.wanted_file:
        return _file(request, people, found)
    # The list alone, which htmx asks for, does without what stands around it: the template calls for that.
    around = partial(queries.around, request, found)
    context = {"area": found, "look": look, "roll": look.roll, "asked": asked, "around": around, "loaded": loaded}
    context |= queries.figures(loaded, look.roll)
    context |= {"offer": partial(queries.offer, request, loaded)}
    return people.respond("areas/area.html", context)


def _file(request: TenantRequest, table: Table, area: Area | None = None) -> HttpResponseBase:
    kind, count = table.wanted_file, table.matching.order_by().count()
    record = partial(
        actions.exported, by=Asker.of(request), area=area, count=count, kind=kind, match=table.address.match
    )
    return file_response(table, kind, record=record)


_FORMS = {"grant": GrantForm, "withdraw": WithdrawForm}
_PAGE = ("GET", "POST")


@tenant_view(Permission.RIGHTS_EDIT, proof=Proof.LONG)
def choose(request: TenantRequest, area_id: str) -> HttpResponseBase:
    """Choose members. Asks for the proof that the next step needs: the selection would be lost there."""
    found = get_area(area_id)
    look = _look(found)
    table = Choice(request, look.noted(mirror.members()), look=look, total=mirror.total)
    return table.respond("areas/choose.html", {"area": found})


@tenant_view(Permission.RIGHTS_EDIT, methods=_PAGE, redraws={"step": "", "pass_.act": "show"})
def grant(request: TenantRequest, area_id: str) -> HttpResponse:
    return _edit(request, get_area(area_id), "grant")


@tenant_view(Permission.RIGHTS_EDIT, methods=_PAGE, redraws={"step": ""})
def withdraw(request: TenantRequest, area_id: str) -> HttpResponse:
    return _edit(request, get_area(area_id), "withdraw")


def _edit(request: TenantRequest, area: Area, act: str) -> HttpResponse:
    """The form for a posted selection; posted with `step`, the job to be looked at."""
    selection = _selection(request, area)
    if request.method != "POST" or not (count := selection.count()):
        if request.method == "POST":
            messages.info(request, _("No members selected, or they no longer exist."))
        return redirect("areas:choose", request.tenant.slug, area.area_id)
    if count > acts.MOST_ROWS:
        most = {"n": f"{acts.MOST_ROWS:,}"}
        messages.error(request, _("At most %(n)s members can be changed at once. Narrow the list.") % most)
        return redirect("areas:choose", request.tenant.slug, area.area_id)
    posted = request.POST if "step" in request.POST or "pass_.act" in request.POST else None
    form: Any = _FORMS[act](posted, initial={"pass_": always()})
    editing = isinstance(form, GrantForm) and form.is_bound and form.is_editing()
    if not editing and form.is_bound and form.is_valid():
        if job := _prepared(request, area, selection, form):
            return redirect(kinds.page(job))
        form.add_error(None, _("Nothing to change for the selected members."))
    context = {"area": area, "form": form, "count": count, "selection": selection, "act": act}
    return render(request, "areas/edit.html", context)


def _prepared(request: TenantRequest, area: Area, selection: Selection, form: Any) -> Job | None:
    return actions.prepare(
        area=area,
        members=selection.queryset,
        wish=form.wish(area.area_id),
        trust=timedelta(minutes=int(form.cleaned_data["trust"])),
        starts_at=form.starts_at,
        until=form.ends_at,
        chosen=selection.fields | {"list": request.GET.get("list", "")},
        by=Asker.of(request),
    )


def _preview(request: TenantRequest, job: Job) -> HttpResponseBase:
    """What a prepared edit would do; once it is started, the page of its job."""
    if job.state != JobState.CHECKED:
        return redirect(kinds.page(job))
    area = get_area(job.options["area_id"])
    table = Preview(request, Row.objects.filter(job=job), job=job)
    context = {"area": area, "job": job, "title": working.titled(job), "plan": partial(queries.preview, job, area)}
    return table.respond("areas/preview.html", context)


def _find(_request: TenantRequest, area_id: str, job_id: int) -> Job:
    """The edit of this area, or 404 exactly as for another tenant's."""
    edits = actions.edits_of(get_area(area_id)).select_related("by", "tenant__environment")
    job = edits.filter(pk=job_id).first() if job_id < 2**63 else None
    if job is None:
        raise Http404
    return job


EDITS = Pages(
    Permission.RIGHTS_EDIT,
    find=_find,
    page=_preview,
    home=lambda job: reverse("areas:area", args=[job.tenant.slug, job.options["area_id"]]),
    undo=actions.take_back,
)


def _selection(request: TenantRequest, area: Area) -> Selection:
    """The members posted by one of the two lists; `list` in the address says by which."""
    match = QueryDict(request.POST.get("match", ""))
    look = _look(area, read(match.get("at", "")))
    holders = request.GET.get("list") == People.name
    base, kind = (look.holders(), People) if holders else (look.noted(mirror.members()), Choice)
    picked = chosen(request, cast(type[Table], partial(kind, look=look)), base)
    members = Member.objects.filter(pk__in=picked.queryset.order_by().values("pk"))
    return Selection(members, picked.everything, picked.fields)


def _look(area: Area, at: datetime | None = None) -> AreaAt:
    return AreaAt.of(area, at or local(timezone.now()), mirror.holidays())
