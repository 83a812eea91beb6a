"""Edits of an area's access as bulk jobs: the checks right before rows are sent, and the texts about them.

A job keeps the rights that were shown in the preview. Right before sending, in the transaction that records the
request, each member's rights are read from the mirror again. If the part about this area is unchanged, the edit is
merged with the current rights of other areas and sent. If it changed, the row is skipped with a reason. Unknown or
outdated rights are read from the service first.

Access with an end time gets a second job (`schedule_end`), which waits and undoes the first.

Another job loads rights on request: the service returns rights of one member at a time. The mirror loads them with
unused calls. Staff who need the whole list now can spend calls on it, within the budget of jobs.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from accessapi.permissions import normalise_devices
from portal.areas import merging
from portal.areas.merging import AccessEdit, EditDecision, EditKind, EditResult
from portal.base.timers.clock import database_now
from portal.base.ui.times import moment_text
from portal.domain.intents.models import target_of
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, kinds
from portal.domain.jobs.models import ALIVE, Action, Job, JobState, Row, RowState
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.domain.rights import words
from tenants.roles import Permission
from tenants.sentences import Sentence, coded_sentence

EDIT_KIND, LOADING_KIND = "area", "read_rights"
_MISSING: Any = object()
# Reasons for rows without a change: the first group keeps its rights on purpose, the second could not be changed.
_KEEP_REASONS = {EditResult.OTHER_HOURS: "other_hours", EditResult.EVERYWHERE: "everywhere"}
_SKIP_REASONS = {EditResult.UNKNOWN: "unknown", EditResult.CHANGED_SINCE: "not_ours"}


def edit_of_job(job: Job) -> AccessEdit:
    """Return the edit that a job was created for."""
    options = job.options
    return AccessEdit(
        EditKind(options["act"]),
        options["area_id"],
        options.get("pass"),
        options.get("replace", False),
        options.get("everywhere", False),
    )


def max_age_of(job: Job) -> timedelta:
    """Return the age up to which rights are used without reading them again."""
    return timedelta(minutes=int(job.options.get("trust", 60)))


def find_unread(job: Job, rows: Sequence[Row]) -> set[int]:
    """Return the rows of members whose rights were never read, or too long ago."""
    fresh = Member.objects.filter(
        member_id__in=[row.member_id for row in rows],
        rights__isnull=False,
        rights_read_at__gte=database_now() - max_age_of(job),
    )
    known = set(fresh.values_list("member_id", flat=True))
    if job.undo_of_id is not None:  # unchanged members are not worth a call
        known |= {row.member_id for row in rows} - _changed_by(job, rows).keys()
    return {row.pk for row in rows if row.member_id not in known}


def check_rows(job: Job, rows: Sequence[Row]) -> dict[int, kinds.RowDecision]:
    """Return what to do with each row now, from the mirror's data of its member."""
    members = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=True)
    rights = dict(members.values_list("member_id", "rights"))
    decide = _edit_decider(job) if job.undo_of_id is None else _undo_decider(job, rows)
    return {row.pk: _check_row(job, row, rights.get(row.member_id, _MISSING), decide) for row in rows}


def _check_row(job: Job, row: Row, rights: Any, decide: Any) -> kinds.RowDecision:
    if rights is _MISSING:
        return kinds.Skip("gone")
    if rights is None:
        return kinds.Skip("unreadable")
    now = rights.get("devices_pass")
    verdict = decide(row, now)
    if verdict is None:
        return kinds.Skip("meanwhile", field="devices_pass")
    note = _recomputed_note(job, row, now)
    if verdict.is_sent:
        return kinds.Send({"devices_pass": verdict.after}, {"devices_pass": now}, note)
    if verdict.result in _SKIP_REASONS:
        return kinds.Skip(_SKIP_REASONS[verdict.result], note_code=note)
    if verdict.result in _KEEP_REASONS:
        takes = edit_of_job(job).kind == EditKind.WITHDRAW
        return kinds.LeaveUnchanged("still_everywhere" if takes else _KEEP_REASONS[verdict.result], note)
    return (
        kinds.AlreadyApplied(note_code=note)
        if verdict.result != EditResult.UNTOUCHED
        else kinds.LeaveUnchanged("untouched")
    )


def _recomputed_note(job: Job, row: Row, now: Any) -> str:
    """Return "recomputed" if a scheduled edit has another result than its preview showed, otherwise an empty text."""
    stored = _stored_rights(row, "old")
    if not job.options.get("scheduled") or stored is _MISSING:
        return ""
    return "" if _is_same_for_area(now, stored, edit_of_job(job).area_id) else "recomputed"


