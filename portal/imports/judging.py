"""What one row would do: create, change (old and new), nothing, or be refused with the field and the reason. Pure."""

from dataclasses import dataclass, field
from typing import Any

from accessapi.resources import BulkMember, MemberCreate
from portal.core.jobs.rowstore import NewRow
from portal.core.jobs.states import Action
from portal.core.mirror.fields.field import faults
from portal.core.mirror.fields.members import CARD, CODE, END, GROUP, MEMBER, MEMBER_ID, NAME, START
from portal.imports.columns import Cells, Problem
from portal.imports.matching import Give, Groups, Known


def _nothing(_group_id: str) -> dict[str, Any]:
    return {}


@dataclass
class Verdict:
    """A row as the dry run stores it. `body` is what would be sent; `old` what it replaces."""

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


def judge(line: int, row: Cells, known: Known, groups: Groups, default_group: str, give: Give = _nothing) -> Verdict:
    """Decide on one row. Limits are those of the models that also check what is sent. `give`: rights of new members."""
    verdict = Verdict(line, Action.REFUSED, name=row.name, code=row.code, problems=list(row.problems))
    member = _meant(row, known, verdict)
    group_id = _group(row, groups, verdict)
    if member is None:
        _create(verdict, row, group_id or ("" if row.group else default_group), give)
    else:
        _change(verdict, row, group_id, MEMBER.written(member))
        verdict.member_id = member.member_id
        verdict.name, verdict.code = row.name or member.member_name, row.code or member.member_code
    _note_cards(verdict, row, known)
    if verdict.problems:
        verdict.action, verdict.body, verdict.old, verdict.notes = Action.REFUSED, {}, {}, []
    return verdict


def _meant(row: Cells, known: Known, verdict: Verdict) -> Any:
    """The member that the row is about, None for a new one."""
    if row.member_id:
        member = known.by_id.get(row.member_id)
        if member is None:
            verdict.problems.append((MEMBER_ID.name, "no_such_member", {}))
        return member
    if not row.code:
        return None
    members = known.by_code.get(row.code, [])
    if len(members) > 1:
        verdict.problems.append((CODE.name, "several_members", {"n": len(members)}))
    return members[0] if members else None


def _group(row: Cells, groups: Groups, verdict: Verdict) -> str:
    if not row.group:
        return ""
    found = groups.find(row.group)
    if not found:
        verdict.problems.append(("group", "no_such_group", {"hint": groups.hint(row.group)}))
    elif len(found) > 1:
        verdict.problems.append(("group", "several_groups", {"n": len(found)}))
    return found[0] if len(found) == 1 else ""


def _create(verdict: Verdict, row: Cells, group_id: str, give: Give) -> None:
    body = dict(row.given)
    if group_id:
        body[GROUP.name] = group_id
        rights = give(group_id)
        body |= rights or {}
        if rights is None:
            verdict.notes.append(("group", "no_rights", {}))
    elif not any(field == "group" for field, _word, _facts in verdict.problems):
        verdict.problems.append(("group", "missing", {}))
    if row.member_id:  # an unknown member is refused already; its other faults are worth naming too
        body.setdefault(NAME.name, "-")
    verdict.action, verdict.body = Action.CREATE, body
    _check(verdict, MemberCreate, {GROUP.name: "-", **body}, body)


def _change(verdict: Verdict, row: Cells, group_id: str, present: dict[str, Any]) -> None:
    wanted = dict(row.given)
    if group_id:
        wanted[GROUP.name] = group_id
    for name in row.cleared:
        wanted[name] = MEMBER[name].empty
    changed = {name: value for name, value in wanted.items() if not MEMBER.same(name, value, present[name])}
    verdict.action = Action.UPDATE if changed else Action.SAME
    verdict.body, verdict.old = changed, {name: present[name] for name in changed}
    _check(verdict, BulkMember, {"member_id": "-", **wanted}, {**present, **wanted})


def _check(verdict: Verdict, model: Any, body: dict[str, Any], whole: dict[str, Any]) -> None:
    """Add what the model refuses, and a use period that ends before it begins."""
    named = {field for field, _word, _facts in verdict.problems}
    for path, word, facts in faults(model, body):
        known = MEMBER.get(path[0]) if path else None
        shown = known.cell_of(body.get(known.name)) if known else "".join(path[:1])
        if shown not in named:
            verdict.problems.append((shown, word, facts))
    start, end = whole.get(START.name), whole.get(END.name)
    if start and end and start > end:
        verdict.problems.append((END.name, "ends_before", {}))


def _note_cards(verdict: Verdict, row: Cells, known: Known) -> None:
    """A card that somebody else holds is refused by the service, as far as the mirror knows: said, and left to it."""
    card = verdict.body.get(CARD.name)
    if card and any(owner != verdict.member_id for owner in known.owners(card)):
        verdict.notes.append((CARD.name, "card_of_another", {}))
