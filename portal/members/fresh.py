"""Reading one member from the service for somebody who looks at the page."""

from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from portal.budget.ledger import BudgetExhausted
from portal.budget.priorities import Priority
from portal.members import portraits
from portal.members.queries import connection
from portal.mirror import reading
from portal.mirror.models import Member
from portal.ui.times import local
from tenants.models import Tenant


def read(tenant: Tenant, member: Member) -> str:
    """Bring the mirror's row up to date by one call. Returns why that was not possible, or an empty text."""
    line = connection()
    if line is None or not line.is_connected:
        return _("The connection to the service is not working. This is what was last known.")
    try:
        told = reading.read_member(line, member.member_id, Priority.PEOPLE)
        portraits.noted(tenant, member.member_id, told.profile_image_url)
    except NotFound:
        return _("The service does not know this member any more.")
    except BudgetExhausted as exhausted:
        words = _("The hour's calls are used up; reading is possible again at %(time)s. This is what was last known.")
        return words % {"time": f"{local(exhausted.retry_at):%H:%M}"}
    except ServiceError:
        return _("The service did not answer. This is what was last known.")
    return ""
