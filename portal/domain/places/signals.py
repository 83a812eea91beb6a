"""Register the app's parts that other apps run or show."""

from portal.domain.mirror import events, key_states
from portal.domain.mirror.kinds import MirrorKind

events.subscribe(MirrorKind.HISTORIES, key_states.on_histories)
events.subscribe(MirrorKind.KEY_BOXES, key_states.on_key_boxes)
