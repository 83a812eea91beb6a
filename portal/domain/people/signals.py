"""Register the app's parts that other apps run or show."""

from portal.domain.mirror.fields.guests import GUEST
from portal.domain.mirror.fields.members import MEMBER, MEMBERGROUP
from tenants.audit_log import changes

for kind, fields in (("member", MEMBER), ("guest", GUEST), ("membergroup", MEMBERGROUP)):
    changes.register_labels(kind, fields.label_of)
