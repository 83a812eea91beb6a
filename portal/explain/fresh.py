"""Reading one person's rights from the service for somebody who asks about them."""

from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from portal.budget.ledger import BudgetExhausted
from portal.budget.priorities import Priority
from portal.mirror import reading
from portal.mirror.models import Member
from portal.ui.times import local
from tenants.models import Connection


def read(connection: Connection | None, member: Member) -> str:
    """Bring the mirror's row up to date by one call. Returns why that was not possible, or an empty text."""
    if connection is None or not connection.is_connected:
        return _("The connection to the service is not working. This is what was last known.")
    try:
        reading.read_member(connection, member.member_id, Priority.PEOPLE)
    except NotFound:
        return _("The service does not know this member any more.")
    except BudgetExhausted as exhausted:
        words = _("The hour's calls are used up; reading is possible again at %(time)s. This is what was last known.")
        return words % {"time": f"{local(exhausted.retry_at):%H:%M}"}
    except ServiceError:
        return _("The service did not answer. This is what was last known.")
    return ""
