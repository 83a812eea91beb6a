"""From a visit to its code: kept, encrypted, in the mirror when we made it or read it once; asked for otherwise."""

from django.db import transaction
from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from portal.core.budget.ledger import BudgetExhausted
from portal.core.budget.priorities import Priority
from portal.core.intents.models import target_of
from portal.core.intents.record import Asker
from portal.core.mirror import reading, reasons
from portal.core.ui.times import local
from portal.core.visits.models import Visit
from tenants import audit
from tenants.connections.service import current_connection
from tenants.wording import say


def read_once(visit: Visit, by: Asker) -> str:
    """Have the service say the code (operation 21, one call). Returns why that was not possible, or an empty text."""
    connection = current_connection()
    if not connection.is_connected:
        return _("The connection to the service is not working, so the code cannot be loaded now.")
    try:
        guest = reading.read_guest(connection, visit.guest_id or "", Priority.PEOPLE)
    except NotFound:
        return _("This guest was deleted from the service, so there is no code.")
    except BudgetExhausted as exhausted:
        words = _("No API calls left this hour. The code can be loaded from %(time)s.")
        return words % {"time": f"{local(exhausted.retry_at):%H:%M}"}
    except ServiceError as error:
        return " ".join([reasons.trouble(error), _("The code is not loaded yet.")])
    record(visit, by, "code_shown")
    return "" if guest.qrcode_data else _("The service has no code for this guest.")


def record(visit: Visit, by: Asker, act: str, **facts: object) -> None:
    """Somebody took a code away, or had it shown: that they did is kept, the code is not."""
    with transaction.atomic():
        audit.record(
            tenant=by.tenant,
            by=by.user,
            action=f"guest.{act}",
            target=target_of("guest", visit.guest_id),
            summary=say(f"guest.{act}"),
            after=dict(facts) or None,
            support_session=by.support_session,
        )
