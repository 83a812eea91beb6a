"""Member groups. Specification: resource "Member group", operations 16 to 18. There is no deletion."""

from accessapi.resources.received import Identifier, Received, Whole
from accessapi.resources.sent import GroupName, Sent


class GroupCreate(Sent):
    membergroup_name: GroupName


class GroupUpdate(Sent):
    membergroup_name: GroupName


class Group(Received):
    membergroup_id: Identifier
    membergroup_name: str | None = None
    member_count: Whole | None = None
