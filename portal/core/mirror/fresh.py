"""One member read from the service for somebody at a screen, or why that was not possible in words for a page."""

from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from accessapi.resources.members import Member
from portal.core.budget.ledger import BudgetExhausted
from portal.core.budget.priorities import Priority
from portal.core.mirror import reading, reasons
from portal.core.ui.times import local
from tenants.models import Connection


def read(connection: Connection | None, member_id: str) -> tuple[Member | None, str]:
    """The member as the service has it now, the mirror's row brought up to date, by one call; else None and why not."""
    if connection is None or not connection.is_connected:
        return None, _("The connection to the service is not working. This is what was last known.")
    try:
        return reading.read_member(connection, member_id, Priority.PEOPLE), ""
    except NotFound:
        return None, _("The service does not know this member any more.")
    except BudgetExhausted as exhausted:
        words = _("The hour's calls are used up; reading is possible again at %(time)s. This is what was last known.")
        return None, words % {"time": f"{local(exhausted.retry_at):%H:%M}"}
    except ServiceError as error:
        return None, " ".join([reasons.trouble(error), _("This is what was last known.")])