def _edit_decider(job: Job) -> Any:
    edit, all_areas = edit_of_job(job), area_ids(job)

    def decide(row: Row, now: Any) -> EditDecision | None:
        """Return the decision, or None if the area's rights changed since the row was created and are not as sent."""
        stored, sent = _stored_rights(row, "old"), _stored_rights(row, "body")
        if sent is not _MISSING and is_same_rights(now, sent):
            return EditDecision(EditResult.UNCHANGED)
        if job.options.get("scheduled") or stored is _MISSING or _is_same_for_area(now, stored, edit.area_id):
            return merging.decide(now, edit, all_areas)
        # The area already has the sent rights, and only other areas changed. If a list replaces "everywhere", all areas
        # count.
        everywhere = normalise_devices(stored).get("default_mode") == "allow_all"
        done = sent is not _MISSING and not everywhere and _is_same_for_area(now, sent, edit.area_id)
        return EditDecision(EditResult.UNCHANGED) if done else None

    return decide


def _is_same_for_area(one: Any, other: Any, area_id: str) -> bool:
    """Return whether two readings of devices_pass are equal for one area, including the default mode."""
    return merging.rights_for_area(one, area_id) == merging.rights_for_area(other, area_id)


def _undo_decider(job: Job, rows: Sequence[Row]) -> Any:
    """Return the function that decides from the rows of the job to be undone. Those rows no longer change."""
    did, area_id = _changed_by(job, rows), edit_of_job(job).area_id

    def decide(row: Row, now: Any) -> EditDecision | None:
        origin = did.get(row.member_id)
        if origin is None:
            return EditDecision(EditResult.UNTOUCHED)
        return merging.undo(now, _stored_rights(origin, "old", None), _stored_rights(origin, "body", None), area_id)

    return decide


def _changed_by(job: Job, rows: Sequence[Row]) -> dict[str, Row]:
    """Return the rows of the job to be undone that really changed their member, by member ID."""
    done = Row.objects.filter(
        job_id=job.undo_of_id or 0, member_id__in=[row.member_id for row in rows], state=RowState.SUCCEEDED
    )
    # A row that was found applied after a lost answer was done by the job too.
    return {
        row.member_id: row
        for row in done
        if row.attempts or all(word != "already" for _field, word, _facts in row.problems)
    }


def _stored_rights(row: Row, part: str, missing: Any = _MISSING) -> Any:
    return row.content.get(part, {}).get("devices_pass", missing)


def is_same_rights(one: Any, other: Any) -> bool:
    """Return whether two readings of devices_pass are equal."""
    return normalise_devices(one) == normalise_devices(other)


def area_ids(job: Job) -> list[str]:
    """Return the areas that exist now, read once for each job object."""
    found: list[str] | None = getattr(job, "known_area_ids", None)
    if found is None:
        found = job.known_area_ids = list(Area.objects.values_list("area_id", flat=True))  # type: ignore[attr-defined]  # kept on it
    return found


def describe_changes(row: Row) -> list[kinds.FieldChange]:
    """Return the row's change of the area in words; also of "every area" where a list replaces it."""
    before, edit = _stored_rights(row, "old"), edit_of_job(row.job)
    name = str(row.job.options.get("area_name") or edit.area_id)
    if before is _MISSING:
        change = words.pass_text(edit.pass_) if edit.kind == EditKind.GRANT else _("no access to this area")
        if row.job.undo_of_id is not None:
            change = _("as it was before")
        return [(name, _("rights are loaded first"), change)]
    undoes = row.job.undo_of_id is not None
    after = _stored_rights(row, "body") if undoes else merging.decide(before, edit, area_ids(row.job)).after
    if after is None or after is _MISSING:
        return [(name, text, text)] if (text := _rights_text(before, edit.area_id)) and not undoes else []
    return [(name, _rights_text(before, edit.area_id), _rights_text(after, edit.area_id))]


def _rights_text(rights: Any, area_id: str) -> str:
    normal = normalise_devices(rights)
    if normal.get("default_mode") == "allow_all":
        return _("every area, including areas added later")
    entry = merging.pass_for_area(normal, area_id)
    listed = normal.get("areas_list")
    if entry is None:
        return _("no access to this area (%(n)d other areas)") % {"n": len(listed) if isinstance(listed, list) else 0}
    return words.pass_text(entry)


def title_of(job: Job) -> Sentence:
    """Return the job's title as a coded sentence, which is put into words when it is read."""
    area = job.options.get("area_name") or job.options.get("area_id", "")
    until, kind = job.options.get("until"), _edit_kind(job)
    if until and not job.options.get("undo"):
        if job.options.get("ends"):
            return coded_sentence("area.end", area=area)
        if kind == EditKind.GRANT:
            return coded_sentence("area.grant_until", area=area, until=moment_text(datetime.fromisoformat(until)))
    return coded_sentence(f"area.{kind}", area=area)


def _page_of(job: Job) -> str:
    """Return the address of an edit: its preview until it starts, then the page of jobs.

    Retries and undo jobs always have the page of jobs.
    """
    if job.state == JobState.CHECKED and job.retry_of_id is None and not job.options.get("undo"):
        return reverse("areas:edit_page", args=[job.tenant.slug, job.options["area_id"], job.pk])
    return reverse("changes:page", args=[job.tenant.slug, job.pk])


