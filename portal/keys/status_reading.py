"""Keep key states up to date: read each key box regularly, and sooner if a reading and the log disagree.

A reading uses one device API call of the hour. So readings use at most the share of sync, the oldest reading first, and
stop when few calls are left. Between two readings, the log reports changes without extra calls.
"""

from collections.abc import Sequence

from django.db.models import F, Q, QuerySet

from accessapi.doors import DoorEvent
from accessapi.errors import NotFound, ServiceError
from portal.base.timers.celery_app import enqueue_after_commit
from portal.base.timers.clock import ClockTime
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.places import key_states
from portal.domain.places.models import KeyBox
from portal.domain.sync import freshness, single_reads
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, Tenant

_BATCH_SIZE = 10
READ_STALE = "portal.keys.read_stale"


def due_boxes() -> list[QuerySet[KeyBox]]:
    """Return the key boxes that are due, of all connected tenants."""
    return [KeyBox.objects_across_tenants.filter(_is_due(), tenant_id__in=Connection.connected_tenants())]


def read_due_boxes() -> int:
    """Read the due key boxes of the tenant in scope, within the API budget. Return the number of boxes read."""
    connection = current_connection()
    if not connection.is_connected:
        return 0
    due = KeyBox.objects.filter(_is_due()).order_by(F("look_at").asc(nulls_first=True), "pk")
    boxes, read = list(due.values_list("key_device_id", flat=True)[:_BATCH_SIZE]), 0
    if freshness.is_refused(connection, MirrorKind.KEY_BOXES):  # read one box as a test
        for key_device_id in boxes[1:]:
            key_states.postpone_box(key_device_id)
        boxes = boxes[:1]
    for key_device_id in boxes:
        try:
            single_reads.read_key_box_status(connection, key_device_id, Priority.SYNC)
            read += 1
        except NotFound:
            key_states.postpone_box(key_device_id)
        except BudgetExhausted:
            break
        except ServiceError:
            key_states.postpone_box(key_device_id)
            break
    return read


def _is_due() -> Q:
    return Q(look_at__isnull=True) | Q(look_at__lte=ClockTime())


def on_histories(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Make key boxes due at once if a new record reports a lost connection or a key in a wrong place."""
    states = tenant.environment.catalogue.states
    box_ids = {
        each.device_id
        for each in histories
        if states.event_of([each.text]) is DoorEvent.CONNECTION_LOST or (each.units and states.is_wrong_key(each.texts))
    }
    if box_ids and KeyBox.objects.filter(key_device_id__in=box_ids).update(look_at=ClockTime()):
        enqueue_after_commit(READ_STALE, tenant.pk)
