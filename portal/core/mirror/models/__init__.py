"""The mirror's tables. Everything in them can be read again from the service; nothing here is the only copy."""

from portal.core.mirror.models.devices import KeyBox, PassController
from portal.core.mirror.models.guests import Guest
from portal.core.mirror.models.histories import History
from portal.core.mirror.models.members import NEVER, UNREADABLE, Member, MemberSearch, RightsChange
from portal.core.mirror.models.places import Area, Group, TenantRecord
from portal.core.mirror.models.state import MirrorState, SharedReading, StagedPage, SyncRun

__all__ = [
    "NEVER",
    "UNREADABLE",
    "Area",
    "Group",
    "Guest",
    "History",
    "KeyBox",
    "Member",
    "MemberSearch",
    "MirrorState",
    "PassController",
    "RightsChange",
    "SharedReading",
    "StagedPage",
    "SyncRun",
    "TenantRecord",
]
