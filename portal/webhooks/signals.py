"""Register the app's parts that other apps run or show."""

from portal.base.timers import rounds, timer_registry
from portal.base.ui import batching, panels
from portal.domain.alerts import kinds
from portal.domain.intents import handlers
from portal.domain.mirror import events
from portal.domain.mirror.kinds import MirrorKind
from portal.webhooks import panel, processing
from portal.webhooks.actions import OPERATION, TARGET
from portal.webhooks.alerts import SILENCE_ALERT
from portal.webhooks.follow import apply_outcome, reconcile
from portal.webhooks.models import Webhook
from tenants.audit_log import changes

kinds.register(SILENCE_ALERT)
handlers.register(OPERATION, on_finished=apply_outcome, reconcile=reconcile)
panels.register("connection", panel.draw_panel)
panels.register("log", panel.draw_on_log_page, query=panel.BATCH_NAME)
batching.register_query(panel.BATCH_NAME, lambda: Webhook.objects.values_list("is_on", "working"), on_every_page=False)
changes.register_words(TARGET, panel.audit_words)
changes.register_labels(TARGET, panel.audit_label)
events.subscribe(MirrorKind.HISTORIES, processing.on_histories)
timer_registry.register("hooks", processing.DUE.check_due, every=1.0, queue="sync", due_rows=processing.DUE.querysets)
rounds.register("old_notifications", rounds.delete_steps(processing.old_notifications), every=3600.0, queue="sync")
