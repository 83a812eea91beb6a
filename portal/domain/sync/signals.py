"""Register the app's parts that other apps run or show."""

from django.utils.translation import ngettext_lazy

from portal.base.restore import marking
from portal.base.ui import batching, frame
from portal.domain.sync import freshness, schedule, tasks
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
