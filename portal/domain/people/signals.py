"""Register the app's parts that other apps run or show."""

from portal.domain.people.guest_fields import GUEST
from portal.domain.people.member_fields import MEMBER, MEMBERGROUP
from tenants.audit_log import changes

for kind, fields in (("member", MEMBER), ("guest", GUEST), ("membergroup", MEMBERGROUP)):
    changes.register_labels(kind, fields.label_of)
