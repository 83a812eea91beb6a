"""Register the app's parts that other apps run or show."""

from portal.domain.mirror import events
from portal.domain.mirror.kinds import MirrorKind
from portal.webhooks import alerts, follow, panel, processing

alerts.register()
follow.register()
panel.register()
events.subscribe(MirrorKind.HISTORIES, processing.on_histories)
processing.register()
