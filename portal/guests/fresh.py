"""Reading one guest from the service for somebody who looks at the page."""

from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from portal.core.budget.ledger import BudgetExhausted
from portal.core.budget.priorities import Priority
from portal.core.mirror import reading, reasons
from portal.core.timers.clock import database_now
from portal.core.ui.times import local
from portal.core.visits.models import Visit
from portal.guests import cutting
from portal.guests.queries import connection


def read(visit: Visit) -> str:
    """Bring mirror and visit up to date by one call. Returns why that was not possible, or an empty text."""
    line = connection()
    if line is None or not line.is_connected:
        return _("The connection to the service is not working. This is what was last known.")
    at = database_now()
    try:
        guest = reading.read_guest(line, str(visit.guest_id), Priority.PEOPLE)
    except NotFound:
        Visit.objects.filter(pk=visit.pk, gone_at__isnull=True).update(gone_at=database_now())
        return _("The service does not know this guest any more.")
    except BudgetExhausted as exhausted:
        words = _("The hour's calls are used up; reading is possible again at %(time)s. This is what was last known.")
        return words % {"time": f"{local(exhausted.retry_at):%H:%M}"}
    except ServiceError as error:
        return " ".join([reasons.trouble(error), _("This is what was last known.")])
    Visit.objects.filter(pk=visit.pk).update(gone_at=None)
    cutting.heard(visit, guest, at)
    return ""
