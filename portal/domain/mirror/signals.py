"""Register the app's parts that other apps run or show."""

from portal.domain.mirror import freshness, key_states, log_partitions, sync_schedule
from portal.domain.mirror.fields.guests import GUEST
from portal.domain.mirror.fields.members import MEMBER, MEMBERGROUP
from tenants.audit_log import changes
from tenants.signals import connected

connected.connect(sync_schedule.on_connected, dispatch_uid="mirror")
sync_schedule.register()
log_partitions.register()
freshness.register()
key_states.register()
for kind, fields in (("member", MEMBER), ("guest", GUEST), ("membergroup", MEMBERGROUP)):
    changes.register_labels(kind, fields.label_of)
