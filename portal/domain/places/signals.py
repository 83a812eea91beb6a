"""Register the app's parts that other apps run or show."""

from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.places import key_states

events.subscribe(MirrorKind.HISTORIES, key_states.on_histories)
events.subscribe(MirrorKind.KEY_BOXES, key_states.on_key_boxes)
