"""The kinds of bulk changes, the preparation of their jobs, and the texts about skipped members."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.base.ui.tables import Selection, Table, load_selection
from portal.base.ui.tables.table import Table as AnyTable
from portal.base.ui.value_words import add_brackets, join_sentences, join_values
from portal.changes.forms import (
    ChangeForm,
    DecideMember,
    DeleteForm,
    ExtendForm,
    MoveForm,
    ResumeForm,
    RightsForm,
    SuspendForm,
)
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, kinds, suspensions
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.planning import ChangePlan
from portal.domain.people import queries
from portal.domain.people.member_fields import CODE, END, GROUP, NAME, START
from portal.domain.people.models import Member
from portal.domain.rights import replacing
from tenants.access import TenantRequest
from tenants.roles import Permission
from tenants.sentences import Sentence, coded_sentence

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
    deletes: bool = False
    can_undo: bool = True
    job_functions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def job_kind(self) -> kinds.JobKind:
        """Return the kind of its jobs."""
        own: dict[str, Any] = {"decide_rows": bulk_executor.compare_with_lists, **self.job_functions}
        return kinds.JobKind(
            name=self.name,
            permission=self.permission,
            executor=bulk_executor,
            title_of=self._title_of,
            can_undo=self.can_undo,
            **own,
        )

    def _title_of(self, job: Job) -> Sentence:
        title = self.title(job)
        return coded_sentence("job.undo", what=title) if job.options.get("undo") else title


def _record_suspensions(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.RowDecision]:
    """Check the rows right before sending, and record suspensions in the same transaction."""
    verdicts = bulk_executor.compare_with_lists(job, rows)
    if not job.options.get("undo"):
        suspensions.save_suspensions(job, [row for row in rows if row.pk not in verdicts])
    return verdicts


BULK_CHANGES: dict[str, BulkChange] = {
    change.name: change
    for change in (
        BulkChange(
            "suspend", Permission.MEMBERS_EDIT, SuspendForm,
            gettext_lazy("Suspend members"),
            gettext_lazy(
                "Their access stops at the chosen time. Cards, QR codes, rights and the previous end date "
                "are kept for resuming."
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
            gettext_lazy("Access rights do not change: groups have no rights."),
            lambda job: coded_sentence("job.move", n=job.size, group=job.options.get("group", "")),
        ),
        BulkChange(
            "rights", Permission.RIGHTS_EDIT, RightsForm, gettext_lazy("Set access rights"),
            gettext_lazy(
                "All selected members get the same rights. "
                "Rights not loaded yet are loaded first (1 API call per member)."
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
            lambda job: coded_sentence("job.delete", n=job.size), deletes=True, can_undo=False,
        ),
    )
}  # fmt: skip


def plan_change(change: BulkChange, members: Iterable[Member], decide: DecideMember) -> ChangePlan:
    """Return the rows for these members, and the reasons to skip others."""
    plan = ChangePlan()
    rows = plan.deletions if change.deletes else plan.rows
    for member in members:
        outcome = decide(member)
        if isinstance(outcome, str):
            plan.leave_out(outcome, member.member_id)
        else:
            rows.append((member.member_id, *outcome))
    return plan


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
    plan = plan_change(change, members, form.decide(members))
    if plan.is_empty:
        return None, plan
    job = actions.prepare(
        kind=change.name,
        by=by,
        rows=plan.rows,
        deletions=plan.deletions,
        permission=change.permission,
        options={**form.options, **plan.options},
        unchanged=plan.left_out.total(),
        starts_at=form.starts_at,
    )
    return job, plan


def _members(change: BulkChange, selection: Selection) -> list[Member]:
    needed = [column for field in (NAME, CODE, GROUP, START, END) for column in field.columns]
    if change.name == "rights":
        needed.append("rights")
    rows = selection.queryset.order_by("name_key", "pk").defer(None).only("id", "tenant_id", "member_id", *needed)
    return list(rows[: actions.MAX_JOB_ROWS])


def left_out_texts(counts: Mapping[str, int], ids: Mapping[str, list[str]] | None = None) -> list[str]:
    """Return why members are skipped, with their number and the first names for each reason."""
    ids = ids or {}
    member_ids = {member_id for each in ids.values() for member_id in each}
    members = Member.objects.filter(member_id__in=member_ids) if member_ids else Member.objects.none()
    names = {pk: name or pk for pk, name in members.values_list("member_id", "member_name")}
    reasons = sorted(((word, n) for word, n in counts.items() if n), key=lambda pair: -pair[1])
    return [
        _reason_text(word, n) + _names_text([names.get(each, each) for each in ids.get(word, [])], n)
        for word, n in reasons
    ]


def left_out_of_job(job: Job) -> list[str]:
    return left_out_texts(job.options.get("left_out") or {}, job.options.get("left_out_named"))


def _names_text(names: list[str], n: int) -> str:
    """Return the names for a reason, in brackets."""
    if not names:
        return ""
    text = join_values(names)
    if more := n - len(names):
        text = ngettext("%(list)s and %(n)d more", "%(list)s and %(n)d more", more) % {"list": text, "n": more}
    return " " + add_brackets(text)


def no_change_text(plan: ChangePlan) -> str:
    """Return why there is no preview."""
    if not plan.left_out:
        return _("No members are selected: the list has changed.")
    return join_sentences([_("Nothing to change."), *left_out_texts(plan.left_out, plan.left_out_ids)])


def _reason_text(word: str, n: int) -> str:
    texts = {
        "same": ngettext("%(n)s already has this.", "%(n)s already have this.", n),
        "ended": ngettext("%(n)s already ends earlier.", "%(n)s already end earlier.", n),
        "no_former": ngettext(
            "%(n)s was not suspended here, or was changed since.",
            "%(n)s were not suspended here, or were changed since.",
            n,
        ),
        "former_over": ngettext(
            "The previous end date of %(n)s has passed. Extend access instead.",
            "The previous end dates of %(n)s have passed. Extend access instead.",
            n,
        ),
        "begins_later": ngettext("%(n)s starts after that date.", "%(n)s start after that date.", n),
        "goes_on": ngettext("%(n)s still has access.", "%(n)s still have access.", n),
        "ends_later": ngettext("%(n)s already ends later.", "%(n)s already end later.", n),
        "never_ends": ngettext("%(n)s has no end date.", "%(n)s have no end date.", n),
        "restored": ngettext("%(n)s already has the former values.", "%(n)s already have the former values.", n),
        "changed": ngettext("%(n)s changed since the import.", "%(n)s changed since the import.", n),
        "gone": ngettext("%(n)s no longer exists.", "%(n)s no longer exist.", n),
        "uncertain": ngettext(
            "%(n)s has an uncertain result in the import.", "%(n)s have uncertain results in the import.", n
        ),
        "unrestorable": ngettext(
            "%(n)s had a value that cannot be set again, such as a one-time code.",
            "%(n)s had values that cannot be set again, such as one-time codes.",
            n,
        ),
        "no_deletion": ngettext(
            "%(n)s new member is kept: your role cannot delete members.",
            "%(n)s new members are kept: your role cannot delete members.",
            n,
        ),
        "rest": ngettext(
            "%(n)s more row: undo the import again afterwards.",
            "%(n)s more rows: undo the import again afterwards.",
            n,
        ),
        "unreadable": ngettext(
            "%(n)s has an end date that cannot be read or is too far away.",
            "%(n)s have end dates that cannot be read or are too far away.",
            n,
        ),
    }
    return texts.get(word, f"{word}: %(n)s") % {"n": f"{n:,}"}
