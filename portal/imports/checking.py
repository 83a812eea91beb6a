"""Check a file row by row against the mirror: what each row does, or why it is refused. Nothing is sent.

Mirrored data for a batch of rows is loaded first, with one query for each kind of key. Checking a row then needs no
queries.
"""

import difflib
import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accessapi.resources import BulkMember, MemberCreate
from portal.base.files import file_limits
from portal.base.files.file_limits import FileFault
from portal.base.timers.clock import ClockTime
from portal.domain.jobs.models import Action, Job, JobState, NewRow, Row, insert_rows, refuse_lines
from portal.domain.people.fields import find_faults
from portal.domain.people.member_fields import CARD, CODE, END, GROUP, MEMBER, MEMBER_ID, NAME, START
from portal.domain.people.models import Group, Member
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import fold
from portal.domain.rights import member_rights
from portal.domain.rights.models import RightsTemplate
from portal.imports.columns import ImportRow, Problem, read_row
from portal.imports.lists import open_file
from tenants.scope import current_tenant_id

# Return the rights of a new member of a group; None if the rights source no longer exists.
RightsForGroup = Callable[[str], member_rights.RightsBody | None]


@dataclass
class GroupIndex:
    """The tenant's groups by ID and by name.

    Names are compared exactly first, then without case and character width.
    """

    names: dict[str, str] = field(default_factory=dict)  # id -> name

    @classmethod
    def load(cls) -> "GroupIndex":
        return cls(dict(Group.objects.values_list("membergroup_id", "membergroup_name")))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for group_id, name in self.names.items():
            for key in {name, fold(name)}:
                by_name.setdefault(key, []).append(group_id)
        return by_name

    def find_ids(self, text: str) -> list[str]:
        """Return the group IDs that match a cell: one is clear, none is unknown, several are ambiguous."""
        if text in self.names:
            return [text]
        return self._by_name.get(text) or self._by_name.get(fold(text)) or []

    @cached_property
    def _hints(self) -> dict[str, str]:
        return {}

    def suggestion(self, text: str) -> str:
        """Return a similar group name, or an empty string."""
        if text not in self._hints and len(self._hints) < 1000:
            close = difflib.get_close_matches(fold(text), [fold(name) for name in self.names.values()], 1, 0.6)
            closest = next((name for name in self.names.values() if close and fold(name) == close[0]), "")
            self._hints[text] = closest
        return self._hints.get(text, "")


@dataclass
class KnownMembers:
    """The members that a batch of rows may refer to, and the holders of their cards."""

    by_id: Mapping[str, Member]
    by_code: Mapping[str, list[Member]]
    holders_by_card: Mapping[bytes, list[str]]  # fingerprint -> member IDs
    reader: MemberRowBuilder

    def card_holders(self, card: str) -> list[str]:
        return self.holders_by_card.get(self.reader.card_fingerprint(card), [])


def load_known(rows: Iterable[ImportRow]) -> KnownMembers:
    """Load all members and card holders that the rows refer to."""
    rows = list(rows)
    reader = MemberRowBuilder(current_tenant_id())
    ids = {row.member_id for row in rows if row.member_id}
    codes = {row.code for row in rows if row.code and not row.member_id}
    cards = {reader.card_fingerprint(row.values[CARD.name]) for row in rows if row.values.get(CARD.name)}
    present = Member.objects.filter(gone_at__isnull=True).only("id", "tenant_id", "member_id", *MEMBER.listed_columns)
    by_id = {member.member_id: member for member in present.filter(member_id__in=ids)} if ids else {}
    by_code: dict[str, list[Member]] = {}
    if codes:
        for member in present.filter(code_key__in={fold(code) for code in codes}):
            by_code.setdefault(member.member_code, []).append(member)
    owners: dict[bytes, list[str]] = {}
    if cards:
        holders = present.filter(has_card=True, card_fingerprint__in=cards)
        for print_, member_id in holders.values_list("card_fingerprint", "member_id"):
            owners.setdefault(bytes(print_ or b""), []).append(member_id)
    return KnownMembers(by_id, by_code, owners, reader)


def rights_source(saved: Mapping[str, str], groups: GroupIndex) -> RightsForGroup:
    """Return a function that gives a new member's rights, based on the present mirror and templates."""
    match saved.get("source"):
        case "template":
            return _same_for_all(_rights_of_template(saved["template"]))
        case "member":
            return _same_for_all(_rights_of_member(saved["member"]))
        case "group":
            usual = member_rights.usual_rights(groups.names)
            return lambda group: usual.get(group)
        case _:
            return lambda _group: {}


def _same_for_all(body: member_rights.RightsBody | None) -> RightsForGroup:
    return lambda _group: body


def _rights_of_template(pk: str) -> member_rights.RightsBody | None:
    template = RightsTemplate.objects.filter(pk=int(pk), kind=RightsTemplate.Kind.RIGHTS).first()
    return member_rights.rights_of_template(template) if template else None


