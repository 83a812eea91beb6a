"""The mirror's tables. Everything in them can be read again from the service; nothing here is the only copy."""

from portal.core.mirror.models.keys import Key, KeyState
from portal.core.mirror.models.log import History, HistoryDay, HistorySearch
from portal.core.mirror.models.people import NEVER, UNREADABLE, Group, Guest, Member, MemberSearch, RightsChange
from portal.core.mirror.models.places import Area, DoorState, KeyBox, PassController, TenantRecord
from portal.core.mirror.models.state import MirrorState, SharedReading, StagedPage, SyncRun

__all__ = [
    "NEVER",
    "UNREADABLE",
    "Area",
    "DoorState",
    "Group",
    "Guest",
    "History",
    "HistoryDay",
    "HistorySearch",
    "Key",
    "KeyBox",
    "KeyState",
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
