"""Views and forms of areas: the list, an area's page, and editing its access from the selection to undoing."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accessapi.permissions import always
from portal.areas import actions, jobs, queries
from portal.areas.access_counts import AreaAccessAt
from portal.areas.lists import AreaEditRows, AreaMemberChoice, AreaMembers, Areas
from portal.areas.merging import AccessEdit, EditKind
from portal.base.ui.tables import Selection, Table, file_response, load_selection
from portal.base.ui.times import local, parse_moment
from portal.domain.history.lists import prefetch_recent_records
from portal.domain.intents.actions import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import kinds
from portal.domain.jobs.forms import StartForm, moment_field
from portal.domain.jobs.models import Job, JobState, Row
from portal.domain.jobs.views import JobPages
from portal.domain.people import queries as mirror
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.domain.places.queries import get_area, load_holidays
from portal.domain.rights.forms import PassField
from portal.domain.sync.freshness import count_members
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof

MAX_AGE_CHOICES = (
    ("0", gettext_lazy("just before sending (safest)")),
    ("15", gettext_lazy("in the last 15 minutes")),
    ("60", gettext_lazy("in the last hour")),
    ("1440", gettext_lazy("in the last day")),
)


class _AreaEditForm(StartForm):
    """The common fields: when the edit starts, and `trust`, the accepted age of rights.

    Older rights are read again before they are changed, with one call for each member.
    """

    trust = forms.ChoiceField(
        label=gettext_lazy("Use rights loaded"),
        choices=MAX_AGE_CHOICES,
        initial="0",
        help_text=gettext_lazy(
            "Older rights are loaded again first (1 API call per member). Members changed since then are skipped."
        ),
    )

    kind = EditKind.GRANT

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["when"].label = _("Start")
        self.fields["when"].required = False

    @property
    def ends_at(self) -> datetime | None:
        """Return when the given access ends; None without an end."""
        return self.cleaned_data.get("until")

    def edit(self, area_id: str) -> AccessEdit:
        cleaned = self.cleaned_data
        return AccessEdit(
            self.kind, area_id, cleaned.get("pass_"), bool(cleaned.get("replace")), bool(cleaned.get("everywhere"))
        )


class GrantForm(_AreaEditForm):
    """The form that gives members access, with its hours."""

    pass_ = PassField(label=pgettext_lazy("access", "When"), templates=True)
    replace = forms.BooleanField(
        label=gettext_lazy("Replace existing hours for this area"),
        help_text=gettext_lazy("Otherwise they keep their hours. Giving access never removes any."),
        required=False,
    )
    until = moment_field(
        pgettext_lazy("access", "Until"),
        help_text=gettext_lazy(
            "Leave empty for no end. Access given here ends at this time; cancel it under Bulk changes."
        ),
    )
    last = ["when", "at", "until", "trust"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("until") is not None:
            self.check_moment("until", "")
            if self.starts_at is not None and self.starts_at >= cleaned["until"] and "until" not in self.errors:
                self.add_error("until", _("The end is before the start."))
        return cleaned

    def is_editing(self) -> bool:
        """Return whether the person changed the schedule's rows, so that the form is shown again."""
        widget: Any = self.fields["pass_"].widget
        return bool(widget.is_editing(self.data, "pass_"))


class WithdrawForm(_AreaEditForm):
    kind = EditKind.WITHDRAW
    everywhere = forms.BooleanField(
        label=gettext_lazy("Also from members with access to every area"),
        help_text=gettext_lazy(
            "These members get a list of all other areas instead. Areas added later are not included."
        ),
        required=False,
    )
    last = ["when", "at", "trust"]


@tenant_view(Permission.AREAS_VIEW)
def index(request: TenantRequest) -> HttpResponseBase:
    table = Areas(request, Area.objects.all())
    if table.requested_file:
        return _file(request, table)
    context = {"read": queries.rights_reading_times, "offer": partial(queries.load_offer, request, table.loaded)}
    return table.respond("areas/index.html", context)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"], proof=Proof.NONE)
def load(request: TenantRequest) -> HttpResponse:
    """Start a job that loads the missing rights."""
    job = jobs.start_loading(by=Requester.from_request(request))
    if job is None:
        messages.info(request, _("The rights of all members are loaded."))
        return redirect("areas:index", request.tenant.slug)
    return redirect(kinds.page_address(job))


@tenant_view(Permission.AREAS_VIEW)
def area(request: TenantRequest, area_id: str) -> HttpResponseBase:
    prefetch_recent_records(request)
    found = get_area(area_id)
    chosen_at = parse_moment(request.GET.get("at", "")) if request.GET.get("at") else None
    look = AreaAccessAt.of(found, chosen_at or local(timezone.now()), load_holidays())
    loaded = queries.loaded_rights(request, look.access.members_known)
    people = AreaMembers(request, look.holders(), access=look, total=look.count.total, loaded=loaded)
    if people.requested_file:
        return _file(request, people, found)
    # htmx requests only the list, so the rest of the page is loaded only if the template calls for it.
    around = partial(queries.page_context, request, found)
    context = {
        "area": found,
        "look": look,
        "roll": look.count,
        "chosen_at": chosen_at,
        "around": around,
        "loaded": loaded,
    }
    context |= queries.count_texts(loaded, look.count)
    context |= {"offer": partial(queries.load_offer, request, loaded)}
    return people.respond("areas/area.html", context)


