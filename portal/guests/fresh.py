"""Reading one guest from the service for somebody who looks at the page."""

from django.utils.translation import gettext as _

from portal.core.budget.priorities import Priority
from portal.core.mirror import fresh, reading
from portal.core.timers.clock import database_now
from portal.core.visits.models import Visit
from portal.guests import cutting


def read(visit: Visit) -> str:
    """Bring mirror and visit up to date by one call. Returns why that was not possible, or an empty text."""
    at, gone = database_now(), _("This guest no longer exists in the service.")
    try:
        guest = fresh.read(lambda line: reading.read_guest(line, str(visit.guest_id), Priority.PEOPLE), gone)
    except fresh.NotRead as why:
        if why.is_gone:
            Visit.objects.filter(pk=visit.pk, gone_at__isnull=True).update(gone_at=database_now())
        return str(why)
    Visit.objects.filter(pk=visit.pk).update(gone_at=None)
    cutting.heard(visit, guest, at)
    return ""
