"""The kinds of bulk changes, and the preparation of their jobs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from portal.base.ui.tables import Selection, Table, load_selection
from portal.base.ui.tables.table import Table as AnyTable
from portal.changes.forms import ChangeForm, DeleteForm, ExtendForm, MoveForm, ResumeForm, RightsForm, SuspendForm
from portal.changes.plans import ChangePlan
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, kinds, suspensions
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import Action
from portal.domain.mirror import queries
from portal.domain.mirror.fields.members import CODE, END, GROUP, NAME, START
from portal.domain.mirror.models import Member
from portal.domain.rights import replacing
from tenants.access import TenantRequest
from tenants.roles import Permission
from tenants.wording import Sentence, coded_sentence

Text = str | Promise


@dataclass(frozen=True)
class BulkChange:
    """A kind of bulk change. `title(job)` is the title of a job, `heading` that of the form."""

    name: str
    permission: Permission
    form: type[ChangeForm]
    heading: Text
    introduction: Text
    title: Callable[[Job], Sentence]
    action: Action = Action.UPDATE
    can_undo: bool = True
    job_functions: Mapping[str, Any] = field(default_factory=dict)


def _record_suspensions(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.RowDecision]:
    """Check the rows right before sending, and record suspensions in the same transaction."""
    verdicts = bulk_executor.compare_with_lists(job, rows)
    if not job.options.get("undo"):
        suspensions.save_suspensions(job, [row for row in rows if row.pk not in verdicts])
    return verdicts


BULK_CHANGES: dict[str, BulkChange] = {
    act.name: act
    for act in (
        BulkChange(
            "suspend", Permission.MEMBERS_EDIT, SuspendForm,
            gettext_lazy("Suspend members"),
            gettext_lazy(
                "Their access stops at the chosen time. Cards, QR codes and rights are kept, and so "
                "is the previous end date, so you can resume access later."
            ),
            lambda job: coded_sentence("job.suspend", n=job.size), job_functions={"decide_rows": _record_suspensions},
        ),
        BulkChange(
            "resume", Permission.MEMBERS_EDIT, ResumeForm, gettext_lazy("Resume access"),
            gettext_lazy("Members whose access has ended can use it again."),
            lambda job: coded_sentence("job.resume", n=job.size),
        ),
        BulkChange(
            "extend", Permission.MEMBERS_EDIT, ExtendForm,
            gettext_lazy("Extend access"), gettext_lazy("Sets a later end date."),
            lambda job: coded_sentence("job.extend", n=job.size),
        ),
        BulkChange(
            "move", Permission.MEMBERS_EDIT, MoveForm,
            gettext_lazy("Move members to another group"),
            gettext_lazy("Access rights do not change: groups have no rights of their own."),
            lambda job: coded_sentence("job.move", n=job.size, group=job.options.get("group", "")),
        ),
        BulkChange(
            "rights", Permission.RIGHTS_EDIT, RightsForm, gettext_lazy("Set access rights"),
            gettext_lazy(
                "All selected members get the same rights, replacing their own. Rights not loaded "
                "yet are loaded first (1 API call per member)."
            ),
            lambda job: coded_sentence("job.rights", n=job.size, source=job.options.get("source", "")),
            job_functions={"rows_to_read": replacing.rows_to_read, "decide_rows": replacing.check_again,
            "changes": replacing.describe_changes},
        ),
        BulkChange(
            "delete", Permission.MEMBERS_DELETE, DeleteForm, gettext_lazy("Delete members"),
            gettext_lazy(
                "Deletes them from the service with their cards, QR codes and faces. This cannot be "
                "undone. To stop access but keep the record, suspend instead."
            ),
            lambda job: coded_sentence("job.delete", n=job.size), action=Action.DELETE, can_undo=False,
        ),
    )
}  # fmt: skip


def _title_function(act: BulkChange) -> Callable[[Job], Sentence]:
    def titled(job: Job) -> Sentence:
        said = act.title(job)
        return coded_sentence("job.undo", what=said) if job.options.get("undo") else said

    return titled


def register() -> None:
    """Register each bulk change as a kind of job."""
    for act in BULK_CHANGES.values():
        own: dict[str, Any] = {
            "executor": bulk_executor,
            "decide_rows": bulk_executor.compare_with_lists,
            **act.job_functions,
        }
        kinds.register(
            kinds.JobKind(
                name=act.name, permission=act.permission, title_of=_title_function(act), can_undo=act.can_undo, **own
            )
        )


def posted_selection(request: TenantRequest) -> Selection:
    """Return the posted selection. With `?group=` in the address, it comes from the list of a group."""
    base = queries.members()
    group = request.GET.get("group", "")
    if group:
        base = queries.filter_by_groups(base, [group])
    return load_selection(request, _source_list, base)  # type: ignore[arg-type]  # creates a table, as the class does


def _source_list(request: TenantRequest, queryset: QuerySet[Member], *, query: QueryDict) -> AnyTable:
    """Return the list of the selection, so that search and filters have the same meaning as in it.

    With `?leavers=` in the address, it is one of the leavers' lists, which contains only some of the members.
    """
    which = request.GET.get("leavers", "")
    listed: Any = Table.registry["leavers" if which else "members"]
    table: AnyTable = listed.selecting(request, which, query) if which else listed(request, query=query)
    if not which:
        table.all_rows = queryset
    return table


def prepare(
    *, by: Requester, change: BulkChange, form: ChangeForm, selection: Selection
) -> tuple[Job | None, ChangePlan]:
    """Return a job for the chosen members with a change, and the plan. The job is None if nothing would change."""
    members = _members(change, selection)
    plan = ChangePlan.of(members, form.decide(members))
    if not plan.rows:
        return None, plan
    job = actions.prepare(
        kind=change.name,
        by=by,
        rows=plan.rows,
        permission=change.permission,
        action=change.action,
        options={**form.options, "left_out": dict(plan.left_out), "left_out_named": plan.left_out_ids},
        unchanged=plan.left_out.total(),
        starts_at=form.starts_at,
    )
    return job, plan


def _members(act: BulkChange, selection: Selection) -> list[Member]:
    needed = [column for field in (NAME, CODE, GROUP, START, END) for column in field.columns]
    if act.name == "rights":
        needed.append("rights")
    rows = selection.queryset.order_by("name_key", "pk").defer(None).only("id", "tenant_id", "member_id", *needed)
    return list(rows[: actions.MAX_JOB_ROWS])
