"""Register the app's parts that other apps run or show."""

from portal.base.timers import rounds
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.presence import passages

events.subscribe(MirrorKind.HISTORIES, passages.save_new_passages)
events.subscribe(MirrorKind.HISTORIES, passages.count_new_passages)
again = rounds.tenant_steps(passages.loaded_logs, passages.refresh_passages)
rounds.register("passages_taken_again", again, every=600.0, queue="sync", seconds=60)
