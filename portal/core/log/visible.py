"""Which records of the log a person may see: all, those of today, or none."""

from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from portal.core.mirror import log
from portal.core.mirror.coverage import start_of
from portal.core.mirror.models import History, HistorySearch
from portal.core.ui.times import local
from tenants.access import Access
from tenants.roles import Permission


def since(access: Access) -> datetime | None:
    """Return from when on a person who may look into the log sees records; None for all of them."""
    return None if access.can(Permission.LOGS_VIEW) else start_of(local(timezone.now()).date())


def records(access: Access) -> QuerySet[History]:
    """Return the records that a person may see, in no order."""
    begin = since(access)
    if not may_look(access):
        return History.objects.none()
    return History.objects.all() if begin is None else History.objects.filter(at__gte=begin)


def keys(access: Access) -> QuerySet[HistorySearch]:
    """Return the same by what they are found by (`mirror/log.py`), the newest first: for lists of any length."""
    begin = since(access)
    if not may_look(access):
        return log.keys().none()
    return log.keys() if begin is None else log.narrowed(log.keys(), log.Narrow(since=begin))


def may_look(access: Access) -> bool:
    """Whether a person sees any records."""
    return access.can(Permission.LOGS_VIEW) or access.can(Permission.LOGS_TODAY)
