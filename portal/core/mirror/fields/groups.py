"""The one field of a member group that can be changed (specification: resource "Member group", operations 16 to 18)."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accessapi.resources.groups import GroupUpdate
from portal.core.mirror.fields.field import Fields
from portal.core.mirror.fields.kinds import Text
from portal.core.mirror.models import Group

GROUP_NAME = Text(
    "membergroup_name", _("Group name"), sent=GroupUpdate, missing=pgettext_lazy("group", "Enter a name.")
)
GROUP = Fields(Group, GROUP_NAME)
