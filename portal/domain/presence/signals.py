"""Register the app's parts that other apps run or show."""

from portal.domain.mirror import events
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.presence import hourly_counts, passages

events.subscribe(MirrorKind.HISTORIES, passages.on_histories)
events.subscribe(MirrorKind.HISTORIES, hourly_counts.on_histories)
passages.register()
