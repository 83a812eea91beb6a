"""Register what readings, people and places offer to others: labels, listeners, banners, timers, sentences."""

from django.utils.translation import ngettext_lazy

from portal.base.restore import marking
from portal.base.ui import batching, frame
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.people.guest_fields import GUEST
from portal.domain.people.member_fields import MEMBER, MEMBERGROUP
from portal.domain.places import key_states
from portal.domain.sync import freshness, schedule, tasks
from tenants.audit_log import changes
from tenants.connections.oauth_grant import connected
from tenants.sentences import register_sentences

connected.connect(schedule.on_connected, dispatch_uid="mirror")
marking.register("lists", schedule.reload_after_restore)
tasks.LISTS.register(check=tasks.check_due, due_rows=tasks.due_rows, lag_rows=schedule.overdue_rows)
batching.register_query("freshness", freshness.kind_states)
frame.register_fact("freshness", freshness.footer_values)


register_sentences(
    {
        "log.days_asked": ngettext_lazy(
            "Activity log of %(n)s older day loaded: %(days)s", "Activity log of %(n)s older days loaded: %(days)s", "n"
        ),
    }
)


for kind, fields in (("member", MEMBER), ("guest", GUEST), ("membergroup", MEMBERGROUP)):
    changes.register_labels(kind, fields.label_of)


events.subscribe(MirrorKind.HISTORIES, key_states.on_histories)
events.subscribe(MirrorKind.KEY_BOXES, key_states.on_key_boxes)
