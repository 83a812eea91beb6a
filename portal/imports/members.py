"""Check rows about members against the mirror: which member each row means, and what it would change."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accessapi.limits import JST
from accessapi.resources import BulkMember, MemberCreate, write_moment
from portal.base.files.date_parsing import Order
from portal.domain.jobs.models import Action, Job, NewRow, Row
from portal.domain.people.fields import Field, SheetColumn, UnreadableCells, find_faults
from portal.domain.people.member_fields import CARD, CODE, END, GROUP, MEMBER, MEMBER_ID, NAME, START
from portal.domain.people.models import Member
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import fold
from portal.imports.lookups import GroupIndex, KnownMembers, rights_source
from portal.imports.row_reading import Problem, SheetRow, clean

STATUS = SheetColumn(
    ("Status", "利用状態"),
    "access enabled, enabled, access status, active, user status, ステータス, 有効, 在籍状況",
    name="status", label=_("Access enabled"), kind="status",
)  # fmt: skip
COLUMNS = (*MEMBER.sheet_columns, STATUS)

# A cell with one of these words clears a field of an existing member. An empty cell changes nothing.
CLEAR_WORDS: Final = ("#clear", "#消去")
_CLEAR = {fold(word) for word in CLEAR_WORDS}
_FIELD_BY_CELL = {cell.name: each for each in MEMBER for cell in each.sheet_columns}
# The member ID and the group are read separately.
_VALUES = [each for each in MEMBER if each.sheet_columns and each not in (MEMBER_ID, GROUP)]


def _words(text: str) -> frozenset[str]:
    return frozenset(map(fold, text.split(", ")))


# What other products and the portal's own list write for people with and without access.
_BLOCKED_WORDS = _words(
    "false, no, n, 0, off, disabled, inactive, blocked, suspended, revoked, deactivated, expired, terminated, locked, "
    "deleted, archived, 無効, 停止, 停止中, 利用停止, 利用停止中, 一時停止, 期限切れ, 終了, 退職, 退会, いいえ, 不可"
)
_ENABLED_WORDS = _words(
    "true, yes, y, 1, on, enabled, active, valid, invited, pending, not started, current, 有効, 利用中, 在籍, 在籍中, "
    "はい, 可, 開始前, 利用開始前"
)


@dataclass
class MemberRow:
    """A row about a member. `values` has the values by field; `cleared` the fields to be cleared."""

    sheet: SheetRow
    member_id: str = ""
    group: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    is_blocked: bool = False

    @property
    def name(self) -> str:
        return str(self.values.get(NAME.name, ""))

    @property
    def code(self) -> str:
        return str(self.values.get(CODE.name, ""))


def read_member(row: SheetRow, date_order: Order | None = None) -> MemberRow:
    """Return what the texts of a row mean. `values` uses the field names and values of MEMBER."""
    found = MemberRow(row, row.texts.get(MEMBER_ID.name, ""), row.texts.get("group", ""))
    texts = dict(row.texts)
    for name in [name for name, text in texts.items() if text.startswith("#") and fold(text) in _CLEAR]:
        del texts[name]
        _clear(found, name)
    for each in _VALUES:
        if any(cell.name in texts for cell in each.sheet_columns):
            _read(found, each, texts, date_order)
    if STATUS.name in texts:
        found.is_blocked = fold(texts[STATUS.name]) in _BLOCKED_WORDS
        if not found.is_blocked and fold(texts[STATUS.name]) not in _ENABLED_WORDS:
            row.refuse(STATUS.name, "status")
    return found


def _clear(row: MemberRow, name: str) -> None:
    field = _FIELD_BY_CELL.get(name)
    if field is not None and field.is_clearable:
        row.cleared.add(field.name)
    else:
        row.sheet.refuse(name, "cannot_clear")


def _read(row: MemberRow, field: Field, texts: Mapping[str, str], date_order: Order | None) -> None:
    try:
        row.values[field.name] = field.parse_cells(texts, date_order)
    except UnreadableCells as fault:
        row.sheet.refuse(*fault.args)


@dataclass
class CheckedRow:
    """The result for one row as the check stores it. `body`: values to send; `old`: the values that they replace."""

    row: MemberRow
    action: Action = Action.REFUSED
    member_id: str = ""
    name: str = ""
    code: str = ""
    body: dict[str, Any] = field(default_factory=dict)
    old: dict[str, Any] = field(default_factory=dict)

    def refuse(self, column: str, reason: str, **values: Any) -> None:
        self.row.sheet.refuse(column, reason, **values)

    def note(self, column: str, reason: str, **values: Any) -> None:
        self.row.sheet.notes.append((column, reason, values))

    @property
    def problems(self) -> list[Problem]:
        return self.row.sheet.problems

    @property
    def new_row(self) -> NewRow:
        """Return the row to store. A refused row has only its problems."""
        sheet = self.row.sheet
        content: dict[str, Any] = {"name": self.name, "code": self.code, "body": {}}
        if self.problems:
            content |= {"quoted": sheet.quoted} if sheet.quoted else {}
            return NewRow(sheet.line, Action.REFUSED, self.member_id, content, self.problems)
        content |= {"body": self.body} | ({"old": self.old} if self.old else {})
        content |= {"cleaned": sheet.cleaned} if sheet.cleaned else {}
        return NewRow(sheet.line, self.action, self.member_id, content, (), sheet.notes)


class MemberChecker:
    """The check of one file's rows about members (`sheet_kinds.RowChecker`)."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._groups, self._reader = GroupIndex.load(), MemberRowBuilder(job.tenant_id)
        self._rights_for = rights_source(job.sheet.rights, self._groups)
        self._default_group, self._date_order = job.sheet.default_group, job.sheet.options.get("date_order")
        self._now = write_moment(timezone.now().astimezone(JST).replace(microsecond=0))
        self._duplicates = Duplicates(self._reader)
        self._late: list[tuple[int, Problem]] = []
        self._cards = PassedCards(job)

    def check(self, rows: Sequence[SheetRow]) -> list[NewRow]:
        read = [read_member(row, self._date_order) for row in rows]
        known = KnownMembers.load(
            self._reader,
            {row.member_id for row in read if row.member_id},
            {row.code for row in read if row.code and not row.member_id},
            [row.values[CARD.name] for row in read if row.values.get(CARD.name)],
        )
        results = {row.sheet.line: self._check_row(row, known) for row in read}
        self._late = self._duplicates.refuse(results)
        self._cards.remember(results.values())
        return [result.new_row for result in results.values()]

    def take_late_problems(self) -> list[tuple[int, Problem]]:
        """Return the problems of rows of earlier batches, by line."""
        return self._late

    def finish(self) -> dict[str, Any]:
        self._cards.settle()
        return {}

    def _check_row(self, row: MemberRow, known: KnownMembers) -> CheckedRow:
        """Decide on one row, with the same models that check requests."""
        result = CheckedRow(row, name=row.name, code=row.code)
        member = _find_member(result, known)
        group_id = self._find_group(result, member)
        if member is None:
            self._check_new_member(result, group_id or ("" if row.group else self._default_group))
        else:
            result.member_id = member.member_id
            result.name, result.code = row.name or member.member_name, row.code or member.member_code
            self._check_change(result, group_id, member)
        card = result.body.get(CARD.name)
        if card and any(owner != result.member_id for owner in known.card_holders(card)):
            # It is not refused here, because the mirror may be outdated.
            result.note(CARD.name, "card_of_another")
            self._cards.taken[row.sheet.line] = known.card_holders(card)
        return result

    def _find_group(self, result: CheckedRow, member: Member | None) -> str:
        text = result.row.group
        if not text:
            return ""
        ids = self._groups.find_ids(text)
        if not ids and member is not None and _is_lossy_copy(text, member.membergroup_name):
            return member.membergroup_id
        if not ids and (parts := [part.strip() for part in re.split(r"[;|]", text)])[1:]:
            ids = [each for part in parts for each in self._groups.find_ids(part)]
            if len(ids) == 1:
                result.note("group", "one_group", name=self._groups.names[ids[0]])
        if not ids:
            result.refuse("group", "no_such_group", hint=self._groups.suggestion(text))
        elif len(ids) > 1:
            result.refuse("group", "several_groups", n=len(ids))
        return ids[0] if len(ids) == 1 else ""

    def _check_new_member(self, result: CheckedRow, group_id: str) -> None:
        row = result.row
        body = self._blocked_values(result, dict(row.values), {})
        if group_id:
            body[GROUP.name] = group_id
            rights = self._rights_for(group_id)
            body |= rights or {}
            if rights is None:
                result.note("group", "no_rights")
        elif not any(column == "group" for column, _code, _values in result.problems):
            result.refuse("group", "missing")
        if row.member_id:  # an unknown member ID is refused already; the other problems are shown as well
            body.setdefault(NAME.name, "-")
        if "?" in row.name:
            result.note(NAME.name, "question_mark")
        result.action, result.body = Action.CREATE, body
        _check_values(result, MemberCreate, {GROUP.name: "-", **body}, body)

    def _check_change(self, result: CheckedRow, group_id: str, member: Member) -> None:
        row, present = result.row, MEMBER.written_values(member)
        values = self._blocked_values(result, dict(row.values), present)
        if group_id:
            values[GROUP.name] = group_id
        for name in row.cleared:
            values[name] = MEMBER[name].empty_value
        changed = {name: value for name, value in values.items() if not _is_same(result, name, value, present[name])}
        result.action = Action.UPDATE if changed else Action.SAME
        result.body, result.old = changed, {name: present[name] for name in changed}
        _check_values(result, BulkMember, {"member_id": "-", **changed}, {**present, **changed})

    def _blocked_values(self, result: CheckedRow, values: dict[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values with an end of use for a person without access in the file: at once, if not before."""
        if not result.row.is_blocked:
            return values
        end = values.get(END.name) or present.get(END.name)
        if not end or end > self._now:
            values[END.name] = self._now
            result.note(STATUS.name, "blocked")
            if (values.get(START.name) or "") > self._now:
                del values[START.name]
        return values


def _find_member(result: CheckedRow, known: KnownMembers) -> Member | None:
    """Return the member that the row refers to, or None for a new one."""
    row = result.row
    if row.member_id:
        member = known.by_id.get(row.member_id)
        if member is None:
            result.refuse(MEMBER_ID.name, "no_such_member")
        return member
    if not row.code:
        return None
    members = known.with_code(row.code)
    if len(members) > 1:
        result.refuse(CODE.name, "several_members", n=len(members))
    if not members and (similar := known.by_digits.get(fold(row.code).lstrip("0"))):
        result.refuse(CODE.name, "zeros_missing", code=similar.member_code)
    if members and members[0].member_code != row.code:
        result.note(CODE.name, "same_code", code=members[0].member_code)
        row.values[CODE.name] = members[0].member_code
    return members[0] if members else None


def _is_same(result: CheckedRow, name: str, value: Any, present: Any) -> bool:
    """Return whether a value is the present one, also as a spreadsheet shows and saves it."""
    if MEMBER.is_same(name, value, present):
        return True
    if not value or not present:
        return False
    if name in (START.name, END.name):  # without seconds
        return str(value)[16:19] == ":00" and str(value)[:16] == str(present)[:16]
    lost = ""
    if isinstance(present, str) and value == clean(present, MEMBER[name].sheet_columns[0].kind):
        return True
    if name in (CODE.name, CARD.name):
        is_shorter = value.isdecimal() and present.isdecimal() and value == present.lstrip("0")
        lost = "zeros_lost" if is_shorter else ""
    elif name == NAME.name:
        lost = "letters_lost" if _is_lossy_copy(value, present) else ""
    if lost:
        result.note(name, lost)
    return bool(lost)


def _is_lossy_copy(text: str, present: str) -> bool:
    """Return whether a text is the present one with `?` for the letters that an old encoding does not have."""
    if "?" not in text or len(text) != len(present):
        return False
    return any(present.encode(each, "replace").decode(each) == text for each in ("cp932", "cp1252", "ascii"))


def _check_values(result: CheckedRow, model: Any, body: dict[str, Any], all_values: dict[str, Any]) -> None:
    """Add the problems that the model finds, and a use period that ends before it begins."""
    named = {column for column, _code, _values in result.problems}
    for path, code, values in find_faults(model, body):
        known = MEMBER.get(path[0]) if path else None
        column = known.error_cell_of(body.get(known.name)) if known else "".join(path[:1])
        if column not in named:
            result.refuse(column, code, **values)
    start, end = all_values.get(START.name), all_values.get(END.name)
    if start and end and start > end:
        result.refuse(END.name, "ends_before")


class PassedCards:
    """Cards that one row of the file gives up and another one takes: the row that gives it up is sent first."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.taken: dict[int, list[str]] = {}  # line -> present holders of its card
        self._given: dict[str, int] = {}  # member ID -> line that changes or clears the card

    def remember(self, results: Any) -> None:
        """Remember the rows that change or clear a member's card."""
        for result in results:
            if result.old.get(CARD.name) and not result.problems:
                self._given[result.member_id] = result.row.sheet.line

    def settle(self) -> None:
        """Remove the note about a card whose holder gives it up, and send the holder's row first."""
        passed = {line: owners for line, owners in self.taken.items() if self._given.keys() >= set(owners)}
        rows = Row.objects.filter(job=self._job)
        for row in rows.filter(line__in=passed).only("notes").iterator():
            notes = [note for note in row.notes if note[1] != "card_of_another"]
            rows.filter(pk=row.pk).update(notes=notes)
        givers = {self._given[owner] for owners in passed.values() for owner in owners}
        rows.filter(line__in=givers).update(goes_first=True)


class Duplicates:
    """Finds rows with the same member, code or card.

    All of them are refused and each names another line, because only a person can decide which one is correct.
    """

    def __init__(self, reader: MemberRowBuilder) -> None:
        self._reader = reader
        self._first: dict[bytes | str, int] = {}
        self._named: set[bytes | str] = set()

    def refuse(self, results: Mapping[int, CheckedRow]) -> list[tuple[int, Problem]]:
        """Refuse the duplicates in `results`. Return the lines of earlier batches to refuse, each with its problem."""
        late: list[tuple[int, Problem]] = []
        for line, result in results.items():
            for key, column, code in self._keys(result):
                first = self._first.setdefault(key, line)
                if first == line:
                    continue
                _refuse_duplicate(result, column, code, first)
                if key not in self._named:
                    self._named.add(key)
                    if first in results:
                        _refuse_duplicate(results[first], column, code, line)
                    else:
                        late.append((first, (column, code, {"line": line})))
        return late

    def _keys(self, result: CheckedRow) -> Iterator[tuple[bytes | str, str, str]]:
        row = result.row
        if row.code:
            yield f"c{fold(row.code)}", CODE.name, "twice_code"
        member_id = result.member_id or row.member_id
        if member_id:
            yield f"m{member_id}", MEMBER_ID.name, "twice_member"
        card = row.values.get(CARD.name)
        if card:
            yield self._reader.card_fingerprint(card)[:16], CARD.name, "twice_card"


def _refuse_duplicate(result: CheckedRow, column: str, code: str, line: int) -> None:
    if all(name != column or problem != code for name, problem, _values in result.problems):
        result.refuse(column, code, line=line)
