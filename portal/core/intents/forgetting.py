"""Forgetting the people that old intents were about: what was asked stays, for whom does not."""

from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce, NullIf

from portal.core.intents.models import Intent
from portal.core.intents.states import FINAL


def forget(intents: QuerySet[Intent]) -> int:
    """Blank title, body, snapshot and result of those that are over; how many. State, times and who asked stay.

    The title becomes the one of the audit trail, which names nobody (`record.record`), or the operation's name.
    """
    return intents.filter(state__in=FINAL, due_at__isnull=True).update(
        title=Coalesce(NullIf(Cast("audit_title", TextField()), Value("")), Cast("operation", TextField())),
        body=None,
        snapshot=None,
        result={},
        error_detail="",
    )
