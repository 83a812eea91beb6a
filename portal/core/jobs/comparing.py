"""The last look at rows before they leave: what was promised is compared with what the mirror knows now."""

from collections.abc import Mapping, Sequence

from portal.core.jobs import kinds, rowstore
from portal.core.jobs.kinds import Already, Fresh, Keep, Send, Skip
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action, RowState
from portal.core.mirror.fields.members import CODE, MEMBER
from portal.core.mirror.folding import fold
from portal.core.mirror.models import Member


def refreshed(job: Job, action: Action, rows: list[Row]) -> list[Row]:
    """The rows that are to be sent, with the bodies to send. What is left out is settled, and says why."""
    if action == Action.CREATE:
        return _not_come_meanwhile(rows)
    look = kinds.kind_of(job).fresh
    return rows if look is None else _sorted(job, rows, look(job, rows))


def _sorted(job: Job, rows: list[Row], verdicts: Mapping[int, Fresh]) -> list[Row]:
    send: list[Row] = []
    settled: list[Row] = []
    rewritten, noted = [], []
    for row in rows:
        verdict = verdicts.get(row.pk)
        if verdict is not None and verdict.note:  # worth knowing once the row has left
            row.notes = [["", verdict.note, {"at_start": True}]]
            noted.append(row)
        match verdict:
            case Keep():
                row.state, row.problems = RowState.KEPT, [["", verdict.word, {}]]
            case Skip():
                row.state, row.problems = RowState.FAILED, [[verdict.field, verdict.word, verdict.facts]]
            case Already():
                row.state, row.problems = RowState.SUCCEEDED, [["", verdict.word, {}]]
            case Send():
                row.content = {**row.content, "body": verdict.body, "old": verdict.old}
                rewritten.append(row)
        (send if isinstance(verdict, Send | None) else settled).append(row)
    Row.objects.bulk_update(noted, ["notes"], batch_size=500)
    Row.objects.bulk_update(settled, ["state", "problems"], batch_size=500)
    rowstore.rewrite(job, rewritten)
    return send


def _not_come_meanwhile(rows: list[Row]) -> list[Row]:
    """Leave out new members whose code has come to somebody since the dry run: sending them would double a person."""
    codes = {row.pk: row.content["code"] for row in rows}
    keys = {fold(code) for code in codes.values() if code}
    present = Member.objects.filter(gone_at__isnull=True, code_key__in=keys).values_list(CODE.name, flat=True)
    taken = set(present) if keys else set()
    late = [row.pk for row in rows if codes[row.pk] in taken]
    if late:
        Row.objects.filter(pk__in=late).update(state=RowState.FAILED, problems=[[CODE.name, "appeared", {}]])
    return [row for row in rows if row.pk not in late]


def listed(job: Job, rows: Sequence[Row]) -> Mapping[int, Fresh]:
    """For kinds that change what lists show: send where the former values still stand, report where they do not."""
    members = {m.member_id: m for m in Member.objects.filter(member_id__in=[row.member_id for row in rows])}
    looks = {row.pk: _look(row, members.get(row.member_id)) for row in rows}
    return {pk: look for pk, look in looks.items() if look is not None}


def _look(row: Row, member: Member | None) -> Fresh | None:
    gone = member is None or member.gone_at is not None
    if member is None or gone:
        return Already() if row.action == Action.DELETE else Skip("gone")
    present, content = MEMBER.written(member), row.content
    old, body = content["old"], content["body"]
    if row.action != Action.DELETE and all(MEMBER.same(name, value, present[name]) for name, value in body.items()):
        return Already()
    changed = [name for name, value in old.items() if not MEMBER.same(name, value, present[name])]
    return Skip("meanwhile", field=changed[0]) if changed else None
