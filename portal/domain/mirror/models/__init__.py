"""The mirror's tables. All their data can be read from the service again."""

from portal.domain.history.models import History, HistoryDay, HistorySearch
from portal.domain.people.models import NEVER, UNREADABLE, Group, Guest, Member, MemberSearch, RightsChange
from portal.domain.places.models import Area, DoorState, Key, KeyBox, KeyState, PassController, TenantRecord
from portal.domain.sync.models import MirrorState, SharedReading, StagedPage, SyncRun

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