def _edit_kind(job: Job) -> EditKind:
    return EditKind.UNDO if job.undo_of_id is not None else EditKind(job.options["act"])


def _audit_entry(job: Job, action: str) -> kinds.AuditDescription | None:
    """Return the audit entry with the area as its target, for starting or scheduling an edit."""
    if action not in ("started", "scheduled"):
        return None
    edit = edit_of_job(job)
    facts: dict[str, Any] = {"job": job.pk, "members": Row.objects.filter(job=job).count()}
    facts |= {"pass": edit.pass_} if _edit_kind(job) == EditKind.GRANT else {}
    summary = title_of(job) if action == "started" else coded_sentence("change.scheduled", job=title_of(job))
    return kinds.AuditDescription(f"area.{_edit_kind(job)}", target_of("area", edit.area_id), summary, facts)


def _reason_texts() -> Mapping[str, Any]:
    return {
        "other_hours": lambda facts: _("Unchanged: has other hours here."),
        "everywhere": lambda facts: _("Already has access to every area."),
        "still_everywhere": lambda facts: _("Unchanged: has access to every area, as you chose."),
        "untouched": lambda facts: _("Not changed by that edit, so there is nothing to undo."),
        "recomputed": lambda facts: _("Recalculated: rights changed since the preview."),
        "unknown": lambda facts: _("Skipped: has an unknown setting."),
        "not_ours": lambda facts: _("Skipped: changed since then."),
    }


def schedule_end(job: Job, by: Requester) -> None:
    """Create the job that ends a started job's access at its end time.

    It runs in the transaction that starts the job, and the start's audit entry covers it.
    """
    if job.undo_of_id is not None or not job.options.get("until"):
        return
    members = Row.objects.filter(job=job, action=Action.UPDATE).exclude(member_id="").order_by("line")
    options = {name: job.options[name] for name in ("area_id", "area_name", "trust", "until")}
    end = actions.prepare(
        kind=job.kind,
        by=by,
        rows=((member_id, {}, {}) for member_id in members.values_list("member_id", flat=True)),
        permission=Permission(job.permission),
        options={**options, "act": str(EditKind.UNDO), "ends": True},
        starts_at=datetime.fromisoformat(job.options["until"]),
        undo_of=job,
        is_audited_elsewhere=True,
    )
    actions.start(by=by, job=end, is_audited_elsewhere=True)


EDIT = kinds.JobKind(
    name=EDIT_KIND,
    permission=Permission.RIGHTS_EDIT,
    executor=bulk_executor,
    title_of=title_of,
    describe_for_audit=_audit_entry,
    page_address=_page_of,
    decide_rows=check_rows,
    rows_to_read=find_unread,
    changes=describe_changes,
    reason_texts=_reason_texts(),
    can_undo=True,
    on_started=schedule_end,
)


def start_loading(*, by: Requester) -> Job | None:
    """Start loading the missing rights, or return the job that is running already. None if all are loaded."""
    running = running_load()
    if running is not None:
        return running
    member_ids = list(
        _unread_members().order_by("name_key", "pk").values_list("member_id", flat=True)[: actions.MAX_JOB_ROWS]
    )
    if not member_ids:
        return None
    job = actions.prepare(
        kind=LOADING_KIND, by=by, rows=((member_id, {}, {}) for member_id in member_ids), is_audited_elsewhere=True
    )
    actions.start(by=by, job=job)
    return job


def running_load() -> Job | None:
    """Return the newest job that loads rights and has not finished."""
    return Job.objects.select_related("tenant").filter(kind=LOADING_KIND, state__in=ALIVE).order_by("-pk").first()


def _unread_members() -> QuerySet[Member]:
    return Member.objects.filter(gone_at__isnull=True, rights__isnull=True)


def _unread_rows(job: Job, rows: Sequence[Row]) -> set[int]:
    """Return the rows whose member's rights are still not loaded."""
    missing = set(
        _unread_members().filter(member_id__in=[row.member_id for row in rows]).values_list("member_id", flat=True)
    )
    return {row.pk for row in rows if row.member_id in missing}


def _loading_results(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.RowDecision]:
    """Return the result of each row. Nothing is sent: a row is done once the rights are loaded."""
    found = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=True)
    known = dict(found.values_list("member_id", "rights_read_at"))
    return {row.pk: _check_loading(row, known) for row in rows}


def _check_loading(row: Row, known: Mapping[str, object]) -> kinds.RowDecision:
    if row.member_id not in known:
        return kinds.Skip("gone")
    return kinds.AlreadyApplied("loaded") if known[row.member_id] is not None else kinds.Skip("unreadable")


LOADING = kinds.JobKind(
    name=LOADING_KIND,
    permission=Permission.RIGHTS_EDIT,
    executor=bulk_executor,
    title_of=lambda job: coded_sentence("job.load_rights", n=job.size),
    decide_rows=_loading_results,
    rows_to_read=_unread_rows,
    changes=lambda _row: [],
    reason_texts={"loaded": lambda facts: _("Rights loaded.")},
    has_requests=False,
)
