"""Asking about an intent, one process at a time: whoever dies asking is replaced at once, as its session tells."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from portal.core.intents.models import Intent, new_claim
from portal.core.intents.states import CLAIM_SECONDS, State
from portal.core.timers.clock import ClockTime
from tenants import living


def is_due() -> Q:
    """Rows whose moment has come; and those that somebody asked about who is gone. Asking twice does no harm."""
    return Q(due_at__lte=ClockTime()) | Q(claim__isnull=False) & living.ended("claim", since="claimed_at")


@contextmanager
def leased(intent: Intent, state: State, **changes: Any) -> Iterator[bool]:
    """Keep others from asking, for the length of the block; the row is read anew. False: it is not due, or taken."""
    token = new_claim()
    with transaction.atomic():
        taken = Intent.objects.filter(is_due(), pk=intent.pk, state=state).update(
            due_at=ClockTime() + timedelta(seconds=CLAIM_SECONDS), claim=token, claimed_at=ClockTime(), **changes
        )
        if taken:
            intent.refresh_from_db(from_queryset=Intent.objects.annotate(held=living.Held(token)))
    if not taken:
        yield False
        return
    try:
        yield True
    finally:
        Intent.objects.filter(pk=intent.pk, claim=token).update(claim=None)
        living.let_go(token)
