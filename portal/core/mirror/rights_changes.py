"""What differs between two readings of a member's rights is kept: the mirror itself holds only the last one.

Our own writes are known from the audit trail and bring the mirror's copy up to date, so that a difference here is
somebody else's doing, for example in the member site.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from accessapi.permissions import normalise_devices, normalise_keys
from portal.core.mirror.models import Member, RightsChange

#: As long as records of the log.
KEEP = timedelta(days=400)
_NORMAL = {"devices_pass": normalise_devices, "keys_pass": normalise_keys}


def note(member: Member, told: Mapping[str, Any], asked_at: datetime) -> None:
    """Keep what the mirror knew and what was told now, where the two mean something else; forget what is old."""
    known = member.rights
    if known is None or all(_same(known.get(name), told.get(name), name) for name in _NORMAL):
        return
    mine = RightsChange.objects.filter(member_id=member.member_id)
    mine.filter(read_at__lt=asked_at - KEEP).delete()
    RightsChange.objects.create(
        tenant_id=member.tenant_id,
        member_id=member.member_id,
        since=member.rights_read_at,
        read_at=asked_at,
        before={name: known.get(name) for name in _NORMAL},
        after={name: told.get(name) for name in _NORMAL},
    )


def _same(one: Any, other: Any, name: str) -> bool:
    """Whether two readings of a part mean the same; a part that was not told means none."""
    return bool(_NORMAL[name](one) == _NORMAL[name](other))
