"""Comparing what a row was made from with the member as the mirror knows it now: nothing is overwritten unseen."""

from collections.abc import Mapping, Sequence

from portal.core.jobs.kinds import Already, Fresh, Skip
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action
from portal.core.mirror.fields.members import MEMBER
from portal.core.mirror.models import Member


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
