"""Which records of the log a person may see: all, those of today, or none."""

from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from portal.core.mirror.coverage import start_of
from portal.core.mirror.models import History
from portal.core.ui.times import local
from tenants.access import Access
from tenants.roles import Permission


def since(access: Access) -> datetime | None:
    """Return from when on a person who may look into the log sees records; None for all of them."""
    return None if access.can(Permission.LOGS_VIEW) else start_of(local(timezone.now()).date())


def records(access: Access) -> QuerySet[History]:
    """Return the records that a person may see, in no order."""
    if not (access.can(Permission.LOGS_VIEW) or access.can(Permission.LOGS_TODAY)):
        return History.objects.none()
    begin = since(access)
    return History.objects.all() if begin is None else History.objects.filter(at__gte=begin)