def _rights_of_member(text: str) -> member_rights.RightsBody | None:
    try:
        return member_rights.rights_of_member(member_rights.find_source_member(text)) or None
    except ValidationError:
        return None


def _no_rights(_group_id: str) -> dict[str, Any]:
    return {}


@dataclass
class CheckedRow:
    """The result for one row as the check stores it. `body`: values to send; `old`: the values that they replace."""

    line: int
    action: Action
    member_id: str = ""
    name: str = ""
    code: str = ""
    body: dict[str, Any] = field(default_factory=dict)
    old: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    @property
    def row(self) -> NewRow:
        content = {"name": self.name, "code": self.code, "body": self.body} | ({"old": self.old} if self.old else {})
        return NewRow(self.line, self.action, self.member_id, content, self.problems, self.notes)


def check_row(
    line: int,
    row: ImportRow,
    known: KnownMembers,
    groups: GroupIndex,
    default_group: str,
    rights_for: RightsForGroup = _no_rights,
) -> CheckedRow:
    """Decide on one row, with the same models that check requests. `rights_for` returns rights for new members."""
    result = CheckedRow(line, Action.REFUSED, name=row.name, code=row.code, problems=list(row.problems))
    member = _find_member(row, known, result)
    group_id = _find_group(row, groups, result)
    if member is None:
        _check_new_member(result, row, group_id or ("" if row.group else default_group), rights_for)
    else:
        _check_change(result, row, group_id, MEMBER.written_values(member))
        result.member_id = member.member_id
        result.name, result.code = row.name or member.member_name, row.code or member.member_code
    _note_cards(result, row, known)
    if result.problems:
        result.action, result.body, result.old, result.notes = Action.REFUSED, {}, {}, []
    return result


def _find_member(row: ImportRow, known: KnownMembers, result: CheckedRow) -> Any:
    """Return the member that the row refers to, or None for a new one."""
    if row.member_id:
        member = known.by_id.get(row.member_id)
        if member is None:
            result.problems.append((MEMBER_ID.name, "no_such_member", {}))
        return member
    if not row.code:
        return None
    members = known.by_code.get(row.code, [])
    if len(members) > 1:
        result.problems.append((CODE.name, "several_members", {"n": len(members)}))
    return members[0] if members else None


def _find_group(row: ImportRow, groups: GroupIndex, result: CheckedRow) -> str:
    if not row.group:
        return ""
    ids = groups.find_ids(row.group)
    if not ids:
        result.problems.append(("group", "no_such_group", {"hint": groups.suggestion(row.group)}))
    elif len(ids) > 1:
        result.problems.append(("group", "several_groups", {"n": len(ids)}))
    return ids[0] if len(ids) == 1 else ""


def _check_new_member(result: CheckedRow, row: ImportRow, group_id: str, give: RightsForGroup) -> None:
    body = dict(row.values)
    if group_id:
        body[GROUP.name] = group_id
        rights = give(group_id)
        body |= rights or {}
        if rights is None:
            result.notes.append(("group", "no_rights", {}))
    elif not any(field == "group" for field, _word, _facts in result.problems):
        result.problems.append(("group", "missing", {}))
    if row.member_id:  # an unknown member ID is refused already; the other problems are shown as well
        body.setdefault(NAME.name, "-")
    result.action, result.body = Action.CREATE, body
    _check_values(result, MemberCreate, {GROUP.name: "-", **body}, body)


def _check_change(result: CheckedRow, row: ImportRow, group_id: str, present: dict[str, Any]) -> None:
    values = dict(row.values)
    if group_id:
        values[GROUP.name] = group_id
    for name in row.cleared:
        values[name] = MEMBER[name].empty_value
    changed = {name: value for name, value in values.items() if not MEMBER.is_same(name, value, present[name])}
    result.action = Action.UPDATE if changed else Action.SAME
    result.body, result.old = changed, {name: present[name] for name in changed}
    _check_values(result, BulkMember, {"member_id": "-", **values}, {**present, **values})


def _check_values(result: CheckedRow, model: Any, body: dict[str, Any], all_values: dict[str, Any]) -> None:
    """Add the problems that the model finds, and a use period that ends before it begins."""
    named = {field for field, _word, _facts in result.problems}
    for path, word, facts in find_faults(model, body):
        known = MEMBER.get(path[0]) if path else None
        cell_name = known.error_cell_of(body.get(known.name)) if known else "".join(path[:1])
        if cell_name not in named:
            result.problems.append((cell_name, word, facts))
    start, end = all_values.get(START.name), all_values.get(END.name)
    if start and end and start > end:
        result.problems.append((END.name, "ends_before", {}))


def _note_cards(result: CheckedRow, row: ImportRow, known: KnownMembers) -> None:
    """Add a note if another member holds the card. It is not refused here, because the mirror may be outdated."""
    card = result.body.get(CARD.name)
    if card and any(owner != result.member_id for owner in known.card_holders(card)):
        result.notes.append((CARD.name, "card_of_another", {}))


