"""Changing how the desk works, and what there is to be erased."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from portal.core.intents.record import Asker
from portal.core.visits import queries
from portal.core.visits.models import DeskSettings, Visit
from portal.today import erasing
from portal.today.forms import SettingsForm
from tenants import audit
from tenants.wording import say


def save(*, form: SettingsForm, by: Asker) -> bool:
    """Store a valid form, with its audit row. False: nothing was changed."""
    with transaction.atomic():
        row = DeskSettings.objects.select_for_update().first() or DeskSettings()
        before = {name: getattr(row, name) for name in form.cleaned_data}
        after: dict[str, Any] = dict(form.cleaned_data)
        if before == after and row.pk is not None:
            return False
        for name, value in after.items():
            setattr(row, name, value)
        row.erased_through = None  # what is too old from now on goes with the next run
        row.save()
        changed = [name for name in after if before[name] != after[name]]
        audit.record(
            tenant=by.tenant,
            by=by.user,
            action="desk.settings",
            target="desk",
            summary=say("desk.settings"),
            before={name: str(before[name]) for name in changed},
            after={name: str(after[name]) for name in changed},
            support_session=by.support_session,
        )
    return True


def kept() -> dict[str, Any]:
    """How many visits are kept with names, since when, and how many the next run erases."""
    named = Visit.objects.filter(erased_at__isnull=True)
    before = timezone.now() - timedelta(days=queries.desk_settings().keep_days)
    oldest = named.order_by("use_date_end").values_list("use_date_end", flat=True).first()
    return {"named": named.count(), "oldest": oldest, "due": erasing.old_visits(before).count()}
