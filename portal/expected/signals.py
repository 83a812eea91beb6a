"""Register the app's parts that other apps run or show."""

from portal.domain.jobs import kinds
from portal.expected import actions
from portal.today import erasing as visits

kinds.register(actions.GUEST_LIST_KIND)
visits.subscribe(actions.erase_before)