LEASE_SECONDS = 60


class CheckTakenOver(Exception):
    """Raised when another worker has taken over the check; this worker then writes nothing more."""


def check(job_id: int) -> None:
    """Check an import whose columns are chosen. If a worker dies, another one starts again from the first row."""
    job = _claim(job_id)
    if job is None:
        return
    try:
        _delete_rows(job)
        _check_rows(job)
    except FileFault as fault:
        _refuse_file(job, fault)
    except CheckTakenOver:
        return


def _claim(job_id: int) -> Job | None:
    token = uuid.uuid4()
    due = Job.objects.filter(pk=job_id, state=JobState.MAPPED, due_at__lte=ClockTime())
    if not due.update(lease=token, due_at=ClockTime() + timedelta(seconds=LEASE_SECONDS)):
        return None
    return Job.objects.select_related("sheet__file").get(pk=job_id, lease=token)


def _extend_lease(job: Job, **values: object) -> None:
    """Extend the lease and write `values`. Raises CheckTakenOver."""
    leased = Job.objects.filter(pk=job.pk, state=JobState.MAPPED, lease=job.lease)
    if not leased.update(**{"due_at": ClockTime() + timedelta(seconds=LEASE_SECONDS), **values}):
        raise CheckTakenOver


def _delete_rows(job: Job) -> None:
    with transaction.atomic():
        _extend_lease(job, checked_rows=0)
        Row.objects.filter(job=job).delete()


def _check_rows(job: Job) -> None:
    _headings, lines = open_file(job.sheet.file)
    if job.sheet.lines is not None:
        chosen = set(job.sheet.lines)
        lines = (each for each in lines if each[0] in chosen)
    groups, twins, done = GroupIndex.load(), Duplicates(job.tenant_id), 0
    give = rights_source(job.sheet.rights, groups)
    while batch := list(itertools.islice(lines, file_limits.BATCH_ROWS)):
        rows = [(line, read_row(cells, job.sheet.columns)) for line, cells in batch]
        facts = load_known(cells for _line, cells in rows)
        results = {line: check_row(line, cells, facts, groups, job.sheet.default_group, give) for line, cells in rows}
        stored = twins.refuse(rows, results)
        done += len(batch)
        with transaction.atomic():
            _extend_lease(job, checked_rows=done)
            insert_rows(job, [result.row for result in results.values()])
            refuse_lines(job, stored)
    _extend_lease(job, state=JobState.CHECKED, checked_at=ClockTime(), lease=None, due_at=None)


def _refuse_file(job: Job, fault: FileFault) -> None:
    with transaction.atomic():
        problem = {"word": fault.code, "facts": fault.values}
        leased = Job.objects.filter(pk=job.pk, state=JobState.MAPPED, lease=job.lease)
        if leased.update(state=JobState.REFUSED, problem=problem, due_at=None, lease=None, finished_at=ClockTime()):
            Row.objects.filter(job=job).delete()


@dataclass
class Duplicates:
    """Finds rows with the same member, code or card.

    All of them are refused and each names another line, because only a person can decide which one is correct.
    """

    tenant_id: int
    _first: dict[bytes | str, int] = field(default_factory=dict)
    _named: set[bytes | str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._reader = MemberRowBuilder(self.tenant_id)

    def refuse(
        self, rows: list[tuple[int, ImportRow]], results: dict[int, CheckedRow]
    ) -> list[tuple[int, tuple[str, str, dict[str, int]]]]:
        """Refuse the duplicates in `results`. Return the lines of earlier batches to refuse, each with its problem."""
        stored = []
        for line, cells in rows:
            for key, field_name, word in self._keys(cells, results[line]):
                first = self._first.setdefault(key, line)
                if first == line:
                    continue
                _refuse_row(results[line], (field_name, word, {"line": first}))
                if key not in self._named:
                    self._named.add(key)
                    problem = (field_name, word, {"line": line})
                    if first in results:
                        _refuse_row(results[first], problem)
                    else:
                        stored.append((first, problem))
        return stored

    def _keys(self, cells: ImportRow, result: CheckedRow) -> Iterator[tuple[bytes | str, str, str]]:
        if cells.code:
            yield f"c{cells.code}", CODE.name, "twice_code"
        member_id = result.member_id or cells.member_id
        if member_id:
            yield f"m{member_id}", MEMBER_ID.name, "twice_member"
        card = cells.values.get(CARD.name)
        if card:
            yield self._reader.card_fingerprint(card)[:16], CARD.name, "twice_card"


def _refuse_row(result: CheckedRow, problem: tuple[str, str, dict[str, int]]) -> None:
    if result.action != Action.REFUSED:
        result.problems, result.notes = [], []
    result.action, result.body, result.old = Action.REFUSED, {}, {}
    if all(field_name != problem[0] or word != problem[1] for field_name, word, _facts in result.problems):
        result.problems.append(problem)
