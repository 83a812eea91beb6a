"""What differs between two readings of a member's rights is kept: the mirror itself holds only the last one.

Our own writes are known from the audit trail and bring the mirror's copy up to date, so that a difference here is
somebody else's doing, for example in the member site.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from portal.core.mirror.fields.members import DOORS_AND_KEYS
from portal.core.mirror.models import Member, RightsChange

#: As long as records of the log.
KEEP = timedelta(days=400)


def note(member: Member, told: Mapping[str, Any], asked_at: datetime) -> None:
    """Keep what the mirror knew and what was told now, where the two mean something else; forget what is old."""
    known = member.rights
    if known is None or all(each.same(known.get(each.name), told.get(each.name)) for each in DOORS_AND_KEYS):
        return
    mine = RightsChange.objects.filter(member_id=member.member_id)
    mine.filter(read_at__lt=asked_at - KEEP).delete()
    RightsChange.objects.create(
        tenant_id=member.tenant_id,
        member_id=member.member_id,
        since=member.rights_read_at,
        read_at=asked_at,
        before={each.name: known.get(each.name) for each in DOORS_AND_KEYS},
        after={each.name: told.get(each.name) for each in DOORS_AND_KEYS},
    )
