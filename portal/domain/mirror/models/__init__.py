"""The mirror's tables. All their data can be read from the service again."""

from portal.domain.mirror.models.keys import Key, KeyState
from portal.domain.mirror.models.log import History, HistoryDay, HistorySearch
from portal.domain.mirror.models.people import NEVER, UNREADABLE, Group, Guest, Member, MemberSearch, RightsChange
from portal.domain.mirror.models.places import Area, DoorState, KeyBox, PassController, TenantRecord
from portal.domain.mirror.models.state import MirrorState, SharedReading, StagedPage, SyncRun

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
