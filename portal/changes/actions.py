"""Making a change ready to be looked at."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from portal.changes.acts import Act
from portal.changes.forms import ChangeForm
from portal.changes.plans import Plan
from portal.core.intents.record import Asker
from portal.core.jobs import acts
from portal.core.jobs.models import Job
from portal.core.mirror import queries
from portal.core.mirror.fields.members import CODE, END, GROUP, NAME, START
from portal.core.mirror.models import Member
from portal.core.ui.tables import Selection, Table, chosen
from portal.core.ui.tables.table import Table as AnyTable


def selection(request: HttpRequest) -> Selection:
    """The selection that was posted. `?group=` in the address: the list was one group's."""
    base = queries.members()
    group = request.GET.get("group", "")
    if group:
        base = queries.in_groups(base, [group])
    return chosen(request, _listed, base)  # type: ignore[arg-type]


def _listed(request: HttpRequest, queryset: QuerySet[Member], *, query: QueryDict) -> AnyTable:
    """The list that was looked at, so that search and filters mean here what they meant there.

    `?leavers=` in the address: it was one of the leavers' lists, which holds by itself only some of the members.
    """
    which = request.GET.get("leavers", "")
    listed: Any = Table.registry["leavers" if which else "members"]
    table: AnyTable = listed.selecting(request, which, query) if which else listed(request, query=query)
    if not which:
        table.base = queryset
    return table


def prepare(*, by: Asker, act: Act, form: ChangeForm, selection: Selection) -> tuple[Job | None, Plan]:
    """A job on those of the chosen members for whom something would change; None when there is nobody."""
    members = _members(act, selection)
    plan = Plan.of(members, form.decide(members))
    if not plan.rows:
        return None, plan
    job = acts.prepare(
        kind=act.name,
        by=by,
        rows=plan.rows,
        permission=act.permission,
        action=act.action,
        options={**form.options, "left_out": dict(plan.left_out), "left_out_named": plan.named},
        unchanged=plan.left_out.total(),
        starts_at=form.starts_at,
    )
    return job, plan


def _members(act: Act, selection: Selection) -> list[Member]:
    needed = [column for field in (NAME, CODE, GROUP, START, END) for column in field.columns]
    if act.name == "rights":
        needed.append("rights")
    rows = selection.queryset.order_by("name_key", "pk").defer(None).only("id", "tenant_id", "member_id", *needed)
    return list(rows[: acts.MOST_ROWS])
