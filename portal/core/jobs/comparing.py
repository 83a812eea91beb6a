"""The last look at rows before they leave: what was promised is compared with what the mirror knows now."""

from collections.abc import Mapping, Sequence

from portal.core.jobs import kinds, rowstore
from portal.core.jobs.kinds import Already, Fresh, Skip
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


def _sorted(job: Job, rows: list[Row], found: Mapping[int, kinds.Fresh]) -> list[Row]:
    send, rewritten, left_out = [], [], []
    done: dict[str, list[int]] = {}
    _note(rows, found)
    for row in rows:
        verdict = found.get(row.pk)
        if isinstance(verdict, kinds.Keep):
            row.state, row.problems = RowState.KEPT, [["", verdict.word, {}]]
            left_out.append(row)
            continue
        if isinstance(verdict, kinds.Skip):
            row.state, row.problems = RowState.FAILED, [[verdict.field, verdict.word, verdict.facts]]
            left_out.append(row)
            continue
        if isinstance(verdict, kinds.Already):
            done.setdefault(verdict.word, []).append(row.pk)
            continue
        if isinstance(verdict, kinds.Send):
            row.content = {**row.content, "body": verdict.body, "old": verdict.old}
            rewritten.append(row)
        send.append(row)
    Row.objects.bulk_update(left_out, ["state", "problems"], batch_size=500)
    rowstore.rewrite(job, rewritten)
    for word, ids in done.items():
        Row.objects.filter(pk__in=ids).update(state=RowState.SUCCEEDED, problems=[["", word, {}]])
    return send


def _note(rows: list[Row], found: Mapping[int, kinds.Fresh]) -> None:
    """Keep what is worth knowing about rows once they are looked at for the last time."""
    noted = []
    for row in rows:
        verdict = found.get(row.pk)
        if verdict is not None and verdict.note:
            row.notes = [["", verdict.note, {"at_start": True}]]
            noted.append(row)
    Row.objects.bulk_update(noted, ["notes"], batch_size=500)


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
