"""What can be done to many members at once: kinds of jobs, and making one ready to look at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from portal.changes.forms import ChangeForm, DeleteForm, ExtendForm, MoveForm, ResumeForm, RightsForm, SuspendForm
from portal.changes.plans import Plan
from portal.core.intents.record import Asker
from portal.core.jobs import acts, bulk, kinds, suspensions
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action
from portal.core.mirror import queries
from portal.core.mirror.fields.members import CODE, END, GROUP, NAME, START
from portal.core.mirror.models import Member
from portal.core.rights import replacing
from portal.core.ui.tables import Selection, Table, chosen
from portal.core.ui.tables.table import Table as AnyTable
from tenants.access import TenantRequest
from tenants.roles import Permission
from tenants.wording import Said, say

Text = str | Promise


@dataclass(frozen=True)
class Act:
    """One of them. `title(job)` names a job of it, `heading` the form; `undo`: whether it can be taken back."""

    name: str
    permission: Permission
    form: type[ChangeForm]
    heading: Text
    lead: Text
    title: Callable[[Job], Said]
    action: Action = Action.UPDATE
    undo: bool = True
    more: Mapping[str, Any] = field(default_factory=dict)


def _suspending(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.Fresh]:
    """The usual last look; who is about to be suspended is known as such from the same transaction on."""
    verdicts = bulk.compared_with_lists(job, rows)
    if not job.options.get("undo"):
        suspensions.record(job, [row for row in rows if row.pk not in verdicts])
    return verdicts


ACTS: dict[str, Act] = {
    act.name: act
    for act in (
        Act(
            "suspend", Permission.MEMBERS_EDIT, SuspendForm,
            gettext_lazy("Suspend members"),
            gettext_lazy(
                "Their access stops at the chosen time. Cards, QR codes and rights are kept, and so "
                "is the previous end date, so you can resume access later."
            ),
            lambda job: say("job.suspend", n=job.size), more={"fresh": _suspending},
        ),
        Act(
            "resume", Permission.MEMBERS_EDIT, ResumeForm, gettext_lazy("Resume access"),
            gettext_lazy("Members whose access has ended can use it again."),
            lambda job: say("job.resume", n=job.size),
        ),
        Act(
            "extend", Permission.MEMBERS_EDIT, ExtendForm,
            gettext_lazy("Extend access"), gettext_lazy("Sets a later end date."),
            lambda job: say("job.extend", n=job.size),
        ),
        Act(
            "move", Permission.MEMBERS_EDIT, MoveForm,
            gettext_lazy("Move members to another group"),
            gettext_lazy("Access rights do not change: groups have no rights of their own."),
            lambda job: say("job.move", n=job.size, group=job.options.get("group", "")),
        ),
        Act(
            "rights", Permission.RIGHTS_EDIT, RightsForm, gettext_lazy("Set access rights"),
            gettext_lazy(
                "All selected members get the same rights, replacing their own. Rights not loaded "
                "yet are loaded first (1 API call per member)."
            ),
            lambda job: say("job.rights", n=job.size, source=job.options.get("source", "")),
            more={"unread": replacing.unread, "fresh": replacing.fresh, "changes": replacing.changes},
        ),
        Act(
            "delete", Permission.MEMBERS_DELETE, DeleteForm, gettext_lazy("Delete members"),
            gettext_lazy(
                "Deletes them from the service with their cards, QR codes and faces. This cannot be "
                "undone. To stop access but keep the record, suspend instead."
            ),
            lambda job: say("job.delete", n=job.size), action=Action.DELETE, undo=False,
        ),
    )
}  # fmt: skip


def _titled(act: Act) -> Callable[[Job], Said]:
    def titled(job: Job) -> Said:
        said = act.title(job)
        return say("job.undo", what=said) if job.options.get("undo") else said

    return titled


def register() -> None:
    """Make each of them a kind of job."""
    for act in ACTS.values():
        own: dict[str, Any] = {"carrier": bulk, "fresh": bulk.compared_with_lists, **act.more}
        kinds.register(kinds.Kind(name=act.name, permission=act.permission, titled=_titled(act), undo=act.undo, **own))


def selection(request: TenantRequest) -> Selection:
    """The selection that was posted. `?group=` in the address: the list was one group's."""
    base = queries.members()
    group = request.GET.get("group", "")
    if group:
        base = queries.in_groups(base, [group])
    return chosen(request, _listed, base)  # type: ignore[arg-type]  # makes a table, as the class does


def _listed(request: TenantRequest, queryset: QuerySet[Member], *, query: QueryDict) -> AnyTable:
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