def _file(request: TenantRequest, table: Table, area: Area | None = None) -> HttpResponseBase:
    kind, count = table.requested_file, table.matching_rows.order_by().count()
    record = partial(
        actions.record_export,
        by=Requester.from_request(request),
        area=area,
        count=count,
        kind=kind,
        match=table.address.match_query,
    )
    return file_response(table, kind, record=record)


_FORMS = {"grant": GrantForm, "withdraw": WithdrawForm}
_PAGE = ("GET", "POST")


@tenant_view(Permission.RIGHTS_EDIT, proof=Proof.LONG)
def choose(request: TenantRequest, area_id: str) -> HttpResponseBase:
    """Show members to choose.

    Asks for proof of identity already, because asking in the next step would lose the selection.
    """
    found = get_area(area_id)
    look = _access_at(found)
    table = AreaMemberChoice(request, look.with_held_pass(mirror.members()), access=look, total=count_members)
    return table.respond("areas/choose.html", {"area": found})


@tenant_view(Permission.RIGHTS_EDIT, methods=_PAGE, redraw_values={"step": "", "pass_.act": "show"})
def grant(request: TenantRequest, area_id: str) -> HttpResponse:
    return _edit(request, get_area(area_id), "grant")


@tenant_view(Permission.RIGHTS_EDIT, methods=_PAGE, redraw_values={"step": ""})
def withdraw(request: TenantRequest, area_id: str) -> HttpResponse:
    return _edit(request, get_area(area_id), "withdraw")


def _edit(request: TenantRequest, area: Area, kind: str) -> HttpResponse:
    """Show the form for a posted selection. With `step` in the post, create the job and show its preview."""
    selection = _selection(request, area)
    if request.method != "POST" or not (count := selection.count()):
        if request.method == "POST":
            messages.info(
                request,
                _("Nothing was changed: no members are selected, or they no longer exist. Select members in the list."),
            )
        return redirect("areas:choose", request.tenant.slug, area.area_id)
    if count > job_actions.MAX_JOB_ROWS:
        most = {"n": f"{job_actions.MAX_JOB_ROWS:,}"}
        messages.error(request, _("At most %(n)s members can be changed at once. Narrow the list.") % most)
        return redirect("areas:choose", request.tenant.slug, area.area_id)
    posted = request.POST if "step" in request.POST or "pass_.act" in request.POST else None
    form: Any = _FORMS[kind](posted, initial={"pass_": always()})
    editing = isinstance(form, GrantForm) and form.is_bound and form.is_editing()
    if not editing and form.is_bound and form.is_valid():
        if job := _prepare(request, area, selection, form):
            return redirect(kinds.page_address(job))
        form.add_error(None, _("Nothing to change for the selected members."))
    context = {"area": area, "form": form, "count": count, "selection": selection, "kind": kind}
    return render(request, "areas/edit.html", context)


def _prepare(request: TenantRequest, area: Area, selection: Selection, form: Any) -> Job | None:
    return actions.prepare(
        area=area,
        members=selection.queryset,
        edit=form.edit(area.area_id),
        max_age=timedelta(minutes=int(form.cleaned_data["trust"])),
        starts_at=form.starts_at,
        until=form.ends_at,
        chosen=selection.fields | {"list": request.GET.get("list", "")},
        by=Requester.from_request(request),
    )


def _preview(request: TenantRequest, job: Job) -> HttpResponseBase:
    """Show the preview of a prepared edit, or redirect to the job's page once it has started."""
    if job.state != JobState.CHECKED:
        return redirect(kinds.page_address(job))
    area = get_area(job.options["area_id"])
    table = AreaEditRows(request, Row.objects.filter(job=job), job=job)
    context = {
        "area": area,
        "job": job,
        "title": jobs.title_of(job),
        "plan": partial(queries.preview_context, job, area),
    }
    return table.respond("areas/preview.html", context)


def _edit_or_404(_request: TenantRequest, area_id: str, job_id: int) -> Job:
    """Return the edit of this area. Another tenant's edit gives the same 404 as a missing one."""
    edits = actions.edits_of(get_area(area_id)).select_related("by", "tenant__environment")
    job = edits.filter(pk=job_id).first() if job_id < 2**63 else None
    if job is None:
        raise Http404
    return job


EDIT_PAGES = JobPages(
    Permission.RIGHTS_EDIT,
    find_job=_edit_or_404,
    show_job=_preview,
    home_address=lambda job: reverse("areas:area", args=[job.tenant.slug, job.options["area_id"]]),
    undo=actions.undo,
)


def _selection(request: TenantRequest, area: Area) -> Selection:
    """Return the members posted by one of the two lists. `list` in the address names it."""
    match = QueryDict(request.POST.get("match", ""))
    look = _access_at(area, parse_moment(match.get("at", "")))
    holders = request.GET.get("list") == AreaMembers.name
    base, kind = (look.holders(), AreaMembers) if holders else (look.with_held_pass(mirror.members()), AreaMemberChoice)
    selection = load_selection(request, cast(type[Table], partial(kind, access=look)), base)
    members = Member.objects.filter(pk__in=selection.queryset.order_by().values("pk"))
    return Selection(members, selection.is_everything, selection.fields)


def _access_at(area: Area, at: datetime | None = None) -> AreaAccessAt:
    return AreaAccessAt.of(area, at or local(timezone.now()), load_holidays())
