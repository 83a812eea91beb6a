"""Member groups. Specification: resource "Member group", operations 16 to 18. There is no deletion."""

from accessapi.resources.received import Identifier, ReceivedModel, WholeNumber
from accessapi.resources.sent import GroupName, SentModel


class GroupCreate(SentModel):
    membergroup_name: GroupName


class GroupUpdate(SentModel):
    membergroup_name: GroupName


class Group(ReceivedModel):
    membergroup_id: Identifier
    membergroup_name: str | None = None
    member_count: WholeNumber | None = None
